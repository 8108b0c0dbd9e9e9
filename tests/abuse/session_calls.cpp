#include "tests/abuse/session_calls.h"

#include <vector>

namespace inlay::abuse {

namespace {

constexpr int32_t kTokens[] = {5, 6, 7, 8};
constexpr char kConversation[] = R"([{"role":"user","content":"hello"}])";

inlay_status prefill(const Handles& h, inlay_error* err) {
  size_t n_done = 0;
  return lib.inlay_prefill(h.session, kTokens, 3, &n_done, err);
}
inlay_status decode_step(const Handles& h, inlay_error* err) {
  inlay_event event;
  return lib.inlay_decode_step(&h.session, 1, &event, sizeof event, err);
}
inlay_status decode_slice(const Handles& h, inlay_error* err) {
  inlay_event event;
  int32_t units_left = 0;
  return lib.inlay_decode_slice(&h.session, 1, 2, &event, sizeof event, &units_left, err);
}
inlay_status decode_abandon(const Handles& h, inlay_error* err) { return lib.inlay_decode_abandon(&h.session, 1, err); }
inlay_status session_get_info(const Handles& h, inlay_error* err) {
  inlay_session_info info = sized<inlay_session_info>();
  return lib.inlay_session_get_info(h.session, &info, err);
}
inlay_status take_text(const Handles& h, inlay_error* err) {
  char text[16];
  size_t n = 0;
  return lib.inlay_session_take_text(h.session, text, sizeof text, &n, err);
}
inlay_status fork_session(const Handles& h, inlay_error* err) {
  inlay_session* child = nullptr;
  const inlay_status status = lib.inlay_session_fork(h.session, &child, err);
  lib.inlay_session_free(child);
  return status;
}
inlay_status truncate_session(const Handles& h, inlay_error* err) {
  return lib.inlay_session_truncate(h.session, 1, err);
}
inlay_status shift_session(const Handles& h, inlay_error* err) {  // leaves two tokens, which others cut
  inlay_session_info info = sized<inlay_session_info>();
  const inlay_status status = lib.inlay_session_get_info(h.session, &info, err);
  return status == INLAY_OK ? lib.inlay_session_shift(h.session, 0, info.n_tokens > 2 ? 1 : 0, err) : status;
}
inlay_status set_sampler(const Handles& h, inlay_error* err) {
  static constexpr inlay_logit_bias kBias[] = {{3, 1.0f}, {4, -1.0f}};
  inlay_sampler_params params = sized<inlay_sampler_params>();
  params.temperature = 0.7f;
  params.bias = kBias;
  params.n_bias = 2;
  return lib.inlay_session_set_sampler(h.session, &params, err);
}
inlay_status set_stop(const Handles& h, inlay_error* err) {
  static constexpr inlay_text kStops[] = {{"a longer stop text", 18}, {"xyz", 3}};
  return lib.inlay_session_set_stop(h.session, kStops, 2, err);
}
inlay_status set_stop_tokens(const Handles& h, inlay_error* err) {
  return lib.inlay_session_set_stop_tokens(h.session, kTokens, 4, err);
}
inlay_status set_max_tokens(const Handles& h, inlay_error* err) {
  return lib.inlay_session_set_max_tokens(h.session, 1000, err);
}
inlay_status copy_logits(const Handles& h, inlay_error* err) {
  std::vector<float> logits(static_cast<size_t>(h.n_vocab));
  size_t needed = 0;
  return lib.inlay_session_copy_logits(h.session, logits.data(), logits.size(), &needed, err);
}
inlay_status view_logits(const Handles& h, inlay_error* err) {
  inlay_logits view = sized<inlay_logits>();
  return lib.inlay_session_view_logits(h.session, &view, err);
}
inlay_status accept_tokens(const Handles& h, inlay_error* err) {
  size_t n = 0;
  return lib.inlay_session_accept(h.session, kTokens, 4, &n, err);
}
inlay_status get_tokens(const Handles& h, inlay_error* err) {
  size_t n = 0;
  return lib.inlay_session_get_tokens(h.session, 0, nullptr, 0, &n, err);
}
inlay_status save_session(const Handles& h, inlay_error* err) {
  size_t n = 0;
  inlay_status status = lib.inlay_session_save(h.session, nullptr, 0, &n, err);
  if (status != INLAY_OK) return status;
  std::vector<unsigned char> state(n);
  return lib.inlay_session_save(h.session, state.data(), state.size(), &n, err);
}
inlay_status save_session_to(const Handles& h, inlay_error* err) {
  inlay_state_writer writer = sized<inlay_state_writer>();
  writer.write = [](void*, const void*, uint64_t) { return int32_t{0}; };
  return lib.inlay_session_save_to(h.session, &writer, err);
}
inlay_status cancel_generation(const Handles& h, inlay_error* err) {
  return lib.inlay_session_cancel_generation(h.session, 1, err);
}

inlay_status create_session(const Handles& h, inlay_error* err) {
  inlay_session* made = nullptr;
  const inlay_status status = lib.inlay_session_create(h.engine, nullptr, &made, err);
  lib.inlay_session_free(made);
  return status;
}
inlay_status engine_get_info(const Handles& h, inlay_error* err) {
  inlay_engine_info info = sized<inlay_engine_info>();
  return lib.inlay_engine_get_info(h.engine, &info, err);
}
inlay_status get_stats(const Handles& h, inlay_error* err) {
  inlay_stats stats = sized<inlay_stats>();
  return lib.inlay_engine_get_stats(h.engine, &stats, err);
}
inlay_status meta_count(const Handles& h, inlay_error* err) {
  size_t n = 0;
  return lib.inlay_meta_count(h.engine, &n, err);
}
inlay_status meta_key(const Handles& h, inlay_error* err) {
  char text[200];
  size_t n = 0;
  return lib.inlay_meta_key(h.engine, 0, text, sizeof text, &n, err);
}
inlay_status meta_value(const Handles& h, inlay_error* err) {
  char text[2000];
  size_t n = 0;
  return lib.inlay_meta_value(h.engine, "general.architecture", SIZE_MAX, text, sizeof text, &n, err);
}
inlay_status tokenize(const Handles& h, inlay_error* err) {
  int32_t tokens[64];
  size_t n = 0;
  return lib.inlay_tokenize(h.engine, "a text", SIZE_MAX, 0, tokens, 64, &n, err);
}
inlay_status detokenize(const Handles& h, inlay_error* err) {
  char text[200];
  size_t n = 0;
  return lib.inlay_detokenize(h.engine, kTokens, 4, 0, text, sizeof text, &n, err);
}
inlay_status token_get_info(const Handles& h, inlay_error* err) {
  inlay_token_info info = sized<inlay_token_info>();
  return lib.inlay_token_get_info(h.engine, 3, &info, err);
}
inlay_status plan_text(const Handles& h, inlay_error* err) {
  std::string text(1 << 16, '\0');
  size_t n = 0;
  return lib.inlay_plan_text(h.engine, text.data(), text.size(), &n, err);
}
inlay_status log_read(const Handles& h, inlay_error* err) {
  char text[600];
  size_t n = 0;
  uint64_t cursor = 0;
  inlay_log_level level = 0;
  return lib.inlay_log_read(h.engine, &cursor, &level, text, sizeof text, &n, err);
}
inlay_status profile_step(const Handles& h, inlay_error* err) {
  inlay_profile_params params = sized<inlay_profile_params>();
  params.n_repetitions = 1;
  return lib.inlay_profile_step(h.engine, &params, err);
}
inlay_status profile_text(const Handles& h, inlay_error* err) {
  std::string text(1 << 16, '\0');
  size_t n = 0;
  return lib.inlay_profile_text(h.engine, INLAY_PROFILE_KINDS, text.data(), text.size(), &n, err);
}
inlay_status compare_text(const Handles& h, inlay_error* err) {
  std::string text(1 << 16, '\0');
  size_t n = 0;
  int32_t first = 0;
  return lib.inlay_compare_text(h.engine, h.engine, kTokens, 4, 1e-3, &first, text.data(), text.size(), &n, err);
}
inlay_status chat_render(const Handles& h, inlay_error* err) {
  std::string text(1 << 12, '\0');
  size_t n = 0;
  return lib.inlay_chat_render(h.engine, kConversation, SIZE_MAX, nullptr, text.data(), text.size(), &n, err);
}
inlay_status chat_tokenize(const Handles& h, inlay_error* err) {
  int32_t tokens[256];
  size_t n = 0;
  return lib.inlay_chat_tokenize(h.engine, kConversation, SIZE_MAX, nullptr, tokens, 256, &n, err);
}
inlay_status embed(const Handles& h, inlay_error* err) {
  const inlay_embed_input input = {kTokens, 4, nullptr, 0};
  std::vector<float> out(4096);
  inlay_embed_params params = sized<inlay_embed_params>();
  params.pooling = INLAY_POOLING_MEAN;
  size_t n = 0;
  return lib.inlay_embed(h.engine, &input, 1, sizeof input, &params, out.data(), out.size(), &n, err);
}
inlay_status score(const Handles& h, inlay_error* err) {
  static constexpr int32_t kLengths[] = {1, 3};
  inlay_token_score scores[4];
  inlay_token_logprob top[4 * 2];
  inlay_score_params params = sized<inlay_score_params>();
  params.n_logprobs = 2;
  return lib.inlay_score(h.engine, h.engine, kTokens, 4, kLengths, 2, &params, scores, sizeof *scores, top, 8, err);
}

constexpr HandleCall kTable[] = {
    {"inlay_prefill", true, prefill},
    {"inlay_decode_step", true, decode_step},
    {"inlay_decode_slice", true, decode_slice},
    {"inlay_decode_abandon", true, decode_abandon},
    {"inlay_session_get_info", true, session_get_info},
    {"inlay_session_take_text", true, take_text},
    {"inlay_session_fork", true, fork_session},
    {"inlay_session_truncate", true, truncate_session},
    {"inlay_session_shift", true, shift_session},
    {"inlay_session_accept", true, accept_tokens},
    {"inlay_session_get_tokens", true, get_tokens},
    {"inlay_session_set_sampler", true, set_sampler},
    {"inlay_session_set_stop", true, set_stop},
    {"inlay_session_set_stop_tokens", true, set_stop_tokens},
    {"inlay_session_set_max_tokens", true, set_max_tokens},
    {"inlay_session_copy_logits", true, copy_logits},
    {"inlay_session_view_logits", true, view_logits},
    {"inlay_session_save", true, save_session},
    {"inlay_session_save_to", true, save_session_to},
    {"inlay_session_cancel_generation", true, cancel_generation},
    {"inlay_session_create", false, create_session},
    {"inlay_engine_get_info", false, engine_get_info},
    {"inlay_engine_get_stats", false, get_stats},
    {"inlay_meta_count", false, meta_count},
    {"inlay_meta_key", false, meta_key},
    {"inlay_meta_value", false, meta_value},
    {"inlay_tokenize", false, tokenize},
    {"inlay_detokenize", false, detokenize},
    {"inlay_token_get_info", false, token_get_info},
    {"inlay_plan_text", false, plan_text},
    {"inlay_log_read", false, log_read},
    {"inlay_profile_step", false, profile_step, true},
    {"inlay_profile_text", false, profile_text},
    {"inlay_compare_text", false, compare_text},
    {"inlay_chat_render", false, chat_render},
    {"inlay_chat_tokenize", false, chat_tokenize},
    {"inlay_embed", false, embed},
    {"inlay_score", false, score},
};

}  // namespace

std::span<const HandleCall> handle_calls() { return kTable; }

}  // namespace inlay::abuse
