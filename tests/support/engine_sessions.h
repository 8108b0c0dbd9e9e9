// A small engine on the device of the test's parameter, and sessions of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/engine/engine.h"
#include "tests/support/devices.h"
#include "tests/support/test_data.h"

namespace inlay::test {

class EngineSessions : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    INLAY_SKIP_WITHOUT(GetParam());
    engine_ = load({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32});
    ASSERT_NE(engine_, nullptr);
  }

  static std::shared_ptr<Engine> load(EngineOptions options) {
    options.device = GetParam();
    auto engine = Engine::load(model_file("chat-bpe-qwen3-f32"), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return engine.ok() ? *engine : nullptr;
  }

  std::shared_ptr<Session> session(const SessionOptions& options = {.ignore_end_of_generation = true}) {
    auto s = engine_->create_session(options);
    EXPECT_TRUE(s.ok()) << s.status().message;
    return *s;
  }

  static std::vector<int32_t> prompt(int32_t n, int32_t start = 3) {
    std::vector<int32_t> out;
    for (int32_t i = 0; i < n; ++i) out.push_back((start + 17 * i) % 300);
    return out;
  }

  static Status prefill(Session& s, const std::vector<int32_t>& tokens) {
    size_t n_done = 0;
    return s.prefill(tokens, n_done);
  }

  StepEvent step(Session& s) {
    Session* one[] = {&s};
    StepEvent event;
    const Status status = engine_->decode_step(one, {&event, 1});
    EXPECT_EQ(status.code, event.status.code) << status.message;
    return event;
  }

  std::shared_ptr<Engine> engine_;
};

}  // namespace inlay::test
