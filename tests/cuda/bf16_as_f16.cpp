// Packed BF16 that becomes F16: every value the nearest half, and what is lost by it.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/common/half.h"
#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/device.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

class Bf16AsF16 : public testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }
  static size_t bytes_of(const std::vector<uint16_t>& values) { return values.size() * sizeof(uint16_t); }

  // Of a packed matrix: rows of 64, sixteen a tile.
  static std::vector<float> loss_of(const std::vector<uint16_t>& values) {
    std::vector<float> out(4);
    auto packed = DeviceBuffer::allocate(bytes_of(values), "values"), sums = DeviceBuffer::allocate(4 * sizeof(float), "sums");
    EXPECT_TRUE(packed.ok() && sums.ok());
    EXPECT_EQ(values.size() % (64 * cuda::kTileRows), 0u);
    EXPECT_EQ(cudaMemcpy(packed->data(), values.data(), bytes_of(values), cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cuda::launch_f16_loss(packed->data(), static_cast<int64_t>(values.size() / 64), 64, sums->as<float>(), nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(out.data(), sums->data(), 4 * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }
};

TEST_F(Bf16AsF16, cuda_EveryValueBecomesTheNearestHalf) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  auto packed = DeviceBuffer::allocate(bytes_of(all), "values");
  ASSERT_TRUE(packed.ok());
  std::vector<uint16_t> halves(all.size());
  ASSERT_EQ(cudaMemcpy(packed->data(), all.data(), bytes_of(all), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cuda::launch_bf16_to_f16(packed->data(), 1024, 64, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(halves.data(), packed->data(), bytes_of(all), cudaMemcpyDeviceToHost), cudaSuccess);
  size_t n_exact = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const float value = float_from_bf16(all[i]);
    const float half = float_from_f16(halves[i]);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half)) << i;
      continue;
    }
    EXPECT_EQ(halves[i], f16_from_float(value)) << i;
    n_exact += half == value ? 1 : 0;
  }
  EXPECT_GT(n_exact, 2u * 30 * 128) << "all of the 30 exponents of normal halves";
}

TEST_F(Bf16AsF16, cuda_TheLossIsMeasured) {
  std::vector<uint16_t> values;
  double squares = 0, errors = 0;
  for (uint32_t i = 0; i < 1024 * 97; ++i) {
    const uint32_t exponent = 127 - 30 + i % 34;  // from far below F16's exponents to 2^3
    values.push_back(static_cast<uint16_t>((i % 2) << 15 | exponent << 7 | (i * 37 % 128)));
    const double value = float_from_bf16(values.back()), error = value - double{float_from_f16(f16_from_float(float_from_bf16(values.back())))};
    squares += value * value, errors += error * error;
  }
  const std::vector<float> loss = loss_of(values);
  EXPECT_NEAR((loss[0] + loss[2]) / squares, 1.0, 1e-4);
  ASSERT_GT(errors, 0.0);
  EXPECT_NEAR((loss[1] + loss[3]) / errors, 1.0, 1e-3);

  // Upper and lower rows of a tile.
  std::vector<uint16_t> held(1024, 0x3f80);  // 1
  std::fill(held.begin() + 512, held.end(), uint16_t{0x4000});  // 2
  EXPECT_EQ(loss_of(held), (std::vector<float>{512, 0, 2048, 0}));
  held[5] = 0x7f80, held[900] = 0xffc0;  // an infinity and a NaN stay what they are
  EXPECT_EQ(loss_of(held), (std::vector<float>{511, 0, 2044, 0}));
  held[700] = 0x4780;  // 65536
  EXPECT_TRUE(std::isinf(loss_of(held)[3]));
  EXPECT_EQ(loss_of(held)[1], 0);
}

}  // namespace
}  // namespace inlay
