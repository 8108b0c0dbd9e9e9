#include "examples/cli/engine.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>

#include "examples/cli/model_path.h"
#include "examples/cli/progress.h"
#include "examples/cli/system.h"

namespace inlay::cli {
namespace {

constexpr std::array kDeviceNames = {"auto", "cpu", "cuda", "reference"};  // in the order of INLAY_DEVICE_*

constexpr std::array kWeightDtypeNames = {"default", "fp8",    "q8_0", "q4_0",
                                          "q4_k_m",  "q5_k_m", "q6_k"};  // in the order of INLAY_WEIGHT_*

using LoadCall = std::function<inlay_status(const inlay_load_params&, inlay_engine**, inlay_error*)>;

// `trained_context` is asked where the load fails.
EnginePtr load(const std::string& name, const LoadOptions& options, const std::function<int32_t()>& trained_context,
               const LoadCall& call) {
  inlay_error error;
  inlay_engine* engine = nullptr;
  inlay_status status = INLAY_OK;
  int interrupted = 0;
  {
    Progress progress("loading " + name);
    inlay_load_params params = options.params();
    params.progress = Progress::on_progress;
    params.progress_user = &progress;
    status = call(params, &engine, &error);
    if (progress.interrupted()) interrupted = progress.exit_code();
  }
  if (status == INLAY_CANCELLED && interrupted != 0) fail(interrupted, "loading " + name + " was interrupted");
  if (status == INLAY_INVALID_ARGUMENT) check_context(name, options, trained_context());
  check(status, error, "cannot load", name);
  return EnginePtr(engine);
}

}  // namespace

void check_context(const std::string& name, const LoadOptions& options, int32_t trained) {
  if (trained <= 0 || options.n_context <= trained) return;
  fail(kExitUsage, std::string(options.context_from) + " a context of " + std::to_string(options.n_context) +
                        " tokens, and " + name + " was trained for contexts of at most " + std::to_string(trained));
}

void add_device_option(Options& options, const char* name, int32_t& target, const char* help) {
  options.choice(name, {kDeviceNames.begin(), kDeviceNames.end()}, target, help);
}

void add_weights_option(Options& options, const char* name, int32_t& target, const char* help) {
  options.choice(name, {kWeightDtypeNames.begin(), kWeightDtypeNames.end()}, target, help);
}

void LoadOptions::add_to(Options& options) {
  add_device_option(options, "--device", device, "where it runs (auto: the fastest device that it fits on)");
  add_weights_option(options, "--weights --quantize", weight_dtype,
                     "type of the weights (the file's): quantizes them while they are loaded");
  options.choice("--kv", {"default", "f16", "f32", "fp8", "int8"}, kv_dtype,
                 "type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs");
  options.text("--pre", "NAME", pre_tokenizer, nullptr,
               "how byte-level BPE splits text, by the name of GGUF (the file's)");
  options.add("-ngl --gpu-layers --n-gpu-layers", "N",
              "0 for the CPU, or all, -1 or 99 for the GPU, since a model is not divided between the two",
              "0: --device cpu; all, -1, 99 or more: --device cuda", [this](const std::string& text) {
                int64_t n = -1;
                if (text != "all" && !parse_integer(text, -1, INT32_MAX, n)) return false;
                if (n > 0 && n < 99) return false;
                device = n == 0 ? INLAY_DEVICE_CPU : INLAY_DEVICE_CUDA;
                return true;
              });
  options.flag("--exact-activations", exact_activations,
               "on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them");
  options.text("--tuning", "TEXT", tuning, nullptr,
               "key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are");
  options.integer("-t --threads", n_threads, 1, 1024, "threads that compute (all cores)");
}

inlay_load_params LoadOptions::params() const {
  auto params = sized<inlay_load_params>();
  params.device = device;
  params.n_context = n_context;
  params.n_threads = n_threads;
  params.max_sessions = max_sessions;
  params.prefill_chunk = prefill_chunk;
  params.flags = (no_cublas ? INLAY_LOAD_NO_CUBLAS : 0u) | (run_ahead ? INLAY_LOAD_RUN_AHEAD : 0u) |
                 (exact_activations ? INLAY_LOAD_EXACT_ACTIVATIONS : 0u);
  params.kv_dtype = kv_dtype;
  params.weight_dtype = weight_dtype;
  if (!pre_tokenizer.empty()) {
    params.pre_tokenizer = pre_tokenizer.data();
    params.pre_tokenizer_len = pre_tokenizer.size();
  }
  params.tuning = tuning.data();
  params.tuning_len = tuning.size();
  params.kv_budget_bytes = static_cast<uint64_t>(kv_mib) << 20;
  params.log_level = load_times ? INLAY_LOG_DEBUG : keeps_decisions ? INLAY_LOG_INFO : INLAY_LOG_WARNING;
  params.log_user = load_times;
  params.log = [](void* user, inlay_log_level level, const char* text, size_t text_len) {
    const std::string_view line(text, text_len), times = "load times: ";
    if (level <= INLAY_LOG_WARNING) {
      std::fprintf(stderr, "inlay: %.*s\n", static_cast<int>(text_len), text);
    } else if (user && line.substr(0, times.size()) == times) {
      *static_cast<std::string*>(user) = line.substr(times.size());
    }
  };
  return params;
}

EnginePtr load_file(const std::string& path, const LoadOptions& options) {
  check_path(path);
  return load(
      path, options, [&] { return trained_context_of(path); },
      [&](const inlay_load_params& params, inlay_engine** engine, inlay_error* error) {
        return inlay_load(path.data(), path.size(), &params, engine, error);
      });
}

EnginePtr load_reader(const std::string& name, const inlay_reader& reader, const LoadOptions& options,
                      int32_t trained_context) {
  return load(
      name, options, [=] { return trained_context; },
      [&](const inlay_load_params& params, inlay_engine** engine, inlay_error* error) {
        return inlay_load_reader(&reader, &params, engine, error);
      });
}

inlay_engine_info info_of(const inlay_engine* engine) {
  auto info = sized<inlay_engine_info>();
  inlay_error error;
  check(inlay_engine_get_info(engine, &info, &error), error, "cannot read about the engine");
  return info;
}

const char* device_name(inlay_device_kind kind) {
  return kind >= 0 && kind < static_cast<int>(kDeviceNames.size()) ? kDeviceNames[static_cast<size_t>(kind)]
                                                                   : "unknown";
}

const char* weight_dtype_name(inlay_weight_dtype dtype) {
  return dtype >= 0 && dtype < static_cast<int>(kWeightDtypeNames.size())
             ? kWeightDtypeNames[static_cast<size_t>(dtype)]
             : "unknown";
}

SessionPtr make_session(const inlay_engine* engine, const inlay_session_params& params) {
  inlay_error error;
  inlay_session* session = nullptr;
  check(inlay_session_create(engine, &params, &session, &error), error, "cannot create a session");
  return SessionPtr(session);
}

std::vector<int32_t> tokenize(const inlay_engine* engine, const std::string& text, inlay_tokenize_flags flags) {
  inlay_error error;
  std::vector<int32_t> tokens(text.size() + 2);  // enough for most texts
  inlay_status status = INLAY_BUFFER_TOO_SMALL;
  for (size_t n = tokens.size(); status == INLAY_BUFFER_TOO_SMALL;) {
    tokens.resize(n);
    status = inlay_tokenize(engine, text.data(), text.size(), flags, tokens.data(), tokens.size(), &n, &error);
    if (status == INLAY_OK) tokens.resize(n);
  }
  check(status, error, "cannot tokenize the text");
  return tokens;
}

std::string detokenize(const inlay_engine* engine, const std::vector<int32_t>& tokens, inlay_detokenize_flags flags) {
  return text_of(
      [&](char* buffer, size_t cap, size_t* needed, inlay_error* error) {
        return inlay_detokenize(engine, tokens.data(), tokens.size(), flags, buffer, cap, needed, error);
      },
      "cannot turn the tokens into text");
}

std::string piece_of(const inlay_engine* engine, int32_t token) {
  inlay_error error;
  auto info = sized<inlay_token_info>();
  check(inlay_token_get_info(engine, token, &info, &error), error, "cannot read about token " + std::to_string(token));
  const auto* bytes = reinterpret_cast<const char*>(info.piece);
  const bool whole = info.piece_bytes > 0 && info.piece_bytes <= sizeof info.piece;
  return whole ? std::string(bytes, info.piece_bytes) : detokenize(engine, {token}, INLAY_DETOKENIZE_SHOW_SPECIAL);
}

bool has_chat_template(const inlay_engine* engine) {
  size_t n = 0;
  return inlay_meta_value(engine, "tokenizer.chat_template", SIZE_MAX, nullptr, 0, &n, nullptr) == INLAY_OK;
}

inlay_status tokenize_chat(const inlay_engine* engine, const std::string& conversation, const ChatForm& form, std::vector<int32_t>& tokens,
                           inlay_error& error) {
  tokens.clear();
  size_t n = 0;
  auto params = sized<inlay_chat_params>();
  params.flags = form.flags;
  if (!form.chat_template.empty()) {
    params.chat_template = form.chat_template.data();
    params.template_len = form.chat_template.size();
  }
  const auto ask = [&] {
    return inlay_chat_tokenize(engine, conversation.data(), conversation.size(), &params, tokens.empty() ? nullptr : tokens.data(),
                               tokens.size(), &n, &error);
  };
  inlay_status status = ask();
  if (status != INLAY_OK || n == 0) return status;
  tokens.resize(n);
  return ask();
}

std::string read_file(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : open_file(path, 'r');
  if (!file) fail(kExitFailed, "cannot open " + path + ": " + std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  const int number = errno;
  if (file != stdin) std::fclose(file);
  if (failed) fail(kExitFailed, "cannot read " + path + ": " + std::strerror(number));
  return text;
}

}  // namespace inlay::cli
