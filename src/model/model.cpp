#include "src/model/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/base/format.h"
#include "src/model/hyper_parameters.h"
#include "src/model/recipe.h"

namespace inlay {
namespace {

struct RoleNames {
  WeightRole role;
  const char* name;  // of the tensor; a layer's stands behind "blk.<layer>."
};

constexpr RoleNames kRoleNames[] = {
    {WeightRole::token_embd, "token_embd.weight"},
    {WeightRole::output_norm, "output_norm.weight"},
    {WeightRole::output, "output.weight"},
    {WeightRole::attn_norm, "attn_norm.weight"},
    {WeightRole::attn_qkv, "attn_qkv.weight"},
    {WeightRole::attn_q, "attn_q.weight"},
    {WeightRole::attn_k, "attn_k.weight"},
    {WeightRole::attn_v, "attn_v.weight"},
    {WeightRole::attn_q_bias, "attn_q.bias"},
    {WeightRole::attn_k_bias, "attn_k.bias"},
    {WeightRole::attn_v_bias, "attn_v.bias"},
    {WeightRole::attn_q_norm, "attn_q_norm.weight"},
    {WeightRole::attn_k_norm, "attn_k_norm.weight"},
    {WeightRole::attn_sinks, "attn_sinks.weight"},
    {WeightRole::attn_output, "attn_output.weight"},
    {WeightRole::attn_output_bias, "attn_output.bias"},
    {WeightRole::attn_post_norm, "post_attention_norm.weight"},
    {WeightRole::ffn_norm, "ffn_norm.weight"},
    {WeightRole::ffn_gate, "ffn_gate.weight"},
    {WeightRole::ffn_up, "ffn_up.weight"},
    {WeightRole::ffn_gate_bias, "ffn_gate.bias"},
    {WeightRole::ffn_up_bias, "ffn_up.bias"},
    {WeightRole::ffn_down, "ffn_down.weight"},
    {WeightRole::ffn_down_bias, "ffn_down.bias"},
    {WeightRole::ffn_post_norm, "post_ffw_norm.weight"},
    {WeightRole::router, "ffn_gate_inp.weight"},
    {WeightRole::router_bias, "ffn_gate_inp.bias"},
    {WeightRole::experts_gate, "ffn_gate_exps.weight"},
    {WeightRole::experts_up, "ffn_up_exps.weight"},
    {WeightRole::experts_gate_bias, "ffn_gate_exps.bias"},
    {WeightRole::experts_up_bias, "ffn_up_exps.bias"},
    {WeightRole::experts_down, "ffn_down_exps.weight"},
    {WeightRole::experts_down_bias, "ffn_down_exps.bias"},
    {WeightRole::shared_weight, "ffn_gate_inp_shexp.weight"},
    {WeightRole::shared_gate, "ffn_gate_shexp.weight"},
    {WeightRole::shared_up, "ffn_up_shexp.weight"},
    {WeightRole::shared_down, "ffn_down_shexp.weight"},
};
static_assert(std::size(kRoleNames) == static_cast<size_t>(WeightRole::count));

constexpr const char *kRopeFreqs = "rope_freqs.weight", *kShortFactors = "rope_factors_short.weight",
                     *kLongFactors = "rope_factors_long.weight";

// Finds the weights of one model in its checkpoint and checks their shapes; remembers what was used.
class WeightFinder {
 public:
  WeightFinder(const Checkpoint& checkpoint, const ArchSpec& arch, ModelSpec& spec, std::vector<Weight>& out)
      : checkpoint_(checkpoint), arch_(arch), spec_(spec), out_(out), used_(checkpoint.tensors().size(), false) {}

