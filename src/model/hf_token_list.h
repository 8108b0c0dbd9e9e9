// What hf_vocabulary.cpp and hf_templates.cpp read of a folder's files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/formats/json.h"
#include "src/formats/text.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_vocabulary.h"

namespace inlay {

inline constexpr uint64_t kMaxTokens = 1 << 24;

enum GgufTokenType : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
inline constexpr std::string_view kWordBegins = "\xE2\x96\x81";  // U+2581

inline Result<std::optional<JsonDocument>> read_if_there(const std::string& path) {
  if (!file_exists(path)) return std::optional<JsonDocument>();
  INLAY_ASSIGN(JsonDocument document, read_json_file(path));
  return std::optional<JsonDocument>(std::move(document));
}

inline std::optional<JsonValue> member(const std::optional<JsonDocument>& document, std::string_view key) {
  if (!document) return std::nullopt;
  const auto value = document->root().find(key);
  return value && !value->is_null() ? value : std::nullopt;
}

// Ids under a key of generation_config.json, else of config.json: a number or several.
class ConfiguredIds {
 public:
  static Result<ConfiguredIds> open(const std::string& folder) {
    ConfiguredIds out;
    INLAY_ASSIGN(out.generation_, read_if_there(folder + "/generation_config.json"));
    INLAY_ASSIGN(out.config_, read_if_there(folder + "/config.json"));
    return out;
  }

  Result<HfConfiguredIds> ids(const char* key) const {
    auto value = member(generation_, key);
    if (!value) value = member(config_, key);
    if (const auto text = member(config_, "text_config"); !value && text) value = text->find(key);  // of text and pictures
    HfConfiguredIds out;
    if (!value || value->is_null()) return out;
    out.where = value->where();
    const auto add = [&](const JsonValue& id) -> Status {
      if (id.is_null()) return {};
      const auto large = id.as_u64();
      if (large.ok() && *large > INT64_MAX) {
        out.ids.push_back(INT64_MAX);
        return {};
      }
      INLAY_ASSIGN(const int64_t n, id.as_i64());
      out.ids.push_back(n);
      return {};
    };
    if (!value->is_array()) {
      INLAY_TRY(add(*value));
      return out;
    }
    INLAY_ASSIGN(const JsonElements elements, value->as_array());
    for (const JsonValue id : elements) INLAY_TRY(add(id));
    return out;
  }

 private:
  std::optional<JsonDocument> generation_, config_;
};

// The tokens of tokenizer.json by id, with their types.
class TokenList {
 public:
  Status read(const JsonValue& root, uint64_t n_vocab) {
    INLAY_ASSIGN(const JsonValue model, root.get("model"));
    INLAY_ASSIGN(const JsonValue vocab, model.get("vocab"));
    if (vocab.is_array()) {  // Unigram's: texts with scores, by id
      for (const JsonValue token : vocab.elements()) {
        if (!token.is_array() || token.size() != 2) return token.expected("a token and its score");
        auto at = token.elements().begin();
        INLAY_ASSIGN(const std::string_view text, (*at).as_string());
        INLAY_ASSIGN(const double score, (*++at).as_f64());
        INLAY_TRY(put(text, texts_.size(), kNormal, token));
        scores_.push_back(static_cast<float>(score));
      }
    } else {
      INLAY_ASSIGN(const JsonMembers members, vocab.as_object());
      for (const JsonMember& token : members) INLAY_TRY(put(token.key, token.value, kNormal));
    }
    if (const auto added = root.find("added_tokens")) {
      INLAY_ASSIGN(const JsonElements tokens, added->as_array());
      for (const JsonValue token : tokens) {
        INLAY_ASSIGN(const JsonValue id, token.get("id"));
        INLAY_ASSIGN(const JsonValue content, token.get("content"));
        INLAY_ASSIGN(const std::string_view text, content.as_string());
        INLAY_ASSIGN(const bool special, token.bool_or("special", false));
        INLAY_TRY(put(text, id, special ? kControl : kUserDefined));
      }
    }
    fill(n_vocab);
    return {};
  }

  int32_t find(std::string_view text) const {
    const auto at = ids_.find(text);
    return at == ids_.end() ? -1 : at->second;
  }
  void set_type(int32_t id, GgufTokenType type) { types_[static_cast<size_t>(id)] = type; }
  const std::vector<float>& scores() const { return scores_; }  // of Unigram's tokens that are not added
  const std::vector<std::string_view>& texts() const { return texts_; }
  const std::vector<int32_t>& types() const { return types_; }

 private:
  Status put(std::string_view text, const JsonValue& id_value, GgufTokenType type) {
    INLAY_ASSIGN(const uint64_t id, id_value.as_u64());
    return put(text, id, type, id_value);
  }

  Status put(std::string_view text, uint64_t id, GgufTokenType type, const JsonValue& id_value) {
    if (id >= kMaxTokens) return id_value.expected("an id below 16777216");
    if (id >= texts_.size()) texts_.resize(id + 1), types_.resize(id + 1, kUnused);
    if (types_[id] != kUnused && texts_[id] != text) {
      return error(Code::format, "%s: id %llu is that of %s and of %s", id_value.where().c_str(),
                   static_cast<unsigned long long>(id), quote(texts_[id]).c_str(), quote(text).c_str());
    }
    texts_[id] = text;
    types_[id] = type;
    ids_[text] = static_cast<int32_t>(id);
    return {};
  }

  // Ids without a token get a name of their own: loaders want each name once. There may be more tokens than rows.
  void fill(uint64_t n_vocab) {
    texts_.resize(std::max<size_t>(texts_.size(), n_vocab));
    types_.resize(texts_.size(), kUnused);
    names_.reserve(texts_.size());  // views of them stay
    for (size_t id = 0; id < texts_.size(); ++id) {
      if (types_[id] != kUnused) continue;
      texts_[id] = names_.emplace_back("[PAD" + std::to_string(id) + "]");
    }
  }

  std::vector<std::string_view> texts_;
  std::vector<int32_t> types_;
  std::vector<float> scores_;
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, int32_t> ids_;
};

}  // namespace inlay
