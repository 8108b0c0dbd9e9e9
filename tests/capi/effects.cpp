// What every field and flag that a caller sets changes: one table over the description of the interface. A row shows an
// effect, a refusal, or that nothing changes where the header says so; a field or flag without a row fails.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/capi/effects_chat.h"
#include "tests/capi/effects_requests.h"
#include "tests/capi/effects_states.h"
#include "tests/support/temporary_folder.h"

namespace inlay::test {
namespace {

using nlohmann::json;

std::string wrong_in(const EffectRow& row, const std::string& description) {
  const std::string with = row.observe(true), without = row.observe(false);
  const bool failed = with.starts_with("INLAY_"), says = with.find(row.words) != std::string::npos;
  switch (row.kind) {
    case Kind::effect:
      if (with == without) return "changes nothing: " + with;
      if (failed) return "fails: " + with;
      return says && (row.words.empty() || without.find(row.words) == std::string::npos) ? "" : "does not say so: " + with;
    case Kind::refused:
      if (without.starts_with("INLAY_")) return "is refused where it is not set: " + without;
      return failed && says && !row.words.empty() ? "" : "is not refused by name: " + with;
    case Kind::neutral:
      if (failed) return "fails: " + with;
      if (with != without) return "changes something: " + with + "\nwithout: " + without;
      return !row.words.empty() && description.find(row.words) != std::string::npos ? "" : "is not documented: " + description;
  }
  return "has no kind";
}

// ---- what is observed

// The log without what differs from load to load.
void note(void* user, inlay_log_level, const char* text, size_t n) {
  auto& log = *static_cast<std::string*>(user);
  std::string line(text, n);
  for (const char* timed : {"loaded", "load times"})
    if (line.starts_with(timed)) line = timed;
  log += line + "\n";
}

std::string description_of(const inlay_engine* engine) {
  inlay_engine_info info = sized<inlay_engine_info>();
  EXPECT_EQ(inlay_engine_get_info(engine, &info, nullptr), INLAY_OK);
  std::ostringstream out;
  out << "device " << info.device << " context " << info.n_context << " sessions " << info.max_sessions << " threads "
      << info.n_threads << " kv " << info.kv_bytes << " weights " << info.weight_bytes << " type " << info.weight_dtype << "\n";
  return out.str();
}

std::string loaded(inlay_load_params params, const std::string& name = kModel) {
  std::string log;
  if (!params.log) {
    params.log = note;
    params.log_user = &log;
  }
  const std::string path = model_file(name);
  inlay_engine* made = nullptr;
  inlay_error err;
  const inlay_status status = inlay_load(path.c_str(), SIZE_MAX, &params, &made, &err);
  const EnginePtr engine(made);
  if (status != INLAY_OK) return failure(status, err);
  inlay_memory_info plan = sized<inlay_memory_info>();
  EXPECT_EQ(inlay_memory_plan(path.c_str(), SIZE_MAX, &params, &plan, &err), INLAY_OK) << err.message;
  return description_of(engine.get()) + "scratch " + std::to_string(plan.scratch_bytes) + "\n" + log;
}

EffectRow load_row(const char* field, Kind kind, std::function<void(inlay_load_params&)> set, std::string words = "",
             std::string model = kModel, std::function<void(inlay_load_params&)> base = {}) {
  return {std::string("inlay_load_params.") + field, kind, [=](bool with) {
            inlay_load_params params = on(INLAY_DEVICE_CPU);
            params.n_context = 64;
            params.n_threads = 1;
            if (base) base(params);
            if (with) set(params);
            return loaded(params, model);
          }, std::move(words)};
}

std::string first_logits(const inlay_load_params& params, const std::string& model) {
  const EnginePtr engine = load(params, model);
  const SessionPtr session = new_session(engine);
  prefill(session, {65, 66, 67});
  std::vector<float> logits(kVocab);
  size_t n = 0;
  EXPECT_EQ(inlay_session_copy_logits(session.get(), logits.data(), logits.size(), &n, nullptr), INLAY_OK);
  std::ostringstream out;
  out << std::hexfloat;
  for (const float value : logits) out << value << " ";
  return out.str();
}

EffectRow load_flag(const char* name, inlay_load_flags flag) {
  EffectRow row = load_row("", Kind::effect, [=](inlay_load_params& p) { p.flags = flag; },
                     std::string("the load flag ") + (name + std::strlen("INLAY_LOAD_")) + " changes nothing");
  row.name = name;
  return row;
}

EffectRow session_row(const char* name, Kind kind, std::function<void(inlay_session_params&)> set, std::string words = "",
                inlay_sampler_params sampler = sized<inlay_sampler_params>(), std::string model = kModel, int32_t n_context = 0) {
  return {name[0] == 'I' ? name : std::string("inlay_session_params.") + name, kind, [=](bool with) {
            inlay_session_params params = sized<inlay_session_params>();
            params.sampler = &sampler;
            if (with) set(params);
            if (model == kModel && n_context == 0) return drawn(params);
            inlay_load_params small = on(INLAY_DEVICE_CPU);
            small.n_context = n_context;
            return drawn(params, {}, load(small, model));
          }, std::move(words)};
}

EffectRow stop_row(const char* field, Kind kind, std::vector<inlay_text> with, std::vector<inlay_text> without, std::string words = "") {
  return {std::string("inlay_text.") + field, kind, [=](bool set) {
            return drawn(sized<inlay_session_params>(), set ? with : without);
          }, std::move(words)};
}

struct Shelf {
  std::vector<char> bytes;
  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    const auto& bytes = static_cast<Shelf*>(user)->bytes;
    if (offset > bytes.size() || n > bytes.size() - offset) return 22;
    std::memcpy(into, bytes.data() + offset, n);
    return 0;
  }
};

EffectRow reader_row(const char* field, Kind kind, std::function<void(inlay_reader&)> set, std::string words = "") {
  return {std::string("inlay_reader.") + field, kind, [=](bool with) {
            static Shelf shelf{file_bytes(model_file(kModel))};
            inlay_reader reader = sized<inlay_reader>();
            reader.user = &shelf;
            reader.size = shelf.bytes.size();
            reader.read = Shelf::read;
            if (with) set(reader);
            const inlay_load_params params = on(INLAY_DEVICE_CPU);
            inlay_engine* made = nullptr;
            inlay_error err;
            const inlay_status status = inlay_load_reader(&reader, &params, &made, &err);
            const EnginePtr owned(made);
            return status == INLAY_OK ? description_of(made) : failure(status, err);
          }, std::move(words)};
}

EffectRow profile_row(const char* field, Kind kind, std::function<void(inlay_profile_params&)> set, std::string words = "") {
  return {std::string("inlay_profile_params.") + field, kind, [=](bool with) {
            inlay_profile_params params = sized<inlay_profile_params>();
            params.n_repetitions = 1;
            if (with) set(params);
            inlay_error err;
            if (const auto status = inlay_profile_step(engine().get(), &params, &err); status != INLAY_OK) return failure(status, err);
            std::string text(1 << 16, '\0');
            size_t n = 0;
            EXPECT_EQ(inlay_profile_text(engine().get(), INLAY_PROFILE_KINDS, text.data(), text.size(), &n, &err), INLAY_OK);
            const std::string title = text.substr(0, text.find('\n'));
            const size_t measured = title.find("; memory read at"), behind = title.find("; medians");
            return title.substr(0, measured) + title.substr(behind);
          }, std::move(words)};
}

int32_t count_calls(void* user, uint64_t, uint64_t) {
  ++*static_cast<int*>(user);
  return 0;
}
int32_t stop_at_once(void*, uint64_t, uint64_t) { return 1; }

EffectRow convert_row(const char* field, Kind kind, std::function<void(inlay_convert_params&)> set, std::string words = "") {
  return {std::string("inlay_convert_params.") + field, kind, [=](bool with) {
            inlay_convert_params params = sized<inlay_convert_params>();
            if (with) set(params);
            const std::string out = testing::TempDir() + "inlay_effects_" + std::to_string(::getpid()) + ".gguf";
            inlay_error err;
            const auto status = inlay_convert(model_file(kModel).c_str(), SIZE_MAX, out.c_str(), SIZE_MAX, &params, &err);
            const std::vector<char> bytes = file_bytes(out);
            std::filesystem::remove(out);
            if (status != INLAY_OK) return failure(status, err);
            return std::to_string(bytes.size()) + " " + std::to_string(std::hash<std::string_view>()({bytes.data(), bytes.size()}));
          }, std::move(words)};
}

// A folder whose tokenizer says what other programs do not read in a GGUF file; what its conversion logs.
std::string logged_conversion(void (*log)(void*, inlay_log_level, const char*, size_t), std::string* into) {
  namespace fs = std::filesystem;
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path("model");
  fs::copy(INLAY_SOURCE_DIR "/examples/model/hf", folder);
  const std::vector<char> bytes = file_bytes(folder / "tokenizer.json");
  json tokenizer = json::parse(bytes);
  for (json& token : tokenizer["added_tokens"]) token["lstrip"] = true;
  fs::permissions(folder / "tokenizer.json", fs::perms::owner_write, fs::perm_options::add);
  std::ofstream(folder / "tokenizer.json") << tokenizer.dump();
  inlay_convert_params params = sized<inlay_convert_params>();
  params.log = log;
  params.log_user = into;
  const std::string out = temporary.path("model.gguf");
  inlay_error err;
  const auto status = inlay_convert(folder.string().c_str(), SIZE_MAX, out.c_str(), SIZE_MAX, &params, &err);
  return status == INLAY_OK ? *into : failure(status, err);
}

std::string embedded(const inlay_embed_input& input, const inlay_embed_params& params) {
  std::vector<float> out(4096);
  size_t needed = 0;
  inlay_error err;
  const auto status = inlay_embed(engine().get(), &input, 1, sizeof input, &params, out.data(), out.size(), &needed, &err);
  return status == INLAY_OK ? std::to_string(out[0]) + " " + std::to_string(out[1]) : failure(status, err);
}

EffectRow embed_row(const char* name, Kind kind, std::function<void(inlay_embed_params&)> set, std::string words = "") {
  return {name[0] == 'I' ? name : std::string("inlay_embed_params.") + name, kind, [=](bool with) {
            inlay_embed_params params = sized<inlay_embed_params>();
            params.pooling = INLAY_POOLING_MEAN;
            if (with) set(params);
            return embedded({kPlain.data(), kPlain.size(), nullptr, 0}, params);
          }, std::move(words)};
}

EffectRow input_row(const char* field, Kind kind, inlay_embed_input with, inlay_embed_input without, std::string words = "") {
  return {std::string("inlay_embed_input.") + field, kind, [=](bool set) {
            inlay_embed_params params = sized<inlay_embed_params>();
            params.pooling = INLAY_POOLING_MEAN;
            return embedded(set ? with : without, params);
          }, std::move(words)};
}

EffectRow score_row(const char* field, Kind kind, std::function<void(inlay_score_params&)> set, std::string words = "") {
  return {std::string("inlay_score_params.") + field, kind, [=](bool with) {
            inlay_score_params params = sized<inlay_score_params>();
            if (with) set(params);
            std::vector<inlay_token_score> scores(kPlain.size());
            std::vector<inlay_token_logprob> top(kPlain.size() * INLAY_MAX_LOGPROBS);
            inlay_error err;
            const auto status = inlay_score(engine().get(), nullptr, kPlain.data(), kPlain.size(), nullptr, 0, &params, scores.data(),
                                            sizeof(inlay_token_score), top.data(), top.size(), &err);
            if (status != INLAY_OK) return failure(status, err);
            std::ostringstream out;
            for (const inlay_token_score& s : scores) out << s.logprob << " " << s.rank << " ";
            for (const inlay_token_logprob& t : top) out << t.token << " ";
            return out.str();
          }, std::move(words)};
}

std::string chat(const char* source, bool set, inlay_chat_flags flag = INLAY_CHAT_ADD_GENERATION_PROMPT, const char* conversation = "[]") {
  char buf[256];
  size_t n = 0;
  inlay_error err;
  const inlay_chat_params params = written_by(source, set ? flag : 0);
  const auto status = inlay_chat_render(engine().get(), conversation, SIZE_MAX, &params, buf, sizeof buf, &n, &err);
  return status == INLAY_OK ? std::string(buf, n) : failure(status, err);
}

EffectRow chat_row(const char* field, Kind kind, std::function<void(inlay_chat_params&)> set, std::string words = "") {
  return {std::string("inlay_chat_params.") + field, kind, [=](bool with) {
            inlay_chat_params params = written_by("{{ messages|length }} and more");
            if (with) set(params);
            char buf[256];
            size_t n = 0;
            inlay_error err;
            const auto status = inlay_chat_render(engine().get(), "[]", SIZE_MAX, &params, buf, sizeof buf, &n, &err);
            return status == INLAY_OK ? std::string(buf, n) : failure(status, err);
          }, std::move(words)};
}

std::string tokenized(const char* model, const char* text, inlay_tokenize_flags flags) {
  const EnginePtr of = load(on(INLAY_DEVICE_CPU), model);
  int32_t tokens[256];
  size_t n = 0;
  inlay_error err;
  const auto status = inlay_tokenize(of.get(), text, SIZE_MAX, flags, tokens, 256, &n, &err);
  if (status != INLAY_OK) return failure(status, err);
  std::string out;
  for (size_t i = 0; i < n; ++i) out += std::to_string(tokens[i]) + " ";
  return out;
}

std::string detokenized(inlay_detokenize_flags flags) {
  char buf[256];
  size_t n = 0;
  inlay_error err;
  const auto status = inlay_detokenize(engine().get(), &kEnd, 1, flags, buf, sizeof buf, &n, &err);
  return status == INLAY_OK ? std::string(buf, n) : failure(status, err);
}

// ---- the table

std::vector<EffectRow> table() {
  using enum Kind;
  using Load = inlay_load_params;
  using Sampler = inlay_sampler_params;
  using Session = inlay_session_params;
  static const std::string first(1, static_cast<char>(kPlainReply[0])), none = "~~";
  static const inlay_text first_text = {first.data(), 1}, empty_text = {"", 0};
  static const int32_t stops[] = {kPlainReply[3], kPlainReply[3], kVocab};
  static const Sampler hot_sampler = hot();
  static int calls = 0;
  static std::string noted;
  static const inlay_logit_bias end_bias = {kEnd, 1e6f};
  Sampler ends = sized<Sampler>();
  ends.bias = &end_bias;
  ends.n_bias = 1;

  std::vector<EffectRow> rows = {
      // ---- load
      load_row("struct_size", refused, [](Load& p) { p.struct_size = 3; }, "struct_size"),
      load_row("device", effect, [](Load& p) { p.device = INLAY_DEVICE_REFERENCE; }),
      load_row("device", refused, [](Load& p) { p.device = 9; }, "params.device"),
      load_row("device_index", refused, [](Load& p) { p.device_index = 1; }, "device_index"),
      load_row("device_index", refused, [](Load& p) { p.device_index = 1; }, "device_index", kModel,
               [](Load& p) { p.device = INLAY_DEVICE_REFERENCE; }),
      load_row("n_context", effect, [](Load& p) { p.n_context = 32; }),
      load_row("n_context", refused, [](Load& p) { p.n_context = 1 << 30; }, "n_context"),
      load_row("max_sessions", effect, [](Load& p) { p.max_sessions = 3; }),
      load_row("max_sessions", refused, [](Load& p) { p.max_sessions = 1 << 30; }, "max_sessions"),
      load_row("n_threads", effect, [](Load& p) { p.n_threads = 2; }),
      load_row("n_threads", refused, [](Load& p) { p.n_threads = 1 << 30; }, "n_threads"),
      load_row("n_threads", effect, [](Load& p) { p.n_threads = 2; }, "n_threads changes nothing", kModel,
               [](Load& p) { p.device = INLAY_DEVICE_REFERENCE; }),
      load_row("kv_budget_bytes", effect, [](Load& p) { p.kv_budget_bytes = 1 << 16; }),
      load_row("kv_budget_bytes", effect, [](Load& p) { p.kv_budget_bytes = 1 << 24; }, "max_sessions and n_context can use"),
      load_row("kv_budget_bytes", refused, [](Load& p) { p.kv_budget_bytes = 1; }, "kv_budget_bytes"),
      {"inlay_load_params.prefix_cache_host_bytes", effect, [](bool set) {
         Load p = on(INLAY_DEVICE_CPU);
         p.prefix_cache_host_bytes = set ? 1 << 20 : 0;
         return computed_behind_others(p);
       }},
      load_row("prefix_cache_host_bytes", effect, [](Load& p) { p.prefix_cache_host_bytes = 1; }, "the model has sliding windows", "gemma3-f32"),
      load_row("prefix_cache_host_bytes", refused, [](Load& p) { p.prefix_cache_host_bytes = 1; }, "but one block of 32 tokens takes"),
      load_row("prefix_cache_host_bytes", refused, [](Load& p) { p.prefix_cache_host_bytes = 1 << 20; p.flags = INLAY_LOAD_NO_PREFIX_CACHE; }, "NO_PREFIX_CACHE"),
      load_row("prefix_cache_host_bytes", refused, [](Load& p) { p.prefix_cache_host_bytes = 1ull << 60; }, "of the host's memory"),
      load_row("kv_dtype", neutral, [](Load& p) { p.kv_dtype = INLAY_KV_F16; }, "F32 on REFERENCE, else F16"),
      load_row("kv_dtype", refused, [](Load& p) { p.kv_dtype = INLAY_KV_F32; }, "keeps its KV cache in F16"),
      load_row("kv_dtype", refused, [](Load& p) { p.kv_dtype = INLAY_KV_INT8; }, "keeps its KV cache in F16"),
      load_row("kv_dtype", refused, [](Load& p) { p.kv_dtype = 99; }, "kv_dtype"),
      load_row("prefill_chunk", effect, [](Load& p) { p.prefill_chunk = 16; }),
      load_row("prefill_chunk", effect, [](Load& p) { p.prefill_chunk = 65; }, "prefill_chunk is 65, more than the context"),
      load_row("prefill_chunk", refused, [](Load& p) { p.prefill_chunk = 1 << 30; }, "prefill_chunk"),
      load_row("log_level", effect, [](Load& p) { p.log_level = INLAY_LOG_DEBUG; }, "load times"),
      load_row("log_level", effect, [](Load& p) { p.log_level = INLAY_LOG_OFF; }),
      load_row("log_level", refused, [](Load& p) { p.log_level = 99; }, "log_level"),
      load_row("flags", refused, [](Load& p) { p.flags = 1u << 31; }, "params.flags"),
      {"inlay_load_params.pre_tokenizer", Kind::refused, [](bool set) {
         inlay_load_params p = on(INLAY_DEVICE_CPU);
         p.pre_tokenizer = set ? "no such splitter" : nullptr;
         p.pre_tokenizer_len = set ? SIZE_MAX : 0;
         return loaded(p);
       }, "no such splitter"},
      {"inlay_load_params.pre_tokenizer_len", Kind::refused, [](bool set) {
         inlay_load_params p = on(INLAY_DEVICE_CPU);
         p.pre_tokenizer = "qwen2 and more";
         p.pre_tokenizer_len = set ? SIZE_MAX : 5;
         return loaded(p);
       }, "qwen2 and more"},
      load_row("tuning", effect, [](Load& p) { p.tuning = "cublas=1", p.tuning_len = SIZE_MAX; }, "tuning: cublas changes nothing"),
      load_row("tuning", refused, [](Load& p) { p.tuning = "no_such_key=1", p.tuning_len = SIZE_MAX; }, "no_such_key"),
      load_row("flags", refused, [](Load& p) { p.flags = INLAY_LOAD_NO_CUBLAS, p.tuning = "cublas=1", p.tuning_len = 8; }, "cublas=1"),
      {"inlay_load_params.tuning_len", Kind::refused, [](bool set) {
         inlay_load_params p = on(INLAY_DEVICE_CPU);
         p.tuning = "isa=generic and more";
         p.tuning_len = set ? SIZE_MAX : 11;
         return loaded(p);
       }, "'and'"},
      {"inlay_load_params.log", effect, [](bool set) {
         noted.clear();
         Load params = on(INLAY_DEVICE_CPU);
         params.log = set ? note : nullptr;
         params.log_user = &noted;
         load(params);
         return noted;
       }, "loaded"},
      {"inlay_load_params.log_user", effect, [](bool set) {
         std::string other;
         noted.clear();
         Load params = on(INLAY_DEVICE_CPU);
         params.log = note;
         params.log_user = set ? &noted : &other;
         load(params);
         return noted;
       }, "loaded"},
      load_row("log_user", neutral, [](Load& p) { p.log_user = &calls; }, "unused without it"),
      load_row("progress", refused, [](Load& p) { p.progress = stop_at_once; }, "cancelled"),
      {"inlay_load_params.progress_user", effect, [](bool set) {
         int n[2] = {0, 0};
         Load params = on(INLAY_DEVICE_CPU);
         params.progress = count_calls;
         params.progress_user = &n[set];
         load(params);
         return std::string(n[1] > 0 ? "called" : "not called");
       }},
      load_row("progress_user", neutral, [](Load& p) { p.progress_user = &calls; }, "unused without it"),
      load_row("weight_dtype", effect, [](Load& p) { p.weight_dtype = INLAY_WEIGHT_Q8_0; }),
      load_row("weight_dtype", effect, [](Load& p) { p.weight_dtype = INLAY_WEIGHT_Q8_0; }, "weight_dtype changes nothing", "chat-bpe-llama-q8_0"),
      load_row("weight_dtype", refused, [](Load& p) { p.weight_dtype = 99; }, "weight_dtype"),
      load_row("reserved", refused, [](Load& p) { p.reserved = 1; }, "params.reserved"),
      load_flag("INLAY_LOAD_NO_CUBLAS", INLAY_LOAD_NO_CUBLAS),
      load_flag("INLAY_LOAD_RUN_AHEAD", INLAY_LOAD_RUN_AHEAD),
      {"INLAY_LOAD_TAKE_PAGES_LATER", neutral, [](bool set) {
         Load p = on(INLAY_DEVICE_CPU);
         p.flags = set ? INLAY_LOAD_TAKE_PAGES_LATER : 0;
         return loaded(p);
       }, "the first prompts take longer"},
      {"INLAY_LOAD_TAKE_PAGES_LATER", effect, [](bool set) {
         Load p = on(INLAY_DEVICE_REFERENCE);
         p.flags = set ? INLAY_LOAD_TAKE_PAGES_LATER : 0;
         return loaded(p);
       }, "TAKE_PAGES_LATER changes nothing: it is of the CPU"},
      {"INLAY_LOAD_EXACT_ACTIVATIONS", effect, [](bool set) {
         Load p = on(INLAY_DEVICE_CPU);
         p.flags = set ? INLAY_LOAD_EXACT_ACTIVATIONS : 0;
         return first_logits(p, "chat-bpe-llama-q8_0");
       }},
      {"INLAY_LOAD_EXACT_ACTIVATIONS", effect, [](bool set) {
         Load p = on(INLAY_DEVICE_REFERENCE);
         p.flags = set ? INLAY_LOAD_EXACT_ACTIVATIONS : 0;
         return loaded(p);
       }, "EXACT_ACTIVATIONS changes nothing: it is of the CPU"},
      {"INLAY_LOAD_NO_PREFIX_CACHE", effect, [](bool set) {
         Load p = on(INLAY_DEVICE_CPU);
         p.flags = set ? INLAY_LOAD_NO_PREFIX_CACHE : 0;
         return computed_again(p);
       }},
      // ---- reader
      reader_row("struct_size", refused, [](inlay_reader& r) { r.struct_size = 3; }, "struct_size"),
      reader_row("reserved", refused, [](inlay_reader& r) { r.reserved = 1; }, "reader.reserved"),
      reader_row("user", effect, [](inlay_reader& r) {
        static Shelf other{file_bytes(model_file("chat-spm-llama-f32"))};
        r.user = &other;
        r.size = other.bytes.size();
      }),
      reader_row("size", refused, [](inlay_reader& r) { r.size = 0; }, "reader.size"),
      reader_row("size", refused, [](inlay_reader& r) { r.size /= 2; }, "FORMAT"),
      reader_row("read", refused, [](inlay_reader& r) { r.read = nullptr; }, "reader.read"),
      // ---- session
      session_row("struct_size", refused, [](Session& p) { p.struct_size = 3; }, "struct_size"),
      session_row("flags", refused, [](Session& p) { p.flags = 1u << 31; }, "params.flags"),
      session_row("INLAY_SESSION_IGNORE_END_OF_GENERATION", effect, [](Session& p) { p.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION; }, "", ends),
      session_row("INLAY_SESSION_IGNORE_END_OF_GENERATION", neutral, [](Session& p) { p.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION; },
                  "without end tokens", sized<Sampler>(), "llama-f32"),
      {"INLAY_SESSION_RESERVE", effect, [](bool set) {
         inlay_load_params small = on(INLAY_DEVICE_CPU);
         small.n_context = 256;
         const EnginePtr engine = load(small);
         Session params = sized<Session>();
         params.flags = set ? INLAY_SESSION_RESERVE : 0;
         params.max_tokens = 100;
         inlay_session* session = nullptr;
         EXPECT_EQ(inlay_session_create(engine.get(), &params, &session, nullptr), INLAY_OK);
         prefill(SessionPtr(session), {65});
         return std::to_string(stats_of(engine).n_kv_blocks_peak);
       }},
      {"INLAY_SESSION_FOR_REQUESTS", effect, [](bool set) {
         Session params = sized<Session>();
         params.flags = set ? INLAY_SESSION_FOR_REQUESTS : 0;
         const SessionPtr session = new_session(engine(), &params);
         const int32_t token = 65;
         return std::string(inlay_status_name(inlay_prefill(session.get(), &token, 1, nullptr, nullptr)));
       }},
      session_row("sampler", effect, [](Session& p) { p.sampler = &hot_sampler; }),
      session_row("stream", effect, [](Session& p) { p.stream = 1; }, "", hot_sampler),
      session_row("stream", neutral, [](Session& p) { p.stream = 1; }, "nothing where temperature is 0"),
      session_row("max_tokens", effect, [](Session& p) { p.max_tokens = 3; }),
      session_row("max_tokens", neutral, [](Session& p) { p.max_tokens = 1 << 30; }, "context may be full before", sized<Sampler>(), kModel, 10),
      session_row("max_tokens", refused, [](Session& p) { p.max_tokens = -1; }, "max_tokens"),
      session_row("reserved", refused, [](Session& p) { p.reserved = 1; }, "params.reserved"),
      session_row("stop_tokens", effect, [](Session& p) { p.stop_tokens = stops; p.n_stop_tokens = 1; }),
      session_row("stop_tokens", refused, [](Session& p) { p.n_stop_tokens = 1; }, "params.stop_tokens is NULL"),
      session_row("stop_tokens", refused, [](Session& p) { p.stop_tokens = stops; p.n_stop_tokens = 3; }, "stop token 2 is 320"),
      {"inlay_session_params.stop_tokens", neutral, [](bool set) {
         Session params = sized<Session>();
         params.stop_tokens = stops;
         params.n_stop_tokens = set ? 2 : 1;
         return drawn(params);
       }, "counts once"},
      {"inlay_session_params.n_stop_tokens", effect, [](bool set) {
         Session params = sized<Session>();
         params.stop_tokens = stops;
         params.n_stop_tokens = set;
         return drawn(params);
       }},
      session_row("n_stop_tokens", refused, [](Session& p) { p.stop_tokens = stops; p.n_stop_tokens = 1025; }, "n_stop_tokens"),
      session_row("stops", effect, [](Session& p) { p.stops = &first_text; p.n_stops = 1; }),
      session_row("stops", refused, [](Session& p) { p.n_stops = 1; }, "params.stops is NULL"),
      session_row("stops", refused, [](Session& p) { p.stops = &empty_text; p.n_stops = 1; }, "stop string 0 has 0 bytes"),
      {"inlay_session_params.n_stops", effect, [](bool set) {
         Session params = sized<Session>();
         params.stops = &first_text;
         params.n_stops = set;
         return drawn(params);
       }},
      session_row("n_stops", refused, [](Session& p) { p.stops = &first_text; p.n_stops = 65; }, "params.n_stops"),
      // ---- stop strings
      stop_row("data", effect, {{first.data(), 1}}, {{none.data(), 1}}),
      stop_row("data", refused, {{nullptr, 1}}, {}, "a stop string is NULL"),
      stop_row("len", effect, {{"+~", 1}}, {{"+~", 2}}),
      stop_row("len", effect, {{"+", SIZE_MAX}}, {{"+~", SIZE_MAX}}),
      stop_row("len", refused, {{"+", 0}}, {}, "stop string 0 has 0 bytes"),
      // ---- profile
      profile_row("struct_size", refused, [](inlay_profile_params& p) { p.struct_size = 3; }, "struct_size"),
      profile_row("n_tokens", effect, [](inlay_profile_params& p) { p.n_tokens = 3; }),
      profile_row("n_tokens", refused, [](inlay_profile_params& p) { p.n_tokens = 1 << 30; }, "n_tokens"),
      profile_row("n_past", effect, [](inlay_profile_params& p) { p.n_past = 9; }),
      profile_row("n_past", refused, [](inlay_profile_params& p) { p.n_past = -1; }, "n_past"),
      profile_row("n_repetitions", effect, [](inlay_profile_params& p) { p.n_repetitions = 2; }),
      profile_row("n_repetitions", refused, [](inlay_profile_params& p) { p.n_repetitions = -1; }, "n_repetitions"),
      // ---- convert
      convert_row("struct_size", refused, [](inlay_convert_params& p) { p.struct_size = 3; }, "struct_size"),
      convert_row("type", effect, [](inlay_convert_params& p) { p.type = INLAY_CONVERT_F32; }),
      convert_row("type", refused, [](inlay_convert_params& p) { p.type = 99; }, "params.type"),
      convert_row("type", refused, [](inlay_convert_params& p) { p.type = INLAY_WEIGHT_FP8; }, "(FP8)"),
      convert_row("type", neutral, [](inlay_convert_params& p) { p.type = INLAY_CONVERT_F16; }, "\nF16\n"),
      convert_row("n_threads", neutral, [](inlay_convert_params& p) { p.n_threads = 2; }, "Threads that compute"),
      convert_row("n_threads", refused, [](inlay_convert_params& p) { p.n_threads = -1; }, "n_threads"),
      convert_row("reserved", refused, [](inlay_convert_params& p) { p.reserved = 1; }, "params.reserved"),
      convert_row("progress", refused, [](inlay_convert_params& p) { p.progress = stop_at_once; }, "CANCELLED"),
      convert_row("progress_user", neutral, [](inlay_convert_params& p) { p.progress_user = &calls; }, "unused without it"),
      {"inlay_convert_params.progress_user", effect, [](bool set) {
         calls = 0;
         int other = 0;
         convert_row("", neutral, [&](inlay_convert_params& p) {
           p.progress = count_calls;
           p.progress_user = set ? &calls : &other;
         }).observe(true);
         return std::string(calls > 0 ? "called" : "not called");
       }},
      {"inlay_convert_params.log", effect, [](bool set) {
         noted.clear();
         return logged_conversion(set ? note : nullptr, &noted);
       }, "lstrip"},
      {"inlay_convert_params.log_user", effect, [](bool set) {
         std::string other;
         noted.clear();
         const std::string logged = logged_conversion(note, set ? &noted : &other);
         return logged.starts_with("INLAY_") ? logged : noted;
       }, "lstrip"},
      convert_row("log_user", neutral, [](inlay_convert_params& p) { p.log_user = &calls; }, "unused without it"),
      // ---- embed
      embed_row("struct_size", refused, [](inlay_embed_params& p) { p.struct_size = 3; }, "struct_size"),
      embed_row("pooling", effect, [](inlay_embed_params& p) { p.pooling = INLAY_POOLING_LAST; }),
      embed_row("pooling", refused, [](inlay_embed_params& p) { p.pooling = INLAY_POOLING_DEFAULT; }, "the model names no pooling"),
      embed_row("flags", refused, [](inlay_embed_params& p) { p.flags = 1u << 31; }, "params.flags"),
      embed_row("INLAY_EMBED_NO_PROMPT", neutral, [](inlay_embed_params& p) { p.flags = INLAY_EMBED_NO_PROMPT; }, "nothing for a model without one"),
      embed_row("INLAY_EMBED_NORMALIZE", effect, [](inlay_embed_params& p) { p.flags = INLAY_EMBED_NORMALIZE; }),
      embed_row("progress", refused, [](inlay_embed_params& p) { p.progress = stop_at_once; }, "CANCELLED"),
      embed_row("progress_user", neutral, [](inlay_embed_params& p) { p.progress_user = &calls; }, "unused without it"),
      {"inlay_embed_params.progress_user", effect, [](bool set) {
         calls = 0;
         int other = 0;
         embed_row("", neutral, [&](inlay_embed_params& p) {
           p.progress = count_calls;
           p.progress_user = set ? &calls : &other;
         }).observe(true);
         return std::string(calls > 0 ? "called" : "not called");
       }},
      input_row("tokens", effect, {kPlain.data() + 1, 2, nullptr, 0}, {kPlain.data(), 2, nullptr, 0}),
      input_row("n_tokens", effect, {kPlain.data(), 3, nullptr, 0}, {kPlain.data(), 2, nullptr, 0}),
      input_row("n_tokens", refused, {kPlain.data(), 0, nullptr, 0}, {kPlain.data(), 2, nullptr, 0}, "text 0 has no tokens"),
      input_row("text", effect, {nullptr, 0, "ab", 2}, {nullptr, 0, "ba", 2}),
      input_row("text", refused, {kPlain.data(), 2, "ab", 2}, {kPlain.data(), 2, nullptr, 0}, "tokens and a text"),
      input_row("text_len", effect, {nullptr, 0, "ab", SIZE_MAX}, {nullptr, 0, "ab", 1}),
      input_row("text_len", refused, {nullptr, 0, nullptr, 1}, {nullptr, 0, "a", 1}, "inputs[0].text is NULL"),
      embed_row("reserved", refused, [](inlay_embed_params& p) { p.reserved = 1; }, "params.reserved"),
      // ---- score
      score_row("struct_size", refused, [](inlay_score_params& p) { p.struct_size = 3; }, "struct_size"),
      score_row("n_given", effect, [](inlay_score_params& p) { p.n_given = 2; }),
      score_row("n_given", neutral, [](inlay_score_params& p) { p.n_given = 1; }, "\n1\n"),
      score_row("n_given", refused, [](inlay_score_params& p) { p.n_given = -1; }, "params.n_given"),
      score_row("n_logprobs", effect, [](inlay_score_params& p) { p.n_logprobs = 1; }),
      score_row("n_logprobs", refused, [](inlay_score_params& p) { p.n_logprobs = -1; }, "params.n_logprobs"),
      score_row("n_logprobs", refused, [](inlay_score_params& p) { p.n_logprobs = INLAY_MAX_LOGPROBS + 1; }, "params.n_logprobs"),
      score_row("reserved", refused, [](inlay_score_params& p) { p.reserved = 1; }, "params.reserved"),
      score_row("progress", refused, [](inlay_score_params& p) { p.progress = stop_at_once; }, "CANCELLED"),
      score_row("progress_user", neutral, [](inlay_score_params& p) { p.progress_user = &calls; }, "unused without it"),
      {"inlay_score_params.progress_user", effect, [](bool set) {
         calls = 0;
         int other = 0;
         score_row("", neutral, [&](inlay_score_params& p) {
           p.progress = count_calls;
           p.progress_user = set ? &calls : &other;
         }).observe(true);
         return std::string(calls > 0 ? "called" : "not called");
       }},
      // ---- flags of text
      {"INLAY_TOKENIZE_NO_BOS_EOS", effect, [](bool set) { return tokenized("chat-spm-llama-f32", "hi", set ? INLAY_TOKENIZE_NO_BOS_EOS : 0); }},
      {"INLAY_TOKENIZE_NO_BOS_EOS", neutral, [](bool set) { return tokenized(kModel, "hi", set ? INLAY_TOKENIZE_NO_BOS_EOS : 0); },
       "nothing where it asks for none"},
      {"INLAY_TOKENIZE_PARSE_SPECIAL", effect, [](bool set) {
         static const std::string end = detokenized(INLAY_DETOKENIZE_SHOW_SPECIAL);
         return tokenized(kModel, end.c_str(), set ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
       }},
      {"INLAY_DETOKENIZE_SHOW_SPECIAL", effect, [](bool set) { return detokenized(set ? INLAY_DETOKENIZE_SHOW_SPECIAL : 0); }},
      chat_row("struct_size", refused, [](inlay_chat_params& p) { p.struct_size = 3; }, "struct_size"),
      chat_row("flags", refused, [](inlay_chat_params& p) { p.flags = 1u << 31; }, "params.flags"),
      chat_row("chat_template", effect, [](inlay_chat_params& p) { p.chat_template = "x"; }),
      chat_row("chat_template", refused, [](inlay_chat_params& p) { p.chat_template = nullptr; }, "params.chat_template is NULL"),
      chat_row("template_len", effect, [](inlay_chat_params& p) { p.template_len = 21; }),
      {"INLAY_CHAT_ADD_GENERATION_PROMPT", effect, [](bool set) { return chat("{{ add_generation_prompt }}", set); }},
      {"INLAY_CHAT_ADD_GENERATION_PROMPT", neutral, [](bool set) { return chat("x", set); }, "does not read the variable"},
      {"INLAY_CHAT_CONTINUE_FINAL_MESSAGE", effect, [](bool set) {
         return chat("{{ messages[0].content }}</end>", set, INLAY_CHAT_CONTINUE_FINAL_MESSAGE, R"([{"content": "a"}])");
       }},
      {"INLAY_CHAT_CONTINUE_FINAL_MESSAGE", refused, [](bool set) {
         return chat("x", set, INLAY_CHAT_CONTINUE_FINAL_MESSAGE, R"([{"content": "a"}])");
       }, "does not write it as it is"},
  };
  std::ranges::copy(sampler_rows(), std::back_inserter(rows));
  std::ranges::copy(request_effect_rows(), std::back_inserter(rows));
  std::ranges::copy(constraint_effect_rows(), std::back_inserter(rows));
  std::ranges::copy(state_effect_rows(), std::back_inserter(rows));
  std::ranges::copy(chat_effect_rows(), std::back_inserter(rows));
  return rows;
}

// ---- the description: name to text

std::map<std::string, std::string> items_of(const json& api) {
  std::map<std::string, std::string> out;
  std::set<std::string> answers;  // types of fields that the library writes
  for (const json& s : api["structs"]) {
    for (const json& field : s["fields"]) {
      const std::string name = s["name"].get<std::string>() + "." + field["name"].get<std::string>();
      if (s["use"] == "out") {
        answers.insert(field["type"].get<std::string>());
      } else {
        out[name] = field["doc"].get<std::string>() + "\n" + field["default"].get<std::string>() + "\n" + s["doc"].get<std::string>();
      }
    }
  }
  for (const json& e : api["enums"]) {
    if (!e["flags"].get<bool>() || answers.contains(e["name"].get<std::string>())) continue;
    for (const json& value : e["values"])
      out[e["prefix"].get<std::string>() + value["name"].get<std::string>()] = value["doc"].get<std::string>();
  }
  return out;
}

std::vector<std::string> without_row(const std::map<std::string, std::string>& items, const std::vector<EffectRow>& rows) {
  std::vector<std::string> out;
  for (const auto& [name, description] : items)
    if (std::ranges::none_of(rows, [&](const EffectRow& row) { return row.name == name; })) out.push_back(name);
  return out;
}

json description() { return json::parse(file_bytes(INLAY_SOURCE_DIR "/bindings/api/inlay.json")); }

TEST(Effects, EveryFieldAndFlagHasOneOrIsRefusedOrDocumented) {
  const auto items = items_of(description());
  const std::vector<EffectRow> rows = table();
  EXPECT_GT(items.size(), 60u);
  EXPECT_EQ(without_row(items, rows), std::vector<std::string>());
  for (const EffectRow& row : rows) {
    const auto item = items.find(row.name);
    ASSERT_NE(item, items.end()) << row.name << " is not in the description";
    EXPECT_EQ(wrong_in(row, item->second), "") << row.name << " (" << row.words << ")";
  }
}

TEST(Effects, ANewFieldOrFlagNeedsARow) {
  json api = description();
  const std::vector<EffectRow> rows = table();
  for (json& s : api["structs"])
    if (s["name"] == "inlay_load_params") s["fields"].push_back({{"name", "new_field"}, {"type", "u32"}, {"doc", ""}, {"default", ""}});
  for (json& e : api["enums"])
    if (e["name"] == "inlay_chat_flags") e["values"].push_back({{"name", "NEW_FLAG"}, {"doc", ""}});
  EXPECT_EQ(without_row(items_of(api), rows), (std::vector<std::string>{"INLAY_CHAT_NEW_FLAG", "inlay_load_params.new_field"}));
}

TEST(Effects, WrongRowsAreNoticed) {
  const auto same = [](bool) { return std::string("same"); };
  const auto differs = [](bool set) { return std::string(set ? "with" : "without"); };
  const auto fails = [](bool set) { return std::string(set ? "INLAY_INVALID_ARGUMENT: x is 1" : "fine"); };
  EXPECT_NE(wrong_in({"x", Kind::effect, same}, ""), "");
  EXPECT_NE(wrong_in({"x", Kind::effect, fails}, ""), "");
  EXPECT_NE(wrong_in({"x", Kind::effect, differs, "changes nothing"}, ""), "");
  EXPECT_EQ(wrong_in({"x", Kind::effect, differs}, ""), "");
  EXPECT_NE(wrong_in({"x", Kind::neutral, differs, "words"}, "words"), "");
  EXPECT_NE(wrong_in({"x", Kind::neutral, same, "words"}, "other"), "");
  EXPECT_EQ(wrong_in({"x", Kind::neutral, same, "words"}, "the words"), "");
  EXPECT_NE(wrong_in({"x", Kind::neutral, [](bool) { return std::string("INLAY_IO: x"); }, "words"}, "the words"), "");
  EXPECT_NE(wrong_in({"x", Kind::refused, same, "x is"}, ""), "");
  EXPECT_NE(wrong_in({"x", Kind::refused, fails, "y is"}, ""), "");
  EXPECT_EQ(wrong_in({"x", Kind::refused, fails, "x is"}, ""), "");
}

}  // namespace
}  // namespace inlay::test
