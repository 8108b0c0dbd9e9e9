// A GGUF image with the tensors of a real model and random weights. Speed does not depend on the weights' values, so it
// stands for the real file in measurements. Only the header is held; weights are made when they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/cli/synthetic_blocks.h"

namespace inlay::cli {

struct SyntheticRequest {
  std::string shape;     // one of synthetic_shape_names()
  std::string recipe;    // one of synthetic_recipe_names()
  int32_t n_layers = 0;  // 0: as the shape says
  int32_t n_vocab = 0;   // 0: as the shape says
  double scale = 1.0;    // shrinks width, heads and vocabulary by about this
};

std::vector<std::string> synthetic_shape_names();
std::vector<std::string> synthetic_recipe_names();

class SyntheticModel {
 public:
  // False, with the reason in `error`, if there is no such shape or recipe, or a number is out of its range.
  bool build(const SyntheticRequest& request, std::string& error);

  uint64_t n_bytes() const { return n_bytes_; }
  int32_t n_context() const { return n_context_; }  // that it was trained for, as its header says
  uint64_t n_params() const { return n_params_; }
  // Where the tensors' bytes begin; all before it is the GGUF header.
  uint64_t data_offset() const { return header_.size(); }
  void read(uint64_t offset, std::byte* into, uint64_t n) const;

 private:
  struct Tensor {
    BlockType type;
    ValueSpread spread;
    std::vector<float> values;  // not random if there are any
    uint64_t offset;            // in the image
    uint64_t n_bytes;
  };
  void read_tensor(size_t index, uint64_t offset, std::byte* into, uint64_t n) const;

  std::string header_;
  std::vector<Tensor> tensors_;
  uint64_t n_bytes_ = 0;
  uint64_t n_params_ = 0;
  int32_t n_context_ = 0;
};

}  // namespace inlay::cli
