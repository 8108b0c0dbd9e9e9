// Every system call of the library is made to fail, from the n-th on: the result is a status of the right kind that says
// what failed, nothing stays behind, and all works when the calls do again. check_system_calls.py compares the calls that
// are defined here with those that the library refers to.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest-spi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include "tests/capi/client.h"
#include "tests/support/hf_folder.h"
#include "tests/support/split_model.h"

namespace {

const char* failing = nullptr;  // the call
int number = 0, first = 0;      // errno of those that fail; the first of them, counted from 0
bool once = false;
std::atomic<int> n_calls = 0, n_failed = 0;
off_t n_on_disk = 0, n_last_sync = 0;  // bytes of the file being written that were waited for; that its fsync has to wait for

// Whether this call is to fail, with errno set.
bool fails(const char* name) {
  if (!failing || std::strcmp(name, failing) != 0) return false;
  const int at = n_calls.fetch_add(1);
  if (once ? at != first : at < first) return false;
  ++n_failed;
  errno = number;
  return true;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define INTERPOSE extern "C" __attribute__((visibility("default")))
#define INTERPOSE_CALL(type, name, parameters, arguments, refused)          \
  INTERPOSE type name parameters {                                         \
    if (fails(#name)) return refused;                                      \
    static const auto real = next<type(*) parameters>(#name);              \
    return real arguments;                                                 \
  }
// The system lets go of what it is given, whatever it answers.
#define INTERPOSE_END(name, parameters, arguments)               \
  INTERPOSE int name parameters {                                \
    static const auto real = next<int(*) parameters>(#name);     \
    const int result = real arguments;                           \
    return fails(#name) ? -1 : result;                           \
  }

INTERPOSE int open(const char* path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  if (fails("open")) return -1;
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  return real(path, flags, mode);
}
INTERPOSE int openat(int folder, const char* path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  if (fails("openat")) return -1;
  static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
  return real(folder, path, flags, mode);
}
// The same, as other C++ libraries open a folder to list it.
INTERPOSE int __openat_2(int folder, const char* path, int flags) {
  if (fails("openat")) return -1;
  static const auto real = next<int (*)(int, const char*, int)>("__openat_2");
  return real(folder, path, flags);
}
INTERPOSE DIR* opendir(const char* path) {
  if (fails("openat")) return nullptr;
  static const auto real = next<DIR* (*)(const char*)>("opendir");
  return real(path);
}
// Memory that the allocator asks for with addresses, protections or flags of its own is not the library's.
INTERPOSE void* mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) noexcept {
  const bool own = fd >= 0 || (!at && protection == (PROT_READ | PROT_WRITE) && flags == (MAP_PRIVATE | MAP_ANONYMOUS));
  if (own && fails("mmap")) return MAP_FAILED;
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  return real(at, n, protection, flags, fd, offset);
}
INTERPOSE int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*), void* user) noexcept {
  if (fails("pthread_create")) return number;
  static const auto real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(thread, how, body, user);
}
INTERPOSE_CALL(FILE*, fopen, (const char* path, const char* how), (path, how), nullptr)
INTERPOSE_CALL(ssize_t, pread, (int fd, void* into, size_t n, off_t at), (fd, into, n, at), -1)
INTERPOSE_CALL(ssize_t, write, (int fd, const void* from, size_t n), (fd, from, n), -1)
INTERPOSE int sync_file_range(int fd, off_t at, off_t n, unsigned flags) {
  if (fails("sync_file_range")) return -1;
  static const auto real = next<int (*)(int, off_t, off_t, unsigned)>("sync_file_range");
  if (flags & SYNC_FILE_RANGE_WAIT_AFTER) n_on_disk = at == 0 || at == n_on_disk ? at + n : -1;
  return real(fd, at, n, flags);
}
INTERPOSE int fsync(int fd) {
  if (const off_t size = ::lseek(fd, 0, SEEK_CUR); size > 0) n_last_sync = size - n_on_disk, n_on_disk = 0;  // a folder's is 0
  if (fails("fsync")) return -1;
  static const auto real = next<int (*)(int)>("fsync");
  return real(fd);
}
INTERPOSE_CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
INTERPOSE_CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1)
INTERPOSE_CALL(int, rename, (const char* from, const char* to), (from, to), -1)
INTERPOSE_CALL(int, stat, (const char* path, struct stat* info), (path, info), -1)
INTERPOSE_CALL(int, lstat, (const char* path, struct stat* info), (path, info), -1)
INTERPOSE_CALL(int, fstat, (int fd, struct stat* info), (fd, info), -1)
// The same, as glibc before 2.33 has them: src/capi/older_glibc.cpp.
#define INTERPOSE_OLDER_STAT(older, name, type, what)                                  \
  INTERPOSE int older(int version, type what, struct stat* info) {                     \
    if (fails(name)) return -1;                                                        \
    static const auto real = next<int (*)(int, type, struct stat*)>(#older);           \
    return real(version, what, info);                                                  \
  }
INTERPOSE_OLDER_STAT(__xstat, "stat", const char*, path)
INTERPOSE_OLDER_STAT(__lxstat, "lstat", const char*, path)
INTERPOSE_OLDER_STAT(__fxstat, "fstat", int, fd)
INTERPOSE_CALL(ssize_t, readlink, (const char* path, char* into, size_t n), (path, into, n), -1)
INTERPOSE_CALL(int, madvise, (void* at, size_t n, int advice), (at, n, advice), -1)
INTERPOSE_CALL(int, sched_getaffinity, (pid_t process, size_t n, cpu_set_t* mask), (process, n, mask), -1)
INTERPOSE_CALL(int, sysinfo, (struct sysinfo * info), (info), -1)
INTERPOSE_CALL(int, getrlimit, (__rlimit_resource_t what, struct rlimit* limit), (what, limit), -1)
INTERPOSE_CALL(int, eventfd, (unsigned value, int flags), (value, flags), -1)
INTERPOSE_CALL(int, sigpending, (sigset_t * signals), (signals), -1)
INTERPOSE_CALL(char*, getcwd, (char* into, size_t n), (into, n), nullptr)
INTERPOSE_END(close, (int fd), (fd))
INTERPOSE_END(munmap, (void* at, size_t n), (at, n))

namespace inlay::test {
namespace {

namespace fs = std::filesystem;

// What a failure of a call does: `tolerated`: nothing.
struct Call {
  const char* name;
  bool tolerated;
  bool retried = false;            // when a signal interrupts it
  inlay_status always = INLAY_OK;  // whatever the number
};
constexpr Call kCalls[] = {
    {"open", false, true},
    {"pread", false, true},
    {"fstat", false},
    {"mmap", false},
    {"pthread_create", false, false, INLAY_OUT_OF_MEMORY},
    {"write", false, true},
    {"fsync", false, true},
    {"sync_file_range", false},
    {"fchmod", false},
    {"rename", false},
    {"stat", false},
    {"lstat", false},
    {"readlink", false},
    {"close", false},
    {"eventfd", false},
    {"openat", false},  // or opendir, of the folder additional_chat_templates
    {"fopen", true},              // of /proc and of control groups
    {"fchown", true},             // the file is the caller's then
    {"madvise", true},            // hints
    {"sched_getaffinity", true},  // the processors are counted otherwise
    {"sysinfo", true},
    {"getrlimit", true},
    {"sigpending", true},
    {"getcwd", true},  // of a folder's name, the model's if it has no other
    {"munmap", true},
};
constexpr int kNumbers[] = {EPERM, EACCES, ENOMEM, EIO, ENOSPC, EMFILE};

size_t n_descriptors() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

inlay_load_params two_threads() {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_threads = 2;
  return params;
}

inlay_status used(inlay_engine* engine, inlay_error* err) {
  inlay_session* session = nullptr;
  inlay_event event;
  inlay_status status = inlay_session_create(engine, nullptr, &session, err);
  const int32_t token = 1;
  if (status == INLAY_OK) status = inlay_prefill(session, &token, 1, nullptr, err);
  for (int i = 0; i < 3 && status == INLAY_OK; ++i) status = inlay_decode_step(&session, 1, &event, sizeof event, err);
  inlay_session_free(session);
  return status;
}

inlay_status loaded(const std::string& path, inlay_error* err) {
  const inlay_load_params params = two_threads();
  inlay_engine* engine = nullptr;
  inlay_status status = inlay_load(path.c_str(), SIZE_MAX, &params, &engine, err);
  if (status == INLAY_OK) status = used(engine, err);
  inlay_free(engine);
  return status;
}

inlay_status read_through(const std::vector<char>& bytes, inlay_error* err) {
  inlay_reader reader = sized<inlay_reader>();
  reader.user = const_cast<std::vector<char>*>(&bytes);
  reader.size = bytes.size();
  reader.read = [](void* user, uint64_t offset, void* into, uint64_t n) {
    std::memcpy(into, static_cast<std::vector<char>*>(user)->data() + offset, n);
    return 0;
  };
  const inlay_load_params params = two_threads();
  inlay_engine* engine = nullptr;
  inlay_status status = inlay_load_reader(&reader, &params, &engine, err);
  if (status == INLAY_OK) status = used(engine, err);
  inlay_free(engine);
  return status;
}

inlay_status converted(const std::string& from, const std::string& to, inlay_error* err, inlay_convert_type type = INLAY_CONVERT_DEFAULT) {
  inlay_convert_params params = sized<inlay_convert_params>();
  params.type = type;
  params.n_threads = 2;
  return inlay_convert(from.c_str(), SIZE_MAX, to.c_str(), SIZE_MAX, &params, err);
}

// A request, computed by the engine's own thread and waited for.
inlay_status requested(const std::string& path, inlay_error* err) {
  const inlay_load_params params = two_threads();
  const inlay_thread_params thread = sized<inlay_thread_params>();
  inlay_engine* engine = nullptr;
  inlay_queue* queue = nullptr;
  inlay_wait_kind kind = 0;
  int64_t handle = 0;
  uint64_t id = 0;
  inlay_wait_result result = 0;
  const int32_t token = 1;
  inlay_request request = sized<inlay_request>();
  request.tokens = &token;
  request.n_tokens = 1;
  inlay_status status = inlay_load(path.c_str(), SIZE_MAX, &params, &engine, err);
  if (status == INLAY_OK) status = inlay_queue_create(engine, nullptr, &queue, err);
  if (status == INLAY_OK) status = inlay_queue_get_handle(queue, &kind, &handle, err);
  if (status == INLAY_OK) status = inlay_engine_set_thread(engine, &thread, err);
  if (status == INLAY_OK) status = inlay_submit(queue, &request, &id, err);
  if (status == INLAY_OK) status = inlay_wait(queue, -1, &result, err);
  inlay_queue_free(queue);
  inlay_free(engine);
  return status;
}

struct Scenario {
  const char* name;
  std::vector<std::string> named;  // one of them is in each message
  std::function<inlay_status(inlay_error*)> run;
};

class SystemCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    split_ = write_split(model_file(kModel), parts_.path("model"), 3);
    bytes_ = file_bytes(model_file("llama-q8_0"));
    const std::string folder = INLAY_SOURCE_DIR "/examples/model/hf", file = model_file(kModel);
    const std::string tales = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
    fs::create_symlink(out(), out_.path("link"));
    scenarios_ = {
        {"file", {file, "KV", "thread"}, [=](inlay_error* err) { return loaded(file, err); }},
        {"requests", {file, "KV", "thread", "eventfd"}, [=](inlay_error* err) { return requested(file, err); }},
        {"large file", {tales, "host memory", "thread"}, [=](inlay_error* err) { return loaded(tales, err); }},
        {"folder", {folder, "host memory", "thread"}, [=](inlay_error* err) { return loaded(folder, err); }},
        {"split files", {parts_.path(), "KV", "thread"}, [=, this](inlay_error* err) { return loaded(split_, err); }},
        {"reader", {"host memory", "thread"}, [this](inlay_error* err) { return read_through(bytes_, err); }},
        {"convert", {file, out_.path(), "thread"}, [=, this](inlay_error* err) { return converted(file, out_.path("link"), err); }},
        {"convert split files", {parts_.path(), out_.path(), "thread"},
         [this](inlay_error* err) { return converted(split_, out(), err); }},
        {"convert a large file", {tales, out_.path(), "thread"},
         [=, this](inlay_error* err) { return converted(tales, out(), err, INLAY_CONVERT_F32); }},
    };
  }
  void TearDown() override { failing = nullptr; }

  std::string out() const { return out_.path("out.gguf"); }

  // Whether a call failed.
  bool run(const Scenario& scenario, const Call& call, int error_number, int from, bool just_once) {
    SCOPED_TRACE(std::string(scenario.name) + ": " + call.name + " fails with errno " + std::to_string(error_number) + " from call " +
                 std::to_string(from));
    out_.write("out.gguf", "before");
    const size_t n_before = n_descriptors();
    inlay_error err;
    number = error_number, first = from, once = just_once;
    n_calls = 0, n_failed = 0;
    failing = call.name;
    const inlay_status status = scenario.run(&err);
    failing = nullptr;
    EXPECT_EQ(n_descriptors(), n_before);
    EXPECT_EQ(names_in(out_.path()), (std::vector<std::string>{"link", "out.gguf"}));
    if (status != INLAY_OK) check(scenario, call, err);
    if (call.tolerated || n_failed == 0 || (call.retried && error_number == EINTR)) {
      EXPECT_EQ(status, INLAY_OK) << err.message;
    }
    if (status != INLAY_OK) ++n_refused_;
    return n_failed > 0;
  }

  void check(const Scenario& scenario, const Call& call, const inlay_error& err) {
    const std::string message = err.message;
    const inlay_status by_number = number == ENOMEM ? INLAY_OUT_OF_MEMORY : INLAY_IO;
    const bool of_memory = std::strcmp(call.name, "mmap") == 0 && message.find("host memory") != std::string::npos;
    // A file of a folder that the system does not show is taken as there, until its opening says more.
    if (std::strcmp(call.name, "stat") == 0 && err.native_code == ENOENT && err.status == INLAY_NOT_FOUND) return;
    EXPECT_EQ(err.status, call.always != INLAY_OK ? call.always : of_memory ? INLAY_OUT_OF_MEMORY : by_number) << message;
    EXPECT_EQ(err.native_code, number) << message;
    EXPECT_TRUE(std::any_of(scenario.named.begin(), scenario.named.end(),
                            [&](const std::string& part) { return message.find(part) != std::string::npos; }))
        << message;
    const bool in_place = message.find("is in place") != std::string::npos;
    EXPECT_EQ(file_bytes(out()) == std::vector<char>({'b', 'e', 'f', 'o', 'r', 'e'}), !in_place) << message;
    n_in_place_ += in_place;
  }

  TemporaryFolder parts_, out_;
  std::string split_;
  std::vector<char> bytes_;
  std::vector<Scenario> scenarios_;
  int n_refused_ = 0, n_in_place_ = 0;
};

TEST_F(SystemCalls, FailuresBecomeStatuses) {
  for (const Call& call : kCalls) {
    n_refused_ = n_in_place_ = 0;
    for (const Scenario& scenario : scenarios_) {
      // All numbers for the first call, then by turns.
      for (const int error_number : kNumbers) run(scenario, call, error_number, 0, false);
      for (int from = 1, n = 0;; from += 1 + from / 6, ++n) {
        if (!run(scenario, call, kNumbers[n % std::size(kNumbers)], from, n % 2 == 1)) break;
        if (HasFailure()) return;
      }
      if (call.retried) run(scenario, call, EINTR, 0, true);
      if (HasFailure()) return;
      inlay_error err;
      EXPECT_EQ(scenario.run(&err), INLAY_OK) << "afterwards, " << scenario.name << ": " << err.message;
    }
    EXPECT_EQ(n_refused_ > 0, !call.tolerated) << call.name;
    if (std::strcmp(call.name, "fsync") == 0) {
      EXPECT_GT(n_in_place_, 0);  // the folder's
    }
  }
}

// The negative control: a failure that is not as expected is noticed.
TEST_F(SystemCalls, WrongExpectationsAreNoticed) {
  EXPECT_NONFATAL_FAILURE(run(scenarios_[0], Call{"openat", true}, EIO, 0, false), "the device failed");
  EXPECT_NONFATAL_FAILURE(run(scenarios_[0], Call{"openat", false, false, INLAY_UNSUPPORTED}, EIO, 0, false), "the device failed");
  scenarios_[0].named = {"something else"};
  EXPECT_NONFATAL_FAILURE(run(scenarios_[0], Call{"openat", false}, EIO, 0, false), "the device failed");
}

// The sync of a whole file, in which the host hears nothing, has little to wait for. Where the file system brings no parts of a file to the
// disk, it has all.
TEST_F(SystemCalls, TheLastSyncHasLittleToDo) {
  const Scenario& large = scenarios_.back();
  inlay_error err;
  EXPECT_EQ(large.run(&err), INLAY_OK) << err.message;
  EXPECT_GT(n_last_sync, 0);
  EXPECT_LE(n_last_sync, 8 << 20);
  for (const int unknown : {ENOSYS, EINVAL, ENOTSUP, ESPIPE}) {
    EXPECT_TRUE(run(large, Call{"sync_file_range", true}, unknown, 0, false));
    EXPECT_GT(n_last_sync, 8 << 20);
  }
}

// What is written in part when the disk is full is removed, and what was there before stays.
TEST_F(SystemCalls, AFullDiskLeavesTheOldFile) {
  const Call call{"write", false};
  int n = 0;
  for (int from = 0; run(scenarios_[6], call, ENOSPC, from, false); ++from) ++n;
  EXPECT_GT(n, 3);
  EXPECT_EQ(n_refused_, n);
}

}  // namespace
}  // namespace inlay::test