  Status run() {
    INLAY_TRY(find_vocabulary());
    INLAY_TRY(find_rope_factors());
    for (int32_t layer = 0; layer < spec_.n_layers; ++layer) {
      INLAY_TRY(find_attention(layer));
      INLAY_TRY(find_feed_forward(layer));
    }
    INLAY_TRY(find(WeightRole::output_norm, kNoLayer, 1, spec_.d_model));
    if (!spec_.tied_embeddings) INLAY_TRY(find(WeightRole::output, kNoLayer, spec_.n_vocab, spec_.d_model));
    return nothing_left_over();
  }

 private:
  // Weights that may stand together in one tensor.
  struct Part {
    WeightRole role;
    int64_t n_rows;
  };

  std::string tensor_name(WeightRole role, int32_t layer) const { return checkpoint_.name_in_file(gguf_name(arch_, role, layer)); }

  bool present(WeightRole role, int32_t layer) const { return checkpoint_.find(tensor_name(role, layer)) != nullptr; }

  Status find_vocabulary() {
    const std::string name = tensor_name(WeightRole::token_embd, kNoLayer);
    const TensorEntry* embd = checkpoint_.find(name);
    if (!embd) return error(Code::format, "the tensor %s is missing, expected rows of %d", name.c_str(), spec_.d_model);
    if (embd->rank != 2 || embd->shape[0] > (1 << 24)) {
      return error(Code::format, "the tensor %s has rank %d and %lld rows, expected a matrix of at most %d rows", name.c_str(),
                   embd->rank, static_cast<long long>(embd->shape[0]), 1 << 24);
    }
    spec_.n_vocab = static_cast<int32_t>(embd->shape[0]);
    if (spec_.n_vocab < 2) {  // a tensor of one row is a vector
      return error(Code::unsupported, "the tensor %s has %s, expected 2 or more", name.c_str(),
                   counted(static_cast<uint64_t>(spec_.n_vocab), "row").c_str());
    }
    const std::string key = spec_.arch + ".vocab_size";
    INLAY_ASSIGN(const uint64_t said, checkpoint_.metadata().u64_or(key, static_cast<uint64_t>(spec_.n_vocab)));
    // GGUF files may say otherwise: what there are rows for counts.
    const bool is_folder = static_cast<bool>(checkpoint_.conventions().tensor_name);
    if (is_folder && said != static_cast<uint64_t>(spec_.n_vocab)) {
      return error(Code::format, "%s is %llu but %s has %d rows", checkpoint_.metadata().key_in_file(key).c_str(),
                   static_cast<unsigned long long>(said), name.c_str(), spec_.n_vocab);
    }
    spec_.tied_embeddings = !present(WeightRole::output, kNoLayer);
    return find(WeightRole::token_embd, kNoLayer, spec_.n_vocab, spec_.d_model);
  }

  // They scale what layers without a RoPE of their own use.
  Status find_rope_factors() {
    RopeSpec& rope = spec_.ropes[0];
    INLAY_TRY(read_factors(kRopeFreqs, rope.frequency_factors));
    INLAY_TRY(read_factors(kShortFactors, rope.short_factors));
    INLAY_TRY(read_factors(kLongFactors, rope.long_factors));
    const bool has_short = !rope.short_factors.empty(), has_long = !rope.long_factors.empty();
    if (!has_short && !has_long && rope.scaling != RopeScalingKind::longrope) return {};
    if (!has_short || !has_long) {
      return error(Code::format, "the tensor %s is missing, which LongRoPE needs", has_short ? kLongFactors : kShortFactors);
    }
    rope.scaling = RopeScalingKind::longrope;
    return {};
  }

