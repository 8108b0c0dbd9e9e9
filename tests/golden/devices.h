// The devices that engines of this build run on, as test parameters.
#pragma once

#include <string>
#include <vector>

#include "src/engine/options.h"
#include "tests/golden/loaded_model.h"

namespace inlay::golden {

inline std::vector<DeviceKind> all_devices() {
  std::vector<DeviceKind> devices{DeviceKind::reference, DeviceKind::cpu};
  if (INLAY_HAS_CUDA) devices.push_back(DeviceKind::cuda);
  return devices;
}

inline std::string device_name(DeviceKind device) {
  switch (device) {
    case DeviceKind::cuda: return "cuda";
    case DeviceKind::reference: return "reference";
    default: return "cpu";
  }
}

}  // namespace inlay::golden
