// Hugging Face folders with quantized matrices, made of known codes, scales and zero points: the packers here follow
// the formats' definitions and share nothing with the reader.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/common/half.h"
#include "tests/support/hf_folder.h"

namespace inlay::test {

// value(row, col) = scale * (code - zero), the group's
struct KnownMatrix {
  std::string stem;
  int64_t rows, cols, group;  // columns of a group
  int bits;
  std::vector<int> codes, zeros, group_of;  // zeros and scales: (rows, groups)
  std::vector<float> scales;

  int64_t n_groups() const { return cols / group; }
  int code(int64_t r, int64_t c) const { return codes[static_cast<size_t>(r * cols + c)]; }
  size_t at(int64_t r, int64_t g) const { return static_cast<size_t>(r * n_groups() + g); }
  float value(int64_t r, int64_t c) const {
    const size_t i = at(r, group_of[static_cast<size_t>(c)]);
    return scales[i] * static_cast<float>(code(r, c) - zeros[i]);
  }
};

struct KnownKind {
  int bits = 4;
  int64_t group = 32;  // 0: all columns
  bool symmetric = true, shuffled = false;
};

inline KnownMatrix known_matrix(const std::string& stem, int64_t rows, int64_t cols, const KnownKind& kind) {
  KnownMatrix m{
      .stem = stem, .rows = rows, .cols = cols, .group = kind.group > 0 ? kind.group : cols, .bits = kind.bits};
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(stem)));
  const int n_codes = 1 << kind.bits;
  for (int64_t i = 0; i < rows * cols; ++i)
    m.codes.push_back(static_cast<int>(random() % static_cast<uint32_t>(n_codes)));
  for (int64_t i = 0; i < rows * m.n_groups(); ++i) {
    m.zeros.push_back(kind.symmetric ? n_codes / 2
                                     : 1 + static_cast<int>(random() % static_cast<uint32_t>(n_codes - 1)));
    m.scales.push_back((1.0f + static_cast<float>(random() % 8) / 8.0f) / static_cast<float>(4 * n_codes));
  }
  for (int64_t c = 0; c < cols; ++c) m.group_of.push_back(static_cast<int>(c / m.group));
  if (kind.shuffled) std::shuffle(m.group_of.begin(), m.group_of.end(), random);
  return m;
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string floats_as(const std::string& dtype, const std::vector<float>& values) {
  std::string out;
  for (const float v : values) {
    if (dtype == "F32") append(out, v);
    if (dtype == "F16") append(out, f16_from_float(v));
    if (dtype == "BF16") append(out, static_cast<uint16_t>(bits_of(v) >> 16));  // the values have few digits
  }
  return out;
}

// Words of 32 / bits codes each: word (i, j) holds get(i, j, 0), get(i, j, 1), ... from its low bits up.
inline std::string words_of(int64_t n_i, int64_t n_j, int bits, const std::function<int(int64_t, int64_t, int)>& get) {
  std::string out;
  for (int64_t i = 0; i < n_i; ++i) {
    for (int64_t j = 0; j < n_j; ++j) {
      uint32_t word = 0;
      for (int k = 0; k < 32 / bits; ++k) word |= static_cast<uint32_t>(get(i, j, k)) << (bits * k);
      append(out, word);
    }
  }
  return out;
}

inline std::vector<float> scales_by_group(const KnownMatrix& m) {
  std::vector<float> out;
  for (int64_t g = 0; g < m.n_groups(); ++g) {
    for (int64_t r = 0; r < m.rows; ++r) out.push_back(m.scales[m.at(r, g)]);
  }
  return out;
}

inline std::string group_index(const KnownMatrix& m) {
  std::string out;
  for (const int g : m.group_of) append(out, static_cast<int32_t>(g));
  return out;
}

// zero_offset: 1 as version 1 of the format stores zero points, 0 as version 2 does.
inline std::vector<HfTensor> gptq(const KnownMatrix& m, int zero_offset) {
  const int64_t per = 32 / m.bits;
  const auto code = [&](int64_t word, int64_t r, int k) { return m.code(r, word * per + k); };
  const auto zero = [&](int64_t g, int64_t word, int k) { return m.zeros[m.at(word * per + k, g)] - zero_offset; };
  return {{m.stem + ".qweight", {m.cols / per, m.rows}, "I32", words_of(m.cols / per, m.rows, m.bits, code)},
          {m.stem + ".qzeros", {m.n_groups(), m.rows / per}, "I32", words_of(m.n_groups(), m.rows / per, m.bits, zero)},
          {m.stem + ".scales", {m.n_groups(), m.rows}, "F16", floats_as("F16", scales_by_group(m))},
          {m.stem + ".g_idx", {m.cols}, "I32", group_index(m)},
          {m.stem + ".bias", {m.rows}, "F16", std::string(static_cast<size_t>(2 * m.rows), '\0')}};
}

