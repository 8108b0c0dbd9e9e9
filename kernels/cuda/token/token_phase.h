// What the token kernel is told of a step.
#pragma once

#include "kernels/cuda/attention/row_params.cuh"
#include "kernels/cuda/linear/few_rows.cuh"

namespace inlay::cuda {

enum class TokenPhaseKind : int32_t { linear, attention };

// x of a product of several rows: session_rows.cuh.
struct PreparedX {
  uint8_t* records;  // of every chunk of 256 columns
  uint32_t* flags;   // (chunks, kFlagStride): the tag of what the record holds
};

struct TokenPhase {
  TokenPhaseKind kind;
  uint32_t tag_in, tag_out;
  int32_t n_ready;    // linear: CTAs, the first ones, that have x from the phase before; 0: it has another x
  int32_t first_cta;  // linear: that has the first tiles
  FewRowsParams linear;
  RowParams attention;
  PreparedX prepared;  // linear, of several rows
  int32_t pairs;       // likewise: 1 if tiles come in pairs, eight chunks of each in turns
};

// A product's weights, for the warp that copies them: it runs ahead of the phases.
struct alignas(16) TokenWeights {
  const uint8_t* weights;
  const float* vectors[2];  // that all CTAs read: of the norm, bias; or null
  int32_t vector_cols[2];
  int32_t tile_bytes, gap;  // gap: from the end of a tile's chunks, were they all whole, to the next tile
  int32_t missing;          // bytes that a tile's last chunk lacks
  int32_t n_chunks;         // of a tile
  int32_t cta_tiles, n_longer, first_cta, pairs;  // as in FewRowsParams and TokenPhase
  DType dtype;
};

// Stages of weights that may be under way in a CTA. What is under way delays the values that ops hand over, and the
// weights of CTAs whose warps wait for them: a CTA is fed that has more than `hungry` stages, there or under way. Steps
// of several rows are slower with fewer, and may have `hungry` of them in any case.
struct StagesAhead {
  int32_t hungry, fed;
};

struct TokenParams {
  const TokenPhase* phases;
  const TokenWeights* weights;  // of the phases that are products
  int32_t n_weights;
  const int32_t* positions;  // of the rows
  int32_t n_rows, max_context;
  int32_t n_phases, attention;  // attention: the first phase that is one, whose places all have, or -1
  int32_t n_records;            // of several rows' x in shared memory
  int32_t ring_at;              // bytes into shared memory
  int32_t ring_bytes;
  StagesAhead ahead;
};

// A kernel has products of one or two types: more would not fit its registers, and no usual model has more. kSeveral:
// of several rows; else of one, which comes as it is.
using TokenKernel = void (*)(TokenParams);
template <DType kFirst, DType kSecond, bool kSeveral>
TokenKernel token_kernel_of(int32_t d_head);

}  // namespace inlay::cuda
