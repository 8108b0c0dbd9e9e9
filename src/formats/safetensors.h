// The directory of a safetensors file: 8 bytes of header length, a JSON object {"NAME": {"dtype", "shape",
// "data_offsets"}}, then the tensors' bytes. Format: the README of the safetensors project.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

// The format's own bound.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  std::string dtype;           // as the file writes it, as in "BF16"
  std::vector<int64_t> shape;  // outermost first; empty for a scalar
  uint64_t offset = 0;         // in the file
  uint64_t n_bytes = 0;        // that shape and dtype take
};

// In the order of their bytes. Checked: the tensors cover the bytes behind the header without a gap or an overlap.
Result<std::vector<SafetensorsEntry>> read_safetensors(const ByteSource& source);

}  // namespace inlay
