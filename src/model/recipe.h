// Which type each matrix of a model gets where all of it is quantized: when a file is written, or while it is loaded.
#pragma once

#include "src/model/model.h"

namespace inlay {

// What a model is converted to, or quantized to at load.
enum class ConvertType : uint8_t { f16, bf16, f32, q8_0, q4_0, q4_k_m, q5_k_m, q6_k, count };

struct Recipe {
  const char* name;
  uint32_t file_type;  // llama.cpp's number, GGUF's general.file_type
  DType matrices;
  DType output;  // the matrix of the logits, the embedding too where that is the same
  DType more;    // of some layers' values and down projections, on which quality depends most
};

const Recipe& recipe_of(ConvertType type);

// Vectors and routers become F32. A matrix that has as few bits a weight already keeps its type, but F8_E4M3, which
// files cannot have, and where the recipe has no blocks. Rows that are no whole blocks of a type get one with smaller
// blocks.
DType type_by(const Recipe& recipe, const Weight& weight, const ModelSpec& spec);

}  // namespace inlay
