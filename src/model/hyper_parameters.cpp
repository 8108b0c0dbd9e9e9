#include "src/model/hyper_parameters.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "src/base/format.h"
#include "src/model/known_keys.h"

namespace inlay {
namespace {

// Reads the keys "<arch>.<name>" of one model.
class ArchKeys {
 public:
  ArchKeys(const Metadata& metadata, const char* arch) : metadata_(metadata), prefix_(std::string(arch) + ".") {}

  // As the file spells it.
  std::string key(const char* name) const {
    std::string usual = prefix_ + name;
    if (metadata_.find(usual)) return usual;
    for (const KeySpelling& spelling : gguf_spellings()) {
      if (std::string_view(name) == spelling.key && metadata_.find(prefix_ + spelling.older)) return prefix_ + spelling.older;
    }
    return usual;
  }
  std::string shown(const char* name) const { return metadata_.key_in_file(key(name)); }  // in messages
  bool has(const char* name) const { return metadata_.find(key(name)) != nullptr; }

  // An integer in [1, max].
  Result<int32_t> size(const char* name, uint64_t max) const {
    INLAY_ASSIGN(const uint64_t v, whole(name));
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
    INLAY_ASSIGN(const double v, number(name));
    if (!(v > 0.0 && v <= max)) return error(Code::format, "%s is %g, expected above 0 and at most %g", shown(name).c_str(), v, max);
    return v;
  }
  Result<double> positive_or(const char* name, double fallback, double max) const {
    if (!has(name)) return fallback;
    return positive(name, max);
  }
  // A finite number in [0, max].
  Result<double> not_negative_or(const char* name, double fallback, double max) const {
    if (!has(name)) return fallback;
    INLAY_ASSIGN(const double v, number(name));
    if (!(v >= 0.0 && v <= max)) return error(Code::format, "%s is %g, expected 0 to %g", shown(name).c_str(), v, max);
    return v;
  }
  Result<uint64_t> count_or(const char* name, uint64_t fallback, uint64_t max) const {
    if (!has(name)) return fallback;
    INLAY_ASSIGN(const uint64_t v, whole(name));
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
  bool is_array(const char* name) const {
    const MetaValue* value = metadata_.find(key(name));
    return value && value->type == MetaType::array;
  }
  Result<std::vector<bool>> truths(const char* name) const { return metadata_.bool_array(key(name)); }

 private:
  Result<uint64_t> whole(const char* name) const {
    if (!is_array(name)) return metadata_.get_u64(key(name));
    INLAY_ASSIGN(const std::vector<int32_t> values, metadata_.i32_array(key(name)));
    INLAY_TRY(check_equal(name, std::span(values)));
    if (values[0] < 0) return error(Code::format, "%s has %d, expected numbers that are not negative", shown(name).c_str(), values[0]);
    return static_cast<uint64_t>(values[0]);
  }
  Result<double> number(const char* name) const {
    if (!is_array(name)) return metadata_.get_f64(key(name));
    INLAY_ASSIGN(const std::vector<float> values, metadata_.f32_array(key(name)));
    INLAY_TRY(check_equal(name, std::span(values)));
    return double{values[0]};
  }
  // An array of a value a layer stands for the one that all layers have.
  template <class T>
  Status check_equal(const char* name, std::span<const T> values) const {
    if (values.empty()) return error(Code::format, "%s is an empty array", shown(name).c_str());
    for (size_t i = 1; i < values.size(); ++i) {
      if (values[i] == values[0]) continue;
      return error(Code::unsupported, "%s is %s in layer 0 and %s in layer %zu: layers of different sizes are not supported", shown(name).c_str(),
                   std::to_string(values[0]).c_str(), std::to_string(values[i]).c_str(), i);
    }
    return {};
  }

  const Metadata& metadata_;
  std::string prefix_;
};

constexpr uint64_t kMaxWidth = 1 << 20, kMaxHeads = 4096, kMaxContext = 1 << 30;

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

// How positions are scaled, of the RoPE of layers that see all.
Status read_rope_scaling(const ArchKeys& keys, const ArchSpec& arch, const ModelSpec& spec, RopeSpec& rope) {
  INLAY_ASSIGN(rope.factor, keys.not_negative_or("rope.scaling.factor", 1.0, 1e6));
  if (rope.factor == 0.0) rope.factor = 1.0;  // which stands for none
  INLAY_ASSIGN(const std::string kind, keys.text_or("rope.scaling.type", rope.factor != 1.0 ? "linear" : "none"));
  constexpr std::pair<const char*, RopeScalingKind> kKinds[] = {{"none", RopeScalingKind::none},
                                                                {"linear", RopeScalingKind::linear},
                                                                {"longrope", RopeScalingKind::longrope},
                                                                {"yarn", RopeScalingKind::yarn}};
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return kind == k.first; });
  if (found == std::end(kKinds)) {
    return error(Code::unsupported, "%s is '%s', a RoPE scaling that is not supported; supported are none, linear, longrope and yarn",
                 keys.shown("rope.scaling.type").c_str(), kind.c_str());
  }
  rope.scaling = found->second;
  INLAY_ASSIGN(rope.original_context, keys.size_or("rope.scaling.original_context_length", spec.n_context_train, kMaxContext));
  INLAY_ASSIGN(rope.attention_factor, keys.positive_or("rope.scaling.attn_factor", 1.0, 1e3));
  INLAY_ASSIGN(rope.beta_fast, keys.positive_or("rope.scaling.yarn_beta_fast", 32.0, 1e6));
  INLAY_ASSIGN(rope.beta_slow, keys.positive_or("rope.scaling.yarn_beta_slow", 1.0, 1e6));
  INLAY_ASSIGN(rope.truncate, keys.flag_or("rope.scaling.truncate", arch.yarn_truncates));
  return {};
}

Result<double> read_base(const ArchKeys& keys, const char* name, double fallback) {
  INLAY_ASSIGN(const double base, keys.positive_or(name, fallback, 1e12));
  if (base <= 1.0) return error(Code::format, "%s is %g, expected above 1", keys.shown(name).c_str(), base);
  return base;
}

Status read_rope(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  RopeSpec& rope = spec.ropes.emplace_back();
  INLAY_ASSIGN(rope.n_rot, keys.size_or("rope.dimension_count", spec.d_head, kMaxHead));
  if (rope.n_rot % 2 != 0 || rope.n_rot > spec.d_head) {
    return error(Code::format, "%s is %d, expected an even number of at most the head size %d",
                 keys.shown("rope.dimension_count").c_str(), rope.n_rot, spec.d_head);
  }
  INLAY_ASSIGN(rope.base, read_base(keys, "rope.freq_base", 10000.0));
  return read_rope_scaling(keys, arch, spec, rope);
}

// Which layers something is true for: an array of one truth value a layer where the metadata have it, otherwise all but
// the last of every `period`.
Result<std::vector<bool>> read_layer_pattern(const ArchKeys& keys, const char* name, int32_t period, int32_t n_layers) {
  std::vector<bool> pattern;
  if (keys.is_array(name)) {
    INLAY_ASSIGN(pattern, keys.truths(name));
    if (pattern.size() != static_cast<size_t>(n_layers)) {
      return error(Code::format, "%s has %s, expected one for each of %d layers", keys.shown(name).c_str(),
                   counted(pattern.size(), "element").c_str(), n_layers);
    }
    return pattern;
  }
  INLAY_ASSIGN(period, keys.size_or(name, period, kMaxLayers));
  for (int32_t i = 0; i < n_layers; ++i) pattern.push_back(period <= 1 || i % period < period - 1);
  return pattern;
}

// Windows of the layers that have one, and the RoPE that they have of their own.
Status read_windows(const ArchKeys& keys, const WindowRule& rule, ModelSpec& spec) {
  INLAY_ASSIGN(const uint64_t stated, keys.count_or("attention.sliding_window", static_cast<uint64_t>(rule.fallback), kMaxContext));
  auto window = static_cast<int32_t>(stated);
  INLAY_ASSIGN(const std::vector<bool> has_window,
               read_layer_pattern(keys, "attention.sliding_window_pattern", rule.period, spec.n_layers));
  if (window == 0) return {};
  if (!spec.causal && !rule.can_be_halved && std::ranges::find(has_window, true) != has_window.end()) {
    return error(Code::unsupported, "%s is %d, and %s is false: windows to both sides are not supported in %s models", keys.shown("attention.sliding_window").c_str(),
                 window, keys.shown("attention.causal").c_str(), spec.arch.c_str());
  }
  if (!spec.causal) window = window / 2 + 1;
  RopeSpec rope = spec.ropes[0];
  INLAY_ASSIGN(rope.base, read_base(keys, "rope.freq_base_swa", rule.rope_base > 0 ? rule.rope_base : rope.base));
  if (rule.unscaled_rope) rope = {.n_rot = rope.n_rot, .base = rope.base};
  const bool own_rope = rope.base != spec.ropes[0].base || (rule.unscaled_rope && spec.ropes[0].scaling != RopeScalingKind::none);
  if (own_rope) spec.ropes.push_back(rope);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (!has_window[i]) continue;
    spec.layers[i] = {.window = window < spec.n_context_train ? window : 0, .rope = static_cast<int8_t>(own_rope)};
  }
  return {};
}

