// Random weights in the GGUF block formats, made from a counter: the same seed and index give the same bytes, wherever
// a reading begins.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay::cli {

enum class BlockType : uint8_t { f32, f16, bf16, q4_0, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k, mxfp4 };

struct BlockTraits {
  const char* name;
  uint32_t ggml_type;   // number of the type in GGUF files
  uint32_t n_elements;  // of a block
  uint32_t n_bytes;     // of a block
};

const BlockTraits& block_traits(BlockType type);

// What the values of a tensor are like.
struct ValueSpread {
  float mean = 0.0f;  // used by f32 only; the others centre on zero
  float deviation = 0.0f;
};

// Writes blocks [first, first + n) of the tensor that `seed` stands for. No block is all zeros.
void fill_blocks(BlockType type, ValueSpread spread, uint64_t seed, uint64_t first, uint64_t n, std::byte* out);

}  // namespace inlay::cli
