// Models' files on Windows: paths of every kind, and files that others change, hold or protect.
#include <functional>

#include "src/base/wide_path.h"
#include "src/base/windows_api.h"
#include "tests/capi/client.h"
#include "tests/support/temporary_folder.h"

namespace inlay::test {
namespace {

namespace fs = std::filesystem;

struct Loaded {
  inlay_status status;
  EnginePtr engine;
  std::string message;
};

Loaded load_path(const std::string& path) {
  const inlay_load_params params = on(INLAY_DEVICE_CPU);
  inlay_engine* engine = nullptr;
  inlay_error err = {};
  const inlay_status status = inlay_load(path.c_str(), SIZE_MAX, &params, &engine, &err);
  return {status, EnginePtr(engine), err.message};
}

std::pair<inlay_status, std::string> convert_to(const std::string& path) {
  inlay_convert_params params = sized<inlay_convert_params>();
  inlay_error err = {};
  const inlay_status status = inlay_convert(model_file(kModel).c_str(), SIZE_MAX, path.c_str(), SIZE_MAX, &params, &err);
  return {status, err.message};
}

Tokens reply_of(const EnginePtr& engine) {
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  return greedy(session, kPlainReply.size());
}

void copy_model(const std::string& to) { ASSERT_TRUE(CopyFileW(wide_path(model_file(kModel))->c_str(), wide_path(to)->c_str(), FALSE)); }

TEST(FilesOnWindows, PathsOfEveryKindLoadAndAreConvertedTo) {
  const TemporaryFolder folder;
  std::string deep = folder.path();
  for (int i = 0; i < 4; ++i) {
    deep += "\\" + std::string(90, static_cast<char>('a' + i));
    ASSERT_TRUE(CreateDirectoryW(wide_path(deep)->c_str(), nullptr));
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const std::string drive = folder.path().substr(0, 2), rest = folder.path().substr(2);
  for (const std::string& path : {deep + "\\model.gguf", "\\\\?\\" + deep + "\\verbatim.gguf", folder.path() + "\\\u00c4rger \u4e2d\u6587 \U0001f600.gguf",
                                  drive + "of the drive.gguf", rest + "\\of the current drive.gguf", std::string("relative.gguf")}) {
    const auto [status, message] = convert_to(path);
    EXPECT_EQ(status, INLAY_OK) << message;
    const Loaded loaded = load_path(path);
    ASSERT_EQ(loaded.status, INLAY_OK) << loaded.message;
    EXPECT_EQ(reply_of(loaded.engine), kPlainReply) << path;
  }
  EXPECT_TRUE(fs::exists(folder.path("of the drive.gguf")) && fs::exists(folder.path("relative.gguf")));
  fs::current_path(before);
  for (; deep != folder.path(); deep.resize(deep.rfind('\\'))) {
    DeleteFileW(wide_path(deep + "\\model.gguf")->c_str());
    DeleteFileW(wide_path(deep + "\\verbatim.gguf")->c_str());
    EXPECT_TRUE(RemoveDirectoryW(wide_path(deep)->c_str()));
  }
}

// Loading is over when the call returns: the file is nobody's then.
TEST(FilesOnWindows, TheFileOfALoadedModelIsFree) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.gguf"), other = folder.path("other.gguf");
  const std::function<bool()> changes[] = {
      [&] { return MoveFileExW(wide_path(path)->c_str(), wide_path(other)->c_str(), MOVEFILE_REPLACE_EXISTING) != 0; },
      [&] { return DeleteFileW(wide_path(path)->c_str()) != 0; },
      [&] {
        copy_model(other);
        return MoveFileExW(wide_path(other)->c_str(), wide_path(path)->c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
      },
      [&] { return bool(Handle(CreateFileW(wide_path(path)->c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr))); }};
  for (const auto& change : changes) {
    copy_model(path);
    const Loaded loaded = load_path(path);
    ASSERT_EQ(loaded.status, INLAY_OK) << loaded.message;
    EXPECT_TRUE(change());
    EXPECT_EQ(reply_of(loaded.engine), kPlainReply);
  }
}

TEST(FilesOnWindows, WhatOthersHoldOrProtectIsSaid) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.gguf");
  copy_model(path);
  {
    const Handle theirs(CreateFileW(wide_path(path)->c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    ASSERT_TRUE(theirs);
    const Loaded loaded = load_path(path);
    EXPECT_EQ(loaded.status, INLAY_IO);
    EXPECT_NE(loaded.message.find("another program has it open"), std::string::npos) << loaded.message;
    const auto [status, message] = convert_to(path);
    EXPECT_EQ(status, INLAY_IO);
    EXPECT_NE(message.find(path), std::string::npos) << message;
  }
  ASSERT_TRUE(SetFileAttributesW(wide_path(path)->c_str(), FILE_ATTRIBUTE_READONLY));
  const auto [status, message] = convert_to(path);
  EXPECT_EQ(status, INLAY_IO);
  EXPECT_NE(message.find("it is read-only"), std::string::npos) << message;
  EXPECT_EQ(load_path(path).status, INLAY_OK) << "it can still be read";
  ASSERT_TRUE(SetFileAttributesW(wide_path(path)->c_str(), FILE_ATTRIBUTE_NORMAL));
  EXPECT_EQ(convert_to(path).first, INLAY_OK);
  EXPECT_EQ(load_path(path).status, INLAY_OK);
}

TEST(FilesOnWindows, ANameThatIsNotUtf8IsRefused) {
  EXPECT_EQ(load_path("C:\\\xfc.gguf").status, INLAY_INVALID_ARGUMENT);
  EXPECT_EQ(convert_to("C:\\\xfc.gguf").first, INLAY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace inlay::test
