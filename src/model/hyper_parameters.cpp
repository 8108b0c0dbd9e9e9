#include "src/model/hyper_parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace inlay {
namespace {

// Reads the keys "<arch>.<name>" of one model.
class ArchKeys {
 public:
  ArchKeys(const Metadata& metadata, const char* arch) : metadata_(metadata), prefix_(std::string(arch) + ".") {}

  std::string key(const char* name) const { return prefix_ + name; }
  std::string shown(const char* name) const { return metadata_.key_in_file(key(name)); }  // in messages
  bool has(const char* name) const { return metadata_.find(key(name)) != nullptr; }

  // An integer in [1, max].
  Result<int32_t> size(const char* name, uint64_t max) const {
    INLAY_ASSIGN(const uint64_t v, metadata_.get_u64(key(name)));
    if (v < 1 || v > max) {
      return error(Code::format, "%s is %llu, expected 1 to %llu", shown(name).c_str(), static_cast<unsigned long long>(v),
                   static_cast<unsigned long long>(max));
    }
    return static_cast<int32_t>(v);
  }
  Result<int32_t> size_or(const char* name, int32_t fallback, uint64_t max) const {
    if (!has(name)) return fallback;
    return size(name, max);
  }
  // A finite number in (0, max].
  Result<double> positive(const char* name, double max) const {
    INLAY_ASSIGN(const double v, metadata_.get_f64(key(name)));
    if (!(v > 0.0 && v <= max)) return error(Code::format, "%s is %g, expected above 0 and at most %g", shown(name).c_str(), v, max);
    return v;
  }
  Result<double> positive_or(const char* name, double fallback, double max) const {
    if (!has(name)) return fallback;
    return positive(name, max);
  }
  Result<uint64_t> count_or(const char* name, uint64_t fallback, uint64_t max) const {
    INLAY_ASSIGN(const uint64_t v, metadata_.u64_or(key(name), fallback));
    if (v > max) {
      return error(Code::format, "%s is %llu, expected at most %llu", shown(name).c_str(), static_cast<unsigned long long>(v),
                   static_cast<unsigned long long>(max));
    }
    return v;
  }
  Result<bool> flag_or(const char* name, bool fallback) const { return metadata_.bool_or(key(name), fallback); }
  Result<std::string> text_or(const char* name, const char* fallback) const {
    INLAY_ASSIGN(const std::string_view v, metadata_.string_or(key(name), fallback));
    return std::string(v);
  }

