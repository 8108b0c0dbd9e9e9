#include "src/base/alloc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace inlay {
namespace {

bool all_zero(const HostBuffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size(), [](std::byte b) { return b == std::byte{0}; });
}

class HostBufferSizes : public testing::TestWithParam<uint64_t> {};

TEST_P(HostBufferSizes, IsAlignedZeroedAndWritable) {
  auto result = HostBuffer::allocate(GetParam(), "test block");
  ASSERT_TRUE(result.ok()) << result.status().message;
  HostBuffer buffer = *std::move(result);
  EXPECT_EQ(buffer.size(), GetParam());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % HostBuffer::kAlignment, 0u);
  EXPECT_TRUE(all_zero(buffer));
  std::memset(buffer.data(), 0x5a, buffer.size());
  EXPECT_FALSE(all_zero(buffer));
  EXPECT_EQ(buffer.as<uint8_t>()[buffer.size() - 1], 0x5a);
}

INSTANTIATE_TEST_SUITE_P(BothSources, HostBufferSizes,
                         testing::Values(1, 63, 64, 65, 4096, (uint64_t{2} << 20) - 1, uint64_t{2} << 20,
                                         (uint64_t{2} << 20) + 1, (uint64_t{6} << 20) + 12345));

TEST(HostBuffer, ZeroBytesIsEmpty) {
  auto result = HostBuffer::allocate(0, "nothing");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->empty());
  EXPECT_EQ(result->data(), nullptr);
}

TEST(HostBuffer, MovesOwnership) {
  for (const uint64_t bytes : {uint64_t{1000}, uint64_t{5} << 20}) {
    auto result = HostBuffer::allocate(bytes, "moved");
    ASSERT_TRUE(result.ok());
    HostBuffer first = *std::move(result);
    std::byte* data = first.data();
    HostBuffer second = std::move(first);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(first.data(), nullptr);  // NOLINT: the moved-from state is part of the contract
    EXPECT_EQ(first.size(), 0u);
    second = HostBuffer();
    EXPECT_EQ(second.data(), nullptr);
  }
}

TEST(HostBuffer, TooLargeReportsRequiredAndAvailable) {
  for (const uint64_t bytes : {uint64_t{1} << 60, std::numeric_limits<uint64_t>::max()}) {
    auto result = HostBuffer::allocate(bytes, "the KV pool");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code, Code::out_of_memory);
    EXPECT_EQ(result.status().required, bytes);
    EXPECT_NE(result.status().message.find("the KV pool needs"), std::string::npos) << result.status().message;
#if defined(__linux__)
    EXPECT_GT(result.status().available, 0u);
    EXPECT_LT(result.status().available, bytes);
#endif
  }
}

}  // namespace
}  // namespace inlay