  // Positive numbers, one for each rotated pair; none if there is no such tensor.
  Status read_factors(const char* name, std::vector<float>& factors) {
    const TensorEntry* t = checkpoint_.find(name);
    if (!t) return {};
    used_[static_cast<size_t>(t - checkpoint_.tensors().data())] = true;
    const int64_t expected = spec_.n_rot() / 2;
    if (t->rank != 1 || t->shape[0] != expected || t->dtype != DType::f32) {
      return error(Code::format, "the tensor %s is %s of %lld elements, expected F32 of %lld", name, traits(t->dtype).name,
                   static_cast<long long>(t->shape[0]), static_cast<long long>(expected));
    }
    std::vector<std::byte> scratch;
    INLAY_ASSIGN(const std::byte* bytes, checkpoint_.bytes(*t, scratch));
    factors.resize(static_cast<size_t>(expected));
    std::memcpy(factors.data(), bytes, static_cast<size_t>(expected) * sizeof(float));
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i] > 0.0f && std::isfinite(factors[i])) continue;
      return error(Code::format, "element %zu of %s is %g, expected a positive number", i, name, double{factors[i]});
    }
    return {};
  }

  Status find_attention(int32_t layer) {
    const int64_t d = spec_.d_model, q = spec_.d_q(), kv = spec_.d_kv();
    if (arch_.input_norms) INLAY_TRY(find(WeightRole::attn_norm, layer, 1, d));
    const Part matrices[] = {{WeightRole::attn_q, q}, {WeightRole::attn_k, kv}, {WeightRole::attn_v, kv}};
    if (present(WeightRole::attn_qkv, layer)) {
      INLAY_TRY(find_parts(WeightRole::attn_qkv, layer, matrices, d));
    } else {
      for (const Part& part : matrices) INLAY_TRY(find(part.role, layer, part.n_rows, d));
    }
    settle(arch_.qkv_bias, WeightRole::attn_q_bias, layer, spec_.qkv_bias);
    if (spec_.qkv_bias) {
      INLAY_TRY(find(WeightRole::attn_q_bias, layer, 1, q));
      INLAY_TRY(find(WeightRole::attn_k_bias, layer, 1, kv));
      INLAY_TRY(find(WeightRole::attn_v_bias, layer, 1, kv));
    }
    if (spec_.qk_norm != QkNorm::none) {
      const bool wide = spec_.qk_norm == QkNorm::width;
      INLAY_TRY(find(WeightRole::attn_q_norm, layer, 1, wide ? q : spec_.d_head));
      INLAY_TRY(find(WeightRole::attn_k_norm, layer, 1, wide ? kv : spec_.d_head));
    }
    if (spec_.attn_sinks) INLAY_TRY(find(WeightRole::attn_sinks, layer, 1, spec_.n_heads));
    INLAY_TRY(find(WeightRole::attn_output, layer, d, q));
    settle(arch_.output_bias, WeightRole::attn_output_bias, layer, spec_.output_bias);
    if (spec_.output_bias) INLAY_TRY(find(WeightRole::attn_output_bias, layer, 1, d));
    return arch_.post_norms ? find(WeightRole::attn_post_norm, layer, 1, d) : Status{};
  }

  Status find_feed_forward(int32_t layer) {
    const int64_t d = spec_.d_model, ff = spec_.d_ff;
    if (arch_.input_norms) INLAY_TRY(find(WeightRole::ffn_norm, layer, 1, d));
    if (spec_.moe.n_experts > 0) settle_experts(layer);
    if (spec_.has_experts(layer)) return find_experts(layer);
    const Part matrices[] = {{WeightRole::ffn_gate, ff}, {WeightRole::ffn_up, ff}};
    if (arch_.fused_gate_up) {
      INLAY_TRY(find_parts(WeightRole::ffn_up, layer, matrices, d));
    } else {
      for (const Part& part : matrices) INLAY_TRY(find(part.role, layer, part.n_rows, d));
    }
    INLAY_TRY(find(WeightRole::ffn_down, layer, d, ff));
    settle(arch_.mlp_bias, WeightRole::ffn_gate_bias, layer, spec_.mlp_bias);
    if (spec_.mlp_bias) {
      INLAY_TRY(find(WeightRole::ffn_gate_bias, layer, 1, ff));
      INLAY_TRY(find(WeightRole::ffn_up_bias, layer, 1, ff));
      INLAY_TRY(find(WeightRole::ffn_down_bias, layer, 1, d));
    }
    return arch_.post_norms ? find(WeightRole::ffn_post_norm, layer, 1, d) : Status{};
  }

  // A layer without a router is dense.
  void settle_experts(int32_t layer) {
    const bool dense = !present(WeightRole::router, layer) && present(WeightRole::ffn_gate, layer);
    spec_.moe.layers[static_cast<size_t>(layer)] = dense ? 0 : 1;
  }

  Status find_experts(int32_t layer) {
    const MoeSpec& moe = spec_.moe;
    const int64_t d = spec_.d_model, ff = moe.d_ff_expert, shared = moe.d_ff_shared;
    INLAY_TRY(find(WeightRole::router, layer, moe.n_experts, d));
    if (moe.router_bias) INLAY_TRY(find(WeightRole::router_bias, layer, 1, moe.n_experts));
    INLAY_TRY(find_of_experts(WeightRole::experts_gate, layer, ff, d));
    INLAY_TRY(find_of_experts(WeightRole::experts_up, layer, ff, d));
    INLAY_TRY(find_of_experts(WeightRole::experts_down, layer, d, ff));
    if (moe.expert_bias) {
      INLAY_TRY(find_of_experts(WeightRole::experts_gate_bias, layer, 1, ff));
      INLAY_TRY(find_of_experts(WeightRole::experts_up_bias, layer, 1, ff));
      INLAY_TRY(find_of_experts(WeightRole::experts_down_bias, layer, 1, d));
    }
    if (shared == 0) return {};
    if (moe.shared_gate) INLAY_TRY(find(WeightRole::shared_weight, layer, 1, d));
    INLAY_TRY(find(WeightRole::shared_gate, layer, shared, d));
    INLAY_TRY(find(WeightRole::shared_up, layer, shared, d));
    return find(WeightRole::shared_down, layer, d, shared);
  }

  // Decides in the first layer whether a group of weights exists; the other layers must agree (a missing tensor is then
  // reported by name, a surplus one as left over).
  void settle(Presence presence, WeightRole first_of_group, int32_t layer, bool& used) {
    if (layer == 0) used = presence == Presence::required || (presence == Presence::optional && present(first_of_group, 0));
  }

  // What a tensor holds: a matrix, a vector if it has one row, or a stack of such, one of each expert.
  struct Extent {
    int32_t n_experts;
    int64_t n_rows, n_cols;
    int32_t rank() const { return 1 + (n_rows > 1) + (n_experts > 1); }
    std::string text() const {
      std::string out = n_experts > 1 ? std::to_string(n_experts) + " x " : "";
      if (n_rows > 1 || n_experts == 1) out += std::to_string(n_rows) + " x ";
      return out + std::to_string(n_cols);
    }
  };

  // Records a weight of n_rows x n_cols that is a tensor of its own; vectors have one row.
  Status find(WeightRole role, int32_t layer, int64_t n_rows, int64_t n_cols) {
    INLAY_ASSIGN(const TensorEntry* t, tensor_of(role, layer, {1, n_rows, n_cols}));
    record(role, layer, *t, {1, n_rows, n_cols});
    return {};
  }

  // The same of every expert, in one tensor.
  Status find_of_experts(WeightRole role, int32_t layer, int64_t n_rows, int64_t n_cols) {
    const Extent extent{spec_.moe.n_experts, n_rows, n_cols};
    INLAY_ASSIGN(const TensorEntry* t, tensor_of(role, layer, extent));
    record(role, layer, *t, extent);
    return {};
  }

  // Weights whose rows follow one another in the tensor of `stored`.
  Status find_parts(WeightRole stored, int32_t layer, std::span<const Part> parts, int64_t n_cols) {
    int64_t n_rows = 0;
    for (const Part& part : parts) n_rows += part.n_rows;
    INLAY_ASSIGN(const TensorEntry* t, tensor_of(stored, layer, {1, n_rows, n_cols}));
    int64_t first_row = 0;
    for (const Part& part : parts) {
      Weight& w = record(part.role, layer, *t, {1, part.n_rows, n_cols});
      w.stored = stored;
      w.first_row = first_row;
      first_row += part.n_rows;
    }
    return {};
  }

  // The tensor, of the shape and of a type that the weight may have.
  Result<const TensorEntry*> tensor_of(WeightRole role, int32_t layer, const Extent& extent) const {
    const std::string name = tensor_name(role, layer);
    const TensorEntry* t = checkpoint_.find(name);
    if (!t) return error(Code::format, "the tensor %s is missing, expected %s", name.c_str(), extent.text().c_str());
    INLAY_TRY(check_extent(*t, name, extent));
    const bool is_float = t->dtype == DType::f32 || t->dtype == DType::f16 || t->dtype == DType::bf16;
    if ((extent.n_rows == 1 || role == WeightRole::router) && !is_float) {
      return error(Code::unsupported, "the tensor %s is %s; norms, biases and routers are F32, F16 or BF16", name.c_str(),
                   traits(t->dtype).name);
    }
    return t;
  }

  Weight& record(WeightRole role, int32_t layer, const TensorEntry& t, const Extent& extent) {
    Weight w{.role = role, .layer = layer, .name = std::string(t.name)};
    w.file_dtype = t.dtype;
    w.dtype = role == WeightRole::router ? DType::f32 : t.dtype;  // a choice must not hang on rounded activations
    w.n_rows = extent.n_rows == 1 ? 1 : extent.n_rows * extent.n_experts;
    w.n_cols = extent.n_rows == 1 ? extent.n_cols * extent.n_experts : extent.n_cols;
    w.n_experts = extent.n_experts;
    w.unpermute = is_rotated(role) && arch_.interleaved_rope && !checkpoint_.conventions().halved_rope;
    w.tensor = static_cast<uint32_t>(&t - checkpoint_.tensors().data());
    w.added = is_norm(role) ? checkpoint_.conventions().added_to_norms : 0;
    used_[w.tensor] = true;
    return out_.emplace_back(std::move(w));
  }

  // A vector may be stored as a matrix of one row.
  static Status check_extent(const TensorEntry& t, const std::string& name, const Extent& expected) {
    const bool row = expected.rank() == 1 && t.rank == 2 && t.shape[0] == 1;
    const int32_t rank = row ? 1 : t.rank;
    const std::span shape = std::span(t.shape).subspan(row ? 1 : 0);
    const int64_t cols = shape[static_cast<size_t>(rank) - 1], rows = rank >= 2 ? shape[static_cast<size_t>(rank) - 2] : 1;
    const int64_t wanted_rows = expected.n_rows > 1 ? expected.n_rows : expected.n_experts;
    const int64_t others = rank == 3 ? shape[0] : 1;
    if (rank == expected.rank() && cols == expected.n_cols && rows == wanted_rows &&
        others == (rank == 3 ? expected.n_experts : 1)) {
      return {};
    }
    std::string got;
    for (int32_t i = 0; i < t.rank; ++i) got += (i ? " x " : t.rank == 1 ? "1 x " : "") + std::to_string(t.shape[static_cast<size_t>(i)]);
    return error(Code::format, "the tensor %s is %s (rank %d), expected %s", name.c_str(), got.c_str(), t.rank, expected.text().c_str());
  }

  // A tensor that the family does not know would change the results if it were ignored.
  Status nothing_left_over() const {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      const std::string name(checkpoint_.tensors()[i].name);
      return error(Code::unsupported, "the tensor %s is not part of a %s model as supported here", name.c_str(), arch_.name);
    }
    return {};
  }

  const Checkpoint& checkpoint_;
  const ArchSpec& arch_;
  ModelSpec& spec_;
  std::vector<Weight>& out_;
  std::vector<bool> used_;
};

