#include "src/model/hf_pooling.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "src/formats/safetensors.h"
#include "src/formats/text.h"
#include "src/model/hf_folder.h"
#include "src/model/quantize.h"

namespace inlay {
namespace {

constexpr HfPoolingMode kModes[] = {{"cls", "pooling_mode_cls_token", 2},
                                    {"max", "pooling_mode_max_tokens", 0},
                                    {"mean", "pooling_mode_mean_tokens", 1},
                                    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", 0},
                                    {"weightedmean", "pooling_mode_weightedmean_tokens", 0},
                                    {"lasttoken", "pooling_mode_lasttoken", 3}};
constexpr size_t kMostModes = 16;
constexpr size_t kMostSteps = 16;  // behind the pooling: the matrix of each Dense is kept, also of one that is named again

constexpr const char* kTextRules = "sentence_bert_config.json";
constexpr int64_t kMostFeatures = 1000000;
std::string embedding_key(std::string_view name) { return std::string(kHfEmbeddingPrefix) + std::string(name); }

constexpr const char* kDenseRead[] = {"activation_function", "bias", "in_features", "out_features"};
constexpr UnreadKey kDenseKeys[] = {
    {"module_input_name", "sentence_embedding", true},
    {"module_output_name", "sentence_embedding", true},
    {"use_residual", "false", true},
};
constexpr KnownKeys kDense = {"Dense module", kDenseRead, kDenseKeys};

Result<const HfPoolingMode*> mode_of(const JsonValue& named) {
  INLAY_ASSIGN(const std::string_view text, named.as_string());
  std::string name(text);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes), [&](const HfPoolingMode& m) { return name == m.name; });
  if (mode != std::end(kModes)) return mode;
  std::string known;
  for (const HfPoolingMode& m : kModes) known += (known.empty() ? "" : ", ") + std::string(m.name);
  return error(Code::unsupported, "%s is %s, expected %s", named.where().c_str(), quote(text).c_str(), known.c_str());
}

// "pooling_mode", where it is given, is a name or several. Without any flag it is the mean.
Result<std::vector<const HfPoolingMode*>> read_modes(const JsonValue& config) {
  std::vector<const HfPoolingMode*> out;
  if (const auto named = config.find("pooling_mode"); named && !named->is_null()) {
    if (named->is_array() && (named->size() == 0 || named->size() > kMostModes)) return named->expected("1 to 16 names");
    for (const JsonValue& element : named->elements()) {
      INLAY_ASSIGN(out.emplace_back(), mode_of(element));
    }
    if (named->is_array()) return out;
    INLAY_ASSIGN(out.emplace_back(), mode_of(*named));
    return out;
  }
  for (const HfPoolingMode& mode : kModes) {
    INLAY_ASSIGN(const bool is_set, config.bool_or(mode.flag, false));
    if (is_set) out.push_back(&mode);
  }
  if (out.empty()) out.push_back(std::ranges::find(kModes, std::string_view("mean"), &HfPoolingMode::name));
  return out;
}

// What modules.json lists: where the pooling stands, what follows it, and what is not computed here.
struct Modules {
  std::string pooling = "1_Pooling/config.json";
  std::vector<std::pair<std::string, std::string>> steps;  // kind, folder
  std::string not_computed;

  void refuse(std::string_view what) { not_computed += (not_computed.empty() ? "" : ", ") + quote(what); }
};

Result<std::string> folder_of(const JsonValue& module) {
  INLAY_ASSIGN(const JsonValue path, module.get("path"));
  INLAY_ASSIGN(const std::string_view name, path.as_string());
  if (!name.empty() && name.find_first_of(std::string_view("/\\:\0", 4)) == name.npos && name != "..") return std::string(name);
  return error(Code::format, "%s is %s, expected the name of a folder beside modules.json", path.where().c_str(), quote(name).c_str());
}

