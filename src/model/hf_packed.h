// The quantized matrices of a Hugging Face folder, each put together from its tensors: codes, scales, zero points.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/formats/safetensors.h"
#include "src/model/hf_quantization.h"

namespace inlay {

struct HfStoredTensor {
  const SafetensorsEntry* entry;
  const ByteSource* source;  // of its file
};

struct HfMatrix {
  std::string name;  // that it would have if it were not quantized
  DType dtype;
  int64_t n_rows, n_cols;
  std::unique_ptr<ByteSource> source;  // reads the tensors' files, which must outlive it
};

struct HfMatrices {
  std::vector<HfMatrix> matrices;
  std::vector<bool> taken;  // by tensor: a part of a matrix, or what only quantized activations need
};

// A matrix whose parts are missing or do not fit is an error that names the tensor.
Result<HfMatrices> unpack_matrices(const HfQuantization& quantization, std::span<const HfStoredTensor> tensors);

// Scales and zero points of activations and of the cache, which here are not quantized by a file's numbers.
bool hf_is_of_activations(std::string_view name);

}  // namespace inlay
