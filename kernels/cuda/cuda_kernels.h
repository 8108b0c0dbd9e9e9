// The CUDA kernels as the host sees them: one POD struct and one launch function each. All pointers are device memory.
//
// A "row" is one token of a step. Rows of every sequence of a step are one after another; a row whose position is negative is
// padding: kernels leave its results undefined and touch neither cache nor logits for it.
//
// Every kernel gives a row the same bits whatever other rows share the step and however many there are.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/common/activation.h"
#include "kernels/common/dtype.h"
#include "kernels/common/prompt_tile.h"
#include "kernels/cuda/launch_target.h"

namespace inlay::cuda {

// ---- matrix products: tiles of 16 output rows, columns in units of 64 padded with zeros (see linear/layout.cuh)

inline constexpr int32_t kTileRows = 16;
inline constexpr int32_t kUnitCols = 64;
constexpr int64_t padded_cols(int64_t n_cols) { return (n_cols + kUnitCols - 1) / kUnitCols * kUnitCols; }

// What a product takes: planes (Q4_K, Q5_K and Q6_K weights: integers of 15 bits, their high and low bytes apart), f16 (other
// quantized and F16 weights), bf16 (BF16 weights) or f32 (F32 weights).
enum class ActivationForm : uint8_t { f16, bf16, f32, planes };
constexpr ActivationForm activation_form(DType weights) {
  switch (weights) {
    case DType::f32:
      return ActivationForm::f32;
    case DType::bf16:
      return ActivationForm::bf16;
    case DType::q4_k:
    case DType::q5_k:
    case DType::q6_k:
      return ActivationForm::planes;
    default:
      return ActivationForm::f16;
  }
}

// In which order the rows of a packed matrix stand in its tiles.
enum class RowOrder : uint8_t { plain, gate_up };  // gate_up: tile row i is gate row g, tile row i + 8 is up row g (i < 8)

// In which type's form, and by whose kernels, weights of a type lie in device memory; count: there are no kernels for the type, and
// every launch function returns cudaErrorInvalidValue. Types whose codes are looked up share what they expand to.
constexpr DType packed_form(DType weights) {
  switch (weights) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8_e4m3:
    case DType::q8_0:
    case DType::q4_0:
    case DType::q4_1:
    case DType::q5_0:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
    case DType::q6_k:
    case DType::q2_k:
    case DType::q3_k:
    case DType::iq4_nl:
    case DType::iq4_xs:
    case DType::mxfp4:
    case DType::tq2_0:
    case DType::iq2_s:
    case DType::iq3_xxs:
    case DType::iq3_s:
    case DType::iq1_m:
      return weights;
    case DType::tq1_0:
      return DType::tq2_0;
    case DType::iq2_xxs:
    case DType::iq2_xs:
      return DType::iq2_s;
    case DType::iq1_s:
      return DType::iq1_m;
    case DType::count:
      break;
  }
  return DType::count;
}
constexpr bool has_kernels(DType weights) { return packed_form(weights) != DType::count; }

size_t packed_bytes(DType dtype, int64_t n_rows, int64_t n_cols);

// From the file's rows to the packed form; loss-free. gate_up: `rows` is gate, `up_rows` is up, n_rows counts both.
struct RepackArgs {
  const void* rows;
  const void* up_rows;
  void* packed;
  int64_t n_rows, n_cols;
  DType dtype;
  RowOrder order;
};
cudaError_t launch_repack(const RepackArgs& args, cudaStream_t stream);

// A packed matrix of BF16. sums[0] += the sum of the squares of the values in the upper eight rows of its tiles, sums[1] += that of what F16 would
// change of them, sums[2] and sums[3] those of the lower rows: of gate_up packed matrices gate's and up's. Infinite where F16 cannot hold a value.
cudaError_t launch_f16_loss(const void* packed, int64_t n_rows, int64_t n_cols, float* sums, cudaStream_t stream);
// It becomes F16, each value the nearest.
cudaError_t launch_bf16_to_f16(void* packed, int64_t n_rows, int64_t n_cols, cudaStream_t stream);

