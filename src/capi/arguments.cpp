#include "src/capi/arguments.h"

#include <algorithm>
#include <cstdint>

#include "src/base/format.h"
#include "src/base/host_call.h"
#include "src/capi/guard.h"

namespace inlay::capi {

Status check_not_null(const void* pointer, const char* name) {
  if (!pointer) return error(Code::invalid_argument, "%s is NULL", name);
  return {};
}

Status check_struct_size(size_t size, size_t first_size, const char* name) {
  if (size >= first_size && size <= kMaxStructSize) return {};
  Status wrong = error(Code::invalid_argument, "%s: struct_size is %zu, expected at least %zu and at most %zu", name,
                       size, first_size, kMaxStructSize);
  wrong.required = first_size;
  wrong.available = size;
  return wrong;
}

Status check_zero_tail(const void* data, size_t known, size_t size, const char* name) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      return error(Code::invalid_argument,
                   "%s: byte %zu is set, but this library (ABI %d.%d) knows only %zu bytes of the struct: the caller was built "
                   "for a newer one, or did not set the struct to zero",
                   name, i, INLAY_ABI_MAJOR, INLAY_ABI_MINOR, known);
    }
  }
  return {};
}

Status check_flags(uint32_t flags, uint32_t known, const char* name) {
  if ((flags & ~known) == 0) return {};
  return error(Code::invalid_argument, "%s: unknown bits 0x%x", name, flags & ~known);
}

Status check_range(int32_t value, int32_t low, int32_t high, const char* name) {
  if (value >= low && value <= high) return {};
  return error(Code::invalid_argument, "%s is %d, expected %d to %d", name, value, low, high);
}

Status check_stride(size_t stride, size_t first_size, size_t alignment, const char* name) {
  if (stride >= first_size && stride <= kMaxStructSize && stride % alignment == 0) return {};
  return error(Code::invalid_argument, "%s is %zu, expected a multiple of %zu from %zu to %zu", name, stride, alignment, first_size,
               kMaxStructSize);
}

Result<std::string_view> read_text(const char* data, size_t len, const char* name) {
  if (!data && len != 0) return error(Code::invalid_argument, "%s is NULL", name);
  if (!data) return std::string_view();
  if (len == SIZE_MAX) return std::string_view(data);
  if (len > PTRDIFF_MAX) return error(Code::invalid_argument, "%s has a length of %zu bytes, more than memory can hold", name, len);
  return std::string_view(data, len);
}

Result<std::span<const int32_t>> read_tokens(const int32_t* tokens, size_t n, const char* name) {
  if (!tokens && n != 0) return error(Code::invalid_argument, "%s is NULL", name);
  if (n > INT32_MAX) return error(Code::invalid_argument, "%s has %zu tokens, expected at most %d", name, n, INT32_MAX);
  return std::span<const int32_t>(tokens, n);
}

Result<std::vector<std::span<const int32_t>>> cut_texts(std::span<const int32_t> ids, std::span<const int32_t> lengths) {
  std::vector<std::span<const int32_t>> texts;
  size_t used = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const size_t left = ids.size() - used;
    if (lengths[i] < 1)
      return error(Code::invalid_argument, "lengths[%zu] is %d: a text needs at least 1 token", i, lengths[i]);
    if (static_cast<size_t>(lengths[i]) > left) {
      return error(Code::invalid_argument, "lengths[%zu] is %d, but of the %zu tokens only %zu are left for it", i,
                   lengths[i], ids.size(), left);
    }
    texts.push_back(ids.subspan(used, static_cast<size_t>(lengths[i])));
    used += texts.back().size();
  }
  if (used != ids.size())
    return error(Code::invalid_argument, "n_tokens is %zu, the lengths sum up to %zu", ids.size(), used);
  return texts;
}

Status write_tokens(std::span<const int32_t> ids, int32_t* tokens, size_t cap, size_t* n_tokens, const char* whose) {
  *n_tokens = ids.size();
  if (!tokens) return {};
  if (cap < ids.size()) {
    Status small =
        error(Code::buffer_too_small, "%s has %s, the buffer has room for %zu", whose, counted(ids.size(), "token").c_str(), cap);
    small.required = ids.size();
    small.available = cap;
    return small;
  }
  std::copy(ids.begin(), ids.end(), tokens);
  return {};
}

Status write_text(std::string_view text, char* buf, size_t cap, size_t* needed) {
  if (needed) *needed = text.size();
  if (!buf && cap == 0) return {};
  INLAY_TRY(check_not_null(buf, "buf"));
  if (cap < text.size()) {
    Status small = error(Code::buffer_too_small, "the text has %s, the buffer has room for %zu", counted(text.size(), "byte").c_str(), cap);
    small.required = text.size();
    small.available = cap;
    return small;
  }
  std::copy(text.begin(), text.end(), buf);
  if (cap > text.size()) buf[text.size()] = 0;
  return {};
}

Status write_lines(std::string_view text, char* buf, size_t cap, size_t* needed) {
  return write_text(printable(text, LineEnds::kept), buf, cap, needed);
}

void write_field(std::string_view text, std::span<char> field) {
  const size_t n = write_printable(text, field.data(), field.size() - 1);
  std::fill(field.begin() + static_cast<ptrdiff_t>(n), field.end(), '\0');
}

std::function<bool(uint64_t n_done, uint64_t n_total)> host_progress(inlay_progress_fn progress, void* user) {
  if (!progress) return {};
  return [progress, user](uint64_t n_done, uint64_t n_total) {
    int32_t stop = 0;
    call_host([&] { stop = progress(user, n_done, n_total); });
    return stop == 0;
  };
}

}  // namespace inlay::capi
