// No child process that the host starts inherits a file that the library has opened.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>

#include "tests/capi/client.h"
#include "tests/support/hf_folder.h"
#include "tests/support/split_model.h"

namespace {
std::mutex mutex;
bool watching = false;
thread_local bool looking = false;
std::set<int> hosts;  // those that were open before
std::vector<std::string> opened, inheritable;

// What a descriptor is of; empty where it is closed.
std::string name_of(int fd) {
  char name[4096];
  const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name);
  return n < 0 ? std::string() : std::string(name, static_cast<size_t>(n));
}

std::set<int> open_descriptors() {
  std::set<int> out;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = folder ? readdir(folder) : nullptr) {
    if (const int fd = atoi(entry->d_name); entry->d_name[0] != '.' && fd != dirfd(folder)) out.insert(fd);
  }
  if (folder) closedir(folder);
  return out;
}

// Looks at everything that is open, however it came to be.
void look() {
  const std::lock_guard lock(mutex);
  if (!watching || looking) return;
  looking = true;
  for (const int fd : open_descriptors()) {
    const int flags = fcntl(fd, F_GETFD);
    if (hosts.contains(fd) || flags < 0) continue;
    opened.push_back(name_of(fd));
    if (!(flags & FD_CLOEXEC)) inheritable.push_back(name_of(fd));
  }
  looking = false;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}
}  // namespace

#define INTERPOSE extern "C" __attribute__((visibility("default")))
// Stand before the C library's for the library, too: what makes descriptors, and what is called while they are open.
#define LOOK_AFTER(type, name, parameters, arguments)          \
  INTERPOSE type name parameters {                            \
    static const auto real = next<type(*) parameters>(#name); \
    const auto result = real arguments;                       \
    look();                                                   \
    return result;                                            \
  }
#define LOOK_AFTER_OPEN(name, parameters, arguments, ...)                      \
  INTERPOSE int name(__VA_ARGS__, int flags, ...) {                           \
    va_list list;                                                             \
    va_start(list, flags);                                                    \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
    va_end(list);                                                             \
    static const auto real = next<int(*) parameters>(#name);                  \
    const int result = real arguments;                                        \
    look();                                                                   \
    return result;                                                            \
  }
LOOK_AFTER_OPEN(open, (const char*, int, ...), (path, flags, mode), const char* path)
LOOK_AFTER_OPEN(open64, (const char*, int, ...), (path, flags, mode), const char* path)
LOOK_AFTER_OPEN(openat, (int, const char*, int, ...), (folder, path, flags, mode), int folder, const char* path)
LOOK_AFTER_OPEN(openat64, (int, const char*, int, ...), (folder, path, flags, mode), int folder, const char* path)
LOOK_AFTER(FILE*, fopen, (const char* path, const char* how), (path, how))
LOOK_AFTER(FILE*, fopen64, (const char* path, const char* how), (path, how))
LOOK_AFTER(int, dup, (int fd), (fd))
LOOK_AFTER(int, dup2, (int fd, int as), (fd, as))
LOOK_AFTER(int, pipe, (int* fds), (fds))
LOOK_AFTER(int, pipe2, (int* fds, int flags), (fds, flags))
LOOK_AFTER(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
LOOK_AFTER(int, memfd_create, (const char* name, unsigned flags), (name, flags))
LOOK_AFTER(int, eventfd, (unsigned value, int flags), (value, flags))
LOOK_AFTER(int, fstat, (int fd, struct stat* info), (fd, info))
LOOK_AFTER(ssize_t, pread, (int fd, void* into, size_t n, off_t at), (fd, into, n, at))
LOOK_AFTER(ssize_t, write, (int fd, const void* from, size_t n), (fd, from, n))
LOOK_AFTER(int, fsync, (int fd), (fd))
INTERPOSE int close(int fd) {
  look();
  static const auto real = next<int (*)(int)>("close");
  return real(fd);
}

namespace inlay::test {
namespace {

TEST(Descriptors, AreClosedInChildren) {
  const TemporaryFolder folder;
  const std::string made = folder.path("made.gguf"), source = INLAY_SOURCE_DIR "/examples/model/hf";
  inlay_error err;
  const std::string split = write_split(model_file(kModel), folder.path("part"), 3);
  // The GPU's driver lets children inherit what it opens when it starts.
  if (dlopen("libcuda.so.1", RTLD_NOW)) (void)inlay_device_count();
  hosts = open_descriptors();
  watching = true;
  EXPECT_GT(inlay_device_count(), 0);
  inlay_device_info info = sized<inlay_device_info>();
  EXPECT_EQ(inlay_device_get(0, &info, &err), INLAY_OK);
  const inlay_load_params params = on(INLAY_DEVICE_CPU);
  for (const std::string& path : {source, model_file(kModel), split}) {
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
  for (const char* part : {"made.gguf.", "model.safetensors", "config.json", "tokenizer.json", ".gguf", "part-00003-of-00003.gguf", "/proc/"}) EXPECT_TRUE(saw(part)) << part;
  // The negative control: each way to make one that a child inherits.
  const auto seen = [](const std::function<int()>& make) {
    inheritable.clear();
    watching = true;
    const int fd = make();
    watching = false;
    EXPECT_GE(fd, 0);
    const bool out = std::find(inheritable.begin(), inheritable.end(), name_of(fd)) != inheritable.end();
    close(fd);
    return out;
  };
  EXPECT_TRUE(seen([&] { return open(made.c_str(), O_RDONLY); }));
  EXPECT_TRUE(seen([&] { return openat(AT_FDCWD, made.c_str(), O_RDONLY); }));
  EXPECT_TRUE(seen([] { return dup(0); }));
  EXPECT_TRUE(seen([] { return socket(AF_UNIX, SOCK_STREAM, 0); }));
  EXPECT_TRUE(seen([] { return memfd_create("x", 0); }));
  EXPECT_TRUE(seen([] { return eventfd(0, 0); }));
  EXPECT_TRUE(seen([&] {  // by a call of the system that is not watched
    const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, made.c_str(), O_RDONLY));
    struct stat of_file;
    EXPECT_EQ(fstat(fd, &of_file), 0);
    return fd;
  }));
  EXPECT_FALSE(seen([&] { return open(made.c_str(), O_RDONLY | O_CLOEXEC); }));
}

}  // namespace
}  // namespace inlay::test
