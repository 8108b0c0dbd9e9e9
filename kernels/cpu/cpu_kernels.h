// The CPU's kernels, chosen once at run time by what the processor can do.
//
// Packed weights: tiles of 16 output rows, vector lanes along the rows, so that one dot product needs no horizontal sum
// and its additions happen in one fixed order. Every kernel here is batch-invariant: column j of a result has the same
// bits whatever m is and wherever j lies in the batch, and however the work was cut into tiles and threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/activation.h"
#include "kernels/common/dtype.h"
#include "kernels/common/op_args.h"
#include "kernels/cpu/quantize.h"

namespace inlay::cpu {

enum class Isa : uint8_t { generic, avx2, avx512, count };  // avx512: F, BW, DQ, VL and VNNI; BF16 used where present

inline constexpr int64_t kTileRows = 16;
constexpr int64_t n_tiles(int64_t n_rows) { return (n_rows + kTileRows - 1) / kTileRows; }

// What a linear kernel takes as its activations: a value of its own, made once by `prepare` and shared by every matrix
// that reads the same rows (Q/K/V, gate/up).
enum class ActivationForm : uint8_t { f32, bf16, q8 };  // q8: per 32 columns a scale, codes of 8 or 16 bits, their sums

// Which groups of 32 columns of the q8 form have 16 bits: those whose largest magnitude, squared, is above this many
// times its mean over the groups of the row.
inline constexpr float kAllFine = 0, kNoneFine = __builtin_inff();
// A fifth to a third of the groups of real models, which holds most of the error: docs/design/activations.md.
inline constexpr float kUsualFine = 0.9f;

struct LinearArgs {
  const void* weights;      // packed
  const void* activations;  // prepared in the form that the kernel asks for, m rows
  float* out;               // (m, ld_out): out[j][row]
  const float* bias;        // (n_rows) or null
  int64_t n_rows, n_cols, m, ld_out;
  int32_t add_to_out;       // 1: out += result (residual), 0: out = result
};

// Computes tiles [tile_begin, tile_end) for activation rows [m_begin, m_end). Padding rows of the last tile are not written.
using LinearFn = void (*)(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin, int64_t m_end);

struct LinearKernel {
  ActivationForm form;
  LinearFn run;
  // Bytes of one packed tile; a matrix takes n_tiles(n_rows) of them, 64-byte aligned.
  size_t (*tile_bytes)(int64_t n_cols);
  // Packs tiles [tile_begin, tile_end) of a matrix given as the file stores it. Rows past n_rows become zeros.
  void (*pack)(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end, void* packed);
  // One row back out of the packed form, as exactly the values that the file's blocks stand for (embedding lookup).
  void (*unpack_row)(const void* packed, int64_t n_cols, int64_t row, float* out);
};

struct Kernels {
  Isa isa;
  const char* name;  // for reports: "avx512-vnni-bf16"
  LinearKernel linear[static_cast<size_t>(DType::count)];  // every dtype present

  size_t (*activation_row_bytes)(ActivationForm form, int64_t n_cols);  // a multiple of 64
  // Prepares rows [m_begin, m_end) of x (m, ld_x) into `out` (m rows of activation_row_bytes).
  void (*prepare)(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
                  float fine_above, void* out);

  void (*rms_norm)(const RmsNormArgs& args, int64_t m_begin, int64_t m_end);
  void (*rope)(const RopeArgs& args, int64_t m_begin, int64_t m_end);
  // gate (m, ld) becomes the activation of gate and up; by Activation
  void (*gated[kActivations])(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end);
  // x becomes scale * x, and then cap * tanh(x / cap) unless cap is 0
  void (*soft_cap)(float* x, int64_t n, float scale, float cap);
  void (*add_scaled)(const float* x, int64_t n, float scale, float* out);  // out += scale * x

  // FP16 cache. A block takes kv_block_bytes in each of the two pools.
  size_t (*kv_block_bytes)(int64_t n_kv_heads, int64_t d_head, int64_t block_tokens);
  void (*kv_append)(const KvAppendArgs& args, int64_t m_begin, int64_t m_end);
  void (*kv_move)(const KvMoveArgs& args, int64_t head_begin, int64_t head_end);
  // Work is cut into items: attention_items(args) of them, any order, any thread; then attention_merge once per query
  // range where the keys were split. scratch: attention_scratch_bytes(args), shared by all items of the call;
  // workspace: attention_workspace_bytes(), aligned to 64, of the calling thread alone.
  int64_t (*attention_items)(const AttentionArgs& args);
  size_t (*attention_scratch_bytes)(const AttentionArgs& args);
  size_t (*attention_workspace_bytes)();
  void (*attention)(const AttentionArgs& args, int64_t item_begin, int64_t item_end, void* scratch, void* workspace);
  void (*attention_merge)(const AttentionArgs& args, int64_t m_begin, int64_t m_end, const void* scratch);

  Quantizers quantizers;
};

bool supported(Isa isa);            // by this processor and build
const Kernels& kernels(Isa isa);    // isa must be supported
Isa best_isa();

}  // namespace inlay::cpu
