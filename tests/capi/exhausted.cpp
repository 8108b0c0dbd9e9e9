// A host that has used up what a process has: keys of threads, static TLS, descriptors, address space. A call works or says what is missing, and loses
// nothing. Each test is a process of its own, which opens the library when the host is at its end.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "include/capi/inlay_dl.h"
#include "tests/capi/client.h"
#include "tests/support/temporary_folder.h"

namespace inlay::test {
namespace {

// Without the pages of files. /proc/self/statm counts per processor, and so can be wrong by hundreds of KiB.
size_t anonymous_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  size_t kib = 0;
  for (std::string line; std::getline(file, line) && std::sscanf(line.c_str(), "Anonymous: %zu", &kib) != 1;) {
  }
  EXPECT_GT(kib, 0u) << "no /proc/self/smaps_rollup";
  return kib << 10;
}

class Exhausted : public testing::Test {
 protected:
  void open() {
    char message[300];
    ASSERT_EQ(inlay_dl_open(INLAY_LIBRARY_FILE, &api_, message, sizeof message), 0) << message;
  }
  inlay_status load(inlay_engine** engine, inlay_error* err) {
    inlay_load_params p = on(INLAY_DEVICE_CPU);
    p.n_threads = 2, p.n_context = 64;
    return api_.inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, engine, err);
  }
  void expect_work() {
    inlay_engine* engine = nullptr;
    inlay_error err;
    ASSERT_EQ(load(&engine, &err), INLAY_OK) << err.message;
    api_.inlay_free(engine);
  }
  // What each of many threads of the host, which end, leaves behind.
  double bytes_of_a_thread() {
    constexpr size_t kThreads = 200;
    inlay_engine* engine = nullptr;
    EXPECT_EQ(load(&engine, nullptr), INLAY_OK);
    const auto run = [&](size_t n) {
      for (size_t i = 0; i < n; ++i) {
        std::thread([&] {
          int32_t tokens[64];
          size_t n_tokens = 0;
          inlay_session* session = nullptr;
          EXPECT_EQ(api_.inlay_tokenize(engine, "Once upon a time", SIZE_MAX, 0, tokens, 64, &n_tokens, nullptr), INLAY_OK);
          EXPECT_EQ(api_.inlay_session_create(engine, nullptr, &session, nullptr), INLAY_OK);
          api_.inlay_session_free(session);
        }).join();
      }
    };
    run(20);
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 2; ++round) {  // what stays does so each time
      const size_t before = anonymous_bytes();
      run(kThreads);
      const size_t after = anonymous_bytes();
      least = std::min(least, after > before ? static_cast<double>(after - before) / kThreads : 0);
    }
    api_.inlay_free(engine);
    return least;
  }

  inlay_dl api_{};
};

constexpr double kLittle = 8 << 10;

TEST_F(Exhausted, NothingIsTheControl) {
  open();
  EXPECT_LT(bytes_of_a_thread(), kLittle);
}

TEST_F(Exhausted, KeysOfThreadsBeforeTheLibraryIsOpened) {
  pthread_key_t key;
  int n = 0;
  while (pthread_key_create(&key, nullptr) == 0) ++n;
  EXPECT_GT(n, 100);
  open();
  EXPECT_LT(bytes_of_a_thread(), kLittle);
  expect_work();
}

TEST_F(Exhausted, KeysOfThreadsAfterIt) {
  open();
  pthread_key_t key;
  while (pthread_key_create(&key, nullptr) == 0) {
  }
  EXPECT_LT(bytes_of_a_thread(), kLittle);
  expect_work();
}

#ifdef __aarch64__
constexpr unsigned kThreadOffset = R_AARCH64_TLS_TPREL;
#else
constexpr unsigned kThreadOffset = R_X86_64_TPOFF64;
#endif

// Bytes of static TLS that a library must have to be opened; 0: it goes without.
size_t static_tls_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto at = [&]<class T>(size_t offset, T) {
    T out = {};
    EXPECT_LE(offset + sizeof out, bytes.size());
    if (offset + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + offset, sizeof out);
    return out;
  };
  const auto header = at(0, ElfW(Ehdr)());
  size_t n_tls = 0, relocations = 0, n_relocations = 0;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = at(header.e_phoff + i * header.e_phentsize, ElfW(Phdr)());
    if (segment.p_type == PT_TLS) n_tls = segment.p_memsz + segment.p_align - 1;
    if (segment.p_type != PT_DYNAMIC) continue;
    for (size_t k = 0; k < segment.p_filesz / sizeof(ElfW(Dyn)); ++k) {
      const auto entry = at(segment.p_offset + k * sizeof(ElfW(Dyn)), ElfW(Dyn)());
      if (entry.d_tag == DT_RELA) relocations = entry.d_un.d_ptr;  // before all that is loaded elsewhere than it lies in the file
      if (entry.d_tag == DT_RELASZ) n_relocations = entry.d_un.d_val / sizeof(ElfW(Rela));
    }
  }
  // The flag DF_STATIC_TLS says the same, but the linker for ARM64 does not set it.
  bool is_static = false;
  for (size_t i = 0; i < n_relocations; ++i) {
    is_static = is_static || ELF64_R_TYPE(at(relocations + i * sizeof(ElfW(Rela)), ElfW(Rela)()).r_info) == kThreadOffset;
  }
  return is_static ? n_tls : 0;
}

