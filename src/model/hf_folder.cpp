#include "src/model/hf_folder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "src/base/files.h"
#include "src/formats/gguf.h"
#include "src/formats/other_files.h"
#include "src/formats/safetensors.h"
#include "src/formats/text.h"
#include "src/model/hf_config.h"
#include "src/model/hf_experts.h"
#include "src/model/hf_packed.h"
#include "src/model/hf_pooling.h"
#include "src/model/hf_vocabulary.h"
#include "src/model/known_keys.h"

namespace inlay {
namespace {

constexpr const char *kConfig = "config.json", *kWeights = "model.safetensors",
                     *kIndex = "model.safetensors.index.json", *kTokenizer = "tokenizer.json";
constexpr std::string_view kSafetensors = ".safetensors", kIndexSuffix = ".safetensors.index.json";
constexpr uint64_t kMaxTextBytes = uint64_t{1} << 30;
constexpr size_t kMaxShards = 10000;
constexpr std::string_view kSinks = ".self_attn.sinks";  // the one tensor without ".weight" or ".bias"
constexpr std::string_view kBias = ".bias";
constexpr size_t kShownFiles = 3;                        // in a message
constexpr size_t kLongerName = 16;                       // that a tensor may get, and there may be two for one
constexpr std::string_view kOutputTensor = "lm_head.weight", kEmbedding = "embed_tokens.weight", kOfText = "language_model.";
constexpr uint64_t kComparedAtOnce = 1 << 20;

std::string in_folder(const std::string& folder, std::string_view name) {
  const bool needs_none = folder.empty() || folder.ends_with('/');
  return folder + (needs_none ? "" : "/") + std::string(name);
}

struct StoredType {
  const char* name;
  DType dtype;
};
constexpr StoredType kStoredTypes[] = {{"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16}};

struct Shard {
  std::string file;  // its name in the folder
  std::unique_ptr<ByteSource> source;
  std::vector<SafetensorsEntry> entries;
};

Result<Shard> open_shard(const std::string& folder, const std::string& file) {
  Shard shard{.file = file};
  Result<std::unique_ptr<ByteSource>> source = open_file(in_folder(folder, file));
  if (source.status().code == Code::not_found) {
    Status absent = std::move(source).status();
    absent.message += "; " + std::string(kIndex) + " names it, so it has to be in the folder";
    return absent;
  }
  INLAY_ASSIGN(shard.source, std::move(source));
  INLAY_ASSIGN(shard.entries, read_safetensors(*shard.source));
  return shard;
}

// The files that the index names, checked against it.
class ShardIndex {
 public:
  explicit ShardIndex(const std::string& folder) : folder_(folder) {}

  Result<std::vector<Shard>> open() {
    INLAY_ASSIGN(const JsonDocument index, read_json_file(in_folder(folder_, kIndex)));
    INLAY_ASSIGN(const JsonValue map, index.root().get("weight_map"));
    INLAY_ASSIGN(const JsonMembers members, map.as_object());
    std::vector<std::pair<std::string_view, std::string_view>> listed;  // file, tensor
    for (const JsonMember& member : members) {
      INLAY_ASSIGN(const std::string_view file, member.value.as_string());
      if (file.empty() || file.find_first_of(std::string_view("/\\:\0", 4)) != file.npos ||
          !file.ends_with(kSafetensors)) {
        return error(Code::format, "%s is %s, expected the name of a .safetensors file in the same folder",
                     member.value.where().c_str(), quote(file).c_str());
      }
      listed.emplace_back(file, member.key);
    }
    if (listed.empty()) return map.expected("an object that names tensors");
    std::sort(listed.begin(), listed.end());
    std::vector<Shard> shards;
    for (auto begin = listed.begin(); begin != listed.end();) {
      const auto end = std::find_if(begin, listed.end(), [&](const auto& l) { return l.first != begin->first; });
      if (shards.size() == kMaxShards)
        return error(Code::unsupported, "%s names more than %zu files", map.where().c_str(), kMaxShards);
      INLAY_ASSIGN(Shard shard, open_shard(folder_, std::string(begin->first)));
      INLAY_TRY(check(shard, {begin, end}, map));
      shards.push_back(std::move(shard));
      begin = end;
    }
    return shards;
  }

 private:
  Status check(const Shard& shard, std::span<const std::pair<std::string_view, std::string_view>> listed,
               const JsonValue& map) const {
    std::vector<std::string_view> names;
    for (const SafetensorsEntry& entry : shard.entries) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    for (const auto& [file, tensor] : listed) {
      if (std::binary_search(names.begin(), names.end(), tensor)) continue;
      return error(Code::format, "%s: tensor %s is said to be in %s, which has no such tensor", map.where().c_str(),
                   quote(tensor).c_str(), shard.file.c_str());
    }
    return {};
  }

  const std::string& folder_;
};

// The names of the GGUF files in a folder, with what to do about them; empty if there are none.
std::string gguf_files_in(const std::string& folder) {
  std::vector<std::string> names;
  if (const Result<std::vector<std::string>> all = names_in(folder); all.ok()) {
    std::ranges::copy_if(*all, std::back_inserter(names), [](const std::string& name) { return name.ends_with(".gguf"); });
  }
  if (names.empty()) return {};
  if (names.size() == 1) return "it holds " + names[0] + ": give the path of that file";
  std::ranges::sort(names);
  const size_t n_shown = std::min(names.size(), kShownFiles);
  std::string out = "it holds ";
  for (size_t i = 0; i < n_shown; ++i) out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (n_shown < names.size()) out += " and " + std::to_string(names.size() - n_shown) + " more GGUF files";
  return out + ": give the path of one of them";
}

Status without_config(const std::string& folder, Status status) {
  const std::string files = gguf_files_in(folder);
  status.message = folder + ": the folder has no config.json" +
                   (files.empty() ? " and no GGUF file: a model is a GGUF file, or a folder with config.json and .safetensors files"
                                  : ", but " + files);
  return status;
}

Result<JsonDocument> read_config(const std::string& folder) {
  Result<JsonDocument> document = read_json_file(in_folder(folder, kConfig));
  if (document.status().code == Code::not_found) return without_config(folder, std::move(document).status());
  return document;
}

Result<std::vector<Shard>> open_shards(const std::string& folder) {
  if (!file_exists(in_folder(folder, kWeights))) {
    if (file_exists(in_folder(folder, kIndex))) return ShardIndex(folder).open();
    const bool pickled = file_exists(in_folder(folder, "pytorch_model.bin")) ||
                         file_exists(in_folder(folder, "pytorch_model.bin.index.json"));
    const std::string files = gguf_files_in(folder);
    return error(pickled ? Code::unsupported : Code::not_found, "%s: the folder has neither %s nor %s%s%s%s", folder.c_str(),
                 kWeights, kIndex, pickled ? "; pytorch_model.bin, a pickle, is not supported" : "", files.empty() ? "" : ", but ",
                 files.c_str());
  }
  std::vector<Shard> shards;
  INLAY_ASSIGN(Shard shard, open_shard(folder, kWeights));
  shards.push_back(std::move(shard));
  return shards;
}

// Of what turns pictures into embeddings.
bool is_of_pictures(std::string_view name) {
  if (name.starts_with("model.")) name.remove_prefix(6);
  return name.starts_with("vision_tower.") || name.starts_with("multi_modal_projector.");
}

// Buffers that versions saved beside the weights, which follow from config.json; scales of quantized activations and caches; and numbers of
// a loss that compared vectors in training.
constexpr std::string_view kUnreadSuffixes[] = {".rotary_emb.inv_freq",   ".rotary_emb.original_inv_freq", ".rotary_emb.cos_cached",
                                                ".rotary_emb.sin_cached", ".position_ids",                 ".self_attn.masked_bias"};
constexpr std::string_view kUnreadNames[] = {"logit_bias", "logit_scale", "position_ids"};

bool is_unread(std::string_view name) {
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  return std::ranges::find(kUnreadNames, name) != std::end(kUnreadNames) || std::ranges::any_of(kUnreadSuffixes, ends) || hf_is_of_activations(name);
}

Result<TensorEntry> convert(const SafetensorsEntry& from, const Shard& shard, uint32_t source) {
  const std::string path(shard.source->name());
  INLAY_ASSIGN(const DType dtype, hf_stored_type(from, *shard.source));
  TensorEntry out;
  if (from.shape.empty() || from.shape.size() > out.shape.size() || from.n_bytes == 0) {
    return error(Code::unsupported, "%s: tensor %s has %zu dimensions and %llu bytes, expected 1 to 4 and some",
                 path.c_str(), quote(from.name).c_str(), from.shape.size(),
                 static_cast<unsigned long long>(from.n_bytes));
  }
  out.dtype = dtype;
  out.rank = static_cast<int32_t>(from.shape.size());
  out.shape.fill(1);
  std::copy(from.shape.begin(), from.shape.end(), out.shape.begin());
  out.source = source;
  out.offset = from.offset;
  out.n_bytes = from.n_bytes;
  return out;
}

class FolderReader {
 public:
  FolderReader(const std::string& folder, HfConfig config, std::vector<Shard> shards)
      : folder_(folder), config_(std::move(config)), shards_(std::move(shards)), experts_(*config_.family) {}

  Result<Checkpoint> read() {
    find_prefix();
    INLAY_TRY(unpack());
    INLAY_TRY(check_biases());
    INLAY_TRY(settle_output());
    reserve_names();
    for (size_t i = 0; i < shards_.size(); ++i) INLAY_TRY(add_shard(static_cast<uint32_t>(i)));
    for (HfMatrix& matrix : packed_.matrices) add_matrix(matrix);
    INLAY_TRY(add_experts());
    if (!config_.tied_embeddings && !has_output_) {
      return error(Code::format, "%s: the tensor %s is missing, and tie_word_embeddings of config.json is not true",
                   folder_.c_str(), std::string(kOutputTensor).c_str());
    }
    add_rope_factors();
    Checkpoint checkpoint(config_.metadata.build(in_folder(folder_, kConfig)), std::move(tensors_), std::move(sources_),
                          {names_});
    if (const TensorEntry* twice = checkpoint.duplicate()) {
      return error(Code::format, "%s: tensor %s stands in more than one file", folder_.c_str(),
                   quote(twice->name).c_str());
    }
    checkpoint.set_conventions(
        {.model_path = folder_,
         .tensor_name = [family = config_.family,
                         prefix = prefix_](std::string_view name) { return hf_tensor_name(*family, prefix, name); },
         .halved_rope = true,
         .added_to_norms = config_.family->added_to_norms,
         .warnings = std::move(config_.warnings)});
    return checkpoint;
  }

 private:
  // Models saved without their output matrix have no "model." before their names; models of text and pictures have more.
  void find_prefix() {
    const auto has = [&](const std::string& name) {
      for (const Shard& shard : shards_) {
        for (const SafetensorsEntry& entry : shard.entries) {
          if (entry.name == name) return true;
        }
      }
      return false;
    };
    prefix_ = "model.";
    for (const char* prefix : {"", "language_model.model.", "model.language_model."}) {
      if (has(prefix + std::string(kEmbedding))) prefix_ = prefix;
    }
  }

  // A bias that config.json denies would change what transformers computes of this folder; one that is missing counts as zeros there too.
  Status check_biases() {
    const std::string layers = prefix_ + "layers.";
    std::vector<std::string_view> found;
    size_t n_seen = 0;
    for (const Shard& shard : shards_) {
      for (const SafetensorsEntry& entry : shard.entries) {
        if (!packed_.taken[n_seen++] && entry.name.starts_with(layers) && entry.name.ends_with(kBias)) found.push_back(entry.name);
      }
    }
    std::vector<std::pair<const HfBiasChoice*, std::string>> missing;
    for (const HfBiasChoice& choice : config_.biases) {
      for (const char* stem : choice.stems) {
        const auto name_in = [&](std::string_view layer) {
          return hf_tensor_name(*config_.family, prefix_, "blk." + std::string(layer) + "." + stem + std::string(kBias));
        };
        for (const std::string_view name : found) {
          const std::string_view rest = name.substr(layers.size());
          if (!choice.value && name == name_in(rest.substr(0, rest.find('.')))) return denied(choice, name);
        }
        const std::string first = name_in("0");
        if (!choice.value || !choice.key || !first.starts_with(prefix_) || std::ranges::find(found, first) != found.end()) continue;
        if (missing.empty() || std::string_view(missing.back().first->key) != choice.key) missing.emplace_back(&choice, "");
        missing.back().second += (missing.back().second.empty() ? "" : ", ") + first;
      }
    }
    for (const auto& [choice, names] : missing) {
      config_.warnings.push_back(folder_ + ": " + choice->key + " of config.json is " + (choice->given ? "true" : "not given, which means true") +
                                 ", and the folder does not have " + names + ": such biases count as 0");
    }
    return {};
  }

  Status denied(const HfBiasChoice& choice, std::string_view name) const {
    const std::string tensor = quote(name);
    if (!choice.key) {
      return error(Code::unsupported, "%s: models of model_type %s have no biases there, and transformers would leave out the tensor %s", folder_.c_str(),
                   config_.family->model_type, tensor.c_str());
    }
    return error(Code::unsupported, "%s: %s of config.json is %s, and transformers would leave out the tensor %s; with %s true it counts",
                 folder_.c_str(), choice.key, choice.given ? "false" : "not given, which means false", tensor.c_str(), choice.key);
  }

  bool is_head(std::string_view name) const {
    return name == kOutputTensor || (config_.has_pictures && name.starts_with(kOfText) && name.substr(kOfText.size()) == kOutputTensor);
  }

  // Where config.json ties the embedding and the head, and the folder has both: they are tied if they are equal, as in transformers.
  Status settle_output() {
    if (!config_.tied_embeddings) return {};
    const Shard *of_head = nullptr, *of_embedding = nullptr;
    const SafetensorsEntry *head = nullptr, *embedding = nullptr;
    size_t n_seen = 0;
    for (const Shard& shard : shards_) {
      for (const SafetensorsEntry& entry : shard.entries) {
        if (packed_.taken[n_seen++]) continue;
        if (is_head(entry.name)) of_head = &shard, head = &entry;
        if (entry.name == prefix_ + std::string(kEmbedding)) of_embedding = &shard, embedding = &entry;
      }
    }
    const auto is_packed = [&](std::string_view name) {
      return std::ranges::any_of(packed_.matrices, [&](const HfMatrix& matrix) { return matrix.name == name; });
    };
    if (!head && !is_packed(kOutputTensor)) return {};
    if (!embedding && !is_packed(prefix_ + std::string(kEmbedding))) return {};  // missing, which is told elsewhere
    if (head && embedding && head->dtype == embedding->dtype && head->shape == embedding->shape) {
      INLAY_ASSIGN(const bool equal, are_equal(*of_head->source, head->offset, *of_embedding->source, embedding->offset, head->n_bytes));
      if (equal) return {};
    }
    config_.tied_embeddings = false;
    config_.warnings.push_back(folder_ + ": lm_head.weight differs from the embedding and is used, although tie_word_embeddings of config.json ties the two");
    return {};
  }

  static Result<bool> are_equal(const ByteSource& a, uint64_t a_at, const ByteSource& b, uint64_t b_at, uint64_t n_bytes) {
    std::vector<std::byte> of_a(std::min(n_bytes, kComparedAtOnce)), of_b(of_a.size());
    for (uint64_t done = 0; done < n_bytes; done += of_a.size()) {
      const size_t n = std::min<uint64_t>(of_a.size(), n_bytes - done);
      INLAY_TRY(a.read(a_at + done, std::span(of_a).first(n)));
      INLAY_TRY(b.read(b_at + done, std::span(of_b).first(n)));
      if (std::memcmp(of_a.data(), of_b.data(), n) != 0) return false;
    }
    return true;
  }

  void reserve_names() {
    size_t n = 0;
    for (const auto& factors : config_.rope_factors) n += factors.first.size();
    for (const Shard& shard : shards_) {
      for (const SafetensorsEntry& entry : shard.entries) n += 2 * (entry.name.size() + kLongerName);
    }
    for (const HfMatrix& matrix : packed_.matrices) n += matrix.name.size();
    names_->reserve(n);
  }

  std::string_view keep(std::string_view name) {
    const size_t at = names_->size();
    const auto* data = reinterpret_cast<const std::byte*>(name.data());
    names_->insert(names_->end(), data, data + name.size());
    return {reinterpret_cast<const char*>(names_->data()) + at, name.size()};
  }

  Status add_shard(uint32_t index) {
    Shard& shard = shards_[index];
    for (const SafetensorsEntry& entry : shard.entries) {
      if (packed_.taken[n_seen_++]) continue;
      const bool is_output = is_head(entry.name);
      has_output_ = has_output_ || is_output;
      if (config_.has_pictures && is_of_pictures(entry.name)) continue;
      if (is_unread(entry.name) || (is_output && config_.tied_embeddings)) continue;
      if (experts_.takes(entry.name)) {
        experts_.add(entry, *shard.source);
        continue;
      }
      INLAY_ASSIGN(TensorEntry tensor, convert(entry, shard, index));
      tensor.name = keep(entry.name.ends_with(kSinks) ? entry.name + ".weight" : is_output ? std::string(kOutputTensor) : entry.name);
      tensors_.push_back(tensor);
    }
    sources_.push_back(std::move(shard.source));
    return {};
  }

  // What the quantized matrices consist of is no tensor of the checkpoint.
  Status unpack() {
    std::vector<HfStoredTensor> stored;
    for (const Shard& shard : shards_) {
      for (const SafetensorsEntry& entry : shard.entries) stored.push_back({&entry, shard.source.get()});
    }
    INLAY_ASSIGN(packed_, unpack_matrices(config_.quantization, stored));
    return {};
  }

  void add_matrix(HfMatrix& matrix) {
    has_output_ = has_output_ || matrix.name == kOutputTensor;
    tensors_.push_back({.name = keep(matrix.name),
                        .dtype = matrix.dtype,
                        .rank = 2,
                        .shape = {matrix.n_rows, matrix.n_cols, 1, 1},
                        .source = static_cast<uint32_t>(sources_.size()),
                        .n_bytes = matrix.source->size()});
    sources_.push_back(std::move(matrix.source));
  }

  Status add_experts() {
    INLAY_ASSIGN(StackedExperts stacked, experts_.build(folder_));
    for (StackedTensor& t : stacked.tensors) {
      t.entry.name = keep(t.name);
      t.entry.source = static_cast<uint32_t>(sources_.size());
      tensors_.push_back(t.entry);
    }
    if (stacked.source) sources_.push_back(std::move(stacked.source));
    return {};
  }

  // As tensors, which GGUF files have them in.
  void add_rope_factors() {
    for (const auto& [name, values] : config_.rope_factors) {
      const std::span factors = std::as_bytes(std::span(values));
      TensorEntry tensor;
      tensor.name = keep(name);
      tensor.dtype = DType::f32;
      tensor.rank = 1;
      tensor.shape = {static_cast<int64_t>(values.size()), 1, 1, 1};
      tensor.source = static_cast<uint32_t>(sources_.size());
      tensor.n_bytes = factors.size();
      tensors_.push_back(tensor);
      sources_.push_back(own_memory({factors.begin(), factors.end()}, in_folder(folder_, kConfig)));
    }
  }

  const std::string& folder_;
  HfConfig config_;
  std::vector<Shard> shards_;
  std::string prefix_;
  bool has_output_ = false;
  HfMatrices packed_;
  size_t n_seen_ = 0;  // of the tensors, in the order of packed_.taken
  ExpertStacker experts_;
  std::shared_ptr<std::vector<std::byte>> names_ = std::make_shared<std::vector<std::byte>>();
  std::vector<TensorEntry> tensors_;
  std::vector<std::unique_ptr<ByteSource>> sources_;
};

// Of the files beside config.json. Where one that counts cannot be read, its reader says so.
void add_key_warnings(const std::string& folder, std::vector<std::string>& out) {
  for (const KnownKeys& file : known_files()) {
    const std::string path = in_folder(folder, file.where);
    if (!file_exists(path)) continue;
    const auto document = read_json_file(path);
    if (!document.ok()) continue;
    for (std::string& line : key_warning(document->root(), unknown_keys(document->root(), file))) out.push_back(std::move(line));
  }
}

std::string folder_name(const std::string& folder) {
  const Result<std::string> path = full_path(folder);
  return path.ok() ? last_part(*path) : "";
}

}  // namespace

Result<DType> hf_stored_type(const SafetensorsEntry& entry, const ByteSource& source) {
  const auto* type = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                                  [&](const StoredType& t) { return entry.dtype == t.name; });
  if (type != std::end(kStoredTypes)) return type->dtype;
  return error(Code::unsupported, "%s: tensor %s has the dtype %s, expected F32, F16 or BF16",
               std::string(source.name()).c_str(), quote(entry.name).c_str(), entry.dtype.c_str());
}

bool file_exists(const std::string& path) {
  const Result<PathKind> kind = kind_of_path(path);
  // What the system does not show is taken as there: opening it says why.
  return !kind.ok() || *kind == PathKind::file;
}

Result<std::string> read_text_file(const std::string& path) {
  INLAY_ASSIGN(const std::unique_ptr<ByteSource> source, open_file(path));
  if (source->size() > kMaxTextBytes) {
    return error(Code::unsupported, "%s has %llu bytes, expected at most %llu", path.c_str(),
                 static_cast<unsigned long long>(source->size()), static_cast<unsigned long long>(kMaxTextBytes));
  }
  std::string text(static_cast<size_t>(source->size()), '\0');
  INLAY_TRY(source->read(0, std::as_writable_bytes(std::span(text))));
  if (const std::string known = what_else(std::as_bytes(std::span(text)), ExpectedFile::text); !known.empty())
    return error(Code::format, "%s: %s", path.c_str(), known.c_str());
  return text;
}

Result<JsonDocument> read_json_file(const std::string& path) {
  INLAY_ASSIGN(std::string text, read_text_file(path));
  return JsonDocument::parse(std::move(text), path);
}

Result<std::string> hf_folder_of(const std::string& path) {
  INLAY_ASSIGN(const PathKind kind, kind_of_path(path));
  if (kind == PathKind::folder) return path;
  const std::string name = last_part(path), folder = folder_part(path);
  if (name != kConfig && !name.ends_with(kSafetensors) && !name.ends_with(kIndexSuffix)) return std::string();
  return folder.empty() ? "." : folder;
}

Result<Checkpoint> open_hf_folder(const std::string& folder) {
  INLAY_ASSIGN(const JsonDocument document, read_config(folder));
  INLAY_ASSIGN(HfConfig config, read_hf_config(document.root(), folder_name(folder)));
  add_key_warnings(folder, config.warnings);
  INLAY_TRY(add_hf_templates(folder, config.metadata));
  INLAY_TRY(add_hf_pooling(folder, config.family->arch, config.has_pictures ? *document.root().find("text_config") : document.root(), config.metadata));
  const bool has_tokenizer = file_exists(in_folder(folder, kTokenizer));
  if (!has_tokenizer) config.metadata.text("tokenizer.ggml.model", "no_vocab");
  INLAY_ASSIGN(std::vector<Shard> shards, open_shards(folder));
  INLAY_ASSIGN(Checkpoint checkpoint, FolderReader(folder, std::move(config), std::move(shards)).read());
  FileConventions conventions = checkpoint.conventions();
  if (has_tokenizer) conventions.tokenizer_folder = folder;
  checkpoint.set_conventions(std::move(conventions));
  return checkpoint;
}

Result<Checkpoint> open_checkpoint(const std::string& path) {
  INLAY_ASSIGN(const std::string folder, hf_folder_of(path));
  return folder.empty() ? open_gguf(path) : open_hf_folder(folder);
}

}  // namespace inlay