// Rows of x as products take them, made by launch_activations; kernels/cuda/linear/activations.cuh has the form. A view of
// activation_bytes of memory that was zeroed once.
struct Activations {
  void* values;        // (rows, ld) f16, bf16 or f32, planes: (n_chunks, scale_stride) records; columns up to ld are zeros
  void* sums;          // f16: (rows, n_chunks) x 64 bytes
  float* chunk_scale;  // f16, planes: (n_chunks, scale_stride)
  float* row_scale;    // (rows) what a row's products have to be multiplied by: 1, or with a norm 1 / rms
  int64_t ld, scale_stride;
  int32_t n_chunks;    // of 256 columns
  int32_t group_rows = 0;  // planes: 16 or 32, for launch_group_rows: as many rows together, scales among them
};
size_t activation_bytes(int64_t n_rows, int64_t n_cols);
Activations activations_at(void* memory, int64_t n_rows, int64_t n_cols);

struct ActivationsArgs {
  const float* x;            // (rows, n_cols)
  const float* norm_weight;  // (n_cols) or null: no RMS norm
  const int32_t* rows;       // row i comes from row rows[i] of x; < 0: padding; null: row i
  Activations out;
  int64_t n_rows, n_cols;
  float epsilon;
  ActivationForm form;
};
cudaError_t launch_activations(const ActivationsArgs& args, LaunchTarget target);

enum class Epilogue : uint8_t { store, add, gate_up, up };

// s = sum_k W[r][k] x[row][k] + bias[r].
//   store    out[row][r] = (soft_cap tanh)(factor * s / soft_cap), the cap where soft_cap is not 0
//   add      out[row][r] += factor * s
//   gate_up  W is gate_up packed: out[row][g] = activation(gate_g, up_g), and ld_out belongs to the n_rows / 2 results
//   up       out[row][r] = activation(out[row][r], s)
struct LinearArgs {
  const void* weights;
  Activations x;
  // A single row may come as it is: the product prepares it, with the bits of launch_activations. Then x is not used.
  const float* raw;          // null: x
  const float* norm_weight;  // (n_cols) or null: no RMS norm
  const int32_t* raw_row;    // which row of raw; null: 0
  float epsilon;
  const float* bias;         // (n_rows), gate_up: (n_rows / 2) of gate; or null
  float* out;
  const int32_t* out_rows;   // row i goes to row out_rows[i] of out, < 0: nowhere; null: row i
  int64_t n_rows, n_cols, ld_out;
  int32_t m;                 // rows of x
  DType dtype;
  Epilogue epilogue;
  Activation activation = Activation::silu;
  const float* up_bias = nullptr;  // gate_up: (n_rows / 2) or null
  float factor = 1, soft_cap = 0;
  // Of each row, or null: where its results go besides, or null. Not of gate_up. The float before them becomes 1 if one
  // is a NaN or infinity, and else stays.
  float* const* mirrors = nullptr;
};
cudaError_t launch_linear(const LinearArgs& args, LaunchTarget target);
// Two products of the same x, of which neither reads what the other writes: as launch_linear of one after the other,
// in one launch where there is a kernel for both.
cudaError_t launch_linear_pair(const LinearArgs& args, const LinearArgs& beside, LaunchTarget target);
// Whether a product of these weights can take a raw row on the current device.
bool linear_takes_raw(DType weights, int64_t n_cols);

// Products of 9 to 32 rows and weights in planes by clusters of CTAs and warp groups (compute capability 9.0), with the bits of the others:
// launch_linear takes them where x.group_rows says so. What that has to be for m rows of x, or 0: they have none.
inline constexpr int32_t kFewestGroupRows = 9, kMostGroupRows = 32;
int32_t group_rows(DType weights, int32_t m);
cudaError_t launch_group_rows(const LinearArgs& args, LaunchTarget target);
// Two products of the same x at once, of types for which there is such a kernel.
bool has_group_pair(DType first, DType second);
cudaError_t launch_group_pair(const LinearArgs& args, const LinearArgs& beside, LaunchTarget target);