// `order`: which of eight neighbouring rows is at each place of a word.
inline std::vector<HfTensor> awq(const KnownMatrix& m, const std::vector<int>& order = {0, 2, 4, 6, 1, 3, 5, 7}) {
  const auto row = [&](int64_t word, int k) { return word * 8 + order[static_cast<size_t>(k)]; };
  const auto code = [&](int64_t c, int64_t word, int k) { return m.code(row(word, k), c); };
  const auto zero = [&](int64_t g, int64_t word, int k) { return m.zeros[m.at(row(word, k), g)]; };
  return {{m.stem + ".qweight", {m.cols, m.rows / 8}, "I32", words_of(m.cols, m.rows / 8, 4, code)},
          {m.stem + ".qzeros", {m.n_groups(), m.rows / 8}, "I32", words_of(m.n_groups(), m.rows / 8, 4, zero)},
          {m.stem + ".scales", {m.n_groups(), m.rows}, "F16", floats_as("F16", scales_by_group(m))}};
}

inline std::vector<HfTensor> pack_quantized(const KnownMatrix& m, bool symmetric, bool shuffled) {
  const int64_t per = 32 / m.bits;
  const auto code = [&](int64_t r, int64_t word, int k) { return m.code(r, word * per + k); };
  const auto zero = [&](int64_t word, int64_t g, int k) { return m.zeros[m.at(word * per + k, g)]; };
  std::string shape;
  append(shape, m.rows), append(shape, m.cols);
  std::vector<HfTensor> out = {
      {m.stem + ".weight_packed", {m.rows, m.cols / per}, "I32", words_of(m.rows, m.cols / per, m.bits, code)},
      {m.stem + ".weight_shape", {2}, "I64", shape},
      {m.stem + ".weight_scale", {m.rows, m.n_groups()}, "BF16", floats_as("BF16", m.scales)}};
  if (!symmetric) {
    out.push_back({m.stem + ".weight_zero_point",
                   {m.rows / per, m.n_groups()},
                   "I32",
                   words_of(m.rows / per, m.n_groups(), m.bits, zero)});
  }
  if (shuffled) out.push_back({m.stem + ".weight_g_idx", {m.cols}, "I32", group_index(m)});
  return out;
}

// 8 bits, symmetric, a scale for each row.
inline std::vector<HfTensor> int_quantized(const KnownMatrix& m) {
  std::string codes;
  for (const int code : m.codes) codes.push_back(static_cast<char>(code - 128));
  return {{m.stem + ".weight", {m.rows, m.cols}, "I8", codes},
          {m.stem + ".weight_scale", {m.rows, 1}, "F32", floats_as("F32", m.scales)}};
}

// By the definition: a sign, 4 bits of exponent with a bias of 7, 3 of mantissa.
inline float e4m3_value(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                        : std::ldexp(1.0f + static_cast<float>(mantissa) / 8.0f, exponent - 7);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

// A matrix of E4M3 codes with a scale for every block of rows x columns; 0: all.
struct Fp8Matrix {
  std::string stem;
  int64_t rows, cols, block_rows, block_cols;
  std::string codes;
  std::vector<float> scales;

  int64_t n_block_cols() const { return (cols + block_cols - 1) / block_cols; }
  float value(int64_t r, int64_t c) const {
    const auto code = static_cast<uint8_t>(codes[static_cast<size_t>(r * cols + c)]);
    return scales[static_cast<size_t>(r / block_rows * n_block_cols() + c / block_cols)] * e4m3_value(code);
  }
};

inline Fp8Matrix fp8_matrix(const std::string& stem, int64_t rows, int64_t cols, int64_t block_rows, int64_t block_cols,
                            float unit) {
  Fp8Matrix m{.stem = stem,
              .rows = rows,
              .cols = cols,
              .block_rows = block_rows > 0 ? block_rows : rows,
              .block_cols = block_cols > 0 ? block_cols : cols};
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(stem)));
  for (int64_t i = 0; i < rows * cols; ++i) m.codes.push_back(static_cast<char>((random() & 1) << 7 | random() % 0x7f));
  const int64_t n = (rows + m.block_rows - 1) / m.block_rows * m.n_block_cols();
  for (int64_t i = 0; i < n; ++i) m.scales.push_back(unit * (1.0f + static_cast<float>(random() % 1000) / 999.0f));
  return m;
}

inline std::vector<HfTensor> fp8(const Fp8Matrix& m, const char* scale_name, std::vector<int64_t> scale_shape) {
  return {{m.stem + ".weight", {m.rows, m.cols}, "F8_E4M3", m.codes},
          {m.stem + scale_name, std::move(scale_shape), "F32", floats_as("F32", m.scales)},
          {m.stem + ".input_scale", {1}, "F32", floats_as("F32", {0.5f})}};
}

template <class Matrix>
HfTensor dequantized(const Matrix& m) {
  std::string data;
  for (int64_t r = 0; r < m.rows; ++r) {
    for (int64_t c = 0; c < m.cols; ++c) append(data, m.value(r, c));
  }
  return {m.stem + ".weight", {m.rows, m.cols}, "F32", data};
}

}  // namespace inlay::test
