#include "src/model/expert_source.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace inlay {
namespace {

constexpr uint64_t kCodeBytes = 16;

// Codes of 32 neighbours, two in a byte, the lower one first, to GGUF's order: number i beside number i + 16.
void reorder_codes(const std::byte* pairs, std::byte* out) {
  const auto code = [&](size_t i) { return (std::to_integer<unsigned>(pairs[i / 2]) >> (4 * (i % 2))) & 15u; };
  for (size_t i = 0; i < kCodeBytes; ++i) out[i] = static_cast<std::byte>(code(i) | code(i + kCodeBytes) << 4);
}

// The elements: viewed, or read where the source has no view.
class Extent {
 public:
  Status open(const StridedBytes& from) {
    if (!from.source || from.n_rows == 0 || from.n_cols == 0) return {};
    const uint64_t of_rows = (from.n_rows - 1) * from.row_stride + from.element_bytes;
    const uint64_t n = of_rows + (from.n_cols - 1) * from.col_stride;
    row_stride_ = from.row_stride, col_stride_ = from.col_stride;
    bytes_ = from.source->view(from.offset, n);
    if (bytes_) return {};
    INLAY_TRY(from.source->check_range(from.offset, n));
    if (from.col_stride <= from.row_stride || of_rows * 2 > from.col_stride) {
      read_.resize(n);
      INLAY_TRY(from.source->read(from.offset, read_));
    } else {  // columns that are far apart, one by one
      read_.resize(of_rows * from.n_cols);
      col_stride_ = of_rows;
      for (uint64_t col = 0; col < from.n_cols; ++col) {
        INLAY_TRY(from.source->read(from.offset + col * from.col_stride,
                                    std::span(read_).subspan(col * of_rows, of_rows)));
      }
    }
    bytes_ = read_.data();
    return {};
  }
  const std::byte* at(uint64_t row, uint64_t col) const { return bytes_ + row * row_stride_ + col * col_stride_; }

 private:
  const std::byte* bytes_ = nullptr;
  uint64_t row_stride_ = 0, col_stride_ = 0;
  std::vector<std::byte> read_;
};

class ReorderedSource final : public ByteSource {
 public:
  ReorderedSource(std::vector<ReorderedPart> parts, std::string name) : parts_(std::move(parts)), name_(std::move(name)) {
    for (const ReorderedPart& part : parts_) {
      begins_.push_back(n_bytes_);
      n_bytes_ += part.n_bytes();
    }
  }

  uint64_t size() const override { return n_bytes_; }
  const std::byte* view(uint64_t, uint64_t) const override { return nullptr; }
  bool is_concurrent() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const ReorderedPart& part) {
      return part.from.source->is_concurrent() && (!part.scales.source || part.scales.source->is_concurrent());
    });
  }
  std::string_view name() const override { return name_; }

  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    auto i = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin());
    while (!into.empty()) {
      const ReorderedPart& part = parts_[i - 1];
      const uint64_t at = offset - begins_[i - 1], n = std::min<uint64_t>(into.size(), part.n_bytes() - at);
      INLAY_TRY(read_part(part, at, into.first(n)));
      into = into.subspan(n);
      offset += n;
      ++i;
    }
    return {};
  }

 private:
  static Status read_part(const ReorderedPart& part, uint64_t at, std::span<std::byte> into) {
    const StridedBytes& from = part.from;
    const bool as_they_are = !part.scales.source && from.col_stride == from.element_bytes &&
                             (from.n_rows == 1 || from.row_stride == from.n_cols * from.element_bytes);
    if (as_they_are) return from.source->read(from.offset + at, into);
    const uint64_t element = part.element_bytes(), first = at / element, end = (at + into.size() + element - 1) / element;
    // The rows that are touched, as one extent: a transposed matrix has its columns far apart.
    const uint64_t first_row = first / from.n_cols, n_rows = (end - 1) / from.n_cols + 1 - first_row;
    StridedBytes rows = from, scales = part.scales;
    rows.offset += first_row * from.row_stride, scales.offset += first_row * scales.row_stride;
    rows.n_rows = scales.n_rows = n_rows;
    Extent extent, of_scales;
    INLAY_TRY(extent.open(rows));
    INLAY_TRY(of_scales.open(scales));
    std::array<std::byte, kCodeBytes + 1> made;
    const auto copy = [&](uint64_t row, uint64_t col) {
      const uint64_t index = (first_row + row) * from.n_cols + col;
      if (index < first || index >= end) return;
      const std::byte* bytes = extent.at(row, col);
      if (scales.source) {
        made[0] = *of_scales.at(row, col);
        reorder_codes(bytes, made.data() + 1);
        bytes = made.data();
      }
      const uint64_t begin = std::max(index * element, at), stop = std::min((index + 1) * element, at + into.size());
      std::memcpy(into.data() + (begin - at), bytes + (begin - index * element), stop - begin);
    };
    // Along what stands together in the source.
    if (from.col_stride > from.row_stride) {
      for (uint64_t col = 0; col < from.n_cols; ++col) {
        for (uint64_t row = 0; row < n_rows; ++row) copy(row, col);
      }
    } else {
      for (uint64_t row = 0; row < n_rows; ++row) {
        for (uint64_t col = 0; col < from.n_cols; ++col) copy(row, col);
      }
    }
    return {};
  }

  const std::vector<ReorderedPart> parts_;
  const std::string name_;
  std::vector<uint64_t> begins_;  // by part
  uint64_t n_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> reordered_source(std::vector<ReorderedPart> parts, std::string name) {
  return std::make_unique<ReorderedSource>(std::move(parts), std::move(name));
}

}  // namespace inlay
