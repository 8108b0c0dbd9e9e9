#include "src/backend/kv_form.h"

#include <cstring>
#include <vector>

namespace inlay {
namespace {

// n elements, `from_stride` and `to_stride` bytes apart.
template <size_t kBytes>
void copy_elements(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

void copy_elements(int64_t bytes, const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  if (bytes == 4) return copy_elements<4>(from, from_stride, to, to_stride, n);
  if (bytes == 2) return copy_elements<2>(from, from_stride, to, to_stride, n);
  copy_elements<1>(from, from_stride, to, to_stride, n);
}

// Where a head of a pool lies, its first position's element in a block and in the rows.
struct HeadPlace {
  const KvForm::Places& places;
  int64_t in_block, in_rows, between_rows;
};

// Calls each(head, where its scales lie) for all heads of all pools.
template <class Each>
void for_heads(const KvForm& form, const KvBlockPart& part, const Each& each) {
  const auto row_bytes = static_cast<int64_t>(form.row_bytes());
  for (int64_t pool = 0; pool < part.n_pools; ++pool) {
    const KvForm::Places& places = pool % 2 == 0 ? form.keys : form.values;
    const int64_t in_block = pool * static_cast<int64_t>(part.block_bytes), in_rows = pool * row_bytes;
    for (int64_t h = 0; h < form.n_heads; ++h) {
      const HeadPlace head{places, in_block + h * form.head + part.first * places.position, in_rows + h * form.d_head * form.element, row_bytes * part.n_pools};
      const int64_t scales_in_block = in_block + form.n_heads * form.head + (h * kKvBlockTokens + part.first) * 4;
      each(head, scales_in_block, in_rows + form.n_heads * form.d_head * form.element + h * 4);
    }
  }
}

}  // namespace

KvForm kv_form_of_heads(const ModelSpec& spec, int64_t element) {
  const KvForm::Places places{.position = spec.d_head * element, .element = element};
  return {.n_heads = spec.n_kv_heads, .d_head = spec.d_head, .element = element, .head = kKvBlockTokens * places.position, .keys = places, .values = places};
}

// Heads that are turned pass through a small copy: rows lie so far apart that elements written to each of them in turn would miss the cache.
void kv_block_to_rows(const KvForm& form, const KvBlockPart& part, const std::byte* block, std::byte* rows) {
  const int64_t n = part.end - part.first, head_bytes = form.d_head * form.element;
  std::vector<std::byte> turned(static_cast<size_t>(kKvBlockTokens * head_bytes));
  for_heads(form, part, [&](const HeadPlace& head, int64_t scales_in_block, int64_t scales_in_rows) {
    const std::byte* from = block + head.in_block;
    int64_t stride = head.places.position;
    if (head.places.element != form.element) {
      for (int64_t i = 0; i < form.d_head; ++i) copy_elements(form.element, from + i * head.places.element, stride, turned.data() + i * form.element, head_bytes, n);
      from = turned.data();
      stride = head_bytes;
    }
    for (int64_t p = 0; p < n; ++p) std::memcpy(rows + head.in_rows + p * head.between_rows, from + p * stride, static_cast<size_t>(head_bytes));
    if (form.has_scales) copy_elements<4>(block + scales_in_block, 4, rows + scales_in_rows, head.between_rows, n);
  });
}

void kv_rows_to_block(const KvForm& form, const KvBlockPart& part, const std::byte* rows, std::byte* block) {
  const int64_t n = part.end - part.first, head_bytes = form.d_head * form.element;
  std::vector<std::byte> turned(static_cast<size_t>(kKvBlockTokens * head_bytes));
  std::memset(block, 0, part.block_bytes * static_cast<size_t>(part.n_pools));
  for_heads(form, part, [&](const HeadPlace& head, int64_t scales_in_block, int64_t scales_in_rows) {
    const bool is_turned = head.places.element != form.element;
    std::byte* const to = is_turned ? turned.data() : block + head.in_block;
    const int64_t stride = is_turned ? head_bytes : head.places.position;
    for (int64_t p = 0; p < n; ++p) std::memcpy(to + p * stride, rows + head.in_rows + p * head.between_rows, static_cast<size_t>(head_bytes));
    for (int64_t i = 0; is_turned && i < form.d_head; ++i)
      copy_elements(form.element, turned.data() + i * form.element, head_bytes, block + head.in_block + i * head.places.element, head.places.position, n);
    if (form.has_scales) copy_elements<4>(rows + scales_in_rows, head.between_rows, block + scales_in_block, 4, n);
  });
}

}  // namespace inlay
