// What came to glibc after version 2.28, in terms of that version: src/base/glibc.cmake. Our own code asks for little of it; the rest is
// what the compiler's libraries, linked statically, ask for on the machine that builds.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>

extern "C" {

// ---- 2.32: whether the process has one thread, a hint for locks

extern char __libc_single_threaded;
char __libc_single_threaded = 0;

#if __GLIBC_PREREQ(2, 33)
// ---- 2.33: until then inline functions of headers, over these

int __xstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int descriptor, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);
int __fxstatat(int version, int folder, const char* path, struct stat* out, int flags);

#ifdef __x86_64__
#define INLAY_STAT_VERSION 1
#else
#define INLAY_STAT_VERSION 0
#endif

int stat(const char* path, struct stat* out) noexcept { return __xstat(INLAY_STAT_VERSION, path, out); }
int fstat(int descriptor, struct stat* out) noexcept { return __fxstat(INLAY_STAT_VERSION, descriptor, out); }
int lstat(const char* path, struct stat* out) noexcept { return __lxstat(INLAY_STAT_VERSION, path, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
  return __fxstatat(INLAY_STAT_VERSION, folder, path, out, flags);
}
// With 64 bits the two structs are one.
int stat64(const char* path, struct stat64* out) noexcept { return stat(path, reinterpret_cast<struct stat*>(out)); }
int fstat64(int descriptor, struct stat64* out) noexcept { return fstat(descriptor, reinterpret_cast<struct stat*>(out)); }
int lstat64(const char* path, struct stat64* out) noexcept { return lstat(path, reinterpret_cast<struct stat*>(out)); }
#endif

#if __GLIBC_PREREQ(2, 36)
// ---- 2.36. The C++ library's random_device asks for it; nothing here is secret.

uint32_t arc4random(void) noexcept {
  uint32_t out = 0;
  while (getrandom(&out, sizeof(out), 0) != sizeof(out)) {
    if (errno == EINTR) continue;
    timespec now = {};  // no such system call
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint32_t>(now.tv_nsec) * 2654435761u;
  }
  return out;
}
#endif

// ---- 2.38: the same functions, which take 0b as well where the language has it. Its headers give the old names to these.

long older_strtol(const char* text, char** end, int base) noexcept asm("strtol");
long __isoc23_strtol(const char* text, char** end, int base) noexcept;
long __isoc23_strtol(const char* text, char** end, int base) noexcept { return older_strtol(text, end, base); }
unsigned long older_strtoul(const char* text, char** end, int base) noexcept asm("strtoul");
unsigned long __isoc23_strtoul(const char* text, char** end, int base) noexcept;
unsigned long __isoc23_strtoul(const char* text, char** end, int base) noexcept { return older_strtoul(text, end, base); }
long long older_strtoll(const char* text, char** end, int base) noexcept asm("strtoll");
long long __isoc23_strtoll(const char* text, char** end, int base) noexcept;
long long __isoc23_strtoll(const char* text, char** end, int base) noexcept { return older_strtoll(text, end, base); }
unsigned long long older_strtoull(const char* text, char** end, int base) noexcept asm("strtoull");
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) noexcept;
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) noexcept { return older_strtoull(text, end, base); }
int older_vsscanf(const char* text, const char* format, va_list arguments) noexcept asm("vsscanf");
int __isoc23_sscanf(const char* text, const char* format, ...) noexcept;
int __isoc23_sscanf(const char* text, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int n = older_vsscanf(text, format, arguments);
  va_end(arguments);
  return n;
}

}  // extern "C"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
// ---- 2.35: where the unwinder's table for an address is. GCC's unwinder takes no other way where the compiler was built with it.

namespace {

struct Search {
  uintptr_t address;
  dl_find_object* found;
};

int look_into(dl_phdr_info* object, size_t, void* user) {
  auto* const search = static_cast<Search*>(user);
  uintptr_t begin = 0, end = 0, table = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const uintptr_t first = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) table = first;
    if (part.p_type != PT_LOAD || search->address < first || search->address >= first + part.p_memsz) continue;
    begin = first;
    end = first + part.p_memsz;
  }
  if (end == 0) return 0;
  if (table == 0) return -1;
  *search->found = {};
  search->found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search->found->dlfo_map_end = reinterpret_cast<void*>(end);
  search->found->dlfo_eh_frame = reinterpret_cast<void*>(table);
  return 1;
}

}  // namespace

extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<uintptr_t>(address), found};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
#endif
