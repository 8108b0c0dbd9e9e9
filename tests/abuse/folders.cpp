// Mutated Hugging Face folders: configurations, tokenizers, templates and safetensors files. An error, or an engine
// that can be used.
#include <filesystem>

#include "tests/abuse/children.h"
#include "tests/abuse/host.h"
#include "tests/support/hf_folder.h"

namespace inlay::abuse {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr uint64_t kAddressBytes = uint64_t{8} << 30;
constexpr const char* kFamilies[] = {"llama", "qwen2", "qwen3", "gemma2", "gemma3_text", "olmo2", "olmo3", "phi3"};
constexpr const char* kTensors = "model.safetensors";

struct File {
  std::string name, bytes;
};
using Files = std::vector<File>;

std::string folder;
std::vector<std::string> tokenizers;
File tokenizer_config;
std::vector<std::string> weights;  // of kFamilies

std::string text_of_file(const fs::path& path) {
  const auto bytes = bytes_of_file(path);
  return std::string(bytes.begin(), bytes.end());
}

bool read_seeds(Case& the_case) {
  folder = scratch_folder() + "/folder";
  for (const auto& entry : fs::directory_iterator(source_path("tests/fuzz/corpus/tokenizer_json"))) {
    std::string text = text_of_file(entry.path());
    text.resize(std::min(text.find('\0'), text.size()));  // behind it a seed has a text
    tokenizers.push_back(text);
  }
  std::ranges::sort(tokenizers);
  tokenizers.push_back(text_of_file(source_path("examples/model/hf/tokenizer.json")));
  tokenizer_config = {"tokenizer_config.json", text_of_file(source_path("examples/model/hf/tokenizer_config.json"))};
  for (const char* family : kFamilies) weights.push_back(test::safetensors_of(test::small_tensors(family)));
  if (!INLAY_SANITIZED) limit_memory(kAddressBytes);
  if (tokenizers.size() < 3 || tokenizers.back().empty()) the_case.say("no tokenizers");
  return tokenizers.size() >= 3 && !tokenizers.back().empty();
}

void remove_folder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

json config_of(const std::string& family, fuzz::Random& random) {
  json config = test::small_config(family);
  if (random.one_in(3))
    config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 16}};
  if (random.one_in(3)) config["sliding_window"] = 16;
  if (random.one_in(4)) config["architectures"] = {"LlamaForCausalLM"};
  if (random.one_in(4)) config["eos_token_id"] = {1, 2};
  if (random.one_in(4))
    config["quantization_config"] = {{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}, {"bits", 4}};
  return config;
}

// Two files of tensors, with the index that says which tensor lies where.
void split(Files& files, const std::string& family) {
  std::vector<test::HfTensor> all = test::small_tensors(family), first(all.begin(), all.begin() + 5),
                              second(all.begin() + 5, all.end());
  json index = {{"metadata", {{"total_size", 1000}}}, {"weight_map", json::object()}};
  for (const auto& t : first) index["weight_map"][t.name] = "a.safetensors";
  for (const auto& t : second) index["weight_map"][t.name] = "b.safetensors";
  files.push_back({"a.safetensors", test::safetensors_of(first)});
  files.push_back({"b.safetensors", test::safetensors_of(second)});
  files.push_back({"model.safetensors.index.json", index.dump()});
}