Result<Modules> read_modules(const std::string& folder) {
  const std::string list = folder + "/modules.json";
  Modules out;
  if (!file_exists(list)) return out;
  INLAY_ASSIGN(const JsonDocument document, read_json_file(list));
  INLAY_ASSIGN(const JsonElements modules, document.root().as_array());
  bool is_pooled = false;
  for (const JsonValue& module : modules) {
    INLAY_ASSIGN(const std::string_view type, module.string_or("type", ""));
    const std::string_view kind = type.substr(type.rfind('.') + 1);  // npos + 1 is 0
    for (const JsonMember& member : module.members()) {
      const bool is_usual = member.key == "idx" || member.key == "name" || member.key == "path" || member.key == "type";
      if (!is_usual && member.value.size() > 0) out.refuse(std::string(kind) + " with " + std::string(member.key));
    }
    if (kind == "Transformer" && !is_pooled) {
      // Whose files are these, then?
      INLAY_ASSIGN(const std::string_view path, module.string_or("path", ""));
      if (!path.empty()) out.refuse("Transformer in " + std::string(path));
    } else if (kind == "Pooling" && !is_pooled) {
      INLAY_ASSIGN(const std::string name, folder_of(module));
      out.pooling = name + "/config.json";
      is_pooled = true;
    } else if (kind == "Dense" && is_pooled) {
      INLAY_ASSIGN(std::string name, folder_of(module));
      out.steps.emplace_back("dense", std::move(name));
    } else if (kind == "Normalize" && is_pooled) {
      out.steps.emplace_back("normalize", "");
    } else if (kind != "Dropout") {  // nothing is dropped but in training
      out.refuse(type);
    }
    if (out.steps.size() > kMostSteps)
      return error(Code::unsupported, "%s is one module more than the %zu that may follow the pooling", module.where().c_str(), kMostSteps);
  }
  return out;
}

// Of a Dense module's file: linear.weight (outputs, inputs) and linear.bias (outputs), as floats.
Result<std::vector<float>> read_floats(const SafetensorsEntry& entry, const ByteSource& source) {
  INLAY_ASSIGN(const DType dtype, hf_stored_type(entry, source));
  std::vector<std::byte> bytes(entry.n_bytes);
  INLAY_TRY(source.read(entry.offset, bytes));
  std::vector<float> out(entry.n_bytes / traits(dtype).block_bytes);
  convert(dtype, bytes.data(), DType::f32, static_cast<int64_t>(out.size()), reinterpret_cast<std::byte*>(out.data()));
  return out;
}

