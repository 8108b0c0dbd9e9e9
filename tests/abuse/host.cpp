#include "tests/abuse/host.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace inlay::abuse {

inlay_dl lib;

namespace {

std::map<std::string, std::set<std::string>> read_errors() {
  std::map<std::string, std::set<std::string>> out;
  const auto api = nlohmann::json::parse(std::ifstream(source_path("bindings/api/inlay.json")));
  for (const auto& function : api.at("functions")) {
    auto& errors = out[function.at("name")];
    for (const auto& error : function.at("errors")) errors.insert(error);
    errors.insert({"INVALID_ARGUMENT", "OUT_OF_MEMORY"});
  }
  return out;
}
// Made before any child is: no case's memory failure can meet it.
const std::map<std::string, std::set<std::string>> kErrors = read_errors();

bool is_documented(const char* function, inlay_status status) {
  const auto found = kErrors.find(function);
  return found != kErrors.end() && found->second.contains(lib.inlay_status_name(status));
}

// Writes a text into a buffer of a random size; BUFFER_TOO_SMALL must name a size that is enough.
template <class Write>
std::string text_of(Host& host, const char* function, Write write) {
  std::string buf(host.random().below(600), '\0');
  size_t needed = 0;
  inlay_error err;
  for (int i = 0; i < 2; ++i) {
    const inlay_status status = write(buf.data(), buf.size(), &needed, &err);
    if (status == INLAY_BUFFER_TOO_SMALL && i == 0) {
      if (needed < buf.size()) host.violated(std::string(function) + ": needs less than there is");
      buf.resize(needed + 1);
      continue;
    }
    if (status == INLAY_BUFFER_TOO_SMALL) host.violated(std::string(function) + ": too small for what was asked for");
    if (!host.check(function, status, err)) return {};
    if (needed > buf.size()) host.violated(std::string(function) + ": wrote more than there is room");
    buf.resize(std::min(needed, buf.size()));
    break;
  }
  return buf;
}

void read_texts(Host& host, const inlay_engine* engine) {
  inlay_error err;
  size_t n = 0;
  host.check("inlay_meta_count", lib.inlay_meta_count(engine, &n, &err), err);
  for (size_t i = 0; i < std::min<size_t>(n, 40); ++i) {
    const std::string key = text_of(host, "inlay_meta_key", [&](char* buf, size_t cap, size_t* needed, inlay_error* e) {
      return lib.inlay_meta_key(engine, i, buf, cap, needed, e);
    });
    text_of(host, "inlay_meta_value", [&](char* buf, size_t cap, size_t* needed, inlay_error* e) {
      return lib.inlay_meta_value(engine, key.data(), key.size(), buf, cap, needed, e);
    });
  }
  text_of(host, "inlay_plan_text", [&](char* buf, size_t cap, size_t* needed, inlay_error* e) {
    return lib.inlay_plan_text(engine, buf, cap, needed, e);
  });
}

void use_tokenizer(Host& host, const inlay_engine* engine, int32_t n_vocab) {
  static constexpr const char* kTexts[] = {"Once upon a time", "caf\xC3\xA9 \xFF 123 <|im_start|>user\n", "",
                                           "\n\n  the the"};
  static const char kConversation[] =
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"<|im_end|> hello"}])";
  const std::string text = host.random().of(kTexts);
  int32_t tokens[64];
  size_t n = 0;
  inlay_error err;
  const auto flags = static_cast<inlay_tokenize_flags>(host.random().below(4));
  if (host.check("inlay_tokenize", lib.inlay_tokenize(engine, text.data(), text.size(), flags, tokens, 64, &n, &err),
                 err)) {
    const auto shown = static_cast<inlay_detokenize_flags>(host.random().below(2));
    text_of(host, "inlay_detokenize", [&](char* buf, size_t cap, size_t* needed, inlay_error* e) {
      return lib.inlay_detokenize(engine, tokens, n, shown, buf, cap, needed, e);
    });
  }
  inlay_token_info info = sized<inlay_token_info>();
  host.check("inlay_token_get_info",
             lib.inlay_token_get_info(engine, static_cast<int32_t>(host.random().below(static_cast<size_t>(n_vocab))),
                                      &info, &err),
             err);
  inlay_chat_params with_prompt = sized<inlay_chat_params>();
  with_prompt.flags = INLAY_CHAT_ADD_GENERATION_PROMPT;
  text_of(host, "inlay_chat_render", [&](char* buf, size_t cap, size_t* needed, inlay_error* e) {
    return lib.inlay_chat_render(engine, kConversation, SIZE_MAX, &with_prompt, buf, cap, needed, e);
  });
  host.check("inlay_chat_tokenize",
             lib.inlay_chat_tokenize(engine, kConversation, SIZE_MAX, nullptr, nullptr, 0, &n, &err), err);
}