// The error with the model's file or folder before it, unless it says that already.
Status located(Status status, const Checkpoint& checkpoint) {
  const std::string path = checkpoint.model_path();
  if (!status.message.starts_with(path)) status.message = path + ": " + status.message;
  return status;
}

}  // namespace

bool is_norm(WeightRole role) {
  switch (role) {
    case WeightRole::output_norm:
    case WeightRole::attn_norm:
    case WeightRole::attn_q_norm:
    case WeightRole::attn_k_norm:
    case WeightRole::attn_post_norm:
    case WeightRole::ffn_norm:
    case WeightRole::ffn_post_norm:
      return true;
    default:
      return false;
  }
}

bool is_rotated(WeightRole role) {
  return role == WeightRole::attn_q || role == WeightRole::attn_k || role == WeightRole::attn_q_bias ||
         role == WeightRole::attn_k_bias;
}

std::string gguf_name(const ArchSpec& arch, WeightRole role, int32_t layer) {
  if (role == WeightRole::ffn_norm && arch.ffn_norm_after_attention) role = WeightRole::attn_post_norm;
  const char* name = kRoleNames[static_cast<size_t>(role)].name;
  return layer == kNoLayer ? std::string(name) : "blk." + std::to_string(layer) + "." + name;
}

Result<Model> Model::from_checkpoint(const Checkpoint& checkpoint) {
  Result<Model> model = understand(checkpoint);
  if (!model.ok()) return located(std::move(model).status(), checkpoint);
  return model;
}

