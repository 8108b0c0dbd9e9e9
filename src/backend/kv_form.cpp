#include "src/backend/kv_form.h"

#include <cstring>

namespace inlay {
namespace {

// Element by element: n of them, `from_stride` and `to_stride` bytes apart.
template <size_t kBytes>
void copy_elements(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

void copy_elements(int64_t bytes, const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  if (from_stride == bytes && to_stride == bytes) {
    std::memcpy(to, from, static_cast<size_t>(n * bytes));
  } else if (bytes == 4) {
    copy_elements<4>(from, from_stride, to, to_stride, n);
  } else if (bytes == 2) {
    copy_elements<2>(from, from_stride, to, to_stride, n);
  } else {
    copy_elements<1>(from, from_stride, to, to_stride, n);
  }
}

// Calls copy(in the block, its stride, in the rows, its stride, bytes of an element, n) for all runs of elements of the part.
template <class Copy>
void for_runs(const KvForm& form, const KvBlockPart& part, const Copy& copy) {
  const auto row_bytes = static_cast<int64_t>(form.row_bytes()), between_rows = row_bytes * part.n_pools;
  const int64_t n = part.end - part.first, scales_at = form.n_heads * form.head;
  for (int64_t pool = 0; pool < part.n_pools; ++pool) {
    const KvForm::Places& places = pool % 2 == 0 ? form.keys : form.values;
    const int64_t in_block = pool * static_cast<int64_t>(part.block_bytes), in_rows = pool * row_bytes;
    for (int64_t head = 0; head < form.n_heads; ++head) {
      const int64_t from = in_block + head * form.head + part.first * places.position, to = in_rows + head * form.d_head * form.element;
      if (places.element == form.element) {
        for (int64_t p = 0; p < n; ++p) copy(from + p * places.position, form.element, to + p * between_rows, form.element, form.element, form.d_head);
      } else {
        for (int64_t i = 0; i < form.d_head; ++i) copy(from + i * places.element, places.position, to + i * form.element, between_rows, form.element, n);
      }
      if (!form.has_scales) continue;
      copy(in_block + scales_at + (head * kKvBlockTokens + part.first) * 4, 4, in_rows + (form.n_heads * form.d_head * form.element) + head * 4, between_rows, 4, n);
    }
  }
}

}  // namespace

KvForm kv_form_of_heads(const ModelSpec& spec, int64_t element) {
  const KvForm::Places places{.position = spec.d_head * element, .element = element};
  return {.n_heads = spec.n_kv_heads, .d_head = spec.d_head, .element = element, .head = kKvBlockTokens * places.position, .keys = places, .values = places};
}

void kv_block_to_rows(const KvForm& form, const KvBlockPart& part, const std::byte* block, std::byte* rows) {
  for_runs(form, part, [&](int64_t in_block, int64_t block_stride, int64_t in_rows, int64_t row_stride, int64_t bytes, int64_t n) {
    copy_elements(bytes, block + in_block, block_stride, rows + in_rows, row_stride, n);
  });
}

void kv_rows_to_block(const KvForm& form, const KvBlockPart& part, const std::byte* rows, std::byte* block) {
  std::memset(block, 0, part.block_bytes * static_cast<size_t>(part.n_pools));
  for_runs(form, part, [&](int64_t in_block, int64_t block_stride, int64_t in_rows, int64_t row_stride, int64_t bytes, int64_t n) {
    copy_elements(bytes, rows + in_rows, row_stride, block + in_block, block_stride, n);
  });
}

}  // namespace inlay