Files make_files(fuzz::Random& random) {
  const size_t i = random.below(std::size(kFamilies));
  Files files = {{"config.json", config_of(kFamilies[i], random).dump()},
                 {"tokenizer.json", tokenizers[random.below(tokenizers.size())]}};
  if (random.one_in(5))
    split(files, kFamilies[i]);
  else
    files.push_back({kTensors, weights[i]});
  if (random.one_in(2)) files.push_back(tokenizer_config);
  if (random.one_in(3)) files.push_back({"generation_config.json", R"({"eos_token_id": [1, 2], "temperature": 0.6})"});
  if (random.one_in(3))
    files.push_back({"chat_template.jinja", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"});
  if (random.one_in(6))
    files.push_back({"1_Pooling/config.json", R"({"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true})"});
  if (random.one_in(6))
    files.push_back({"modules.json",
                     R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}])"});
  return files;
}

// ---- mutations

size_t count_nodes(const json& node) {
  size_t n = 1;
  if (node.is_structured()) {
    for (const json& child : node) n += count_nodes(child);
  }
  return n;
}

json* find_node(json& node, size_t& until) {
  if (until-- == 0) return &node;
  if (!node.is_structured()) return nullptr;
  for (json& child : node) {
    if (json* found = find_node(child, until)) return found;
  }
  return nullptr;
}

json hostile_value(const json& old, fuzz::Random& random) {
  static constexpr const char* kTexts[] = {"",   "\xC3\xA9",         "<s>", "llama", "BPE", "bf16", "../../etc/passwd",
                                           "{{", "model.norm.weight"};
  switch (random.below(9)) {
    case 0:
      return nullptr;
    case 1:
      return random.one_in(2);
    case 2:
      return static_cast<int64_t>(fuzz::hostile_number(100, random));
    case 3:
      return random.one_in(2) ? -1.5 : 1e300;
    case 4:
      return random.of(kTexts);
    case 5:
      return json::array({old, old});
    case 6:
      return json{{"type", old}};
    case 7: {
      json deep = old;
      for (size_t i = random.below(300); i > 0; --i) deep = json::array({deep});
      return deep;
    }
    default:
      return old.is_number()
                 ? json(old.get<double>() < 1e9
                            ? static_cast<int64_t>(old.get<double>()) + static_cast<int64_t>(random.below(5)) - 2
                            : 3)
                 : json(0);
  }
}

void mutate_json(json& root, fuzz::Random& random) {
  size_t at = random.below(count_nodes(root));
  json* node = find_node(root, at);
  if (!node) return;
  if (node->is_object() && !node->empty() && random.one_in(2)) {
    auto entry = std::next(node->begin(), static_cast<std::ptrdiff_t>(random.below(node->size())));
    if (random.one_in(2))
      node->erase(entry);
    else
      *entry = hostile_value(*entry, random);
  } else if (node->is_array() && !node->empty() && random.one_in(2)) {
    node->erase(random.below(node->size()));
  } else {
    *node = hostile_value(*node, random);
  }
}

void mutate_bytes(std::string& text, fuzz::Random& random) {
  fuzz::Input bytes(text.begin(), text.end());
  fuzz::mutate(bytes, bytes, random);
  text.assign(bytes.begin(), bytes.end());
}

// The header is JSON behind its length.
void mutate_tensors(std::string& bytes, fuzz::Random& random) {
  uint64_t n = 0;
  if (bytes.size() < sizeof n) return mutate_bytes(bytes, random);
  std::memcpy(&n, bytes.data(), sizeof n);
  if (random.one_in(6)) {
    n = fuzz::hostile_number(bytes.size(), random);
    std::memcpy(bytes.data(), &n, sizeof n);
    return;
  }
  if (random.one_in(6)) return bytes.resize(random.below(bytes.size()));
  json header = json::parse(bytes.substr(8, n), nullptr, false);
  if (header.is_discarded() || n > bytes.size() - 8) return mutate_bytes(bytes, random);  // changed before
  mutate_json(header, random);
  bytes = testing::safetensors_bytes(header.dump(-1, ' ', false, json::error_handler_t::replace), bytes.substr(8 + n));
}

void mutate_file(Files& files, fuzz::Random& random) {
  const size_t i = random.below(files.size());
  File& file = files[i];
  if (random.one_in(25)) {
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (file.name.ends_with(".safetensors")) {
    random.one_in(4) ? mutate_bytes(file.bytes, random) : mutate_tensors(file.bytes, random);
  } else if (json parsed = json::parse(file.bytes, nullptr, false); !parsed.is_discarded() && !random.one_in(5)) {
    mutate_json(parsed, random);
    file.bytes = parsed.dump(-1, ' ', false, json::error_handler_t::replace);
  } else {
    mutate_bytes(file.bytes, random);
  }
}

void look_at_folder(Host& host, const inlay_load_params& params) {
  inlay_error err;
  char text[4096];
  int32_t n_devices = 0;
  size_t needed = 0;
  const auto form = static_cast<inlay_explain_form>(host.random().below(2));
  host.check("inlay_explain",
             lib.inlay_explain(folder.data(), folder.size(), &params, form, &n_devices, text, sizeof text, &needed, &err),
             err);
  const std::string out = scratch_folder() + "/folder.gguf";
  inlay_convert_params convert = sized<inlay_convert_params>();
  convert.type = static_cast<inlay_convert_type>(host.random().below(8));
  convert.n_threads = 1;
  if (host.check("inlay_convert",
                 lib.inlay_convert(folder.data(), folder.size(), out.data(), out.size(), &convert, &err), err)) {
    use_and_free(host, load_file(host, out, params));
  }
  std::error_code ignored;
  fs::remove(out, ignored);
}

Outcome run(Case& the_case) {
  Host host(the_case);
  Files files = make_files(the_case.random);
  const size_t n_changes = the_case.random.below(4);
  for (size_t i = 0; i < n_changes && !files.empty(); ++i) mutate_file(files, the_case.random);
  remove_folder();
  fs::create_directories(folder + "/1_Pooling");
  for (const File& file : files) {
    if (!write_file(folder + "/" + file.name, file.bytes.data(), file.bytes.size()))
      the_case.violated("cannot write " + file.name);
  }
  const inlay_load_params params = small_params(the_case.random);
  if (the_case.random.one_in(5)) look_at_folder(host, params);
  inlay_engine* engine = load_file(host, folder, params);
  const bool accepted = engine != nullptr;
  use_and_free(host, engine);
  return accepted ? Outcome::accepted : Outcome::refused;
}

}  // namespace

const Generator kFolders = {
    "folders", "mutated Hugging Face folders, and engines of those that load", 300, 20, read_seeds, run, remove_folder};

}  // namespace inlay::abuse
