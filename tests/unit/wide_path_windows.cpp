// Paths as the calls of Windows take them, whatever their length and kind.
#include "src/base/wide_path.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace inlay {
namespace {

std::string wide_text(const std::string& path) {
  const Result<std::wstring> out = wide_path(path);
  return out.ok() ? utf8(*out) : out.status().message;
}

TEST(WidePath, TextsComeBack) {
  for (const std::string text : {"", "a", "\u00e4\u4e2d\U0001f600", "C:\\a b\\c"}) {
    const Result<std::wstring> there = wide(text);
    ASSERT_TRUE(there.ok()) << there.status().message;
    EXPECT_EQ(utf8(*there), text);
  }
  EXPECT_EQ(*wide("\U0001f600"), L"\xd83d\xde00");
  EXPECT_EQ(utf8(L"a\xd83d"), "a\ufffd");
}

TEST(WidePath, WhatIsNotUtf8IsRefused) {
  for (const char* text : {"\xff", "a\xc3", "\xed\xa0\x80", "C:\\\xfc.gguf"}) {
    EXPECT_EQ(wide(text).status().code, Code::invalid_argument) << text;
    EXPECT_EQ(wide_path(text).status().code, Code::invalid_argument) << text;
  }
}

TEST(WidePath, EveryKindOfPath) {
  const struct {
    const char *given, *wide;
  } rows[] = {
      {"C:\\a\\b.gguf", "\\\\?\\C:\\a\\b.gguf"},
      {"C:/a/./b/../c.gguf", "\\\\?\\C:\\a\\c.gguf"},
      {"\\\\server\\share\\a\\..\\b.gguf", "\\\\?\\UNC\\server\\share\\b.gguf"},
      {"//server/share/b.gguf", "\\\\?\\UNC\\server\\share\\b.gguf"},
      {"\\\\?\\C:\\a\\b.gguf", "\\\\?\\C:\\a\\b.gguf"},
      {"\\\\?\\UNC\\server\\share\\b.gguf", "\\\\?\\UNC\\server\\share\\b.gguf"},
      {"\\\\.\\pipe\\x", "\\\\.\\pipe\\x"},
      {"NUL", "\\\\.\\NUL"},
      {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(wide_text(row.given), row.wide) << row.given;
}

TEST(WidePath, PathsOfTheCurrentFolderAndDrive) {
  const std::string here = std::filesystem::current_path().string();
  ASSERT_EQ(here.substr(1, 2), ":\\");
  const std::string drive = here.substr(0, 2), slash = here.ends_with('\\') ? "" : "\\";
  EXPECT_EQ(wide_text("x.gguf"), "\\\\?\\" + here + slash + "x.gguf");
  EXPECT_EQ(wide_text(".\\x.gguf"), "\\\\?\\" + here + slash + "x.gguf");
  EXPECT_EQ(wide_text(drive + "x.gguf"), "\\\\?\\" + here + slash + "x.gguf") << "of the drive's current folder";
  EXPECT_EQ(wide_text("\\x.gguf"), "\\\\?\\" + drive + "\\x.gguf");
  EXPECT_EQ(wide_text("/x.gguf"), "\\\\?\\" + drive + "\\x.gguf");
}

TEST(WidePath, LongOnesAreTaken) {
  for (const size_t n : {247u, 255u, 256u, 257u, 300u, 5000u}) {
    std::string path = "C:";
    while (path.size() < n) path += "\\" + std::string(std::min<size_t>(n - path.size(), 100), 'n');
    EXPECT_EQ(wide_text(path), "\\\\?\\" + path);
  }
}

}  // namespace
}  // namespace inlay
