// What the tests of the C interface share: handles that free themselves, and steps that forced tokens make predictable.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "include/capi/inlay.h"
#include "tests/support/needs_gpu.h"
#include "tests/support/test_data.h"

namespace inlay::test {

// A qwen3 of two layers. Token ids 0 to 255 are the bytes; 317 begins and 319 ends a text; no BOS is added.
inline constexpr const char* kModel = "chat-bpe-qwen3-f32";
inline constexpr int32_t kVocab = 320, kEnd = 319;

inline std::vector<char> file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct FreeEngine {
  void operator()(inlay_engine* e) const { inlay_free(e); }
};
struct FreeSession {
  void operator()(inlay_session* s) const { inlay_session_free(s); }
};
using EnginePtr = std::unique_ptr<inlay_engine, FreeEngine>;
using SessionPtr = std::unique_ptr<inlay_session, FreeSession>;
using Tokens = std::vector<int32_t>;

template <class T>
T sized() {
  T out = {};
  out.struct_size = sizeof(T);
  return out;
}

inline inlay_load_params on(inlay_device_kind device) {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = device;
  return params;
}

inline EnginePtr load(const inlay_load_params& params, const std::string& name = kModel) {
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load(model_file(name).c_str(), SIZE_MAX, &params, &engine, &err), INLAY_OK) << err.message;
  return EnginePtr(engine);
}

inline SessionPtr new_session(const EnginePtr& engine, const inlay_session_params* params = nullptr) {
  inlay_session* session = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_session_create(engine.get(), params, &session, &err), INLAY_OK) << err.message;
  return SessionPtr(session);
}

inline SessionPtr fork(const SessionPtr& session) {
  inlay_session* child = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_session_fork(session.get(), &child, &err), INLAY_OK) << err.message;
  return SessionPtr(child);
}

inline void prefill(const SessionPtr& session, const Tokens& tokens) {
  inlay_error err;
  size_t n_done = 0;
  ASSERT_EQ(inlay_prefill(session.get(), tokens.data(), tokens.size(), &n_done, &err), INLAY_OK) << err.message;
  ASSERT_EQ(n_done, tokens.size());
}

// One step of one session; its status must be that of its event.
inline inlay_event step(const SessionPtr& session, inlay_status want = INLAY_OK) {
  inlay_session* one = session.get();
  inlay_event event;
  inlay_error err;
  const inlay_status status = inlay_decode_step(&one, 1, &event, sizeof event, &err);
  EXPECT_EQ(status, want) << err.message;
  EXPECT_EQ(event.status, status);
  EXPECT_EQ(event.session_index, 0);
  EXPECT_EQ(event.n_tokens, event.kind == INLAY_EVENT_TOKEN ? 1 : 0);
  return event;
}

// A template, for the calls that write conversations.
inline inlay_chat_params written_by(const char* form, inlay_chat_flags flags = 0) {
  inlay_chat_params params = sized<inlay_chat_params>();
  params.flags = flags;
  params.chat_template = form;
  params.template_len = SIZE_MAX;
  return params;
}

inline void set_sampler(const SessionPtr& session, const inlay_sampler_params* params) {
  inlay_error err;
  ASSERT_EQ(inlay_session_set_sampler(session.get(), params, &err), INLAY_OK) << err.message;
}

// Steps with a bias that leaves the draw no choice.
inline inlay_event force(const SessionPtr& session, int32_t token) {
  const inlay_logit_bias bias = {token, 1e6f};
  inlay_sampler_params params = sized<inlay_sampler_params>();
  params.bias = &bias;
  params.n_bias = 1;
  set_sampler(session, &params);
  const inlay_event event = step(session);
  EXPECT_EQ(event.token, token);
  return event;
}

inline std::string text_of(const inlay_event& event) { return std::string(event.text, event.text_bytes); }

// The texts of the events that the bytes of `text` make, one token a byte.
inline std::vector<std::string> force_text(const SessionPtr& session, std::string_view text) {
  std::vector<std::string> out;
  for (const char byte : text) out.push_back(text_of(force(session, static_cast<unsigned char>(byte))));
  return out;
}

inline Tokens greedy(const SessionPtr& session, size_t n) {
  Tokens out;
  for (size_t i = 0; i < n; ++i) out.push_back(step(session).token);
  return out;
}

inline inlay_session_info info_of(const SessionPtr& session) {
  inlay_session_info info = sized<inlay_session_info>();
  EXPECT_EQ(inlay_session_get_info(session.get(), &info, nullptr), INLAY_OK);
  return info;
}

inline inlay_stats stats_of(const EnginePtr& engine) {
  inlay_stats stats = sized<inlay_stats>();
  EXPECT_EQ(inlay_engine_get_stats(engine.get(), &stats, nullptr), INLAY_OK);
  return stats;
}

inline void set_stops(const SessionPtr& session, const std::vector<std::string>& stops) {
  std::vector<inlay_text> texts;
  for (const std::string& stop : stops) texts.push_back({stop.data(), stop.size()});
  inlay_error err;
  ASSERT_EQ(inlay_session_set_stop(session.get(), texts.data(), texts.size(), &err), INLAY_OK) << err.message;
}

// Prompts of the tiny models and what libllama continues them with, greedily.
inline const Tokens kPlain = {257, 294, 105, 310, 32, 309};
inline const Tokens kPlainReply = {43, 43,  43,  64,  64,  64,  64,  64,  64, 64,
                                   64, 121, 187, 277, 145, 145, 145, 142, 31, 31};
inline const Tokens kChat = {318, 115, 121, 272, 101, 109, 10,  89,  285, 259, 261, 295, 284, 108,
                             46,  319, 10,  318, 117, 115, 262, 10,  87,  104, 278, 274, 258, 263,
                             282, 291, 293, 316, 258, 32,  288, 273, 63,  32,  195, 169, 240, 159,
                             152, 128, 319, 10,  318, 97,  115, 115, 265, 116, 97,  110, 116, 10};
inline const Tokens kChatReply = {182, 292, 185, 190, 9, 9, 219, 82, 82, 82, 82, 82, 82, 82, 82, 82, 82, 82, 82, 82};

inline bool has_device(inlay_device_kind kind) {
  if (kind == INLAY_DEVICE_REFERENCE) return true;
  for (int32_t i = 0; i < inlay_device_count(); ++i) {
    inlay_device_info info = sized<inlay_device_info>();
    if (inlay_device_get(i, &info, nullptr) == INLAY_OK && info.kind == kind) return true;
  }
  return false;
}

// Runs each test on the interpreter, on the processor's kernels, and on the GPU if there is one.
class OnEachDevice : public testing::TestWithParam<inlay_device_kind> {
 protected:
  void SetUp() override {
    if (!has_device(GetParam())) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }
  inlay_load_params params() const { return on(GetParam()); }
};

inline std::string device_name(const testing::TestParamInfo<inlay_device_kind>& device) {
  switch (device.param) {
    case INLAY_DEVICE_CUDA:
      return "cuda";
    case INLAY_DEVICE_REFERENCE:
      return "reference";
    default:
      return "cpu";
  }
}

#define INLAY_ON_EACH_DEVICE(suite)        \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, \
                           testing::Values(INLAY_DEVICE_REFERENCE, INLAY_DEVICE_CPU, INLAY_DEVICE_CUDA), device_name)

}  // namespace inlay::test
