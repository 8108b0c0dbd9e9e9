// What Windows does not let be replaced, and what it does: a target that is read-only, that somebody has open, that a long or foreign
// name has.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#include "src/formats/target_file.h"
#include "tests/support/temporary_folder.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

Status write_file(const std::string& path, const std::string& text) {
  INLAY_ASSIGN(const std::unique_ptr<TargetFile> file, TargetFile::create(path));
  INLAY_TRY(file->write(std::as_bytes(std::span(text))));
  return file->publish();
}

std::string contents_of(const std::string& path) {
  std::ifstream file(fs::path(*wide_path(path)), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What a writer left. Wine's ReplaceFile leaves an empty rf*.tmp where it fails.
size_t n_partial(const TemporaryFolder& folder) {
  const auto is_partial = [](const fs::directory_entry& entry) { return entry.path().extension() == ".partial"; };
  return static_cast<size_t>(std::count_if(fs::directory_iterator(folder.path()), fs::directory_iterator(), is_partial));
}

size_t n_files(const TemporaryFolder& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

Handle opened(const std::string& path, DWORD access, DWORD sharing) {
  return Handle(CreateFileW(wide_path(path)->c_str(), access, sharing, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
}

TEST(TargetFileOnWindows, WhatIsReadOnlyIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  folder.write("out", "before");
  ASSERT_TRUE(SetFileAttributesW(wide_path(path)->c_str(), FILE_ATTRIBUTE_READONLY));
  const Status status = write_file(path, "after");
  EXPECT_EQ(status.code, Code::io);
  EXPECT_NE(status.message.find(path + ": cannot write the file: it is read-only"), std::string::npos) << status.message;
  EXPECT_EQ(contents_of(path), "before");
  ASSERT_TRUE(SetFileAttributesW(wide_path(path)->c_str(), FILE_ATTRIBUTE_NORMAL));
  EXPECT_TRUE(write_file(path, "after").ok());
  EXPECT_EQ(contents_of(path), "after");
  EXPECT_EQ(n_files(folder), 1u);
}

TEST(TargetFileOnWindows, WhatSomebodyHasOpenIsReplacedIfTheyShareIt) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  for (const DWORD sharing : {0u, unsigned{FILE_SHARE_READ}, unsigned{FILE_SHARE_READ | FILE_SHARE_WRITE},
                              unsigned{FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE}}) {
    const bool shared = sharing & FILE_SHARE_DELETE;
    folder.write("out", "before");
    Handle theirs = opened(path, GENERIC_READ, sharing);
    ASSERT_TRUE(theirs);
    const Status status = write_file(path, "after");
    if (shared) {
      EXPECT_TRUE(status.ok()) << status.message;
    } else {
      EXPECT_EQ(status.code, Code::io) << sharing;
      EXPECT_NE(status.message.find(path), std::string::npos) << status.message;
      EXPECT_TRUE(status.native_code == ERROR_SHARING_VIOLATION || status.native_code == ERROR_ACCESS_DENIED) << status.message;
    }
    theirs.close();
    EXPECT_EQ(contents_of(path), shared ? "after" : "before");
    EXPECT_EQ(n_partial(folder), 0u);
    EXPECT_TRUE(write_file(path, "again").ok()) << "once they are gone";
  }
}

// The file beside the target is nobody else's to write to.
TEST(TargetFileOnWindows, WhatIsBeingWrittenIsNotShared) {
  const TemporaryFolder folder;
  auto file = TargetFile::create(folder.path("out"));
  ASSERT_TRUE(file.ok()) << file.status().message;
  const std::string partial = fs::directory_iterator(folder.path())->path().string();
  constexpr DWORD kAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  EXPECT_EQ(n_partial(folder), 1u);
  EXPECT_FALSE(opened(partial, GENERIC_WRITE, kAll));
  EXPECT_TRUE(opened(partial, GENERIC_READ, kAll));
}

TEST(TargetFileOnWindows, WhatIsNoRegularFileIsRefused) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("folder"));
  const struct {
    std::string path;
    const char* said;
  } rows[] = {{folder.path("folder"), "it is a folder"},      {folder.path("folder\\..\\folder"), "it is a folder"},
              {folder.path("folder") + "\\", ""},             {"NUL", "it is a device"},
              {"\\\\.\\NUL", "it is a device"},               {"", ""},
              {folder.path("absent\\out"), "no such folder"}, {folder.path(std::string(300, 'n')), ""},
              {folder.path("a*b"), ""}};
  for (const auto& row : rows) {
    const Status status = write_file(row.path, "abc");
    EXPECT_EQ(status.code, Code::io) << row.path;
    EXPECT_NE(status.message.find(row.said), std::string::npos) << status.message;
    EXPECT_EQ(n_files(folder), 1u) << row.path;
  }
  EXPECT_EQ(write_file(folder.path() + std::string("\\a\0b", 4), "abc").code, Code::invalid_argument);
  EXPECT_EQ(write_file(folder.path() + "\\a\xff", "abc").code, Code::invalid_argument);
}

TEST(TargetFileOnWindows, LongAndForeignNamesAreTaken) {
  const TemporaryFolder folder;
  std::string deep = folder.path();
  for (int i = 0; i < 4; ++i) {
    deep += "\\" + std::string(90, static_cast<char>('a' + i));
    ASSERT_TRUE(CreateDirectoryW(wide_path(deep)->c_str(), nullptr));
  }
  ASSERT_GT(deep.size(), size_t{MAX_PATH});
  for (const std::string& path : {deep + "\\out", folder.path() + "\\\u00c4rger \u4e2d\u6587 \U0001f600.gguf", "\\\\?\\" + folder.path() + "\\verbatim"}) {
    for (const char* text : {"new", "replaced"}) {
      const Status status = write_file(path, text);
      EXPECT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(contents_of(path), text) << path;
    }
  }
  for (; deep != folder.path(); deep.resize(deep.rfind('\\'))) {
    DeleteFileW(wide_path(deep + "\\out")->c_str());
    EXPECT_TRUE(RemoveDirectoryW(wide_path(deep)->c_str()));
  }
}

// Two that replace one file at a time may hinder each other, and are told so. What is there is whole.
TEST(TargetFileOnWindows, TwoWritersOfOneTargetPublishWholeFilesOrFail) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  const auto text_of = [](int writer) { return std::string(200000, static_cast<char>('a' + writer)); };
  std::vector<std::thread> writers;
  std::atomic<int> n_published = 0, n_seen = 0, n_wrong = 0;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 25; ++i) {
        const Status status = write_file(path, text_of(w));
        if (status.ok()) ++n_published;
        if (!status.ok() && status.code != Code::io) ++n_wrong;
        const Handle file = opened(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
        if (!file) continue;
        std::string now(300000, '\0');
        DWORD n = 0;
        ReadFile(file.get(), now.data(), static_cast<DWORD>(now.size()), &n, nullptr);
        now.resize(n);
        ++n_seen;
        if (now.empty() || now != text_of(now[0] - 'a')) ++n_wrong;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(n_wrong, 0);
  EXPECT_GT(n_published, 0);
  EXPECT_GT(n_seen, 0);
  EXPECT_EQ(n_partial(folder), 0u);
}

// A folder's name in front of the drive's current folder.
TEST(TargetFileOnWindows, APathOfTheDrivesCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const Status status = write_file(folder.path().substr(0, 2) + "out", "abc");
  fs::current_path(before);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(contents_of(folder.path("out")), "abc");
}

}  // namespace
}  // namespace inlay
