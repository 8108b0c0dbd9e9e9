// Typed access to metadata: conversions, ranges, and messages that name the key.
#include "src/formats/metadata.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/formats/gguf.h"
#include "src/formats/text.h"
#include "tests/unit/gguf_image.h"

namespace inlay {
namespace {

using testing::GgufImage;

// The bytes go away before the metadata is used: it must own what it points to.
Metadata metadata_of(const GgufImage& image) {
  std::vector<std::byte> bytes = image.build();
  Result<Checkpoint> checkpoint = read_gguf(borrow_memory(bytes, "test.gguf"));
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message;
  if (!checkpoint.ok()) return {};
  Metadata copy = checkpoint->metadata();
  std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
  return copy;
}

template <class T>
void expect_error(const Result<T>& result, const std::vector<std::string>& parts) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code, Code::format);
  for (const std::string& part : parts)
    EXPECT_NE(result.status().message.find(part), std::string::npos) << result.status().message << " lacks " << part;
}

class SmallMetadata : public ::testing::Test {
 protected:
  Metadata m = metadata_of(testing::small_image());
};

TEST_F(SmallMetadata, KeepsTheOrderOfTheFile) {
  ASSERT_EQ(m.entries().size(), 19u);
  EXPECT_EQ(m.entries()[0].key, "general.architecture");
  EXPECT_EQ(m.entries()[14].key, "a.texts");
  EXPECT_EQ(m.find("general.architecturE"), nullptr);
  EXPECT_EQ(m.find(""), nullptr);
  EXPECT_EQ(m.duplicate(), nullptr);
}

TEST_F(SmallMetadata, ReadsIntegersOfEveryWidth) {
  EXPECT_EQ(*m.get_u64("v.u8"), 200u);
  EXPECT_EQ(*m.get_u64("v.u16"), 60000u);
  EXPECT_EQ(*m.get_u64("general.alignment"), 32u);
  EXPECT_EQ(*m.get_u64("v.u64"), UINT64_MAX);
  expect_error(m.get_u64("v.i8"), {"test.gguf", "'v.i8'", "-100"});
  expect_error(m.get_u64("v.i16"), {"'v.i16'", "-30000"});
  expect_error(m.get_u64("v.i32"), {"'v.i32'", "-2000000000"});
  expect_error(m.get_u64("v.i64"), {"'v.i64'", "-9223372036854775808"});
}

TEST_F(SmallMetadata, ReadsTheOtherScalars) {
  EXPECT_EQ(*m.get_f64("v.f32"), 0.5);
  EXPECT_EQ(*m.get_f64("v.f64"), 1e300);
  EXPECT_TRUE(*m.get_bool("v.true"));
  EXPECT_FALSE(*m.get_bool("v.false"));
  EXPECT_EQ(*m.get_string("general.architecture"), "llama");
  EXPECT_EQ(*m.get_string("v.empty"), "");
}

TEST_F(SmallMetadata, RefusesOtherTypesAndMissingKeys) {
  expect_error(m.get_u64("v.f32"), {"'v.f32'", "f32", "expected an integer"});
  expect_error(m.get_u64("v.true"), {"'v.true'", "bool"});
  expect_error(m.get_f64("v.u8"), {"'v.u8'", "u8", "f32 or f64"});
  expect_error(m.get_bool("v.u8"), {"'v.u8'", "u8", "bool"});
  expect_error(m.get_string("a.texts"), {"'a.texts'", "array of string", "expected string"});
  expect_error(m.get_u64("nothing"), {"test.gguf", "'nothing'", "missing"});
  expect_error(m.get_f64("nothing"), {"missing"});
  expect_error(m.get_bool("nothing"), {"missing"});
  expect_error(m.get_string("nothing"), {"missing"});
}

TEST_F(SmallMetadata, FallsBackOnlyWhereTheKeyIsAbsent) {
  EXPECT_EQ(*m.u64_or("nothing", 7), 7u);
  EXPECT_EQ(*m.u64_or("v.u8", 7), 200u);
  EXPECT_EQ(*m.f64_or("nothing", 0.75), 0.75);
  EXPECT_TRUE(*m.bool_or("nothing", true));
  EXPECT_FALSE(*m.bool_or("v.false", true));
  EXPECT_EQ(*m.string_or("nothing", "x"), "x");
  expect_error(m.u64_or("v.f32", 7), {"'v.f32'"});
  expect_error(m.f64_or("v.true", 7), {"'v.true'"});
  expect_error(m.bool_or("v.f32", false), {"'v.f32'"});
  expect_error(m.string_or("v.f32", "x"), {"'v.f32'"});
}