Result<Model> Model::understand(const Checkpoint& checkpoint) {
  INLAY_ASSIGN(const std::string_view arch_name, checkpoint.metadata().get_string("general.architecture"));
  const ArchSpec* arch = find_arch(arch_name);
  if (arch_name == "clip") {
    return error(Code::unsupported,
                 "general.architecture is 'clip': the file is the part of a model for pictures or sound (mmproj); "
                 "load the file of its text model");
  }
  if (!arch) {
    std::string known;
    for (const ArchSpec* a : all_archs()) known += (known.empty() ? "" : ", ") + std::string(a->name);
    return error(Code::unsupported, "general.architecture '%s' is not supported; supported are %s", std::string(arch_name).c_str(),
                 known.c_str());
  }
  Model model;
  INLAY_ASSIGN(model.spec_, read_hyper_parameters(checkpoint.metadata(), *arch));
  INLAY_TRY(WeightFinder(checkpoint, *arch, model.spec_, model.weights_).run());
  return model;
}

const Weight* Model::find(WeightRole role, int32_t layer) const {
  for (const Weight& w : weights_) {
    if (w.role == role && w.layer == layer) return &w;
  }
  return nullptr;
}

uint64_t Model::n_params() const {
  uint64_t n = 0;
  for (const Weight& w : weights_) n += static_cast<uint64_t>(w.n_rows * w.n_cols);
  return n;
}

void Model::hold_as_f8() {
  for (Weight& w : weights_) {
    if (w.role == WeightRole::router) continue;
    const bool only_looked_up = w.role == WeightRole::token_embd && !spec_.tied_embeddings;
    const bool whole_blocks = w.n_cols % traits(DType::f8_e4m3).block_elements == 0;
    if (w.n_rows > 1 && whole_blocks && !is_quantized(w.dtype) && !only_looked_up) w.dtype = DType::f8_e4m3;
  }
}

void Model::hold_as(const Recipe& recipe) {
  for (Weight& w : weights_) {
    if (w.n_rows > 1) w.dtype = type_by(recipe, w, spec_);
  }
}

bool Model::is_quantized_at_load() const {
  return std::any_of(weights_.begin(), weights_.end(), [](const Weight& w) { return is_quantized(w.dtype) && w.dtype != w.file_dtype; });
}

}  // namespace inlay