inlay_session* make_session(Host& host, const inlay_engine* engine) {
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.temperature = host.random().one_in(2) ? 0.0f : 0.8f;
  sampler.top_k = static_cast<int32_t>(host.random().below(50));
  sampler.top_p = 0.9f;
  sampler.repetition_penalty = 1.1f;
  sampler.n_logprobs = static_cast<int32_t>(host.random().below(INLAY_MAX_LOGPROBS + 1));
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = host.random().one_in(4) ? nullptr : &sampler;
  inlay_session* session = nullptr;
  inlay_error err;
  host.check("inlay_session_create", lib.inlay_session_create(engine, &params, &session, &err), err, session);
  return session;
}

// Not where a session has finished: its next step is an error.
void step(Host& host, inlay_session* const* sessions, size_t n) {
  inlay_event events[2];
  inlay_error err;
  for (size_t i = 0; i < n; ++i) {
    inlay_session_info info = sized<inlay_session_info>();
    host.check("inlay_session_get_info", lib.inlay_session_get_info(sessions[i], &info, &err), err);
    if (info.finish_reason != INLAY_FINISH_NONE) return;
  }
  host.check("inlay_decode_step", lib.inlay_decode_step(sessions, n, events, sizeof *events, &err), err);
}

void use_sessions(Host& host, const inlay_engine* engine, int32_t n_vocab) {
  inlay_session* sessions[2] = {make_session(host, engine), nullptr};
  if (!sessions[0]) return;
  inlay_error err;
  int32_t prompt[12];
  const size_t n = 1 + host.random().below(12);
  for (size_t i = 0; i < n; ++i)
    prompt[i] = static_cast<int32_t>(host.random().below(static_cast<size_t>(std::max(n_vocab, 1))));
  size_t n_done = 0;
  const char stop[] = "stop";
  const inlay_text stops[] = {{stop, 4}};
  host.check("inlay_session_set_stop", lib.inlay_session_set_stop(sessions[0], stops, 1, &err), err);
  if (host.check("inlay_prefill", lib.inlay_prefill(sessions[0], prompt, n, &n_done, &err), err)) {
    for (int i = 0; i < 2; ++i) step(host, sessions, 1);
    std::vector<float> logits(static_cast<size_t>(std::max(n_vocab, 1)));
    size_t needed = 0;
    host.check("inlay_session_copy_logits",
               lib.inlay_session_copy_logits(sessions[0], logits.data(), logits.size(), &needed, &err), err);
    host.check("inlay_session_fork", lib.inlay_session_fork(sessions[0], &sessions[1], &err), err, sessions[1]);
    step(host, sessions, sessions[1] ? 2 : 1);
    host.check("inlay_session_truncate", lib.inlay_session_truncate(sessions[0], 1, &err), err);
    host.check("inlay_prefill", lib.inlay_prefill(sessions[0], prompt, 1, &n_done, &err), err);
    step(host, sessions, 1);
  }
  lib.inlay_session_free(sessions[0]);
  lib.inlay_session_free(sessions[1]);
}

}  // namespace

bool open_library(std::string& why) {
  char message[300];
  if (inlay_dl_open(library_path().c_str(), &lib, message, sizeof message) == 0) return true;
  why = message;
  return false;
}

