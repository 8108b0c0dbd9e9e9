// Matrices that a file holds as small codes, packed into words, and scales in tensors of their own: read as the blocks
// that kernels take, or as floats where no type has such blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

// A table of codes. Several neighbours, down a column or along a row, share a little-endian word.
struct PackedCodes {
  const std::byte* data = nullptr;
  int32_t word_bytes = 4;                        // 4 or 1
  int32_t row_log2 = 0, col_log2 = 0;            // of how many rows and columns share a word
  int64_t row_stride = 0, col_stride = 0;        // in words
  uint8_t row_shift[8] = {}, col_shift[8] = {};  // by place in the word
  uint32_t mask = 0, flip = 0;                   // of a code

  uint32_t at(int64_t row, int64_t col) const;
};

struct ScaleTable {
  const std::byte* data = nullptr;
  DType dtype = DType::f16;  // F32, F16 or BF16
  int64_t n = 0;
  int64_t rows_per_scale = 1;  // rows of the matrix
  int64_t row_stride = 0, group_stride = 0;

  float at(int64_t row, int64_t group) const;
};

// value = scale * (code - zero), or scale * E4M3(code)
struct PackedMatrix {
  // A tensor that the matrix is made of, and what of it: `data` of one of the tables, or group_of.
  enum class Table : uint8_t { codes, scales, zeros, group_of, none };
  struct Part {
    const ByteSource* source;
    uint64_t offset, n_bytes;
    Table table;
  };
  const std::byte*& data(Table table);  // not of none
  // Points the table at the part's bytes: the source's own, or read ones, which go to the end of `read`.
  Status attach(const Part& part, std::vector<std::vector<std::byte>>& read);

  std::string name;
  int64_t n_rows = 0, n_cols = 0;
  bool is_e4m3 = false;
  PackedCodes codes;
  ScaleTable scales;
  int64_t group_size = 0, n_groups = 1;  // columns that share a scale
  PackedCodes zeros;                     // by row and group; data null: all are `middle`
  uint32_t zero_added = 0;               // to zeros as they are stored
  uint32_t middle = 0;                   // 2^(bits - 1)
  const std::byte* group_of = nullptr;   // (n_cols) int32, where groups are not neighbours
  std::vector<Part> parts;               // the tensors; must outlive the source
};

// Q4_0, Q4_1, Q8_0 or F8_E4M3 where blocks of 32 columns have one group each and FP16 holds the scales to 2^-9, which
// is what BF16 holds weights to; else F16 if the scales are, or BF16.
DType held_type(const PackedMatrix& matrix);  // of which all but the codes is attached

// The rows in that type. The source attaches the parts when it is first read and lets go of them when all of it was
// discarded.
std::unique_ptr<ByteSource> make_source(PackedMatrix matrix, DType held);

}  // namespace inlay
