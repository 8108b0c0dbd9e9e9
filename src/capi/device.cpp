#include "src/capi/arguments.h"
#include "src/capi/guard.h"
#include "src/engine/devices.h"

using namespace inlay;
using namespace inlay::capi;

int32_t inlay_device_count(void) {
  const FloatEnvironment environment;
  return n_devices();
}

inlay_status inlay_device_get(int32_t index, inlay_device_info* info, inlay_error* err) {
  return guarded(err, [&]() -> Status {
    INLAY_TRY(check_out_struct(info, "info"));
    INLAY_ASSIGN(const DeviceInfo device, describe_device(index));
    inlay_device_info out = {};
    out.kind = static_cast<inlay_device_kind>(device.kind);
    out.index = device.index;
    out.n_units = device.n_units;
    out.total_bytes = device.total_bytes;
    out.free_bytes = device.free_bytes;
    write_field(device.name, out.name);
    write_field(device.features, out.features);
    write_struct(info, out);
    return {};
  });
}
