// Structs of other versions than the library's own: an older client's are shorter, a newer one's longer.
#include "src/capi/arguments.h"

#include <gtest/gtest.h>

#include <array>

namespace {

// As the library knows it today; `added` came with a later minor version.
struct Params {
  uint32_t struct_size;
  int32_t first;
  uint64_t added;
};
struct FirstParams {
  uint32_t struct_size;
  int32_t first;
};
struct NextParams {
  uint32_t struct_size;
  int32_t first;
  uint64_t added;
  uint64_t unknown;
};

}  // namespace

namespace inlay::capi {

template <>
inline constexpr size_t kFirstSize<Params> = sizeof(FirstParams);

namespace {

template <class T>
const Params* as_params(const T& given) {
  return reinterpret_cast<const Params*>(&given);
}

TEST(Arguments, OlderStructGivesDefaultsForWhatItLacks) {
  struct {
    FirstParams params{sizeof(FirstParams), 7};
    uint64_t behind = 99;  // is not the struct's
  } given;
  Params out = {1, 2, 3};
  ASSERT_TRUE(read_struct(as_params(given.params), "params", out).ok());
  EXPECT_EQ(out.first, 7);
  EXPECT_EQ(out.added, 0u);
}

TEST(Arguments, NewerStructIsReadIfItsNewsAreUnused) {
  NextParams given = {sizeof(NextParams), 7, 8, 0};
  Params out = {};
  ASSERT_TRUE(read_struct(as_params(given), "params", out).ok());
  EXPECT_EQ(out.first, 7);
  EXPECT_EQ(out.added, 8u);
  given.unknown = uint64_t{1} << 63;
  const Status refused = read_struct(as_params(given), "params", out);
  EXPECT_EQ(refused.code, Code::invalid_argument);
  EXPECT_NE(refused.message.find("byte 23"), std::string::npos) << refused.message;
}

TEST(Arguments, NullMeansDefaults) {
  Params out = {1, 2, 3};
  ASSERT_TRUE(read_struct<Params>(nullptr, "params", out).ok());
  EXPECT_EQ(out.first, 0);
  EXPECT_EQ(out.added, 0u);
}

TEST(Arguments, SizesThatNoVersionHasAreRefused) {
  Params given = {0, 7, 8}, out = {};
  for (const uint32_t size : {0u, 4u, 7u, 4097u, 0xcccccccc}) {
    given.struct_size = size;
    EXPECT_EQ(read_struct(&given, "params", out).code, Code::invalid_argument) << size;
    EXPECT_EQ(check_out_struct(&given, "params").code, Code::invalid_argument) << size;
  }
}

TEST(Arguments, OlderStructIsWrittenAsFarAsItGoes) {
  struct {
    FirstParams params{sizeof(FirstParams), 0};
    uint64_t behind = 99;
  } given;
  auto* out = reinterpret_cast<Params*>(&given.params);
  ASSERT_TRUE(check_out_struct(out, "params").ok());
  write_struct(out, Params{0, 7, 8});
  EXPECT_EQ(given.params.struct_size, sizeof(FirstParams));
  EXPECT_EQ(given.params.first, 7);
  EXPECT_EQ(given.behind, 99u);
}

TEST(Arguments, NewerStructIsWrittenWithZerosAtItsEnd) {
  struct {
    NextParams params{sizeof(NextParams), 1, 2, 3};
    uint64_t behind = 99;
  } given;
  write_struct(reinterpret_cast<Params*>(&given.params), Params{0, 7, 8});
  EXPECT_EQ(given.params.struct_size, sizeof(NextParams));
  EXPECT_EQ(given.params.added, 8u);
  EXPECT_EQ(given.params.unknown, 0u);
  EXPECT_EQ(given.behind, 99u);
}

TEST(Arguments, FieldsAreCutAtACharacter) {
  std::array<char, 6> field;
  write_field("abcdé", field);
  EXPECT_STREQ(field.data(), "abcd");
  write_field("abcé", field);
  EXPECT_STREQ(field.data(), "abcé");
  write_field("", field);
  EXPECT_EQ(field, (std::array<char, 6>{}));
}

TEST(Arguments, TextsByLengthOrByZero) {
  EXPECT_EQ(*read_text("ab\0c", 4, "text"), std::string_view("ab\0c", 4));
  EXPECT_EQ(*read_text("ab", SIZE_MAX, "text"), "ab");
  EXPECT_EQ(*read_text(nullptr, 0, "text"), "");
  EXPECT_FALSE(read_text(nullptr, SIZE_MAX, "text").ok());
  EXPECT_FALSE(read_text(nullptr, 1, "text").ok());
  EXPECT_FALSE(read_text("a", SIZE_MAX / 2 + 1, "text").ok());
}

}  // namespace
}  // namespace inlay::capi
