// No child process that the host starts inherits a file that the library has opened.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "tests/capi/client.h"
#include "tests/support/hf_folder.h"

namespace {
std::mutex mutex;
bool watching = false;
std::vector<std::string> opened, inheritable;

void note(const char* path, bool closes) {
  const std::lock_guard lock(mutex);
  if (!watching) return;
  opened.emplace_back(path);
  if (!closes) inheritable.emplace_back(path);
}
}  // namespace

// Stand before the C library's for the library, too.
extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  note(path, (flags & O_CLOEXEC) != 0);
  static const auto next = reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open"));
  return next(path, flags, mode);
}
extern "C" __attribute__((visibility("default"))) FILE* fopen(const char* path, const char* how) {
  note(path, strchr(how, 'e') != nullptr);
  static const auto next = reinterpret_cast<FILE* (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "fopen"));
  return next(path, how);
}

namespace inlay::test {
namespace {

TEST(Descriptors, AreClosedInChildren) {
  const TemporaryFolder folder;
  const std::string made = folder.path("made.gguf"), source = INLAY_SOURCE_DIR "/examples/model/hf";
  inlay_error err;
  watching = true;
  EXPECT_GT(inlay_device_count(), 0);
  inlay_device_info info = sized<inlay_device_info>();
  EXPECT_EQ(inlay_device_get(0, &info, &err), INLAY_OK);
  const inlay_load_params params = on(INLAY_DEVICE_CPU);
  for (const std::string& path : {source, model_file(kModel)}) {
    inlay_engine* engine = nullptr;
    EXPECT_EQ(inlay_load(path.c_str(), SIZE_MAX, &params, &engine, &err), INLAY_OK) << err.message;
    inlay_free(engine);
    EXPECT_EQ(inlay_convert(path.c_str(), SIZE_MAX, made.c_str(), SIZE_MAX, nullptr, &err), INLAY_OK) << err.message;
  }
  watching = false;
  EXPECT_EQ(inheritable, std::vector<std::string>());
  const auto saw = [](const std::string& part) {
    return std::any_of(opened.begin(), opened.end(), [&](const std::string& path) { return path.find(part) != path.npos; });
  };
  for (const char* part : {"made.gguf.", "model.safetensors", "config.json", "tokenizer.json", ".gguf", "/proc/"}) EXPECT_TRUE(saw(part)) << part;
  watching = true;  // the negative control
  fclose(fopen(made.c_str(), "rb"));
  watching = false;
  EXPECT_EQ(inheritable, std::vector<std::string>{made});
}

}  // namespace
}  // namespace inlay::test
