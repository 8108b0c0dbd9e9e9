// The experts of a Hugging Face folder as the tensors that GGUF files have them in: each matrix of all experts of a layer
// stacked, (n_experts, n_rows, n_cols), output rows outermost.
//
// Files hold them in one of three ways, behind the "experts." of a layer:
//   N.gate_proj.weight ...         each expert's matrices by themselves, named by the family
//   gate_up_proj, down_proj        stacked; gate_up_proj has the rows of gate, then those of up
//   gate_up_proj, ..._bias ...     stacked and transposed (gpt-oss): inputs outermost, gate and up in alternate columns;
//   gate_up_proj_blocks, ..._scales   the same in MXFP4, not transposed: 16 bytes of codes for 32 inputs, two
//                                  neighbours in a byte, the lower one first; one exponent for each
// Nothing is copied when the folder is opened: reading puts the bytes in order.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/checkpoint.h"
#include "src/formats/safetensors.h"
#include "src/model/hf_family.h"

namespace inlay {

struct StackedTensor {
  std::string name;
  TensorEntry entry;  // without name and source
};

struct StackedExperts {
  std::vector<StackedTensor> tensors;
  std::unique_ptr<ByteSource> source;  // of all of them; null if there are none
};

class ExpertStacker {
 public:
  explicit ExpertStacker(const HfFamily& family) : family_(family) {}

  bool takes(std::string_view name) const;
  // `source` must outlive what build() returns.
  void add(const SafetensorsEntry& entry, const ByteSource& source);
  Result<StackedExperts> build(const std::string& folder) const;  // `folder`: in messages

 private:
  struct Stored {
    SafetensorsEntry entry;
    const ByteSource* source;
  };
  using Group = std::map<std::string, Stored, std::less<>>;  // by what stands behind "experts."

  class Builder;
  const HfFamily& family_;
  std::map<std::string, Group, std::less<>> groups_;  // by what stands before, "experts." included
};

}  // namespace inlay