// ---- products of many rows by a library: x and W as row-major matrices of 2-byte elements, results in F32

// Quantized and packed -> row-major F16 (16 * tiles rows in the order of the tiles, padded_cols(n_cols)), value * factor. F16 ends at
// 65504: factor is a power of two that keeps the matrix's largest magnitude (launch_largest) below.
struct DequantizeArgs {
  const void* packed;
  void* out;
  int64_t n_rows, n_cols;
  DType dtype;
  float factor;
};
cudaError_t launch_dequantize(const DequantizeArgs& args, cudaStream_t stream);

// *largest = max(*largest, largest magnitude in a packed, quantized matrix: of its values, scales and minimums). NaN counts as infinity.
struct LargestArgs {
  const void* packed;
  float* largest;
  int64_t n_rows, n_cols;
  DType dtype;
};
cudaError_t launch_largest(const LargestArgs& args, cudaStream_t stream);

// In which order the columns of x stand where packed weights are multiplied without being dequantized: as the codes of a unit lie
// (linear/codes.cuh), k-step by k-step.
//   runs_of_4  groups of 16 columns: of column 4 t + 2 j + i element 8 j + 2 t + i    (t, then j and i = 0, 1)
//   runs_of_8  groups of 32: of column 8 t + 4 s + 2 j + i element 16 s + 8 j + 2 t + i
enum class ColumnOrder : uint8_t { plain, runs_of_4, runs_of_8 };
ColumnOrder column_order(DType weights);

// out = alpha * x (W * factor)^T, quantized and packed W, in F32. F16 ends at 65504: factor is a power of two that keeps W's largest
// magnitude (launch_largest) below. Only on a device that has it.
// A row's bits depend on m, which decides where sums are cut.
struct MixedGemmArgs {
  const void* packed;
  const void* x;  // (m, padded_cols(n_cols)) f16, columns in the order column_order(dtype), zeros beyond n_cols
  float* out;     // (m, ld_out)
  int64_t n_rows, n_cols, ld_out;
  int32_t m;
  DType dtype;
  void* scratch;  // mixed_gemm_scratch_bytes, zeros once; of one stream
  float factor = 1, alpha = 1;
  int n_tokens = 0, n_ctas = 0;  // for tests: rows of x at a time (64, 128, 256), CTAs that share the work out evenly; 0: the fastest
};
bool has_mixed_gemm(int device);
uint64_t mixed_gemm_scratch_bytes(int device);
cudaError_t load_mixed_gemm(DType dtype);  // its kernels, which the first launches would wait for
cudaError_t launch_mixed_gemm(const MixedGemmArgs& args, cudaStream_t stream);

// Widest row that the kernels below take.
inline constexpr int64_t kMaxRowCols = 32768;

// x += addend * addend_scale[row], then what the next product takes of x. With a norm weight: RMS norm times `factor`, a power of two
// that the product's result has to be divided by; |y| <= factor * sqrt(n_cols) * largest |weight|, so the caller chooses it once for all
// rows. Without a norm weight: f16 rows are scaled by a power of two so that their largest magnitude lies in [2^7, 2^8), and row_scale is
// what the product has to be multiplied by; bf16 rows are as they are, row_scale is 1.
//
// In models that want it, what is added takes a bias, an RMS norm of its own and a factor before: see addend_bias and what follows.
struct NormRowsArgs {
  float* x;                  // (rows, n_cols)
  const float* addend;       // (rows, n_cols) or null
  const float* addend_scale; // (rows) or null: 1
  const float* norm_weight;  // (n_cols) or null
  void* out;                 // (rows, padded_cols(n_cols)) in `form`, f16 or bf16; null: only the sum is wanted
  float* row_scale;          // (rows); untouched with a norm weight
  int64_t n_rows, n_cols;
  float epsilon, factor;
  ActivationForm form;
  const float* addend_bias = nullptr;  // (n_cols) or null
  const float* addend_norm = nullptr;  // (n_cols) or null
  float addend_factor = 1;
  ColumnOrder order = ColumnOrder::plain;  // of out
};
cudaError_t launch_norm_rows(const NormRowsArgs& args, LaunchTarget target);

