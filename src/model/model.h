// A checkpoint understood: its sizes, and each weight that the Plan will use, checked against the family's formulas.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/status.h"
#include "src/formats/checkpoint.h"
#include "src/model/arch_spec.h"
#include "src/model/model_spec.h"
#include "src/model/quantize.h"

namespace inlay {

enum class WeightRole : uint8_t {
  token_embd,
  output_norm,
  output,
  attn_norm,
  attn_qkv,  // a tensor that holds the rows of Q, K and V; no weight of a model has this role
  attn_q,
  attn_k,
  attn_v,
  attn_q_bias,
  attn_k_bias,
  attn_v_bias,
  attn_q_norm,
  attn_k_norm,
  attn_sinks,
  attn_output,
  attn_output_bias,
  attn_post_norm,
  ffn_norm,
  ffn_gate,
  ffn_up,
  ffn_gate_bias,
  ffn_up_bias,
  ffn_down,
  ffn_down_bias,
  ffn_post_norm,
  router,
  router_bias,
  experts_gate,  // of all experts, one after the other; likewise the next five
  experts_up,
  experts_gate_bias,
  experts_up_bias,
  experts_down,
  experts_down_bias,
  shared_weight,  // of the shared expert's gate
  shared_gate,
  shared_up,
  shared_down,
  count
};

inline constexpr int32_t kNoLayer = -1;

struct Weight {
  WeightRole role;
  int32_t layer = kNoLayer;
  std::string name;        // the tensor's name in the file
  DType file_dtype = DType::f32;
  DType dtype = DType::f32;  // that it is held in: the file's, or what it is quantized to while it is read
  int64_t n_rows = 1;      // 1 for vectors; a stack of matrices has the rows of all
  int64_t n_cols = 0;
  int32_t n_experts = 1;   // whose matrices or vectors are stacked here
  bool unpermute = false;  // rows are stored for interleaved RoPE
  uint32_t tensor = 0;     // index into the checkpoint's directory
  WeightRole stored = role;  // what the tensor is called after: another role where it holds several weights in turn
  int64_t first_row = 0;     // of the tensor, where this weight begins
  float added = 0;         // to every element of a vector: the file stores norms without it

  int64_t rows_of_expert() const { return n_rows / n_experts; }  // of a matrix
  uint64_t n_bytes() const { return row_bytes(dtype, static_cast<uint64_t>(n_cols)) * static_cast<uint64_t>(n_rows); }
};

// GGUF's name of the tensor in files of the family.
std::string gguf_name(const ArchSpec& arch, WeightRole role, int32_t layer);
bool is_norm(WeightRole role);
bool is_rotated(WeightRole role);  // by RoPE: Q and K and their biases

struct Recipe;

class Model {
 public:
  // The checkpoint must outlive read().
  static Result<Model> from_checkpoint(const Checkpoint& checkpoint);

  const ModelSpec& spec() const { return spec_; }
  const std::vector<Weight>& weights() const { return weights_; }  // in the order in which the Plan uses them
  const Weight* find(WeightRole role, int32_t layer = kNoLayer) const;
  uint64_t n_params() const;

  // Lets matrices of F32, F16 and BF16 be held in F8_E4M3 where their rows are whole blocks, but not an embedding that is
  // looked up alone. Before a plan is built.
  void hold_as_f8();
  // Lets matrices be held in the types of a recipe (type_by), the same that a file converted by it has. Before a plan is
  // built.
  void hold_as(const Recipe& recipe);
  bool is_quantized_at_load() const;  // whether any weight becomes another quantized type

 private:
  static Result<Model> understand(const Checkpoint& checkpoint);

  ModelSpec spec_;
  std::vector<Weight> weights_;
};

// What parts of weights go through while they are read; grown where it has to be.
struct ReadScratch {
  std::vector<std::byte> heads, rows;
};

class ThreadPool;
using ReadProgress = std::function<bool(uint64_t n_done)>;

// Whole rows [first_row, first_row + into.size() / row_bytes) of a tensor, read by all threads of the pool where its
// source lets them; null: by this one.
Status read_rows(const Checkpoint& checkpoint, const TensorEntry& tensor, int64_t first_row, uint64_t row_bytes,
                 std::span<std::byte> into, ThreadPool* pool);

// The bytes of a weight, rows contiguous in the order that the kernels use, of the type that the model says. Where they
// must be read, reordered or quantized they go through buffers of the reader's own, valid until the next call.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const Model& model) : checkpoint_(checkpoint), model_(model) {}
  // `pool`: quantizes with its threads. `progress`: told before the end, now and then, how many of the weight's bytes
  // are done; false cancels.
  Result<const std::byte*> read(const Weight& weight, ThreadPool* pool = nullptr, const ReadProgress& progress = {});
  Result<std::vector<float>> read_vector(const Weight& weight);  // norms and biases: F32, F16 or BF16 in the file
  // Bytes [at, at + into.size()) of what read() gives; of a weight that is quantized whole rows. With is_concurrent()
  // several threads may call it at once, each with a scratch of its own.
  Status read_range(const Weight& weight, uint64_t at, std::span<std::byte> into, ReadScratch& scratch) const;
  bool is_concurrent() const { return checkpoint_.is_concurrent(); }
  // It was read whole, and will not be read again. UNSUPPORTED where its type could not hold it, which its ranges alone do not tell: that some
  // are small beside others is no fault.
  Status finish(const Weight& weight) const;

 private:
  // In the file's type.
  Result<const std::byte*> read_stored(const Weight& weight, ThreadPool* pool);
  Status read_stored_range(const Weight& weight, uint64_t at, std::span<std::byte> into, ReadScratch& scratch) const;

  const Checkpoint& checkpoint_;
  const Model& model_;
  std::vector<std::byte> scratch_, reordered_, converted_;
  mutable Mutex mutex_;
  mutable std::map<std::pair<int64_t, int64_t>, ConversionLoss> losses_ INLAY_GUARDED_BY(mutex_);  // of weights that are read in ranges, by tensor and first row
};

}  // namespace inlay