Status read_layers(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  spec.layers.assign(static_cast<size_t>(spec.n_layers), {});
  INLAY_TRY(read_windows(keys, arch.window, spec));
  if (arch.no_rope_period == 0) return {};
  INLAY_ASSIGN(const std::vector<bool> has_rope, read_layer_pattern(keys, "rope.layers", arch.no_rope_period, spec.n_layers));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (!has_rope[i]) spec.layers[i].rope = -1;
  }
  return {};
}

// What values are multiplied by and bounded by.
Status read_scales(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  const int32_t width = arch.wide_scale_layers == spec.n_layers ? spec.d_model / spec.n_heads : spec.d_head;
  const float usual = 1.0f / std::sqrt(static_cast<float>(width));
  INLAY_ASSIGN(const double of_attention, keys.positive_or("attention.scale", double{usual}, 1e6));
  spec.attention_scale = static_cast<float>(of_attention);
  INLAY_ASSIGN(const double of_scores, keys.not_negative_or("attn_logit_softcapping", arch.attn_softcap, 1e6));
  INLAY_ASSIGN(const double of_logits, keys.not_negative_or("final_logit_softcapping", arch.logit_softcap, 1e6));
  spec.attn_softcap = static_cast<float>(of_scores);
  spec.logit_softcap = static_cast<float>(of_logits);
  if (arch.scaled_embedding) spec.embedding_scale = std::sqrt(static_cast<float>(spec.d_model));
  if (!arch.multipliers) return {};
  INLAY_ASSIGN(const double embedding, keys.positive_or("embedding_scale", 1.0, 1e6));
  INLAY_ASSIGN(const double residual, keys.positive_or("residual_scale", 1.0, 1e6));
  INLAY_ASSIGN(const double divisor, keys.positive_or("logit_scale", 1.0, 1e6));
  spec.embedding_scale = static_cast<float>(embedding);
  spec.residual_scale = static_cast<float>(residual);
  spec.logit_scale = static_cast<float>(1.0 / divisor);
  return {};
}