// activation(gate, up) as the next product takes it, scaled as launch_norm_rows does without a norm weight.
struct GateUpRowsArgs {
  const float* gate_up;  // (rows, 16 * tiles) in the order of gate_up tiles
  void* out;             // (rows, padded_cols(n_cols)) in `form`, f16 or bf16
  float* row_scale;      // (rows)
  float* values;         // (rows, n_cols) what is converted, or null
  int64_t n_rows, n_cols;
  ActivationForm form;
  Activation activation = Activation::silu;
  const float* scale = nullptr;  // (rows) of gate_up, or null: 1; may be row_scale
  const float* gate_bias = nullptr;  // (n_cols) or null
  const float* up_bias = nullptr;
  ColumnOrder order = ColumnOrder::plain;  // of out
};
cudaError_t launch_gate_up_rows(const GateUpRowsArgs& args, LaunchTarget target);

// x[row][i] = x[row][i] * scale[row] + bias[i]
struct AddBiasArgs {
  float* x;  // (rows, ld)
  const float* bias;  // null: 0
  int64_t n_rows, n_cols, ld;
  const float* scale = nullptr;  // null: 1
};
cudaError_t launch_add_bias(const AddBiasArgs& args, LaunchTarget target);

// ---- the rest of a layer

struct EmbedArgs {
  const void* table;       // packed, plain order
  const int32_t* tokens;   // (rows)
  const int32_t* positions;
  float* hidden;           // (rows, d_model)
  int64_t n_vocab, d_model;
  int32_t m;
  DType dtype;
  bool tagged;             // with tag 0, for a launch_token that follows
  float factor = 1;        // hidden = table * factor
};
cudaError_t launch_embed(const EmbedArgs& args, LaunchTarget target);

// How keys and values lie in the cache. One byte types: code * scale, one F32 scale for every token and head.
enum class KvType : uint8_t { f16, fp8_e4m3, int8 };

// Of one block of one pool: (n_kv_heads, block_tokens, d_head) elements, then (n_kv_heads, block_tokens) scales if the type has them.
__host__ __device__ constexpr size_t kv_block_bytes(KvType type, int64_t n_kv_heads, int64_t d_head, int64_t block_tokens) {
  const int64_t head_bytes = type == KvType::f16 ? 2 * d_head : d_head + static_cast<int64_t>(sizeof(float));
  return static_cast<size_t>(n_kv_heads * block_tokens * head_bytes);
}

// The cache of one layer: block b of a pool begins at b * kv_block_bytes.
struct CacheView {
  void* k_pool;
  void* v_pool;
  const int32_t* block_tables;  // (sequences, max_blocks)
  const int32_t* row_sequence;  // (rows) which line of block_tables
  const int32_t* positions;     // (rows)
  int32_t max_blocks, block_tokens, n_kv_heads, d_head;
  KvType kv_type = KvType::f16;
};

// qk-norm (if weights are given) and RoPE in place on q, k of qkv; then k and v of every row join the cache.
// RoPE pairs (i, i + n_rot / 2); angle = position * inv_freq[i], accurate for positions up to 2^20.
struct ShapeHeadsArgs {
  float* qkv;            // (rows, (n_heads + 2 n_kv_heads) * d_head)
  const float* q_norm;   // (d_head) or null
  const float* k_norm;
  const float* inv_freq; // (n_rot / 2)
  CacheView cache;
  int32_t m, n_heads, n_rot;
  float magnitude, epsilon;
};
cudaError_t launch_shape_heads(const ShapeHeadsArgs& args, LaunchTarget target);

