// What a model needs and a backend lacks is named.
#include "src/plan/features.h"

#include <gtest/gtest.h>

#include <array>

namespace inlay {
namespace {

ModelSpec plain() {
  ModelSpec spec;
  spec.arch = "llama";
  spec.n_layers = 2;
  spec.d_head = 64;
  spec.ropes.resize(1);
  spec.layers.resize(2);
  return spec;
}

struct Case {
  Feature feature;
  void (*change)(ModelSpec&);
  const char* named;
};

const Case kCases[] = {
    {Feature::gelu, [](ModelSpec& s) { s.activation = Activation::gelu_tanh; }, "GELU"},
    {Feature::clamped_swiglu, [](ModelSpec& s) { s.activation = Activation::clamped_swiglu; }, "SwiGLU"},
    {Feature::no_input_norms, [](ModelSpec& s) { s.input_norms = false; }, "norms of their input"},
    {Feature::post_norms, [](ModelSpec& s) { s.post_norms = true; }, "norms after"},
    {Feature::output_bias, [](ModelSpec& s) { s.output_bias = true; }, "attention's output"},
    {Feature::mlp_bias, [](ModelSpec& s) { s.mlp_bias = true; }, "feed-forward"},
    {Feature::width_norms, [](ModelSpec& s) { s.qk_norm = QkNorm::width; }, "whole width"},
    {Feature::attention_scale, [](ModelSpec& s) { s.attention_scale = 0.1f; }, "scale of attention"},
    {Feature::attention_softcap, [](ModelSpec& s) { s.attn_softcap = 50; }, "caps of attention"},
    {Feature::logit_softcap, [](ModelSpec& s) { s.logit_softcap = 30; }, "caps of logits"},
    {Feature::scales, [](ModelSpec& s) { s.residual_scale = 0.5f; }, "residuals"},
    {Feature::sinks, [](ModelSpec& s) { s.attn_sinks = true; }, "sinks"},
    {Feature::windows, [](ModelSpec& s) { s.layers[1].window = 7; }, "windows"},
    {Feature::layers_without_rope, [](ModelSpec& s) { s.layers[1].rope = -1; }, "without RoPE"},
    {Feature::several_ropes, [](ModelSpec& s) { s.ropes.resize(2); }, "kinds of RoPE"},
    {Feature::experts, [](ModelSpec& s) { s.moe.n_experts = 8; }, "experts"},
    {Feature::both_ways, [](ModelSpec& s) { s.causal = false; }, "later tokens"},
};
static_assert(std::size(kCases) == static_cast<size_t>(Feature::count));

TEST(Features, EachIsNeededByTheModelThatHasItAndByNoOther) {
  for (const Case& c : kCases) {
    ModelSpec spec = plain();
    EXPECT_FALSE(needs(spec, c.feature)) << c.named;
    c.change(spec);
    for (const Case& other : kCases)
      EXPECT_EQ(needs(spec, other.feature), other.feature == c.feature) << c.named << ", " << other.named;
  }
}

TEST(Features, WhatIsLackedIsNamedWithBackendAndArchitecture) {
  for (const Case& c : kCases) {
    ModelSpec spec = plain();
    const std::array lacking{c.feature};
    EXPECT_TRUE(check_features(spec, "abacus", lacking).ok());
    c.change(spec);
    const Status status = check_features(spec, "abacus", lacking);
    EXPECT_EQ(status.code, Code::unsupported);
    for (const char* part : {"abacus", "llama", c.named})
      EXPECT_NE(status.message.find(part), std::string::npos) << status.message;
    EXPECT_TRUE(check_features(spec, "abacus", {}).ok()) << "what is not lacked is not refused";
  }
}

TEST(Features, TheUsualScaleOfScoresIsNoFeature) {
  ModelSpec spec = plain();
  spec.attention_scale = 0.125f;
  EXPECT_FALSE(needs(spec, Feature::attention_scale));
}

}  // namespace
}  // namespace inlay
