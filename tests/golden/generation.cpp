// Greedy continuations of the fixture models: prompt ids, drawn ids, and where they end.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/engine/engine.h"
#include "tests/support/devices.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

using nlohmann::json;

class Generation : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    INLAY_SKIP_WITHOUT(GetParam());
    index_ = json::parse(std::ifstream(INLAY_TEST_DATA_DIR "/models/index.json"));
  }
  json index_;
};

TEST_P(Generation, GreedyTokensAreThoseOfTheReference) {
  ASSERT_FALSE(index_["generate"].empty());
  for (const json& g : index_["generate"]) {
    SCOPED_TRACE(g["name"].get<std::string>());
    const auto engine = Engine::load(test::model_file(g["model"].get<std::string>()),
                                     {.device = GetParam(), .n_context = 512, .n_threads = 2});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    std::vector<int32_t> prompt;
    (void)(*engine)->tokenizer()->encode(g["prompt"].get<std::string>(), {.add_special = g["add_special"].get<bool>(), .parse_special = true},
                                   prompt);
    EXPECT_EQ(prompt, g["prompt_ids"].get<std::vector<int32_t>>());

    const auto session = (*engine)->create_session({});
    ASSERT_TRUE(session.ok());
    size_t n_done = 0;
    ASSERT_TRUE((*session)->prefill(prompt, n_done).ok());
    const auto expected = g["greedy_ids"].get<std::vector<int32_t>>();
    std::vector<int32_t> drawn;
    Session* one[] = {session->get()};
    StepEvent event;
    while (drawn.size() < expected.size() && event.finish_reason == FinishReason::none) {
      ASSERT_TRUE((*engine)->decode_step(one, {&event, 1}).ok()) << event.status.message;
      drawn.push_back(event.sample.token);
    }
    EXPECT_EQ(drawn, expected);
    EXPECT_EQ(event.finish_reason == FinishReason::end_of_generation, g["ended"].get<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Generation, testing::Values(DeviceKind::reference, DeviceKind::cpu, DeviceKind::cuda), test::device_of);

}  // namespace
}  // namespace inlay
