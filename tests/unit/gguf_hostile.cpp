// Broken and hostile GGUF files: an error that names the field or tensor, never a crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "src/formats/gguf.h"
#include "tests/unit/gguf_image.h"

namespace inlay {
namespace {

using testing::GgufImage;
using Bytes = GgufImage::Bytes;

int32_t read_bytes(void* user, uint64_t offset, void* into, uint64_t n) {
  const auto& bytes = *static_cast<const Bytes*>(user);
  if (offset + n > bytes.size()) return 5;
  std::memcpy(into, bytes.data() + offset, n);
  return 0;
}

// Reads from memory and through callbacks, which must agree, in a copy of exactly the right size so that a sanitizer
// sees every byte read past the end. A checkpoint that opens has all its bytes touched.
Status read(const Bytes& bytes) {
  Bytes exact(bytes);
  exact.shrink_to_fit();
  const Result<Checkpoint> c = read_gguf(borrow_memory(exact, "hostile.gguf"));
  const Result<Checkpoint> d = read_gguf(read_through(read_bytes, &exact, exact.size(), "hostile.gguf"));
  EXPECT_EQ(c.status().message, d.status().message);
  EXPECT_EQ(c.ok(), d.ok());
  if (!c.ok()) return c.status();
  std::vector<std::byte> scratch;
  unsigned sum = 0;
  for (const TensorEntry& tensor : c->tensors()) {
    const Result<const std::byte*> data = c->bytes(tensor, scratch);
    EXPECT_TRUE(data.ok()) << data.status().message;
    if (!data.ok()) continue;
    for (uint64_t i = 0; i < tensor.n_bytes; ++i) sum += static_cast<unsigned>((*data)[i]);
  }
  for (const MetaEntry& entry : c->metadata().entries()) {
    EXPECT_EQ(c->metadata().find(entry.key), &entry.value);
    sum += static_cast<unsigned>(entry.value.text.size() + entry.value.texts.size());
  }
  EXPECT_LT(sum, ~0u);
  return {};
}

template <class T>
void overwrite(Bytes& bytes, size_t at, T value) {
  ASSERT_LE(at + sizeof(T), bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

struct Mutation {
  const char* field;
  uint32_t width;  // bytes of the number written there
  uint64_t value;
  Code code;
  const char* message;  // part of it
  size_t skip = 0;      // bytes past the field
};

constexpr uint64_t kHuge = UINT64_MAX, kBig = uint64_t{1} << 62;

const Mutation kMutations[] = {
    {"magic", 1, 'X', Code::format, "it begins with 'XGUF', expected 'GGUF'"},
    {"magic", 4, 0, Code::format, "it begins with the bytes 00 00 00 00, expected 'GGUF'"},
    {"version", 4, 0, Code::unsupported, "version 0 is not supported"},
    {"version", 4, 1, Code::unsupported, "version 1 is not supported, only 2 and 3 are"},
    {"version", 4, 4, Code::unsupported, "version 4"},
    {"version", 4, 0x03000000, Code::unsupported, "big-endian GGUF files are not supported"},
    {"n_tensors", 8, 4, Code::format, "tensor number 3, '', has an empty name"},
    {"n_tensors", 8, kBig, Code::format, "the tensor count is 4611686018427387904"},
    {"n_tensors", 8, kHuge, Code::format, "the tensor count is 18446744073709551615"},
    {"n_entries", 8, kHuge, Code::format, "the metadata count is 18446744073709551615"},
    {"n_entries", 8, 100, Code::format, "the metadata count is 100"},
    {"n_entries", 8, 20, Code::format, "the name of tensor number 0 at byte"},
    {"key:v.u8", 8, 0, Code::format, "metadata key number 2 is empty"},
    {"key:v.u8", 8, kHuge, Code::format, "metadata key number 2 at byte"},
    {"key:v.u8", 8, 5000, Code::format, "is a string of 5000 bytes, but the file has only"},
    {"key:v.u8", 1, 0xFF, Code::format, "metadata key number 2, '\\xff.u8', is not valid UTF-8", 8},
    {"type:v.u8", 4, 13, Code::format, "metadata key 'v.u8' has the unknown type 13"},
    {"type:v.u8", 4, 0xFFFFFFFF, Code::format, "metadata key 'v.u8' has the unknown type 4294967295"},
    {"type:general.architecture", 4, 9, Code::format, "metadata key 'general.architecture' is an array of"},
    {"value:v.empty", 8, kHuge, Code::format, "the value of metadata key 'v.empty'"},
    {"value:general.architecture", 8, 4096, Code::format, "'general.architecture' at byte"},
    {"value:v.true", 1, 2, Code::format, "metadata key 'v.true' holds the boolean 2, expected 0 or 1"},
    {"value:v.false", 1, 255, Code::format, "metadata key 'v.false' holds the boolean 255"},
    {"elements:a.bool", 1, 7, Code::format, "metadata key 'a.bool' holds the boolean 7", 2},
    {"element_type:a.i32", 4, 9, Code::unsupported,
     "metadata key 'a.i32' is an array of arrays, which is not supported"},
    {"element_type:a.i32", 4, 77, Code::format, "metadata key 'a.i32' is an array of the unknown type 77"},
    {"element_type:a.i32", 4, 8, Code::format, "element 0 of metadata key 'a.i32'"},
    {"count:a.i32", 8, kHuge, Code::format, "metadata key 'a.i32' is an array of 18446744073709551615 elements"},
    {"count:a.i32", 8, kBig, Code::format,
     "metadata key 'a.i32' is an array of 4611686018427387904 elements of type i32"},
    {"count:a.texts", 8, kBig, Code::format, "metadata key 'a.texts' is an array of 4611686018427387904 elements of"},
    {"elements:a.texts", 8, kHuge, Code::format, "element 0 of metadata key 'a.texts' at byte"},
    {"value:general.alignment", 4, 0, Code::format, "general.alignment is 0, expected a power of two from 8 to 65536"},
    {"value:general.alignment", 4, 4, Code::format, "general.alignment is 4"},
    {"value:general.alignment", 4, 24, Code::format, "general.alignment is 24"},
    {"value:general.alignment", 4, 131072, Code::format, "general.alignment is 131072"},
    {"value:general.alignment", 4, 64, Code::format,
     "tensor 'w.q8_0' has offset 96, not a multiple of the alignment 64"},
    {"type:general.alignment", 4, 6, Code::format, "'general.alignment' has type f32"},
    {"tensor:w.f32", 8, 0, Code::format, "tensor number 0, '', has an empty name"},
    {"tensor:w.f32", 8, kHuge, Code::format, "the name of tensor number 0"},
    {"tensor:w.f32", 8, 128, Code::format, "has a name longer than 127 bytes (of 128 bytes)"},
    {"tensor:w.f32", 1, 0xC0, Code::format, "'\\xc0.f32', has a name that is not valid UTF-8", 8},
    {"tensor:w.f32.rank", 4, 0, Code::format, "tensor 'w.f32' has rank 0, expected 1 to 4"},
    {"tensor:w.f32.rank", 4, 5, Code::format, "tensor 'w.f32' has rank 5, expected 1 to 4"},
    {"tensor:w.f32.rank", 4, 0xFFFFFFFF, Code::format, "tensor 'w.f32' has rank 4294967295"},
    {"tensor:w.f32.dim0", 8, 0, Code::format, "tensor 'w.f32' has dimension 0 equal to 0"},
    {"tensor:w.f32.dim1", 8, 0, Code::format, "tensor 'w.f32' has dimension 1 equal to 0"},
    {"tensor:w.f32.dim0", 8, kHuge, Code::format, "tensor 'w.f32' has more than 2^63 - 1 elements: dimension 0 is"},
    {"tensor:w.f32.dim1", 8, kBig, Code::format, "tensor 'w.f32' has more than 2^63 - 1 elements: dimension 1 is"},
    {"tensor:w.f32.dim1", 8, kBig / 8, Code::format, "tensor 'w.f32' takes more than 2^63 - 1 bytes"},
    {"tensor:w.f32.dim1", 8, 1000, Code::format, "complete (tensor 'w.f32' of 32000 bytes is the first"},
    {"tensor:w.f32.dim1", 8, 4, Code::format, "tensors 'w.f32' (bytes"},
    {"tensor:w.q8_0.dim0", 8, 63, Code::format,
     "tensor 'w.q8_0' has rows of 63 elements, not a multiple of the 32 elements of a Q8_0 block"},
    {"tensor:w.q8_0.type", 4, 12, Code::format,
     "rows of 64 elements, not a multiple of the 256 elements of a Q4_K block"},
    {"tensor:w.q8_0.type", 4, 9, Code::unsupported, "tensor 'w.q8_0': ggml type Q8_1 (9) is not supported"},
    {"tensor:w.q8_0.type", 4, 24, Code::unsupported, "tensor 'w.q8_0': ggml type I8 (24) is not supported"},
    {"tensor:w.q8_0.type", 4, 15, Code::unsupported, "tensor 'w.q8_0': ggml type Q8_K (15) is not supported"},
    {"tensor:w.q8_0.type", 4, 1000, Code::unsupported, "tensor 'w.q8_0': ggml type 1000 is not supported"},
    {"tensor:w.q8_0.offset", 8, 1, Code::format, "tensor 'w.q8_0' has offset 1, not a multiple of the alignment 32"},
    {"tensor:w.q8_0.offset", 8, 0, Code::format, "overlap"},
    {"tensor:w.q8_0.offset", 8, 64, Code::format, "tensors 'w.f32' (bytes"},
    {"tensor:w.q8_0.offset", 8, kHuge - 31, Code::format,
     "its header asks for 18446744073709551615: the download is likely not complete (tensor 'w.q8_0' of 136"},
    {"tensor:b.f16.offset", 8, 1 << 20, Code::format, "(tensor 'b.f16' of 10 bytes is the first to end behind"},
};

TEST(GgufHostile, TheImageThatIsBrokenBelowIsValid) {
  EXPECT_EQ(read(testing::small_image().build()).message, "");
  EXPECT_EQ(read(testing::small_image(2).build()).message, "");
}

TEST(GgufHostile, EachFieldBrokenInTurnIsNamed) {
  const GgufImage image = testing::small_image();
  for (const Mutation& m : kMutations) {
    SCOPED_TRACE(std::string(m.field) + " = " + std::to_string(m.value));
    Bytes bytes = image.build();
    const size_t at = image.at(m.field) + m.skip;
    ASSERT_LE(at + m.width, bytes.size());
    std::memcpy(bytes.data() + at, &m.value, m.width);
    const Status status = read(bytes);
    EXPECT_EQ(status.code, m.code) << status.message;
    EXPECT_TRUE(status.message.starts_with("hostile.gguf: ")) << status.message;
    EXPECT_NE(status.message.find(m.message), std::string::npos) << status.message << "\nlacks\n" << m.message;
  }
}

TEST(GgufHostile, EveryUnsupportedTypeIsNamedAndEverySupportedOneIsNot) {
  const GgufImage image = testing::small_image();
  size_t n_supported = 0;
  std::vector<uint32_t> types(64);
  std::iota(types.begin(), types.end(), 0u);
  types.push_back(kNotInFiles);
  for (const uint32_t type : types) {
    Bytes bytes = image.build();
    overwrite(bytes, image.at("tensor:b.f16.type"), type);
    const Status status = read(bytes);
    if (status.code == Code::unsupported) {
      EXPECT_NE(status.message.find(std::to_string(type)), std::string::npos) << status.message;
    } else {
      ++n_supported;
    }
  }
  const auto in_files = [](const DTypeTraits& t) { return t.ggml_type != kNotInFiles; };
  EXPECT_EQ(n_supported, static_cast<size_t>(std::count_if(std::begin(kDTypeTable), std::end(kDTypeTable), in_files)));
}

TEST(GgufHostile, SaysHowManyBytesAreMissing) {
  const GgufImage image = testing::small_image();
  Bytes bytes = image.build();
  overwrite(bytes, image.at("value:v.empty"), uint64_t{123456});
  Status status = read(bytes);
  EXPECT_EQ(status.required, 123456u);
  EXPECT_EQ(status.available, bytes.size() - image.at("value:v.empty") - 8);

  bytes = image.build();
  bytes.pop_back();
  status = read(bytes);
  EXPECT_NE(status.message.find("but its header asks for " + std::to_string(bytes.size() + 1)), std::string::npos) << status.message;
  EXPECT_EQ(status.required, status.available + 1);
}

TEST(GgufHostile, DuplicatesAreNamed) {
  GgufImage image = testing::small_image();
  image.u32("v.f32", 1);
  EXPECT_EQ(read(image.build()).message, "hostile.gguf: metadata key 'v.f32' stands more than once");
  GgufImage tensors = testing::small_image();
  tensors.tensor("w.f32", {1}, 0, Bytes(4));
  EXPECT_EQ(read(tensors.build()).message, "hostile.gguf: tensor 'w.f32' stands more than once");
}

TEST(GgufHostile, TheRangesOfRanksAndNamesAreExact) {
  EXPECT_EQ(read(GgufImage().tensor("r", {2, 1, 1, 3}, 0, Bytes(24)).build()).message, "");
  EXPECT_NE(read(GgufImage().tensor("r", {2, 1, 1, 1, 1}, 0, Bytes(8)).build()).message, "");
  EXPECT_EQ(read(GgufImage().tensor(std::string(127, 'n'), {1}, 0, Bytes(4)).build()).message, "");
  EXPECT_NE(read(GgufImage().tensor(std::string(128, 'n'), {1}, 0, Bytes(4)).build()).message, "");
  EXPECT_EQ(read(GgufImage().u32(std::string(65535, 'k'), 1).build()).message, "");
  EXPECT_NE(read(GgufImage().u32(std::string(65536, 'k'), 1).build()).message.find("longer than 65535 bytes"),
            std::string::npos);
}

TEST(GgufHostile, EveryTruncationIsAnError) {
  const Bytes whole = testing::small_image().build();
  for (size_t n = 0; n < whole.size(); ++n) {
    const Status status = read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    ASSERT_EQ(status.code, Code::format) << "cut to " << n << " bytes: " << status.message;
    ASSERT_GT(status.required, status.available) << "cut to " << n << " bytes: " << status.message;
  }
}

TEST(GgufHostile, NoFlippedByteCrashes) {
  const GgufImage image = testing::small_image();
  const Bytes whole = image.build();
  const size_t data = image.at("data");
  size_t n_refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const uint8_t mask : {0x01, 0x02, 0x08, 0x80, 0xFF}) {
      Bytes bytes = whole;
      bytes[i] ^= static_cast<std::byte>(mask);
      const Status status = read(bytes);
      EXPECT_TRUE(status.ok() || i < data) << "byte " << i << " is tensor data: " << status.message;
      n_refused += !status.ok();
    }
  }
  EXPECT_GT(n_refused, data) << "flips in the header are mostly noticed";
}

TEST(GgufHostile, NoOverwrittenNumberCrashes) {
  const Bytes whole = testing::small_image().build();
  for (size_t i = 0; i + 8 <= whole.size(); ++i) {
    for (const uint64_t value : {uint64_t{0}, kHuge, kBig, uint64_t{INT64_MAX}, uint64_t{1} << 32, uint64_t{0xFFFFFFFF},
                                 uint64_t{whole.size()}, uint64_t{whole.size() - i - 8}}) {
      Bytes bytes = whole;
      overwrite(bytes, i, value);
      const Status status = read(bytes);
      ASSERT_NE(status.ok(), !status.message.empty());
    }
  }
}

}  // namespace
}  // namespace inlay