 private:
  const Metadata& metadata_;
  std::string prefix_;
};

constexpr uint64_t kMaxLayers = 1024, kMaxWidth = 1 << 20, kMaxHeads = 4096, kMaxHead = 256, kMaxContext = 1 << 30;

Status read_widths(const ArchKeys& keys, ModelSpec& spec) {
  INLAY_ASSIGN(spec.n_layers, keys.size("block_count", kMaxLayers));
  INLAY_ASSIGN(spec.n_context_train, keys.size("context_length", kMaxContext));
  INLAY_ASSIGN(spec.d_model, keys.size("embedding_length", kMaxWidth));
  INLAY_ASSIGN(spec.d_ff, keys.size("feed_forward_length", kMaxWidth));
  // A matrix of a single row could not be told from a vector.
  for (const auto& [name, width] : {std::pair{"embedding_length", spec.d_model}, {"feed_forward_length", spec.d_ff}}) {
    if (width < 2) return error(Code::unsupported, "%s is %d, expected at least 2", keys.shown(name).c_str(), width);
  }
  INLAY_ASSIGN(spec.n_heads, keys.size("attention.head_count", kMaxHeads));
  INLAY_ASSIGN(spec.n_kv_heads, keys.size_or("attention.head_count_kv", spec.n_heads, kMaxHeads));
  if (spec.n_heads % spec.n_kv_heads != 0) {
    return error(Code::format, "%s is %d, which is not a multiple of %s %d", keys.shown("attention.head_count").c_str(),
                 spec.n_heads, keys.shown("attention.head_count_kv").c_str(), spec.n_kv_heads);
  }
  if (!keys.has("attention.key_length") && spec.d_model % spec.n_heads != 0) {
    return error(Code::format, "%s %d is not a multiple of %s %d and no %s is given", keys.shown("embedding_length").c_str(),
                 spec.d_model, keys.shown("attention.head_count").c_str(), spec.n_heads,
                 keys.shown("attention.key_length").c_str());
  }
  INLAY_ASSIGN(spec.d_head, keys.size_or("attention.key_length", spec.d_model / spec.n_heads, kMaxHead));
  INLAY_ASSIGN(const int32_t d_value, keys.size_or("attention.value_length", spec.d_head, kMaxHead));
  if (d_value != spec.d_head) {
    return error(Code::unsupported, "%s %d differs from %s %d: value heads of another size are not supported",
                 keys.shown("attention.value_length").c_str(), d_value, keys.shown("attention.key_length").c_str(), spec.d_head);
  }
  if (spec.d_head % 8 != 0 || spec.d_head < 16 || spec.d_head > 256) {
    return error(Code::unsupported, "head size %d: supported are multiples of 8 from 16 to 256", spec.d_head);
  }
  INLAY_ASSIGN(const double epsilon, keys.positive("attention.layer_norm_rms_epsilon", 1.0));
  spec.norm_epsilon = static_cast<float>(epsilon);
  return {};
}

Status read_rope(const ArchKeys& keys, ModelSpec& spec) {
  RopeSpec& rope = spec.ropes.emplace_back();
  INLAY_ASSIGN(rope.n_rot, keys.size_or("rope.dimension_count", spec.d_head, kMaxHead));
  if (rope.n_rot % 2 != 0 || rope.n_rot > spec.d_head) {
    return error(Code::format, "%s is %d, expected an even number of at most the head size %d",
                 keys.shown("rope.dimension_count").c_str(), rope.n_rot, spec.d_head);
  }
  INLAY_ASSIGN(rope.base, keys.positive_or("rope.freq_base", 10000.0, 1e12));
  if (rope.base <= 1.0) return error(Code::format, "%s is %g, expected above 1", keys.shown("rope.freq_base").c_str(), rope.base);

  INLAY_ASSIGN(const std::string kind, keys.text_or("rope.scaling.type", "none"));
  if (kind == "none") return {};
  if (kind == "linear") {
    rope.scaling = RopeScalingKind::linear;
  } else if (kind == "yarn") {
    rope.scaling = RopeScalingKind::yarn;
  } else {
    return error(Code::unsupported, "%s \"%s\" is not supported (none, linear, yarn)", keys.shown("rope.scaling.type").c_str(),
                 kind.c_str());
  }
  INLAY_ASSIGN(rope.factor, keys.positive_or("rope.scaling.factor", 1.0, 1e6));
  INLAY_ASSIGN(rope.original_context, keys.size_or("rope.scaling.original_context_length", spec.n_context_train, kMaxContext));
  INLAY_ASSIGN(rope.attention_factor, keys.positive_or("rope.scaling.attn_factor", 1.0, 1e3));
  INLAY_ASSIGN(rope.beta_fast, keys.positive_or("rope.scaling.yarn_beta_fast", 32.0, 1e6));
  INLAY_ASSIGN(rope.beta_slow, keys.positive_or("rope.scaling.yarn_beta_slow", 1.0, 1e6));
  return {};
}

// Kernels take the matrices of experts in tiles, which no two experts share.
constexpr int32_t kExpertRowMultiple = 16;
constexpr uint64_t kMaxExperts = 512, kMaxChosen = 32;

Status read_expert_widths(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  MoeSpec& moe = spec.moe;
  INLAY_ASSIGN(moe.d_ff_expert, keys.size_or("expert_feed_forward_length", spec.d_ff, kMaxWidth));
  if (arch.shared_expert) {
    INLAY_ASSIGN(moe.d_ff_shared, keys.size_or("expert_shared_feed_forward_length", spec.d_ff, kMaxWidth));
  }
  for (const auto& [name, width] : {std::pair{"embedding_length", spec.d_model}, {"expert_feed_forward_length", moe.d_ff_expert}}) {
    if (width % kExpertRowMultiple == 0) continue;
    return error(Code::unsupported, "%s is %d, expected a multiple of %d in a mixture of experts", keys.shown(name).c_str(), width,
                 kExpertRowMultiple);
  }
  return {};
}

Status read_experts(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  MoeSpec& moe = spec.moe;
  INLAY_ASSIGN(const uint64_t n_experts, keys.count_or("expert_count", 0, UINT32_MAX));
  if (n_experts == 0 && arch.experts != Presence::required) return {};
  if (arch.experts == Presence::never) {
    return error(Code::unsupported, "%s is %llu: mixtures of experts are not supported in %s models", keys.shown("expert_count").c_str(),
                 static_cast<unsigned long long>(n_experts), arch.name);
  }
  INLAY_ASSIGN(moe.n_experts, keys.size("expert_count", kMaxExperts));
  if (moe.n_experts < 2) return error(Code::unsupported, "%s is 1, expected at least 2", keys.shown("expert_count").c_str());
  INLAY_ASSIGN(moe.n_used, keys.size("expert_used_count", std::min<uint64_t>(kMaxChosen, static_cast<uint64_t>(moe.n_experts))));
  INLAY_TRY(read_expert_widths(keys, arch, spec));
  INLAY_ASSIGN(moe.normalise_weights, keys.flag_or("expert_weights_norm", arch.normalised_experts));
  INLAY_ASSIGN(const double scale, keys.positive_or("expert_weights_scale", 1.0, 1e6));
  moe.weights_scale = static_cast<float>(scale);
  moe.router_bias = moe.expert_bias = arch.biased_experts;
  if (arch.biased_experts) moe.gating = Gating::top_then_softmax;
  moe.shared_gate = arch.shared_expert;
  moe.layers.assign(static_cast<size_t>(spec.n_layers), 1);
  return {};
}

}  // namespace

Result<ModelSpec> read_hyper_parameters(const Metadata& metadata, const ArchSpec& arch) {
  ModelSpec spec;
  spec.arch = arch.name;
  INLAY_ASSIGN(const std::string_view name, metadata.string_or("general.name", ""));
  spec.name = name;
  const ArchKeys keys(metadata, arch.name);
  INLAY_TRY(read_widths(keys, spec));
  INLAY_TRY(read_rope(keys, spec));
  spec.layers.assign(static_cast<size_t>(spec.n_layers), {});
  INLAY_TRY(read_experts(keys, arch, spec));
  return spec;
}

}  // namespace inlay