// Empty: done. Otherwise what of it is not computed here.
Result<std::string> add_dense(const std::string& folder, const std::string& name, const std::string& key, MetadataBuilder& metadata) {
  const std::string path = folder + "/" + name;
  INLAY_ASSIGN(const JsonDocument document, read_json_file(path + "/config.json"));
  const JsonValue config = document.root();
  for (const JsonMember& member : config.members()) {
    if (std::ranges::find(kDense.read, member.key) == kDense.read.end() && !changes_nothing(kDense.unread, member.key, member.value))
      return name + "/config.json: " + std::string(member.key);
  }
  INLAY_ASSIGN(const std::string_view activation, config.string_or("activation_function", "torch.nn.modules.activation.Tanh"));
  const std::string_view kind = activation.substr(activation.rfind('.') + 1);
  const bool is_known = activation.starts_with("torch.") && (kind == "Identity" || kind == "Tanh");
  if (!is_known) return name + "/config.json: activation_function " + std::string(activation);
  INLAY_ASSIGN(const bool has_bias, config.bool_or("bias", true));
  const std::string file = path + "/model.safetensors";
  if (!file_exists(file) && file_exists(path + "/pytorch_model.bin")) return name + "/pytorch_model.bin, a pickle";
  INLAY_ASSIGN(const std::unique_ptr<ByteSource> source, open_file(file));
  INLAY_ASSIGN(const std::vector<SafetensorsEntry> entries, read_safetensors(*source));
  std::vector<int64_t> sizes;
  for (const char* size : {"out_features", "in_features"}) {
    INLAY_ASSIGN(const JsonValue value, config.get(size));
    INLAY_ASSIGN(const int64_t n, value.as_i64());
    if (n < 1 || n > kMostFeatures) return value.expected("a number from 1 to 1000000");
    sizes.push_back(n);
  }
  for (const SafetensorsEntry& entry : entries) {
    const bool is_weight = entry.name == "linear.weight", is_bias = entry.name == "linear.bias" && has_bias;
    if (!is_weight && !is_bias)
      return Result<std::string>(error(Code::unsupported, "%s: the tensor %s is not part of a Dense module%s", file.c_str(), quote(entry.name).c_str(),
                                       has_bias ? "" : " whose bias is false"));
    const std::vector<int64_t> shape = is_weight ? sizes : std::vector<int64_t>{sizes[0]};
    if (entry.shape != shape)
      return Result<std::string>(error(Code::format, "%s: the tensor %s has another shape than out_features and in_features of config.json say", file.c_str(),
                                       quote(entry.name).c_str()));
    INLAY_ASSIGN(const std::vector<float> values, read_floats(entry, *source));
    metadata.f32s(key + (is_weight ? ".weight" : ".bias"), values);
  }
  if (entries.size() != (has_bias ? 2u : 1u))
    return Result<std::string>(error(Code::format, "%s: expected the tensor linear.weight%s", file.c_str(), has_bias ? " and linear.bias" : ""));
  metadata.u32(key + ".width", static_cast<uint32_t>(sizes[0]));
  metadata.text(key + ".activation", kind == "Tanh" ? "tanh" : "identity");
  return std::string();
}

// The keys of a whole number from 1 on that may be absent or null.
Result<uint64_t> number_or(const JsonValue& object, const char* key, uint64_t fallback) {
  const auto value = object.find(key);
  if (!value || value->is_null()) return fallback;
  INLAY_ASSIGN(const double n, value->as_f64());  // model_max_length is 1e30 where there is no limit
  if (!(n >= 1)) return value->expected("a number of 1 or more");
  return n >= 4294967295.0 ? uint64_t{UINT32_MAX} : static_cast<uint64_t>(n);
}

// Texts are cut to max_seq_length; without one, to what the tokenizer and the model take.
Status add_text_rules(const std::string& folder, const JsonValue& model, MetadataBuilder& metadata, std::string& not_computed) {
  const std::string file = folder + "/" + kTextRules, tokenizer_file = folder + "/tokenizer_config.json";
  const bool has_own = file_exists(file);
  if (!has_own && !file_exists(folder + "/modules.json")) return {};
  uint64_t most = UINT32_MAX;
  if (file_exists(tokenizer_file)) {
    INLAY_ASSIGN(const JsonDocument document, read_json_file(tokenizer_file));
    INLAY_ASSIGN(most, number_or(document.root(), "model_max_length", most));
    INLAY_ASSIGN(const std::string_view side, document.root().string_or("truncation_side", "right"));
    if (side == "left") metadata.boolean(embedding_key("keeps_end"), true);
  }
  INLAY_ASSIGN(const uint64_t of_model, number_or(model, "max_position_embeddings", UINT32_MAX));
  most = std::min(most, of_model);
  if (has_own) {
    INLAY_ASSIGN(const JsonDocument document, read_json_file(file));
    INLAY_ASSIGN(most, number_or(document.root(), "max_seq_length", most));
    INLAY_ASSIGN(const bool lowers, document.root().bool_or("do_lower_case", false));
    if (lowers) metadata.boolean(embedding_key("lower_case"), true);
    for (const std::string& key : unknown_keys(document.root(), known_file(kTextRules))) {
      if (key == "modality_config" || key == "query_length" || key == "document_length" || key == "transformer_task" || key == "module_output_name")
        not_computed += (not_computed.empty() ? "" : ", ") + (std::string(kTextRules) + ": " + key);
    }
  }
  if (most < UINT32_MAX) metadata.u32(embedding_key("max_tokens"), static_cast<uint32_t>(most), has_own ? "max_seq_length" : "model_max_length");
  return {};
}