// RMS norm of all queries of a row together, and of all its keys, in place on qkv: models that do not norm single heads.
struct NormWidthArgs {
  float* qkv;             // (rows, n_q + 2 n_k)
  const float* q_norm;    // (n_q)
  const float* k_norm;    // (n_k)
  int32_t m, n_q, n_k;    // n_q, n_k: heads * d_head
  float epsilon;
};
cudaError_t launch_norm_width(const NormWidthArgs& args, LaunchTarget target);

// The rotations of a step's rows, for launch_decode_attention: magnitude * {cos, sin}(position * inv_freq[i]).
struct RopeTableArgs {
  const int32_t* positions;  // (rows)
  const float* inv_freq;     // (n_rot / 2)
  float2* table;             // (rows, n_rot / 2)
  int32_t m, n_rot;
  float magnitude;
};
cudaError_t launch_rope_table(const RopeTableArgs& args, LaunchTarget target);

// What the attention of a family does beyond softmax of scaled products; all zero: nothing. A row at position p sees the keys
// p - window + 1 to p (window 0: all up to p): nothing else is read, its block may hold anything. A scaled score becomes
// soft_cap * tanh(score / soft_cap) if soft_cap > 0. sinks: softmax divides by exp(sink of the head) more than its weights' sum.
struct AttentionVariant {
  int32_t window = 0;
  float soft_cap = 0;
  const float* sinks = nullptr;  // (n_heads)
  constexpr bool is_plain() const { return window == 0 && soft_cap == 0 && sinks == nullptr; }
};

// Causal attention of every row over its sequence's cache up to its own position. The keys are split over CTAs by a rule that depends on
// the row's position alone; the last CTA of a (row, kv head) merges in fixed order. scratch: attention_scratch_bytes, zeroed once at creation.
struct AttentionArgs {
  const float* qkv;  // as launch_shape_heads left it
  float* out;        // (rows, n_heads * d_head)
  CacheView cache;
  void* scratch;
  int32_t m, n_heads, max_context;
  float scale;
  AttentionVariant variant = {};
};
size_t attention_scratch_bytes(int32_t max_rows, int32_t n_heads, int32_t n_kv_heads, int32_t d_head, int32_t max_context);
cudaError_t launch_attention(const AttentionArgs& args, LaunchTarget target);

// What launch_attention computes, for the rows of `tiles`, with matrix instructions: the rows of prompts. Agrees with it within rounding.
// By code for less than compute capability 8.0 it is launch_attention, of all m rows.
//
// Few tiles behind many keys would leave most of a GPU idle: then each tile's keys are cut into splits, as many as prefill_attention_splits says, with a
// CTA each, and a second kernel puts them together. So a row's last bits depend on how many rows there are and on max_keys.
//
// With both_ways a row sees the keys up to PromptTile::end, or up to `window` positions on, its own included. Where
// attends_both_ways is false that is an error.
struct PrefillAttentionArgs {
  const float* qkv;
  float* out;
  CacheView cache;
  const PromptTile* tiles;  // (n_tiles), in the order in which they are started
  void* scratch;            // as launch_attention wants it
  int32_t n_tiles, m, n_heads, max_context;
  float scale;
  int32_t max_keys = 0;  // that a row of the tiles sees; 0: not known, and no keys are split
  bool both_ways = false;
  AttentionVariant variant = {};
};
cudaError_t launch_prefill_attention(const PrefillAttentionArgs& args, LaunchTarget target);
int32_t prefill_attention_splits(const PrefillAttentionArgs& args);  // 1: none
bool attends_both_ways(int device);

// launch_shape_heads and launch_attention in one launch, with the same bits, for steps of one row per sequence: a row's own key and value
// are used as they come and join the cache; qkv is left as it is. Scratch as above.
//
// Starts early: what is read before its predecessor ends are positions, row_sequence, block_tables and the keys and values of earlier
// positions. They must have been written before the first kernel of the chain of early launches was allowed to start.
struct DecodeAttentionArgs {
  const float* qkv;     // (rows, (n_heads + 2 n_kv_heads) * d_head) as the product left it
  const float* q_norm;  // (d_head) or null
  const float* k_norm;
  const float2* rope;   // (rows, n_rot / 2) of launch_rope_table
  float* out;           // (rows, n_heads * d_head)
  CacheView cache;
  void* scratch;
  int32_t m, n_heads, n_rot, max_context;
  float scale, epsilon;
  AttentionVariant variant = {};
};
cudaError_t launch_decode_attention(const DecodeAttentionArgs& args, LaunchTarget target);

