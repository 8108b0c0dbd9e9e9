// Files that are read on Windows: paths of every kind, and what others may do to a file meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#include "src/formats/checkpoint.h"
#include "tests/support/temporary_folder.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

constexpr const char* kText = "bytes of a model";

void put(const std::string& path, const std::string& text = kText) {
  std::ofstream(fs::path(*wide_path(path)), std::ios::binary) << text;
}

std::string read_all(const ByteSource& source) {
  std::string out(source.size(), '\0');
  const Status status = source.read(0, std::as_writable_bytes(std::span(out)));
  return status.ok() ? out : status.message;
}

std::string read_all(const std::string& path) {
  const auto source = open_file(path);
  return source.ok() ? read_all(**source) : source.status().message;
}

TEST(OpenFileOnWindows, PathsOfEveryKind) {
  const TemporaryFolder folder;
  std::string deep = folder.path();
  for (int i = 0; i < 4; ++i) {
    deep += "\\" + std::string(90, static_cast<char>('a' + i));
    ASSERT_TRUE(CreateDirectoryW(wide_path(deep)->c_str(), nullptr));
  }
  put(deep + "\\model");
  EXPECT_EQ(read_all(deep + "\\model"), kText) << "longer than MAX_PATH";
  for (; deep != folder.path(); deep.resize(deep.rfind('\\'))) {
    DeleteFileW(wide_path(deep + "\\model")->c_str());
    EXPECT_TRUE(RemoveDirectoryW(wide_path(deep)->c_str()));
  }

  for (const char* name : {"\u00c4rger \u4e2d\u6587.gguf", "\U0001f600", "with space.gguf"}) {
    put(folder.path() + "\\" + name);
    EXPECT_EQ(read_all(folder.path() + "\\" + name), kText) << name;
    EXPECT_EQ(read_all("\\\\?\\" + folder.path() + "\\" + name), kText) << name;
  }
  put(folder.path("x.gguf"));
  std::string slashes = folder.path("x.gguf");
  std::ranges::replace(slashes, '\\', '/');
  EXPECT_EQ(read_all(slashes), kText);
  EXPECT_EQ(read_all(folder.path().substr(2) + "\\x.gguf").find(kText) == 0, fs::current_path().root_name() == fs::path(folder.path()).root_name());

  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  EXPECT_EQ(read_all("x.gguf"), kText);
  EXPECT_EQ(read_all(folder.path().substr(0, 2) + "x.gguf"), kText) << "of the drive's current folder";
  EXPECT_EQ(read_all(folder.path().substr(2) + "\\x.gguf"), kText) << "of the current drive";
  fs::current_path(before);
}

TEST(OpenFileOnWindows, WhatCannotBeOpenedIsNamed) {
  const TemporaryFolder folder;
  put(folder.path("taken"));
  const Handle theirs(CreateFileW(wide_path(folder.path("taken"))->c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  ASSERT_TRUE(theirs);
  const struct {
    std::string path;
    Code code;
    const char* said;
  } rows[] = {{folder.path("absent"), Code::not_found, "no such file or folder"},
              {folder.path("absent\\x"), Code::not_found, "no such folder"},
              {"\\\\no-such-server-inlay\\share\\x.gguf", Code::not_found, ""},
              {folder.path(), Code::io, "it is not a regular file"},
              {"NUL", Code::io, "it is not a regular file"},
              {folder.path("taken"), Code::io, "another program has it open"},
              {folder.path("a*b"), Code::io, ""},
              {"C:\\\xff", Code::invalid_argument, "it is not UTF-8"}};
  for (const auto& row : rows) {
    const auto source = open_file(row.path);
    EXPECT_EQ(source.status().code, row.code) << source.status().message;
    EXPECT_NE(source.status().message.find(row.said), std::string::npos) << source.status().message;
  }
}

// What is open stays what it was, whatever its name is now.
TEST(OpenFileOnWindows, OthersMayRenameDeleteAndReplaceIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model"), other = folder.path("other");
  const struct {
    const char* name;
    std::function<void()> change;
    bool written;
  } rows[] = {
      {"nothing", [] {}, false},
      {"renamed", [&] { ASSERT_TRUE(MoveFileExW(wide_path(path)->c_str(), wide_path(other)->c_str(), MOVEFILE_REPLACE_EXISTING)); }, false},
      {"deleted", [&] { ASSERT_TRUE(DeleteFileW(wide_path(path)->c_str())); }, false},
      {"replaced",
       [&] {
         put(other, "the bytes of another");
         ASSERT_TRUE(ReplaceFileW(wide_path(path)->c_str(), wide_path(other)->c_str(), nullptr, 0, nullptr, nullptr));
       },
       false},
      {"written to",
       [&] {
         const Handle writer(CreateFileW(wide_path(path)->c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                         OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
         ASSERT_TRUE(writer);
         SetFilePointer(writer.get(), 0, nullptr, FILE_END);
         DWORD n = 0;
         ASSERT_TRUE(WriteFile(writer.get(), "more", 4, &n, nullptr));
       },
       true},
  };
  for (const auto& row : rows) {
    DeleteFileW(wide_path(other)->c_str());
    put(path);
    auto source = open_file(path);
    ASSERT_TRUE(source.ok()) << source.status().message;
    row.change();
    EXPECT_EQ(read_all(**source), kText) << row.name;
    const Status unchanged = (*source)->check_unchanged();
    EXPECT_EQ(unchanged.code, row.written ? Code::io : Code::ok) << row.name << unchanged.message;
    source = error(Code::io, "closed");
    DeleteFileW(wide_path(path)->c_str());
  }
}

TEST(OpenFileOnWindows, AFileThatIsCutShortIsAnError) {
  const TemporaryFolder folder;
  put(folder.path("model"));
  const auto source = open_file(folder.path("model"));
  ASSERT_TRUE(source.ok());
  fs::resize_file(folder.path("model"), 4);
  EXPECT_NE(read_all(**source).find("cut short while it was read: it ends at byte 4"), std::string::npos) << read_all(**source);
}

}  // namespace
}  // namespace inlay
