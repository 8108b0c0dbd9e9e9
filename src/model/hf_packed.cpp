#include "src/model/hf_packed.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <unordered_map>

#include "src/formats/text.h"
#include "src/model/packed_matrix.h"

namespace inlay {
namespace {

using Shape = std::vector<int64_t>;
using Table = PackedMatrix::Table;

std::string text_of(const Shape& shape) {
  std::string out = "[";
  for (const int64_t d : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(d);
  return out + "]";
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int32_t log2_of(int64_t n) { return n == 8 ? 3 : n == 4 ? 2 : 0; }

// Scales and zero points of activations and of the cache, which here are not quantized by a file's numbers.
constexpr std::string_view kOfActivations[] = {
    ".input_scale", ".input_scale_ub",   ".input_zero_point", ".output_scale", ".output_zero_point",
    ".k_scale",     ".v_scale",          ".q_scale",          ".k_zero_point", ".v_zero_point",
    ".prob_scale",  ".k_observer.scale", ".v_observer.scale"};

// Where a column's place in its word is not its number: AWQ.
constexpr uint8_t kAwqPlace[8] = {0, 4, 1, 5, 2, 6, 3, 7};

PackedCodes along_rows(int32_t bits, int64_t row_stride, int64_t col_stride) {
  PackedCodes codes = {.row_log2 = log2_of(32 / bits), .row_stride = row_stride, .col_stride = col_stride};
  for (int i = 0; i < 32 / bits; ++i) codes.row_shift[i] = static_cast<uint8_t>(bits * i);
  codes.mask = (1u << bits) - 1;
  return codes;
}

PackedCodes along_cols(int32_t bits, int64_t row_stride, int64_t col_stride) {
  PackedCodes codes = {.col_log2 = log2_of(32 / bits), .row_stride = row_stride, .col_stride = col_stride};
  for (int i = 0; i < 32 / bits; ++i) codes.col_shift[i] = static_cast<uint8_t>(bits * i);
  codes.mask = (1u << bits) - 1;
  return codes;
}

PackedCodes in_awq_order(PackedCodes codes) {
  for (int i = 0; i < 8; ++i) codes.row_shift[i] = static_cast<uint8_t>(4 * kAwqPlace[i]);
  return codes;
}

class Unpacker {
 public:
  Unpacker(const HfQuantization& quantization, std::span<const HfStoredTensor> tensors)
      : q_(quantization), tensors_(tensors) {
    out_.taken.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) by_name_.emplace(tensors[i].entry->name, i);
  }

  Result<HfMatrices> run() {
    for (size_t i = 0; i < tensors_.size() && q_.packing != HfPacking::none; ++i) {
      const SafetensorsEntry& entry = *tensors_[i].entry;
      const std::string_view name = entry.name;
      const auto stem = [&](std::string_view suffix) {
        return std::string(name.substr(0, name.size() - suffix.size()));
      };
      const bool grouped = q_.packing == HfPacking::gptq || q_.packing == HfPacking::awq;
      if (grouped && name.ends_with(".qweight")) INLAY_TRY(add_grouped(stem(".qweight")));
      if (q_.packing == HfPacking::compressed && name.ends_with(".weight_packed"))
        INLAY_TRY(add_compressed(stem(".weight_packed")));
      const bool bytes = entry.dtype == "F8_E4M3" || entry.dtype == "I8";
      if (!grouped && bytes && name.ends_with(".weight")) INLAY_TRY(add_bytes(stem(".weight")));
      if (hf_is_of_activations(name)) out_.taken[i] = true;
    }
    return std::move(out_);
  }

 private:
  const HfStoredTensor* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &tensors_[at->second];
  }

  std::string where(const HfStoredTensor& t) const {
    return std::string(t.source->name()) + ": tensor " + quote(t.entry->name);
  }

  Status mismatch(const HfStoredTensor& t, std::string_view dtypes, const std::string& shape) const {
    return error(Code::format, "%s is %s %s, expected %s %s", where(t).c_str(), t.entry->dtype.c_str(),
                 text_of(t.entry->shape).c_str(), std::string(dtypes).c_str(), shape.c_str());
  }

  Result<const HfStoredTensor*> get(const std::string& name, const std::string& codes) const {
    if (const HfStoredTensor* t = find(name)) return t;
    return error(Code::format, "%s has no %s beside it", where(*find(codes)).c_str(), quote(name).c_str());
  }

  Status check_bytes(const HfStoredTensor& t) const {
    return t.entry->n_bytes > 0 ? Status{} : error(Code::format, "%s has no bytes", where(t).c_str());
  }

  // The tensor becomes a part of the matrix.
  Status take(const HfStoredTensor& t, PackedMatrix& m, Table table) {
    INLAY_TRY(check_bytes(t));
    m.parts.push_back({t.source, t.entry->offset, t.entry->n_bytes, table});
    out_.taken[static_cast<size_t>(&t - tensors_.data())] = true;
    return {};
  }

  Status take_words(const HfStoredTensor& t, const Shape& shape, PackedMatrix& m, Table table) {
    if (t.entry->dtype != "I32" || t.entry->shape != shape) return mismatch(t, "I32", text_of(shape));
    return take(t, m, table);
  }

  static Result<std::vector<std::byte>> bytes_of(const HfStoredTensor& t) {
    INLAY_TRY(t.source->check_range(t.entry->offset, t.entry->n_bytes));
    std::vector<std::byte> bytes(t.entry->n_bytes);
    INLAY_TRY(t.source->read(t.entry->offset, bytes));
    return bytes;
  }

  // Scales (groups, rows), or where `by_row` (rows, groups).
  Status take_scales(const HfStoredTensor& t, bool by_row, PackedMatrix& m) {
    const Shape shape = by_row ? Shape{m.n_rows, m.n_groups} : Shape{m.n_groups, m.n_rows};
    if (!set_type(t, m.scales) || t.entry->shape != shape) return mismatch(t, "F16, BF16 or F32", text_of(shape));
    INLAY_TRY(take(t, m, Table::scales));
    m.scales.n = m.n_rows * m.n_groups;
    m.scales.row_stride = by_row ? m.n_groups : 1;
    m.scales.group_stride = by_row ? 1 : m.n_rows;
    return {};
  }

  static bool set_type(const HfStoredTensor& t, ScaleTable& scales) {
    const std::string& dtype = t.entry->dtype;
    scales.dtype = dtype == "F16" ? DType::f16 : dtype == "BF16" ? DType::bf16 : DType::f32;
    return dtype == "F16" || dtype == "BF16" || dtype == "F32";
  }

  // Which group each column belongs to; remembered only if groups are not neighbouring columns.
  Status take_group_index(const HfStoredTensor& t, PackedMatrix& m) {
    INLAY_TRY(take_words(t, {m.n_cols}, m, Table::none));
    INLAY_ASSIGN(const std::vector<std::byte> data, bytes_of(t));
    bool in_order = true;
    for (int64_t col = 0; col < m.n_cols; ++col) {
      int32_t group;
      std::memcpy(&group, data.data() + 4 * col, sizeof group);
      if (group < 0 || group >= m.n_groups) {
        return error(Code::format, "%s: element %lld is %d, expected 0 to %lld", where(t).c_str(),
                     static_cast<long long>(col), group, static_cast<long long>(m.n_groups - 1));
      }
      in_order = in_order && group == col / m.group_size;
    }
    if (!in_order) m.parts.back().table = Table::group_of;
    return {};
  }

  // GPTQ and AWQ.
  Status add_grouped(const std::string& stem) {
    const std::string codes_name = stem + ".qweight";
    const HfStoredTensor& codes = *find(codes_name);
    const bool awq = q_.packing == HfPacking::awq;
    const int64_t per_word = 32 / q_.bits;
    const Shape& shape = codes.entry->shape;
    if (codes.entry->dtype != "I32" || shape.size() != 2)
      return mismatch(codes, "I32", awq ? "[inputs, outputs / 8]" : "[inputs * bits / 32, outputs]");
    INLAY_TRY(check_bytes(codes));  // of none, a dimension may be any number
    PackedMatrix m = {.name = stem + ".weight",
                      .n_rows = shape[1] * (awq ? per_word : 1),
                      .n_cols = shape[0] * (awq ? 1 : per_word),
                      .middle = 1u << (q_.bits - 1)};
    m.group_size = q_.group_size > 0 ? q_.group_size : m.n_cols;
    m.n_groups = ceil_div(m.n_cols, std::max<int64_t>(m.group_size, 1));
    INLAY_TRY(take(codes, m, Table::codes));
    m.codes = awq ? in_awq_order(along_rows(q_.bits, 1, shape[1])) : along_cols(q_.bits, 1, m.n_rows);
    INLAY_ASSIGN(const HfStoredTensor* scales, get(stem + ".scales", codes_name));
    INLAY_TRY(take_scales(*scales, false, m));
    INLAY_ASSIGN(const HfStoredTensor* zeros, get(stem + ".qzeros", codes_name));
    const int64_t zero_words = ceil_div(m.n_rows, per_word);
    INLAY_TRY(take_words(*zeros, {m.n_groups, zero_words}, m, Table::zeros));
    m.zeros = along_rows(q_.bits, 1, zero_words);
    if (awq) m.zeros = in_awq_order(m.zeros);
    m.zero_added = q_.zeros_less_one ? 1 : 0;
    if (const HfStoredTensor* index = awq ? nullptr : find(stem + ".g_idx")) INLAY_TRY(take_group_index(*index, m));
    return finish(std::move(m));
  }

  Status add_compressed(const std::string& stem) {
    const std::string codes_name = stem + ".weight_packed";
    const HfStoredTensor& codes = *find(codes_name);
    PackedMatrix m = {.name = stem + ".weight"};
    INLAY_ASSIGN(const HfStoredTensor* shape, get(stem + ".weight_shape", codes_name));
    INLAY_TRY(take_shape(*shape, m));
    const Shape &words = codes.entry->shape, w4 = {m.n_rows, ceil_div(m.n_cols, 8)},
                w8 = {m.n_rows, ceil_div(m.n_cols, 4)};
    if (codes.entry->dtype != "I32" || (words != w4 && words != w8))
      return mismatch(codes, "I32", text_of(w4) + " (4 bits) or " + text_of(w8) + " (8 bits)");
    const int32_t bits = words == w4 ? 4 : 8;
    m.middle = 1u << (bits - 1);
    INLAY_TRY(take(codes, m, Table::codes));
    m.codes = along_cols(bits, words[1], 1);
    INLAY_ASSIGN(const HfStoredTensor* scales, get(stem + ".weight_scale", codes_name));
    INLAY_TRY(set_groups(*scales, m));
    INLAY_TRY(take_scales(*scales, true, m));
    if (const HfStoredTensor* zeros = find(stem + ".weight_zero_point")) {
      INLAY_TRY(take_words(*zeros, {ceil_div(m.n_rows, 32 / bits), m.n_groups}, m, Table::zeros));
      m.zeros = along_rows(bits, m.n_groups, 1);
    }
    if (const HfStoredTensor* index = find(stem + ".weight_g_idx")) INLAY_TRY(take_group_index(*index, m));
    return finish(std::move(m));
  }

  // weight_shape: rows and columns, as numbers.
  Status take_shape(const HfStoredTensor& t, PackedMatrix& m) {
    const bool wide = t.entry->dtype == "I64";
    if ((!wide && t.entry->dtype != "I32") || t.entry->shape != Shape{2}) return mismatch(t, "I64 or I32", "[2]");
    INLAY_TRY(take(t, m, Table::none));
    INLAY_ASSIGN(const std::vector<std::byte> data, bytes_of(t));
    int64_t n[2];
    for (int i = 0; i < 2; ++i) {
      int32_t narrow;
      std::memcpy(&n[i], data.data() + (wide ? 8 * i : 0), sizeof n[i]);
      std::memcpy(&narrow, data.data() + 4 * i, sizeof narrow);
      if (!wide) n[i] = narrow;
      if (n[i] < 1 || n[i] > INT32_MAX) {
        return error(Code::format, "%s: element %d is %lld, expected 1 to 2147483647", where(t).c_str(), i,
                     static_cast<long long>(n[i]));
      }
    }
    m.n_rows = n[0], m.n_cols = n[1];
    return {};
  }

  // From the shape of scales (rows, groups).
  Status set_groups(const HfStoredTensor& scales, PackedMatrix& m) {
    const Shape& shape = scales.entry->shape;
    m.n_groups = shape.size() == 2 ? shape[1] : 0;
    if (m.n_groups < 1 || m.n_cols % m.n_groups != 0) {
      return mismatch(scales, "F16, BF16 or F32",
                      "[" + std::to_string(m.n_rows) + ", groups of the " + std::to_string(m.n_cols) + " columns]");
    }
    m.group_size = m.n_cols / m.n_groups;
    return {};
  }

  // Codes of a byte each: FP8, or INT8 of compressed-tensors.
  Status add_bytes(const std::string& stem) {
    const std::string codes_name = stem + ".weight";
    const HfStoredTensor& codes = *find(codes_name);
    const Shape& shape = codes.entry->shape;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
      return mismatch(codes, codes.entry->dtype, "[rows, columns]");
    PackedMatrix m = {.name = codes_name, .n_rows = shape[0], .n_cols = shape[1]};
    m.is_e4m3 = codes.entry->dtype == "F8_E4M3";
    if (const HfStoredTensor* zeros = find(stem + ".weight_zero_point"))
      return error(Code::unsupported, "%s: zero points of %s weights are not supported", where(*zeros).c_str(),
                   codes.entry->dtype.c_str());
    INLAY_TRY(take(codes, m, Table::codes));
    m.codes = {.word_bytes = 1, .row_stride = m.n_cols, .col_stride = 1, .mask = 0xff};
    m.middle = 128;
    m.codes.flip = m.is_e4m3 ? 0 : 0x80;
    const HfStoredTensor* scales = find(stem + ".weight_scale_inv");
    if (!scales) {
      INLAY_ASSIGN(scales, get(stem + ".weight_scale", codes_name));
    }
    INLAY_TRY(take_area_scales(*scales, m));
    return finish(std::move(m));
  }

  // One for all, one a row, or one for each block.
  Status take_area_scales(const HfStoredTensor& t, PackedMatrix& m) {
    Shape shape = t.entry->shape;
    if (shape.size() == 1) shape.push_back(1);
    if (shape.empty()) shape = {1, 1};
    const Shape blocks = {ceil_div(m.n_rows, q_.block_rows), ceil_div(m.n_cols, q_.block_cols)};
    m.group_size = m.n_cols, m.n_groups = 1;
    if (shape == Shape{1, 1}) {
      m.scales.rows_per_scale = m.n_rows;
    } else if (shape == blocks) {
      m.scales.rows_per_scale = q_.block_rows;
      m.group_size = q_.block_cols, m.n_groups = blocks[1];
    } else if (shape != Shape{m.n_rows, 1}) {
      return mismatch(t, "F16, BF16 or F32", "[1], [" + std::to_string(m.n_rows) + ", 1] or " + text_of(blocks));
    }
    if (!set_type(t, m.scales)) return mismatch(t, "F16, BF16 or F32", text_of(t.entry->shape));
    INLAY_TRY(take(t, m, Table::scales));
    m.scales.n = shape[0] * shape[1];
    m.scales.row_stride = shape[1];
    m.scales.group_stride = 1;
    return {};
  }

  Status finish(PackedMatrix m) {
    PackedMatrix attached = m;
    std::vector<std::vector<std::byte>> read;
    for (const PackedMatrix::Part& part : m.parts) {
      if (part.table != Table::codes) INLAY_TRY(attached.attach(part, read));
    }
    HfMatrix out = {.name = m.name, .dtype = held_type(attached), .n_rows = m.n_rows, .n_cols = m.n_cols};
    INLAY_TRY(drop_empty_bias(m.name));
    out.source = make_source(std::move(m), out.dtype);
    out_.matrices.push_back(std::move(out));
    return {};
  }

  // GPTQ's tools write one of zeros for matrices of models that have none.
  Status drop_empty_bias(const std::string& matrix) {
    constexpr std::string_view kWeight = "weight";
    const HfStoredTensor* t = find(matrix.substr(0, matrix.size() - kWeight.size()) + "bias");
    if (!t || q_.packing != HfPacking::gptq) return {};
    INLAY_ASSIGN(const std::vector<std::byte> data, bytes_of(*t));
    if (std::ranges::all_of(data, [](std::byte b) { return b == std::byte{0}; }))
      out_.taken[static_cast<size_t>(t - tensors_.data())] = true;
    return {};
  }

  const HfQuantization& q_;
  const std::span<const HfStoredTensor> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;
  HfMatrices out_;
};

}  // namespace

bool hf_is_of_activations(std::string_view name) {
  return std::ranges::any_of(kOfActivations, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

Result<HfMatrices> unpack_matrices(const HfQuantization& quantization, std::span<const HfStoredTensor> tensors) {
  return Unpacker(quantization, tensors).run();
}

}  // namespace inlay
