// Thread-local variables whose memory can be refused. CUDA's runtime has more of them than a program has room for when it opens a
// library, so the compiler asks __tls_get_addr for each one's address. The C library's takes the memory at a thread's first use and
// ends the process where there is none. The linker sends this library's calls here (--wrap): the memory is malloc's, found through
// a key of the thread, and a call of the API, or the start of a thread, can see beforehand whether there is any.
// What cannot be refused (a free, the library's own loading) takes memory that is kept for it. docs/design/thread-storage.md
#ifdef INLAY_THREAD_STORAGE
#include "src/base/thread_storage.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

struct VariableAddress {
  size_t module;  // always this library: the variables of others are not visible to it
  size_t offset;
};
void* __real___tls_get_addr(VariableAddress* variable);
void* __wrap___tls_get_addr(VariableAddress* variable);

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));  // of this library, from the linker
}

std::atomic<bool> inlay_is_loading{true};

namespace {

struct Image {  // of every thread's variables at its start
  const std::byte* bytes = nullptr;
  size_t n_bytes = 0, size = 0, alignment = 1;
};

struct Storage {  // in front of a thread's variables
  void* memory;
  int n_ends;
};

// Memory for what cannot be refused: enough for CUDA's 12 KB on a page's boundary.
struct Reserved {
  alignas(std::max_align_t) std::byte memory[24 << 10];
  std::atomic<pthread_t> thread{};
};

enum class Owner { unknown, library, system };

std::atomic<Owner> owner{Owner::unknown};
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t key;
Image image;
Reserved reserved[32];

Image find_image() {
  const auto* base = reinterpret_cast<const std::byte*>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(base + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    const ElfW(Phdr)& header = headers[i];
    if (header.p_type == PT_TLS) return {base + header.p_vaddr, header.p_filesz, header.p_memsz, header.p_align};
  }
  return {};
}

size_t memory_bytes() { return sizeof(Storage) + image.alignment + image.size; }

std::byte* variables_in(void* memory) {
  const auto lowest = reinterpret_cast<uintptr_t>(memory) + sizeof(Storage);
  return reinterpret_cast<std::byte*>((lowest + image.alignment - 1) & ~(image.alignment - 1));
}

Storage* storage_of(void* variables) { return static_cast<Storage*>(variables) - 1; }

std::byte* begin_variables(void* memory) {
  std::byte* variables = variables_in(memory);
  std::memcpy(variables, image.bytes, image.n_bytes);
  std::memset(variables + image.n_bytes, 0, image.size - image.n_bytes);
  *storage_of(variables) = {memory, 0};
  return variables;
}

void give_back(void* memory) {
  for (Reserved& r : reserved) {
    if (memory == r.memory) return r.thread.store({}, std::memory_order_release);
  }
  std::free(memory);
}

// At a thread's end, once a round of its keys' destructors: what others destroy may use variables up to the last round.
void end_thread(void* variables) {
  Storage* storage = storage_of(variables);
  if (++storage->n_ends < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(key, variables) == 0) return;
  give_back(storage->memory);
}

// A process that has no key left has the system's storage, as without this file.
void begin() {
  image = find_image();
  const bool has_key = pthread_key_create(&key, end_thread) == 0;
  owner.store(has_key ? Owner::library : Owner::system, std::memory_order_release);
}

std::byte* own_variables() {
  if (owner.load(std::memory_order_acquire) != Owner::library) return nullptr;
  return static_cast<std::byte*>(pthread_getspecific(key));
}

// Null where there is no memory for the variables, or to set a key that is not among a process's first.
std::byte* take_variables() {
  void* memory = std::malloc(memory_bytes());
  if (!memory) return nullptr;
  std::byte* variables = begin_variables(memory);
  if (pthread_setspecific(key, variables) == 0) return variables;
  std::free(memory);
  return nullptr;
}

// Where the key cannot be set, the variables are found by the thread's name, until it can be. If the thread ends before, the next one
// of that name goes on with them.
std::byte* reserved_variables() {
  for (Reserved& r : reserved) {
    if (!pthread_equal(r.thread.load(std::memory_order_acquire), pthread_self())) continue;
    std::byte* variables = variables_in(r.memory);
    pthread_setspecific(key, variables);
    return variables;
  }
  return nullptr;
}

std::byte* take_reserved_variables() {
  if (memory_bytes() > sizeof(Reserved::memory)) return nullptr;
  for (Reserved& r : reserved) {
    pthread_t nobody{};
    if (!r.thread.compare_exchange_strong(nobody, pthread_self(), std::memory_order_acq_rel)) continue;
    begin_variables(r.memory);
    return reserved_variables();
  }
  return nullptr;
}

// For a use that cannot be refused. Where nothing is left it waits until others give back.
// On whatever stack a caller of __tls_get_addr has.
__attribute__((noinline, force_align_arg_pointer)) void* find_or_take(VariableAddress* variable) {
  const int error_number = errno;
  pthread_once(&once, begin);
  if (owner.load(std::memory_order_acquire) == Owner::system) return __real___tls_get_addr(variable);
  std::byte* variables = own_variables();
  if (!variables) variables = reserved_variables();
  for (;;) {
    if (!variables) variables = take_variables();
    if (!variables) variables = take_reserved_variables();
    if (variables) break;
    const timespec turn = {0, 1'000'000};
    nanosleep(&turn, nullptr);
  }
  errno = error_number;
  return variables + variable->offset;
}

}  // namespace

extern "C" {

void* __wrap___tls_get_addr(VariableAddress* variable) {
  std::byte* variables = own_variables();
  return variables ? variables + variable->offset : find_or_take(variable);
}

bool inlay_take_thread_storage() noexcept {
  if (inlay_is_loading.load(std::memory_order_relaxed)) inlay_is_loading.store(false, std::memory_order_relaxed);
  if (own_variables()) return true;
  pthread_once(&once, begin);
  if (owner.load(std::memory_order_acquire) == Owner::system) return true;
  return reserved_variables() || take_variables();
}
}
#endif
