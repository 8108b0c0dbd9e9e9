#include "src/model/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/quant_blocks.h"
#include "src/base/mutex.h"
#include "src/model/quantize.h"

namespace inlay {
namespace {

constexpr int kPackedBlock = 32;

uint64_t element_bytes(DType dtype) { return traits(dtype).block_bytes; }

float float_at(const std::byte* data, DType dtype, int64_t index) {
  float value;
  widen(dtype, data + static_cast<uint64_t>(index) * element_bytes(dtype), 1, &value);
  return value;
}

int64_t group_at(const PackedMatrix& m, int64_t col) {
  if (!m.group_of) return col / m.group_size;
  int32_t group;
  std::memcpy(&group, m.group_of + 4 * col, sizeof group);
  return group;
}

uint32_t zero_at(const PackedMatrix& m, int64_t row, int64_t group) {
  return m.zeros.data ? (m.zeros.at(row, group) + m.zero_added) & m.zeros.mask : m.middle;
}

bool halves_hold(const ScaleTable& scales) {
  if (scales.dtype == DType::f16) return true;
  for (int64_t i = 0; i < scales.n; ++i) {
    const float scale = float_at(scales.data, scales.dtype, i);
    if (!(std::fabs(to_float(half_of(scale)) - scale) <= 0x1p-9f * std::fabs(scale))) return false;
  }
  return true;
}

bool all_zeros_in_the_middle(const PackedMatrix& m) {
  for (int64_t row = 0; m.zeros.data && row < m.n_rows; ++row) {
    for (int64_t group = 0; group < m.n_groups; ++group) {
      if (zero_at(m, row, group) != m.middle) return false;
    }
  }
  return true;
}

class PackedSource final : public ByteSource {
 public:
  PackedSource(PackedMatrix matrix, DType held)
      : m_(std::move(matrix)), dtype_(held), row_bytes_(row_bytes(dtype_, static_cast<uint64_t>(m_.n_cols))) {}

  uint64_t size() const override { return row_bytes_ * static_cast<uint64_t>(m_.n_rows); }
  const std::byte* view(uint64_t, uint64_t) const override { return nullptr; }
  bool is_concurrent() const override { return true; }
  std::string_view name() const override { return m_.name; }

  Status read(uint64_t offset, std::span<std::byte> into) const override {
    INLAY_TRY(check_range(offset, into.size()));
    INLAY_TRY(attach());
    std::vector<std::byte> whole;  // of a row of which a part is asked for
    for (uint64_t done = 0; done < into.size();) {
      const uint64_t row = (offset + done) / row_bytes_, in_row = (offset + done) % row_bytes_;
      const uint64_t n = std::min(row_bytes_ - in_row, into.size() - done);
      if (n == row_bytes_) {
        read_row(static_cast<int64_t>(row), into.data() + done);
      } else {
        whole.resize(row_bytes_);
        read_row(static_cast<int64_t>(row), whole.data());
        std::memcpy(into.data() + done, whole.data() + in_row, n);
      }
      done += n;
    }
    return {};
  }

  // Codes of a row lie all over their tensor, so parts come and go as a whole.
  void discard(uint64_t, uint64_t n) const override {
    const Lock lock(mutex_);
    n_discarded_ += n;
    if (n_discarded_ < size()) return;
    for (const PackedMatrix::Part& part : m_.parts) part.source->discard(part.offset, part.n_bytes);
    read_ = {};
    is_attached_ = false;
  }

 private:
  Status attach() const {
    const Lock lock(mutex_);
    if (is_attached_) return {};
    for (const PackedMatrix::Part& part : m_.parts) INLAY_TRY(m_.attach(part, read_));
    is_attached_ = true;
    return {};
  }

