// What a model may need beyond the plainest decoder, by name: a backend says which of it it lacks.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/status.h"
#include "src/model/model_spec.h"

namespace inlay {

enum class Feature : uint8_t {
  gelu,
  clamped_swiglu,
  no_input_norms,
  post_norms,
  output_bias,
  mlp_bias,
  width_norms,
  attention_scale,
  attention_softcap,
  logit_softcap,
  scales,
  sinks,
  windows,
  layers_without_rope,
  several_ropes,
  experts,
  both_ways,
  count
};

bool needs(const ModelSpec& spec, Feature feature);

// UNSUPPORTED that names the first of `lacking` that the model needs. `backend`: the subject of the message.
Status check_features(const ModelSpec& spec, const char* backend, std::span<const Feature> lacking);

}  // namespace inlay