// What is left for a library that is opened late is little, and other libraries of the host want of it, too.
TEST_F(Exhausted, StaticTls) {
  constexpr size_t kMost = 128;  // docs/design/thread-storage.md
  const size_t needed = static_tls_of(INLAY_LIBRARY_FILE);
  EXPECT_LE(needed, kMost);
  EXPECT_EQ(static_tls_of(INLAY_ROOM_FILE) / INLAY_ROOM, 1u);  // the control
  std::ifstream file(INLAY_ROOM_FILE, std::ios::binary);
  const std::string taker((std::istreambuf_iterator<char>(file)), {});
  const TemporaryFolder folder;
  std::vector<void*> takers;
  for (void* opened = nullptr;; takers.push_back(opened)) {
    const std::string name = std::to_string(takers.size()) + ".so";
    folder.write(name, taker);
    opened = dlopen(folder.path(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened) break;
  }
  EXPECT_GT(takers.size() * INLAY_ROOM, 2 * kMost);
  if (needed > 0) {
    char message[600];
    EXPECT_EQ(inlay_dl_open(INLAY_LIBRARY_FILE, &api_, message, sizeof message), -1);
    EXPECT_NE(std::string(message).find("static TLS"), std::string::npos) << message;
    for (size_t left = 0; left < kMost; left += INLAY_ROOM, takers.pop_back()) ASSERT_EQ(dlclose(takers.back()), 0);
  }
  open();
  expect_work();
}

int next_descriptor() {
  const int fd = ::dup(0);
  if (fd >= 0) ::close(fd);
  return fd;
}

TEST_F(Exhausted, Descriptors) {
  open();
  expect_work();
  const int next = next_descriptor();
  ASSERT_GE(next, 0);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const TemporaryFolder folder;
  const std::string made = folder.path("made.gguf"), missing = "too many open files";
  for (int n_left = 0; n_left < 3; ++n_left) {
    const rlimit few = {static_cast<rlim_t>(next + n_left), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    inlay_engine* engine = nullptr;
    inlay_error err;
    const inlay_status status = load(&engine, &err);
    inlay_error of_conversion;
    const inlay_status converted = api_.inlay_convert(model_file(kModel).c_str(), SIZE_MAX, made.c_str(), SIZE_MAX, nullptr, &of_conversion);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (status == INLAY_OK) {
      EXPECT_GT(n_left, 0);
      api_.inlay_free(engine);
    } else {
      EXPECT_EQ(status, INLAY_IO) << err.message;
      EXPECT_NE(std::string(err.message).find(missing), std::string::npos) << err.message;
    }
    if (converted != INLAY_OK) {
      EXPECT_EQ(converted, INLAY_IO) << of_conversion.message;
      EXPECT_NE(std::string(of_conversion.message).find(missing), std::string::npos) << of_conversion.message;
    }
    EXPECT_EQ(next_descriptor(), next);
  }
  expect_work();
}

TEST_F(Exhausted, AddressSpace) {
  open();
  expect_work();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  int n_refused = 0;
  for (const rlim_t more : {0, 1, 2, 4, 8, 16, 32, 64}) {
    FILE* file = std::fopen("/proc/self/statm", "r");
    size_t pages = 0;
    ASSERT_TRUE(file && std::fscanf(file, "%zu", &pages) == 1);
    std::fclose(file);
    const rlimit few = {pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (more << 20), before.rlim_max};
    inlay_engine* engine = nullptr;
    inlay_error err;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &few), 0);
    const inlay_status status = load(&engine, &err);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    n_refused += status != INLAY_OK;
    EXPECT_TRUE(status == INLAY_OK || status == INLAY_OUT_OF_MEMORY) << more << ": " << err.message;
    if (engine) api_.inlay_free(engine);
  }
  EXPECT_GT(n_refused, 0);
  expect_work();
}

}  // namespace
}  // namespace inlay::test
