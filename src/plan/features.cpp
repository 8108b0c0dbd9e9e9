#include "src/plan/features.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace inlay {
namespace {

constexpr const char* kNames[] = {
    "feed-forward networks with GELU",
    "feed-forward networks with a clamped SwiGLU",
    "layers without norms of their input",
    "norms after attention and feed-forward",
    "a bias of the attention's output",
    "biases of the feed-forward matrices",
    "norms over the whole width of queries and keys",
    "scale of attention scores other than 1 / sqrt(head size)",
    "soft caps of attention scores",
    "soft caps of logits",
    "scales of embeddings, residuals or logits",
    "attention sinks",
    "sliding windows",
    "layers without RoPE",
    "several kinds of RoPE in one model",
    "mixtures of experts",
    "attention to later tokens",
};
static_assert(std::size(kNames) == static_cast<size_t>(Feature::count));

bool any_layer(const ModelSpec& s, bool (*is)(const LayerAttention&)) {
  return std::any_of(s.layers.begin(), s.layers.end(), is);
}

bool has_own_scale(const ModelSpec& s) {
  return s.attention_scale != 0 && s.attention_scale != 1.0f / std::sqrt(static_cast<float>(s.d_head));
}

}  // namespace

bool needs(const ModelSpec& s, Feature feature) {
  switch (feature) {
    case Feature::gelu:
      return s.activation == Activation::gelu_tanh;
    case Feature::clamped_swiglu:
      return s.activation == Activation::clamped_swiglu;
    case Feature::no_input_norms:
      return !s.input_norms;
    case Feature::post_norms:
      return s.post_norms;
    case Feature::output_bias:
      return s.output_bias;
    case Feature::mlp_bias:
      return s.mlp_bias;
    case Feature::width_norms:
      return s.qk_norm == QkNorm::width;
    case Feature::attention_scale:
      return has_own_scale(s);
    case Feature::attention_softcap:
      return s.attn_softcap != 0;
    case Feature::logit_softcap:
      return s.logit_softcap != 0;
    case Feature::scales:
      return s.embedding_scale != 1 || s.residual_scale != 1 || s.logit_scale != 1;
    case Feature::sinks:
      return s.attn_sinks;
    case Feature::windows:
      return any_layer(s, [](const LayerAttention& l) { return l.window > 0; });
    case Feature::layers_without_rope:
      return any_layer(s, [](const LayerAttention& l) { return l.rope < 0; });
    case Feature::several_ropes:
      return s.ropes.size() > 1;
    case Feature::experts:
      return s.moe.n_experts > 0;
    case Feature::both_ways:
      return !s.causal;
    case Feature::count:
      break;
  }
  return false;
}

Status check_features(const ModelSpec& spec, const char* backend, std::span<const Feature> lacking) {
  for (const Feature feature : lacking) {
    if (!needs(spec, feature)) continue;
    return error(Code::unsupported, "the %s has no %s, which %s models have", backend,
                 kNames[static_cast<size_t>(feature)], spec.arch.c_str());
  }
  return {};
}

}  // namespace inlay
