// The devices of this machine that a model can run on.
#pragma once

#include <string>

#include "src/engine/options.h"

namespace inlay {

struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  int32_t index = 0;         // among the devices of its kind
  int32_t n_units = 0;       // processors that this process may use
  uint64_t total_bytes = 0;  // 0 where the system does not tell
  uint64_t free_bytes = 0;
  std::string name;
  std::string features;  // what the kernels use of it
};

int32_t n_devices();
Result<DeviceInfo> describe_device(int32_t i);
// The device that runs models of this kind: the processor also runs the reference interpreter.
Result<DeviceInfo> find_device(DeviceKind kind, int32_t index);

}  // namespace inlay