// What stands before texts. Names and texts of all prompts are kept, for programs that put another one before theirs.
Status add_prompts(const std::string& folder, MetadataBuilder& metadata, bool& has_default) {
  const std::string file = folder + "/config_sentence_transformers.json";
  if (!file_exists(file)) return {};
  INLAY_ASSIGN(const JsonDocument document, read_json_file(file));
  INLAY_ASSIGN(const std::string_view chosen, document.root().string_or("default_prompt_name", ""));
  const auto prompts = document.root().find("prompts");
  if (prompts && !prompts->is_null() && !prompts->is_object()) return prompts->expected("an object");
  bool is_there = chosen.empty();
  if (prompts) {
    for (const JsonMember& member : prompts->members()) {
      if (member.value.is_null()) continue;
      INLAY_ASSIGN(const std::string_view text, member.value.as_string());
      metadata.text(embedding_key("prompt.") + std::string(member.key), text);
      if (member.key != chosen) continue;
      is_there = true;
      has_default = !text.empty();
    }
  }
  if (!is_there) return error(Code::format, "%s: default_prompt_name is %s, and prompts has no such name", file.c_str(), quote(chosen).c_str());
  if (!chosen.empty()) metadata.text(embedding_key("default_prompt"), chosen);
  INLAY_ASSIGN(const uint64_t width, number_or(document.root(), "truncate_dim", 0));
  if (width > 0) metadata.u32(embedding_key("width"), static_cast<uint32_t>(width), "truncate_dim");
  return {};
}

}  // namespace

std::span<const HfPoolingMode> hf_pooling_modes() { return kModes; }

const KnownKeys& known_dense_keys() { return kDense; }

Status add_hf_pooling(const std::string& folder, const std::string& arch, const JsonValue& model, MetadataBuilder& metadata) {
  const std::string key = arch + ".pooling_type";
  INLAY_ASSIGN(Modules modules, read_modules(folder));
  bool has_prompt = false;
  INLAY_TRY(add_prompts(folder, metadata, has_prompt));
  INLAY_TRY(add_text_rules(folder, model, metadata, modules.not_computed));
  std::vector<std::string_view> steps;
  for (const auto& [kind, name] : modules.steps) {
    if (kind == "dense") {
      INLAY_ASSIGN(const std::string lacking, add_dense(folder, name, embedding_key("step.") + std::to_string(steps.size()), metadata));
      if (!lacking.empty()) modules.refuse("Dense (" + lacking + ")");
    }
    steps.push_back(kind);
  }
  const std::string path = folder + "/" + modules.pooling;
  const bool is_there = file_exists(path);
  std::vector<const HfPoolingMode*> modes;
  if (is_there) {
    INLAY_ASSIGN(const JsonDocument document, read_json_file(path));
    INLAY_ASSIGN(modes, read_modes(document.root()));
    INLAY_ASSIGN(const bool pools_prompt, document.root().bool_or("include_prompt", true));
    if (has_prompt && !pools_prompt) modules.refuse("Pooling (include_prompt false beside a default prompt)");
  }
  if (!modules.not_computed.empty()) {
    metadata.u32(key, 0, "the pooling mode of modules.json, whose module " + modules.not_computed + " is not supported,");
    return {};
  }
  if (!is_there) return {};
  if (!steps.empty()) metadata.texts(embedding_key("steps"), steps);
  const uint32_t stored = modes.size() == 1 ? modes[0]->stored : 0;
  metadata.u32(key, stored, "the pooling mode in " + modules.pooling);
  if (stored == 0) {
    std::vector<std::string_view> names;
    for (const HfPoolingMode* mode : modes) names.emplace_back(mode->name);
    metadata.texts(embedding_key("pooling"), names);
  }
  return {};
}

}  // namespace inlay