// Kernels take the matrices of experts in tiles, which no two experts share.
constexpr int32_t kExpertRowMultiple = 16;
constexpr uint64_t kMaxChosen = 32;

Status read_expert_widths(const ArchKeys& keys, const ArchSpec& arch, ModelSpec& spec) {
  MoeSpec& moe = spec.moe;
  INLAY_ASSIGN(moe.d_ff_expert, keys.size_or("expert_feed_forward_length", spec.d_ff, kMaxWidth));
  if (arch.shared_expert) {
    INLAY_ASSIGN(moe.d_ff_shared, keys.size_or("expert_shared_feed_forward_length", spec.d_ff, kMaxWidth));
    if (moe.d_ff_shared < 2) {  // a tensor of one row is a vector
      return error(Code::unsupported, "%s is %d, expected at least 2", keys.shown("expert_shared_feed_forward_length").c_str(),
                   moe.d_ff_shared);
    }
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
  INLAY_ASSIGN(moe.normalize_weights, keys.flag_or("expert_weights_norm", arch.normalized_experts));
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
  INLAY_TRY(refuse_gguf_keys(metadata, arch.name));
  ModelSpec spec;
  spec.arch = arch.name;
  INLAY_ASSIGN(const std::string_view name, metadata.string_or("general.name", ""));
  spec.name = name;
  spec.activation = arch.activation;
  spec.input_norms = arch.input_norms;
  spec.post_norms = arch.post_norms;
  spec.qk_norm = arch.qk_norm;
  spec.attn_sinks = arch.attn_sinks;
  const ArchKeys keys(metadata, arch.name);
  INLAY_TRY(read_widths(keys, spec));
  INLAY_TRY(read_rope(keys, arch, spec));
  INLAY_ASSIGN(spec.causal, keys.flag_or("attention.causal", true));
  INLAY_TRY(read_layers(keys, arch, spec));
  INLAY_TRY(read_scales(keys, arch, spec));
  INLAY_TRY(read_experts(keys, arch, spec));
  return spec;
}

}  // namespace inlay