bool Host::check(const char* function, inlay_status status, const inlay_error& err) {
  the_case_.count_call();
  if (hook_ && --until_hook_ <= 0) std::exchange(hook_, nullptr)(the_case_);
  if (status == INLAY_OK) {
    if (err.status != INLAY_OK || err.message_len != 0) violated(std::string(function) + ": OK with an error's text");
    return true;
  }
  if (worst_ == INLAY_OK) worst_ = status;
  const std::string named = std::string(function) + ": " + lib.inlay_status_name(status) + " (" + err.message + ")";
  if (err.status != status) violated(named + ": the error says " + lib.inlay_status_name(err.status));
  if (err.message_len == 0 || strnlen(err.message, sizeof err.message) != err.message_len)
    violated(named + ": no message, or a wrong length");
  if (!is_documented(function, status))
    violated(named + ": not among its documented errors");
  else if (limited_ && std::ranges::find(allowed_, status) == allowed_.end())
    violated(named + ": not what there is to refuse");
  return false;
}

inlay_load_params small_params(fuzz::Random& random) {
  inlay_load_params params = sized<inlay_load_params>();
  params.device = random.one_in(6) ? INLAY_DEVICE_REFERENCE : INLAY_DEVICE_CPU;
  params.n_context = 64;
  params.max_sessions = 2;
  params.n_threads = 1 + static_cast<int32_t>(random.below(2));
  return params;
}

inlay_engine* load_file(Host& host, const std::string& path, const inlay_load_params& params) {
  inlay_engine* engine = nullptr;
  inlay_error err;
  host.check("inlay_load", lib.inlay_load(path.data(), path.size(), &params, &engine, &err), err, engine);
  return engine;
}

inlay_engine* load_memory(Host& host, const void* data, size_t size, const inlay_load_params& params) {
  inlay_engine* engine = nullptr;
  inlay_error err;
  host.check("inlay_load_memory", lib.inlay_load_memory(data, size, &params, &engine, &err), err, engine);
  return engine;
}

void use_and_free(Host& host, inlay_engine* engine) {
  if (!engine) return;
  inlay_error err;
  inlay_engine_info info = sized<inlay_engine_info>();
  host.check("inlay_engine_get_info", lib.inlay_engine_get_info(engine, &info, &err), err);
  read_texts(host, engine);
  if (info.flags & INLAY_ENGINE_HAS_TOKENIZER) use_tokenizer(host, engine, info.n_vocab);
  use_sessions(host, engine, info.n_vocab);
  inlay_embed_params embed = sized<inlay_embed_params>();
  embed.pooling = INLAY_POOLING_MEAN;
  const int32_t tokens[] = {1, 2, 3};
  const inlay_embed_input input = {tokens, 3, nullptr, 0};
  size_t needed = 0;
  std::vector<float> vector(static_cast<size_t>(std::max(info.d_model, 1)));
  host.check("inlay_embed",
             lib.inlay_embed(engine, &input, 1, sizeof input, &embed, vector.data(), vector.size(), &needed, &err), err);
  inlay_token_score scores[3];
  host.check("inlay_score",
             lib.inlay_score(engine, nullptr, tokens, 3, nullptr, 0, nullptr, scores, sizeof *scores, nullptr, 0, &err), err);
  lib.inlay_free(engine);
}

std::vector<int32_t> draw(Host& host, const inlay_engine* engine, const std::vector<int32_t>& prompt, int n_tokens) {
  std::vector<int32_t> out;
  inlay_session* session = nullptr;
  inlay_error err;
  size_t n_done = 0;
  if (!host.check("inlay_session_create", lib.inlay_session_create(engine, nullptr, &session, &err), err, session))
    return out;
  bool going =
      host.check("inlay_prefill", lib.inlay_prefill(session, prompt.data(), prompt.size(), &n_done, &err), err);
  for (int i = 0; going && i < n_tokens; ++i) {
    inlay_event event;
    going = host.check("inlay_decode_step", lib.inlay_decode_step(&session, 1, &event, sizeof event, &err), err);
    if (going) out.push_back(event.token);
    going = going && event.finish_reason == INLAY_FINISH_NONE;
  }
  lib.inlay_session_free(session);
  return out;
}

std::vector<uint8_t> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_file(const std::string& path, const void* data, size_t size) {
  FILE* file = fopen(path.c_str(), "wb");
  const bool wrote = file && fwrite(data, 1, size, file) == size;
  return file && fclose(file) == 0 && wrote;
}

}  // namespace inlay::abuse