// ---- the layers of a step of up to 8 rows in one launch, by code for compute capability 9.0 and later

// The ops of a token hand their values over with a tag in the two lowest bits of each float (kernels/cuda/device/exchange.cuh). In a buffer
// two generations that follow one another, also from a token to the next, need different tags; nothing else may write there.
inline constexpr uint8_t kUntagged = 255;

struct TokenOp {
  enum class Kind : uint8_t { linear, attention } kind;
  uint8_t tag_in, tag_out;        // tag_out: kUntagged for results that are for others
  LinearArgs linear;              // of raw rows: several, too, then raw_row names all of them
  DecodeAttentionArgs attention;
  void* prepared;                 // linear, of several rows: token_x_bytes, at first of bytes that are 0xff
};

// What launch_token needs to know besides the table.
struct TokenLaunch {
  const void* kernel;
  const int32_t* positions;  // of the rows; those from the first negative one on are padding
  int32_t n_rows, n_records, max_context, n_ops, n_weights, attention, ring_at, ring_bytes, stages_ahead, n_ctas, shared_bytes;
};

// Whether there is a kernel for these ops and the current device. Then make_token_table writes token_table_bytes of the host's memory, or
// gives cudaErrorInvalidConfiguration where the device has too little shared memory.
bool token_runs(const TokenOp* ops, int32_t n_ops);
size_t token_table_bytes(int32_t n_ops);
size_t token_x_bytes(int64_t n_cols);
cudaError_t make_token_table(const TokenOp* ops, int32_t n_ops, void* table, TokenLaunch& launch);

// The ops in order, each with the bits of its own launch. table: on the device. All CTAs are resident together (a cooperative launch), or
// it fails. Its results are for the op after it, so an op must not read what an op before the last one has written.
cudaError_t launch_token(const TokenLaunch& launch, const void* table, LaunchTarget target);

// Copies rows of hidden whose logits are wanted: out[i] = hidden[rows[i]]; rows[i] < 0: nothing.
struct GatherArgs {
  const float* hidden;
  const int32_t* rows;
  float* out;
  int64_t d_model;
  int32_t n;
};
cudaError_t launch_gather(const GatherArgs& args, LaunchTarget target);

// x = cap * tanh(x / cap)
struct SoftCapArgs {
  float* x;
  int64_t n;
  float cap;
};
cudaError_t launch_soft_cap(const SoftCapArgs& args, LaunchTarget target);

// Copies logits of row i to logit slot slots[i]; slots[i] < 0: nothing.
struct ScatterArgs {
  const float* rows;     // (n, n_vocab)
  const int32_t* slots;  // (n)
  float* slot_logits;    // (slots, n_vocab)
  int64_t n_vocab;
  int32_t n;
};
cudaError_t launch_scatter(const ScatterArgs& args, LaunchTarget target);

// One block of every layer's pool to another (a fork's copy on write).
struct CopyBlockArgs {
  void* pools;           // pool p begins at p * pool_bytes
  size_t pool_bytes, block_bytes;
  int32_t n_pools, from, to;
};
cudaError_t launch_copy_block(const CopyBlockArgs& args, LaunchTarget target);

// What layers that follow one another in a group have cached of a sequence at positions first + distance to end goes
// `distance` positions to the front, and keys are turned by -turn positions.
struct MoveKvArgs {
  void* pools;                 // of the first layer the keys, then the values; pool p begins at p * pool_bytes
  size_t pool_bytes;
  const int32_t* block_table;  // on the device
  const float* inv_freq;       // (n_rot / 2) on the device
  int32_t n_layers, n_kv_heads, d_head, block_tokens;
  int32_t n_rot;               // 0: keys stay as they are
  int32_t first, distance, end, turn;
  KvType kv_type;
};
cudaError_t launch_move_kv(const MoveKvArgs& args, LaunchTarget target);

