#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/model_path.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

constexpr size_t kLongestValue = 200;  // bytes of a metadata value that are shown

void print_bytes(const char* name, uint64_t n) {
  std::printf("%-22s %llu (%.1f MiB)\n", name, static_cast<unsigned long long>(n), static_cast<double>(n) / (1 << 20));
}

void print_number(const char* name, int64_t n) { std::printf("%-22s %lld\n", name, static_cast<long long>(n)); }

void print_sizes(const inlay_engine_info& info) {
  std::printf("%-22s %llu\n", "parameters", static_cast<unsigned long long>(info.n_params));
  print_number("layers", info.n_layers);
  print_number("width", info.d_model);
  print_number("feed-forward width", info.d_ff);
  print_number("heads", info.n_heads);
  print_number("key and value heads", info.n_kv_heads);
  print_number("head width", info.d_head);
  print_number("vocabulary", info.n_vocab);
  print_number("trained context", info.n_context_train);
  if (info.bos >= 0) print_number("BOS token", info.bos);
  if (info.eos >= 0) print_number("EOS token", info.eos);
  std::printf("%-22s %s\n", "tokenizer",
              info.flags & INLAY_ENGINE_HAS_TOKENIZER
                  ? info.flags & INLAY_ENGINE_ADDS_BOS ? "yes, begins with BOS" : "yes"
                  : "none");
}

void print_memory(const inlay_memory_info& memory) {
  std::printf("%-22s %s\n", "device", device_name(memory.device));
  print_number("context", memory.n_context);
  print_number("sessions", memory.max_sessions);
  print_bytes("weights", memory.weight_bytes);
  std::printf("%-22s %s\n", "type of weights",
              memory.weight_dtype == INLAY_WEIGHT_DEFAULT ? "the file's" : weight_dtype_name(memory.weight_dtype));
  print_bytes("KV pool", memory.kv_bytes);
  print_bytes("workspace", memory.scratch_bytes);
  print_bytes("together", memory.total_bytes);
  print_bytes("available", memory.available_bytes);
}

std::string one_line(std::string text) {
  if (text.size() > kLongestValue) {
    size_t cut = kLongestValue;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
    text = text.substr(0, cut) + "... (" + std::to_string(text.size()) + " bytes)";
  }
  return printable(text);
}

std::string metadata_value(const inlay_engine* engine, const std::string& key) {
  return text_of(
      [&](char* buffer, size_t cap, size_t* needed, inlay_error* err) {
        return inlay_meta_value(engine, key.data(), key.size(), buffer, cap, needed, err);
      },
      "cannot read a value of the metadata");
}

int print_template(const std::string& path, const inlay_engine* engine) {
  if (!has_chat_template(engine)) fail(kExitFailed, path + " has no chat template");
  const std::string text = metadata_value(engine, "tokenizer.chat_template");
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
  return 0;
}

void print_metadata(const inlay_engine* engine) {
  inlay_error error;
  size_t n = 0;
  check(inlay_meta_count(engine, &n, &error), error, "cannot read the metadata");
  for (size_t i = 0; i < n; ++i) {
    const std::string key =
        text_of([&](char* buffer, size_t cap, size_t* needed,
                    inlay_error* err) { return inlay_meta_key(engine, i, buffer, cap, needed, err); },
                "cannot read a key of the metadata");
    std::printf("%s = %s\n", printable(key).c_str(), one_line(metadata_value(engine, key)).c_str());
  }
}

// What the library says of the model and of where it would run; false if no device would run it.
bool print_explanation(const std::string& path, const inlay_load_params& params, inlay_explain_form form) {
  int32_t n_devices = 0;
  const std::string text = text_of(
      [&](char* buffer, size_t cap, size_t* needed, inlay_error* err) {
        const inlay_status status =
            inlay_explain(path.data(), path.size(), &params, form, &n_devices, buffer, cap, needed, err);
        check(status, *err, "cannot read", path);
        return status;
      },
      "cannot read " + path);
  std::printf("%s\n", text.c_str());
  return n_devices > 0;
}

}  // namespace

int info_command(int argc, char** argv) {
  LoadOptions planned;
  bool json = false, chat_template = false;
  Options options(
      "info MODEL [options]",
      "Prints what a model is, which devices would run it and why others would not, the memory that it takes,\n"
      "and its metadata.");
  planned.add_to(options);
  options.integer("-c --ctx --ctx-size", planned.n_context, 1, 1 << 30,
                  "tokens of the longest sequence (the trained context, at most 4096)");
  options.integer("--sessions", planned.max_sessions, 1, 1024, "sessions at a time (8)");
  options.flag("--json", json, "the first part alone, as one JSON object on one line");
  options.flag("--template", chat_template, "the model's chat template alone, as it stands in the file");
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");

  if (json && chat_template) options.usage_error("give one of --json and --template");

  auto memory = sized<inlay_memory_info>();
  inlay_error error;
  const inlay_load_params params = planned.params();
  check_path(rest[0]);
  if (planned.n_context > 0) check_context(rest[0], planned, trained_context_of(rest[0]));
  LoadOptions smallest = planned;  // metadata come with an engine; this one generates nothing
  smallest.n_context = smallest.max_sessions = 1;
  if (chat_template) return print_template(rest[0], load_file(rest[0], smallest).get());
  if (!print_explanation(rest[0], params, json ? INLAY_EXPLAIN_JSON : INLAY_EXPLAIN_TEXT))
    fail(kExitFailed, "no device runs " + rest[0]);
  if (json) return 0;
  check(inlay_memory_plan(rest[0].data(), rest[0].size(), &params, &memory, &error), error, "cannot plan", rest[0]);
  const EnginePtr engine = load_file(rest[0], smallest);

  std::printf("model\n-----\n");
  print_sizes(info_of(engine.get()));
  std::printf("\nmemory plan\n-----------\n");
  print_memory(memory);
  std::printf("\nmetadata\n--------\n");
  print_metadata(engine.get());
  return 0;
}

}  // namespace inlay::cli