TEST_F(SmallMetadata, ReadsArrays) {
  EXPECT_EQ(*m.i32_array("a.i32"), (std::vector<int32_t>{1, -2, 3}));
  EXPECT_EQ(*m.f32_array("a.f32"), (std::vector<float>{0.25f, -1.0f}));
  const auto texts = m.string_array("a.texts");
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts->size(), 3u);
  EXPECT_EQ((*texts)[2], "drei\xC3\xA9");
  EXPECT_TRUE(m.i32_array("nothing")->empty());
  EXPECT_TRUE(m.f32_array("nothing")->empty());
  EXPECT_TRUE(m.string_array("nothing")->empty());
  EXPECT_TRUE(m.f32_array("a.none")->empty()) << "an empty array has any type";
  EXPECT_TRUE(m.string_array("a.none")->empty());
  expect_error(m.i32_array("a.f32"), {"'a.f32'", "array of f32"});
  expect_error(m.f32_array("a.i32"), {"'a.i32'", "array of i32"});
  expect_error(m.string_array("a.i32"), {"'a.i32'", "array of i32"});
  expect_error(m.string_array("general.architecture"), {"expected an array of strings"});
  expect_error(m.i32_array("v.u8"), {"expected an array of integers"});
  expect_error(m.f32_array("v.f32"), {"expected an array of f32 or f64"});
}

TEST(Metadata, ArraysConvertWithinRange) {
  const float inf = std::numeric_limits<float>::infinity();
  const Metadata m = metadata_of(GgufImage()
                                     .array<uint64_t>("ok.u64", MetaType::u64, {0, INT32_MAX})
                                     .array<uint32_t>("big.u32", MetaType::u32, {0, 1u << 31})
                                     .array<int64_t>("ok.i64", MetaType::i64, {INT32_MIN, INT32_MAX})
                                     .array<int64_t>("small.i64", MetaType::i64, {INT32_MIN - int64_t{1}})
                                     .array<int8_t>("ok.i8", MetaType::i8, {-128, 127})
                                     .array<double>("ok.f64", MetaType::f64, {1.5, -inf})
                                     .array<double>("big.f64", MetaType::f64, {0, 0, 1e39}));
  EXPECT_EQ(*m.i32_array("ok.u64"), (std::vector<int32_t>{0, INT32_MAX}));
  EXPECT_EQ(*m.i32_array("ok.i64"), (std::vector<int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(*m.i32_array("ok.i8"), (std::vector<int32_t>{-128, 127}));
  EXPECT_EQ(*m.f32_array("ok.f64"), (std::vector<float>{1.5f, -inf}));
  expect_error(m.i32_array("big.u32"), {"'big.u32'", "element 1 is 2147483648"});
  expect_error(m.i32_array("small.i64"), {"'small.i64'", "element 0 is -2147483649"});
  expect_error(m.f32_array("big.f64"), {"'big.f64'", "element 2 is 1e+39"});
}

TEST(Metadata, FindsADuplicateKey) {
  std::vector<MetaEntry> entries(3);
  entries[0].key = "a";
  entries[1].key = "b";
  entries[2].key = "a";
  const Metadata m(nullptr, entries);
  ASSERT_NE(m.duplicate(), nullptr);
  EXPECT_EQ(m.duplicate()->key, "a");
  EXPECT_EQ(m.get_u64("c").status().message, "metadata key 'c' is missing") << "without a file's name";
}

TEST(Text, QuotesWhatIsNotText) {
  EXPECT_EQ(quote("abc"), "'abc'");
  EXPECT_EQ(quote("caf\xC3\xA9"), "'caf\xC3\xA9'");
  EXPECT_EQ(quote(std::string_view("a\0\n\x7F\xFF\xC3", 6)), "'a\\x00\\x0a\\x7f\\xff\\xc3'");
  EXPECT_EQ(quote(std::string(1000, 'x')), "'" + std::string(119, 'x') + "...'");
}

TEST(Text, KnowsWellFormedUtf8) {
  for (const char* good : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_valid_utf8(good)) << quote(good);
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE1\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFF", "ok\xE2\x82"})
    EXPECT_FALSE(is_valid_utf8(bad)) << quote(bad);
}

}  // namespace
}  // namespace inlay