// ---- sampling; src/sampler/sampler.h is the specification
//
// `rows` and the lists are read before the previous kernel has ended: a copy brings them, ahead of the step's first kernel.

inline constexpr int32_t kMaxLogprobs = 20;

enum class Chooser : int32_t { plain, mirostat, adaptive };

struct SampleRowParams {
  float temperature, top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty;
  int32_t top_k, n_logprobs;
  int32_t slot;                  // whose logits; < 0: the row is padding
  int32_t n_bias, first_bias;    // in the arrays below
  int32_t n_counts, first_count;
  int32_t general;               // not 0: one of the steps below runs; else they are not looked at
  uint64_t seed, stream, position;
  float typical_p, top_n_sigma, dynatemp_range, dynatemp_exponent, xtc_probability, xtc_threshold;
  Chooser chooser;
  int32_t temperature_last;      // not 0: the filters take the temperature for 1, with general steps or without
  double mirostat_mu, adaptive_aim;
  int32_t masked;                // not 0: only tokens of the row's mask may be drawn
};

enum class RowError : int32_t { none, bad_logit, no_finite_logit, everything_banned };  // bad: NaN or +inf

struct SampleRowResult {
  int32_t token;       // -1 on an error
  RowError error;
  int32_t bad_token;   // whose logit is bad, or -1
  int32_t n_logprobs;
  float logprob;
  float p_kept;        // with mirostat and adaptive-p, else 0
  int32_t top_token[kMaxLogprobs];
  float top_logprob[kMaxLogprobs];
};

struct SampleArgs {
  const float* slot_logits;      // (slots, n_vocab)
  const SampleRowParams* rows;   // (n)
  const int32_t* bias_tokens;    // what rows name by first_bias, n_bias
  const float* bias_values;
  const int32_t* count_tokens;   // distinct tokens of the penalty window, and how often each occurs
  const int32_t* count_values;
  SampleRowResult* results;      // (n), may be mapped host memory: n_logprobs of the entries are written
  void* scratch;                 // sample_scratch_bytes
  int64_t n_vocab;
  int32_t n;
  int32_t* tokens = nullptr;     // (n) also the drawn tokens, -1 on an error; or null
  const uint32_t* masks = nullptr;  // (n, (n_vocab + 31) / 32): bit t % 32 of word t / 32 lets token t pass; may be mapped host memory; null: no row is masked
};
size_t sample_scratch_bytes(int32_t max_rows, int64_t n_vocab);
cudaError_t launch_sample(const SampleArgs& args, LaunchTarget target);

// Of known tokens; src/sampler/score.h is the specification.
struct RowScore {
  float logprob;
  int32_t rank;
  RowError error;
  int32_t bad_token;  // whose logit is bad, or -1
};
struct TokenProbability {
  int32_t token;  // -1: there is none
  float logprob;
};
struct ScoreArgs {
  const float* logits;    // (n, n_vocab)
  const int32_t* tokens;  // (n)
  RowScore* scores;       // (n)
  TokenProbability* top;  // (n, n_top)
  int64_t n_vocab;
  int32_t n, n_top;
};
cudaError_t launch_score(const ScoreArgs& args, LaunchTarget target);

// ---- measuring

cudaError_t launch_fill_random(void* to, size_t bytes, cudaStream_t stream);
// Reads all of a buffer of a multiple of 16 bytes. sums: read_sums_bytes, hardly ever written.
size_t read_sums_bytes();
cudaError_t launch_read(const void* from, size_t bytes, void* sums, cudaStream_t stream);
// Holds the stream, so that launches behind it gather and then run without gaps.
cudaError_t launch_delay(uint64_t nanoseconds, cudaStream_t stream);
// cudaErrorNoKernelImageForDevice where this build has no code for the selected device.
cudaError_t find_kernel_image();

}  // namespace inlay::cuda
