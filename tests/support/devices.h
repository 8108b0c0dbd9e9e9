// The devices that tests load models on, as test parameters. The GPU is among them in every build, so that its absence
// shows as a skip.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "src/engine/devices.h"
#include "tests/support/needs_gpu.h"

namespace inlay::test {

inline bool has_device(DeviceKind kind) { return find_device(kind, 0).ok(); }

inline std::string device_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::reference:
      return "reference";
    default:
      return "cpu";
  }
}

inline std::string device_of(const ::testing::TestParamInfo<DeviceKind>& p) { return device_name(p.param); }

// In SetUp or a test's body.
#define INLAY_SKIP_WITHOUT(device) \
  if (!::inlay::test::has_device(device)) GTEST_SKIP() << INLAY_NEEDS_GPU

// Runs each test of the suite on the processor's kernels and on the GPU.
#define INLAY_ON_CPU_AND_CUDA(suite) \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, ::testing::Values(DeviceKind::cpu, DeviceKind::cuda), ::inlay::test::device_of)

}  // namespace inlay::test