  void read_row(int64_t row, std::byte* out) const {
    for (int64_t col = 0; col < m_.n_cols; col += kPackedBlock) {
      const int n = static_cast<int>(std::min<int64_t>(kPackedBlock, m_.n_cols - col));
      uint8_t codes[kPackedBlock];
      for (int i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(m_.codes.at(row, col + i));
      out += put(row, col, n, codes, out);
    }
  }

  // Returns the bytes that were written.
  uint64_t put(int64_t row, int64_t col, int n, const uint8_t* codes, std::byte* out) const {
    if (!is_quantized(dtype_)) return put_floats(row, col, n, codes, out);
    const int64_t group = group_at(m_, col);
    const float scale = m_.scales.at(row, group);
    if (dtype_ == DType::f8_e4m3) return put_block(e4m3_block(scale, codes), out);
    if (dtype_ == DType::q8_0) return put_block(q8_0_block(scale, codes), out);
    const uint32_t zero = zero_at(m_, row, group);
    if (dtype_ == DType::q4_1) {
      BlockQ4_1 block = {.d = half_of(scale), .m = half_of(-scale * static_cast<float>(zero))};
      put_nibbles(codes, block.q);
      return put_block(block, out);
    }
    BlockQ4_0 block = {.d = half_of(scale)};
    put_nibbles(codes, block.q);
    return put_block(block, out);
  }

  uint64_t put_floats(int64_t row, int64_t col, int n, const uint8_t* codes, std::byte* out) const {
    float values[kPackedBlock];
    for (int i = 0; i < n; ++i) {
      const int64_t group = group_at(m_, col + i);
      const float scale = m_.scales.at(row, group);
      const bool is_nan = m_.is_e4m3 && (codes[i] & 0x7f) == 0x7f;
      const float code = m_.is_e4m3 ? e4m3_to_float(codes[i])
                                    : static_cast<float>(codes[i]) - static_cast<float>(zero_at(m_, row, group));
      values[i] = is_nan ? NAN : scale * code;
    }
    quantize(dtype_, values, n, out);
    return row_bytes(dtype_, static_cast<uint64_t>(n));
  }

  // A code for NaN, which blocks have not, makes the whole block one.
  static BlockF8_E4M3 e4m3_block(float scale, const uint8_t* codes) {
    BlockF8_E4M3 block = {.d = half_of(scale)};
    for (int i = 0; i < kPackedBlock; ++i) {
      const bool is_nan = (codes[i] & 0x7f) == 0x7f;
      if (is_nan) block.d = half_of(NAN);
      block.q[i] = is_nan ? 0 : codes[i];
    }
    return block;
  }

  static BlockQ8_0 q8_0_block(float scale, const uint8_t* codes) {
    BlockQ8_0 block = {.d = half_of(scale)};
    for (int i = 0; i < kPackedBlock; ++i) block.q[i] = static_cast<int8_t>(codes[i] - 128);
    return block;
  }

  static void put_nibbles(const uint8_t* codes, uint8_t (&out)[kPackedBlock / 2]) {
    for (int i = 0; i < kPackedBlock / 2; ++i) out[i] = static_cast<uint8_t>(codes[i] | codes[i + kPackedBlock / 2] << 4);
  }

  template <class Block>
  static uint64_t put_block(const Block& block, std::byte* out) {
    std::memcpy(out, &block, sizeof block);
    return sizeof block;
  }

  mutable PackedMatrix m_;
  const DType dtype_;
  const uint64_t row_bytes_;
  mutable Mutex mutex_;  // of the rest, and of m_ until it is attached
  mutable std::vector<std::vector<std::byte>> read_ INLAY_GUARDED_BY(mutex_);
  mutable bool is_attached_ INLAY_GUARDED_BY(mutex_) = false;
  mutable uint64_t n_discarded_ INLAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace

uint32_t PackedCodes::at(int64_t row, int64_t col) const {
  const int64_t index = (row >> row_log2) * row_stride + (col >> col_log2) * col_stride;
  uint32_t word = 0;
  if (word_bytes == 1) {
    word = static_cast<uint8_t>(data[index]);
  } else {
    std::memcpy(&word, data + 4 * index, sizeof word);
  }
  const int shift = row_shift[row & ((1 << row_log2) - 1)] + col_shift[col & ((1 << col_log2) - 1)];
  return (word >> shift & mask) ^ flip;
}

const std::byte*& PackedMatrix::data(Table table) {
  return table == Table::codes ? codes.data : table == Table::scales ? scales.data : table == Table::zeros ? zeros.data : group_of;
}

Status PackedMatrix::attach(const Part& part, std::vector<std::vector<std::byte>>& read) {
  if (part.table == Table::none) return {};
  const std::byte* bytes = part.source->view(part.offset, part.n_bytes);
  if (!bytes) {
    INLAY_TRY(part.source->check_range(part.offset, part.n_bytes));
    read.emplace_back(part.n_bytes);
    INLAY_TRY(part.source->read(part.offset, read.back()));
    bytes = read.back().data();
  }
  data(part.table) = bytes;
  return {};
}

float ScaleTable::at(int64_t row, int64_t group) const {
  return float_at(data, dtype, row / rows_per_scale * row_stride + group * group_stride);
}

DType held_type(const PackedMatrix& m) {
  const DType plain = m.scales.dtype == DType::f16 && !m.is_e4m3 ? DType::f16 : DType::bf16;
  const bool whole_blocks = m.n_cols % kPackedBlock == 0 && (m.group_size % kPackedBlock == 0 || m.n_groups == 1) && !m.group_of;
  if (!whole_blocks || !halves_hold(m.scales)) return plain;
  if (m.is_e4m3) return DType::f8_e4m3;
  const bool symmetric = all_zeros_in_the_middle(m);
  if (m.middle == 128) return symmetric ? DType::q8_0 : plain;
  return symmetric ? DType::q4_0 : DType::q4_1;
}

std::unique_ptr<ByteSource> make_source(PackedMatrix matrix, DType held) {
  return std::make_unique<PackedSource>(std::move(matrix), held);
}

}  // namespace inlay
