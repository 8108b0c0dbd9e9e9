// Bytes of tensors that are parts of other sources in another order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

// Elements of a source, (n_rows, n_cols) at these distances in bytes. An element is what goes in one piece: a number, or
// all columns of a row that stand together.
struct StridedBytes {
  const ByteSource* source = nullptr;
  uint64_t offset = 0;
  uint64_t n_rows = 0, n_cols = 0;
  uint64_t row_stride = 0, col_stride = 0;
  uint64_t element_bytes = 0;
};

// Of such elements, one after the other; with `scales` each of 16 bytes becomes the MXFP4 block of GGUF that its codes
// and the scale at the same row and column make.
struct ReorderedPart {
  StridedBytes from;
  StridedBytes scales;  // source null: none

  uint64_t element_bytes() const { return from.element_bytes + (scales.source ? 1 : 0); }
  uint64_t n_bytes() const { return from.n_rows * from.n_cols * element_bytes(); }
};

// The parts one after the other. Their sources must outlive it.
std::unique_ptr<ByteSource> reordered_source(std::vector<ReorderedPart> parts, std::string name);

}  // namespace inlay
