// Engines and sessions that free themselves, and loading with the options that all commands share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "examples/cli/options.h"
#include "include/capi/inlay.h"

namespace inlay::cli {

struct EngineFree {
  void operator()(inlay_engine* engine) const { inlay_free(engine); }
};
struct SessionFree {
  void operator()(inlay_session* session) const { inlay_session_free(session); }
};
using EnginePtr = std::unique_ptr<inlay_engine, EngineFree>;
using SessionPtr = std::unique_ptr<inlay_session, SessionFree>;

// A struct of the API with its size set and all else zero.
template <class T>
T sized() {
  T value = {};
  value.struct_size = sizeof value;
  return value;
}

struct LoadOptions {
  int32_t device = INLAY_DEVICE_AUTO;
  int32_t n_context = 0;
  int32_t n_threads = 0;
  int32_t max_sessions = 0;
  int32_t kv_dtype = INLAY_KV_DEFAULT;
  int32_t kv_mib = 0;
  int32_t weight_dtype = INLAY_WEIGHT_DEFAULT;
  int32_t prefill_chunk = 0;
  std::string pre_tokenizer, tuning;
  bool no_cublas = false;
  bool run_ahead = false;
  bool exact_activations = false;
  const char* context_from = "--ctx asks for";  // begins the message of a context that is too long
  bool keeps_decisions = false;                 // the engine's log has what it found and chose
  std::string* load_times = nullptr;            // takes the engine's own account of where the time of the load went

  void add_to(Options& options);  // --device, --weights, --kv, --pre, -ngl, --tuning and --threads
  inlay_load_params params() const;
};

// An option that takes the name of a type of weights and gives INLAY_WEIGHT_*.
void add_weights_option(Options& options, const char* name, int32_t& target, const char* help);

// An option that takes a device's name and gives INLAY_DEVICE_*.
void add_device_option(Options& options, const char* name, int32_t& target, const char* help);

// Ends the program, with both numbers, where the context is longer than the trained one; 0: unknown.
void check_context(const std::string& name, const LoadOptions& options, int32_t trained);

// Where a model comes from, for progress and messages: a path, or a reader with a name.
// `trained_context` of a reader's model is for messages; 0: unknown.
EnginePtr load_file(const std::string& path, const LoadOptions& options);
EnginePtr load_reader(const std::string& name, const inlay_reader& reader, const LoadOptions& options,
                      int32_t trained_context);

inlay_engine_info info_of(const inlay_engine* engine);
const char* device_name(inlay_device_kind kind);
const char* weight_dtype_name(inlay_weight_dtype dtype);
SessionPtr make_session(const inlay_engine* engine, const inlay_session_params& params);

// Runs one of the calls that write text into a buffer twice: for the size, then for the text.
template <class Call>
std::string text_of(const Call& call, const std::string& what);

std::vector<int32_t> tokenize(const inlay_engine* engine, const std::string& text, inlay_tokenize_flags flags);
std::string detokenize(const inlay_engine* engine, const std::vector<int32_t>& tokens, inlay_detokenize_flags flags);

std::string piece_of(const inlay_engine* engine, int32_t token);  // control tokens too

bool has_chat_template(const inlay_engine* engine);
struct ChatForm {
  const std::string& chat_template;  // empty: the model's own
  inlay_chat_flags flags;
};
// A conversation, JSON as inlay_chat_tokenize takes it, as the template writes it. Control tokens that messages have in writing are
// text. Templates may refuse messages.
inlay_status tokenize_chat(const inlay_engine* engine, const std::string& conversation, const ChatForm& form, std::vector<int32_t>& tokens,
                           inlay_error& error);

// All bytes of a file; `-` is the standard input.
std::string read_file(const std::string& path);

}  // namespace inlay::cli

#include "examples/cli/failure.h"

namespace inlay::cli {

template <class Call>
std::string text_of(const Call& call, const std::string& what) {
  inlay_error error;
  size_t needed = 0;
  check(call(nullptr, size_t{0}, &needed, &error), error, what);
  std::string text(needed + 1, '\0');  // with room for a terminating zero
  check(call(text.data(), text.size(), &needed, &error), error, what);
  text.resize(needed);
  return text;
}

}  // namespace inlay::cli
