// The CUDA kernels of mixtures of experts as the host sees them; see cuda_kernels.h.
//
// Each row of a step chooses n_used experts; a (row, chosen expert) is a pair. Products go expert by expert: pairs are
// brought into the order of their experts, each at a "place". The places of an expert follow one another, and begin at
// an even one. Which experts were chosen is known on the device alone: launches are as large as any choice needs, and
// read there what there is to do, so that a graph can hold them.
#pragma once

#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

inline constexpr int32_t kMaxExperts = 512;
inline constexpr int32_t kMaxChosen = 32;

// Rows of one expert that are multiplied together.
struct ExpertBlock {
  int32_t expert, first_place, n_rows;
};

struct MoeShape {
  int32_t m, n_experts, n_used;
  int32_t block_rows;  // most rows of a block

  __host__ __device__ constexpr int32_t n_pairs() const { return m * n_used; }
  __host__ __device__ constexpr int32_t most_experts() const { return n_pairs() < n_experts ? n_pairs() : n_experts; }
  __host__ __device__ constexpr int32_t n_places() const { return (n_pairs() + most_experts() + 7) / 8 * 8; }
  __host__ __device__ constexpr int32_t most_blocks() const { return most_experts() + n_pairs() / block_rows; }
};

// What routing leaves behind: a view of moe_routing_bytes of memory.
struct MoeRouting {
  float* logits;        // (rows, n_experts + 1); the last is that of the shared expert's gate
  float* weights;       // (rows, n_used) what the pairs' results are multiplied by
  float* shared_weight; // (rows) likewise of the shared expert
  int32_t* experts;     // (rows, n_used), best first, of equal ones the lower first; -1: the row is padding
  int32_t* pair_place;  // (rows, n_used) or -1
  int32_t* place_row;   // (n_places) or -1: nobody's
  ExpertBlock* blocks;  // (n_blocks), by expert
  int32_t* n_blocks;
};
size_t moe_routing_bytes(const MoeShape& shape);
MoeRouting moe_routing_at(void* memory, const MoeShape& shape);

// logits = router * rms_norm(x) (+ bias), the n_used largest and their softmax, then the places.
struct MoeRouteArgs {
  const float* x;            // (rows, n_cols)
  const float* norm_weight;  // (n_cols)
  const float* router;       // (n_experts, padded_cols(n_cols)): packed F32
  const float* bias;         // (n_experts) or null
  const float* shared_gate;  // (n_cols) or null: shared_weight = sigmoid of its product
  const int32_t* positions;  // (rows); < 0: padding
  MoeRouting out;
  MoeShape shape;
  int64_t n_cols;            // a multiple of 4
  float epsilon, weights_scale;
  bool softmax_over_chosen;  // false: over all experts
};
cudaError_t launch_moe_route(const MoeRouteArgs& args, LaunchTarget target);

inline constexpr int32_t kMostBlockRows = 64;
inline constexpr int32_t kFewRowsOfExperts = 128;
// The shape of a step of m rows. Up to kFewRowsOfExperts rows are multiplied as single tokens are, in blocks of 8 rows, or of 16 where
// experts have more than 4 rows on average.
constexpr MoeShape moe_shape_for(int32_t m, int32_t n_experts, int32_t n_used) {
  return {m, n_experts, n_used, m > kFewRowsOfExperts ? kMostBlockRows : m * n_used <= 4 * n_experts ? 8 : 16};
}

// Products of every block of rows with its expert's matrix. Rows of x and of out are places; a raw row is every
// place's.
struct ExpertLinearArgs {
  LinearArgs linear;  // of one expert; weights: all experts' tiles; m: most rows of a block; biases: (n_experts, results) or null
  const ExpertBlock* blocks;
  const int32_t* n_blocks;
  int32_t most_blocks;
  // Another launch_expert_linear of the step stands between the routing and this one, which may then read the routing before its
  // predecessor has ended.
  bool routing_is_older = false;
};
cudaError_t launch_expert_linear(const ExpertLinearArgs& args, LaunchTarget target);

// x[row] += sum over the row's pairs, best first, of weight * values[place] (+ shared_weight * shared[row])
struct MoeCombineArgs {
  float* x;             // (rows, n_cols)
  const float* values;  // (places, n_cols)
  const float* shared;  // (rows, n_cols) or null
  MoeRouting routing;
  MoeShape shape;
  int64_t n_cols;
};
cudaError_t launch_moe_combine(const MoeCombineArgs& args, LaunchTarget target);

// The same for a step of one row and what comes before it, in one launch: values are prepared, multiplied by the matrices of
// their places' experts and added up, with the bits of launch_activations, launch_expert_linear and launch_moe_combine.
//
// Starts early: the routing is read before its predecessor has ended. A launch_expert_linear of the same step must stand between
// the two.
struct ExpertRowArgs {
  LinearArgs linear;    // of one expert, as above; m = 1; x, raw and out are not used
  const float* values;  // (places, n_cols)
  MoeCombineArgs sum;   // but for its values
};
bool expert_row_runs(const ExpertRowArgs& args);  // whether there is a kernel for it on the current device
cudaError_t launch_expert_row(const ExpertRowArgs& args, LaunchTarget target);

}  // namespace inlay::cuda
