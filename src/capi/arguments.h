// Reading what a C caller gives, and writing what it gets.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/capi/struct_sizes.h"

namespace inlay::capi {

// No struct of any version comes near it; more is an uninitialised size.
inline constexpr size_t kMaxStructSize = 4096;

Status check_not_null(const void* pointer, const char* name);
Status check_struct_size(size_t size, size_t first_size, const char* name);
// Bytes past what this library knows must be zero: they are settings that it would otherwise ignore silently.
Status check_zero_tail(const void* data, size_t known, size_t size, const char* name);
Status check_flags(uint32_t flags, uint32_t known, const char* name);
Status check_range(int32_t value, int32_t low, int32_t high, const char* name);
Status check_stride(size_t stride, size_t first_size, size_t alignment, const char* name);

// A parameter struct of the caller's version in this version's form; NULL and missing fields are zero.
template <class T>
Status read_struct(const T* given, const char* name, T& out) {
  std::memset(&out, 0, sizeof out);
  if (!given) return {};
  const size_t size = given->struct_size;
  INLAY_TRY(check_struct_size(size, kFirstSize<T>, name));
  INLAY_TRY(check_zero_tail(given, sizeof(T), size, name));
  std::memcpy(&out, given, size < sizeof(T) ? size : sizeof(T));
  return {};
}

// One of an array of structs of the caller's version, `stride` bytes each, which passed check_stride().
template <class T>
Status read_element(const T* given, size_t i, size_t stride, const char* name, T& out) {
  const char* from = reinterpret_cast<const char*>(given) + i * stride;
  INLAY_TRY(check_zero_tail(from, sizeof(T), stride, name));
  std::memset(&out, 0, sizeof out);
  std::memcpy(&out, from, stride < sizeof(T) ? stride : sizeof(T));
  return {};
}

template <class T>
Status check_out_struct(const T* out, const char* name) {
  INLAY_TRY(check_not_null(out, name));
  return check_struct_size(out->struct_size, kFirstSize<T>, name);
}

// `size` bytes are the caller's; what this library does not know comes back as zero.
template <class T>
void write_sized(void* out, size_t size, const T& value) {
  const size_t n = size < sizeof(T) ? size : sizeof(T);
  std::memcpy(out, &value, n);
  std::memset(static_cast<char*>(out) + n, 0, size - n);
}

// The host's function as the engine calls it; empty without one.
std::function<bool(uint64_t n_done, uint64_t n_total)> host_progress(inlay_progress_fn progress, void* user);

// Fills a struct that passed check_out_struct.
template <class T>
void write_struct(T* out, T value) {
  value.struct_size = out->struct_size;
  write_sized(out, value.struct_size, value);
}

// What a failed call leaves in its out-parameter.
template <class T>
void clear(T* out) {
  if (out) *out = {};
}

// A length of SIZE_MAX means that a zero ends the text.
Result<std::string_view> read_text(const char* data, size_t len, const char* name);
Result<std::span<const int32_t>> read_tokens(const int32_t* tokens, size_t n, const char* name);
// The ids of texts that follow one another, cut into these.
Result<std::vector<std::span<const int32_t>>> cut_texts(std::span<const int32_t> ids, std::span<const int32_t> lengths);

// To the caller's array; n_tokens is not NULL. With no array only the number is told.
Status write_tokens(std::span<const int32_t> ids, int32_t* tokens, size_t cap, size_t* n_tokens, const char* whose = "the text");
// Ends the text by a zero if there is room. A NULL buffer of size 0 only asks for the size. `needed` may be NULL.
Status write_text(std::string_view text, char* buf, size_t cap, size_t* needed);
// The same for a text of lines that shows what files say: with escapes as in messages.
Status write_lines(std::string_view text, char* buf, size_t cap, size_t* needed);
// A text in a field of fixed size: cut if need be, always ended by a zero.
void write_field(std::string_view text, std::span<char> field);

}  // namespace inlay::capi
