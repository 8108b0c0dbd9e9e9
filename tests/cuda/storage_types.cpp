// Every storage type of files, packed by the GPU and read back: bit for bit what two independent implementations made
// of the same blocks (tests/data/quant).
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cuda_backend.h"
#include "tests/support/needs_gpu.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

template <class T>
std::vector<T> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(size_t n) : n_(n) { EXPECT_EQ(cudaMalloc(&data_, n * sizeof(T)), cudaSuccess); }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* get() const { return static_cast<T*>(data_); }
  std::vector<T> host() const {
    std::vector<T> values(n_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  void* data_ = nullptr;
  size_t n_;
};

class StorageTypes : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
    blocks = read_file<uint8_t>(test::blocks_file(traits(type).name));
    expected = read_file<float>(test::values_file(traits(type).name));
    ASSERT_GT(expected.size(), 0u) << traits(type).name;
    ASSERT_EQ(blocks.size(), expected.size() / traits(type).block_elements * traits(type).block_bytes);
  }

  // All rows of a table of `cols` columns that holds the first of the blocks.
  std::vector<float> embedded(const std::vector<uint8_t>& file, int64_t cols) const {
    const int64_t rows = static_cast<int64_t>(expected.size()) / cols;
    std::vector<int32_t> tokens(static_cast<size_t>(rows));
    std::iota(tokens.begin(), tokens.end(), 0);
    const OnDevice<uint8_t> from(file), packed(cuda::packed_bytes(type, rows, cols));
    const OnDevice<int32_t> tokens_d(tokens);
    const OnDevice<float> hidden(static_cast<size_t>(rows * cols));
    EXPECT_EQ(
        cuda::launch_repack({from.get(), nullptr, packed.get(), rows, cols, type, cuda::RowOrder::plain}, nullptr),
        cudaSuccess);
    EXPECT_EQ(cuda::launch_embed({packed.get(), tokens_d.get(), tokens_d.get(), hidden.get(), rows, cols,
                                  static_cast<int32_t>(rows), type},
                                 nullptr),
              cudaSuccess);
    return hidden.host();
  }

  size_t n_mismatches(const std::vector<float>& got) const {
    size_t n = 0;
    for (size_t i = 0; i < got.size(); ++i) n += std::memcmp(&got[i], &expected[i], sizeof(float)) != 0;
    return n;
  }

  DType type = static_cast<DType>(GetParam());
  std::vector<uint8_t> blocks;
  std::vector<float> expected;
};

TEST_P(StorageTypes, cuda_PackedAndReadBackBitForBit) {
  const int64_t block = traits(type).block_elements;
  for (const int64_t n_blocks : {1, 2, 3, 5}) {
    const int64_t cols = block == 1 ? 50 * n_blocks : block * n_blocks;
    EXPECT_EQ(n_mismatches(embedded(blocks, cols)), 0u) << cols << " columns";
  }
}

TEST_P(StorageTypes, cuda_EveryByteOfABlockMatters) {
  const uint32_t block = traits(type).block_bytes;
  for (uint32_t byte = 0; byte < block; ++byte) {
    std::vector<uint8_t> broken = blocks;
    for (size_t at = byte; at < broken.size(); at += block) broken[at] ^= 0x55;
    EXPECT_GT(n_mismatches(embedded(broken, traits(type).block_elements)), 0u) << "byte " << byte << " is not read";
  }
}

// F32 has no fixture, F8_E4M3 is made while loading.
std::vector<int> types_of_files() {
  std::vector<int> types;
  for (int i = static_cast<int>(DType::f16); i < static_cast<int>(DType::count); ++i) {
    if (kDTypeTable[i].ggml_type != kNotInFiles) types.push_back(i);
  }
  return types;
}

INSTANTIATE_TEST_SUITE_P(All, StorageTypes, testing::ValuesIn(types_of_files()),
                         [](const auto& p) { return std::string(traits(static_cast<DType>(p.param)).name); });

}  // namespace
}  // namespace inlay
