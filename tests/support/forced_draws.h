// Decode steps whose tokens the test chooses.
#pragma once

#include <span>
#include <vector>

#include "src/engine/engine.h"

namespace inlay::test {

// A step that draws tokens[i] for sessions[i], whatever the logits are, which stay as the model gave them.
inline Status force(std::span<Session* const> sessions, std::span<const int32_t> tokens) {
  for (size_t i = 0; i < sessions.size(); ++i) {
    SamplerParams params;
    params.bias = {{tokens[i], 1e6f}};
    INLAY_TRY(sessions[i]->set_sampler(params));
  }
  std::vector<StepEvent> events(sessions.size());
  INLAY_TRY(sessions[0]->engine().decode_step(sessions, events));
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (events[i].sample.token == tokens[i]) continue;
    return error(Code::internal, "session %zu drew %d instead of %d", i, events[i].sample.token, tokens[i]);
  }
  return {};
}

inline Status force(Session& session, int32_t token) {
  Session* const one[] = {&session};
  return force(one, {&token, 1});
}

}  // namespace inlay::test
