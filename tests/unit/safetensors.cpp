// The directory of safetensors files: what is read, and how each kind of damage is named.
#include "src/formats/safetensors.h"

#include <gtest/gtest.h>

#include "tests/unit/safetensors_image.h"

namespace inlay::testing {
namespace {

Result<std::vector<SafetensorsEntry>> read(const std::string& bytes) {
  return read_safetensors(*borrow_memory(std::as_bytes(std::span(bytes)), "w.safetensors"));
}

TEST(Safetensors, TensorsComeInTheOrderOfTheirBytes) {
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[6,14]},"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"BF16","shape":[1,3],"data_offsets":[0,6]},"s":{"data_offsets":[14,15],"shape":[],"dtype":"U8"}}   )";
  const auto entries = read(safetensors_bytes(header, std::string(15, 'x')));
  ASSERT_TRUE(entries.ok()) << entries.status().message;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_EQ((*entries)[0].dtype, "BF16");
  EXPECT_EQ((*entries)[0].shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ((*entries)[0].offset, 8 + header.size());
  EXPECT_EQ((*entries)[0].n_bytes, 6u);
  EXPECT_EQ((*entries)[1].name, "b");
  EXPECT_EQ((*entries)[1].offset, 8 + header.size() + 6);
  EXPECT_TRUE((*entries)[2].shape.empty());
}

TEST(Safetensors, EmptyTensorsTakeNoBytes) {
  const auto entries = read(safetensors_bytes(R"({"e":{"dtype":"F16","shape":[0,4],"data_offsets":[0,0]}})", ""));
  ASSERT_TRUE(entries.ok()) << entries.status().message;
  EXPECT_EQ((*entries)[0].n_bytes, 0u);
}

struct Broken {
  const char* header;
  size_t n_data;
  const char* expected;  // in the message
};

class SafetensorsBroken : public ::testing::TestWithParam<Broken> {};

TEST_P(SafetensorsBroken, IsRefusedByName) {
  const auto entries = read(safetensors_bytes(GetParam().header, std::string(GetParam().n_data, '\0')));
  ASSERT_FALSE(entries.ok());
  const std::string& message = entries.status().message;
  EXPECT_TRUE(message.starts_with("w.safetensors: ")) << message;
  EXPECT_NE(message.find(GetParam().expected), std::string::npos) << message;
}

constexpr Broken kBroken[] = {
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
     "the file has 69 bytes, but its header asks for 70: the download is likely not complete (tensor 'a' is"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9, "take 8 bytes, but the file has 9"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
     "data_offsets of 4 bytes, but its shape and dtype F32 take 8"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "'a' begins at byte 4 of the data, expected 0"},
    {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6,
     "'b' begins at byte 2 of the data, expected 4, where 'a' ends"},
    {R"({"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,1]}})", 1, "'a' has the dtype 'Q4', which is not known"},
    {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "a.shape[0]"},
    {R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0,
     "'a' takes more than 2^63 - 1 bytes"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "a.data_offsets"},
    {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "a.data_offsets"},
    {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "shape"},
    {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "dtype"},
    {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "data_offsets"},
    {R"({"a":3})", 0, "a"},
    {R"({"__metadata__":{"x":1}})", 0, "__metadata__.x"},
    {R"({"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "a tensor's name has 0 bytes"},
    {R"([])", 0, "expected an object"},
    {R"({"a":)", 0, ""},
};
INSTANTIATE_TEST_SUITE_P(Headers, SafetensorsBroken, ::testing::ValuesIn(kBroken));

TEST(Safetensors, ALengthBeyondTheFileIsRefused) {
  std::string bytes = safetensors_bytes("{}", "");
  ASSERT_TRUE(read(bytes).ok());
  for (const uint64_t n : {uint64_t{3}, uint64_t{100'000'001}, UINT64_MAX}) {
    std::memcpy(bytes.data(), &n, sizeof n);
    const auto entries = read(bytes);
    ASSERT_FALSE(entries.ok());
    const std::string told = n == 3 ? "the file has 10 bytes, but its header alone asks for 11"
                                    : "its header has " + std::to_string(n) + " bytes, expected at most 100000000";
    EXPECT_NE(entries.status().message.find(told), std::string::npos) << entries.status().message;
  }
  EXPECT_FALSE(read("1234567").ok());
}

}  // namespace
}  // namespace inlay::testing
