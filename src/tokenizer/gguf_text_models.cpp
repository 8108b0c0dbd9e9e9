#include "src/tokenizer/gguf_text_models.h"

#include <algorithm>
#include <functional>

#include "src/base/format.h"
#include "src/formats/base64.h"
#include "src/formats/json.h"
#include "src/formats/text.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens", kTypes = "tokenizer.ggml.token_type",
                           kScores = "tokenizer.ggml.scores", kCharsmap = "tokenizer.ggml.precompiled_charsmap";

// The numbers of tokenizer.ggml.token_type.
enum StoredKind { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

class Writer {
 public:
  Writer(const Metadata& metadata, int32_t n_rows) : metadata_(metadata), n_rows_(n_rows) {}

  Status read() {
    INLAY_ASSIGN(tokens_, metadata_.string_array(kTokens));
    INLAY_ASSIGN(kinds_, metadata_.i32_array(kTypes));
    if (tokens_.empty()) return error(Code::format, "%s has no tokens", kTokens.data());
    if (!kinds_.empty() && kinds_.size() != tokens_.size()) {
      return error(Code::format, "%s has %zu entries, %s has %zu", kTypes.data(), kinds_.size(), kTokens.data(),
                   tokens_.size());
    }
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (!is_valid_utf8(tokens_[i]))
        return error(Code::format, "%s: token %zu, %s, is not UTF-8", kTokens.data(), i, quote(tokens_[i]).c_str());
    }
    return read_ends();
  }

  std::string added_tokens(const std::function<std::string(std::string_view)>& text) const {
    std::string out = "\"added_tokens\": [";
    bool is_first = true;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const int32_t kind = kind_of(i);
      if (kind != kControl && kind != kUnknown && kind != kUserDefined) continue;
      append_format(out, "%s{\"id\": %zu, \"special\": %s, \"content\": ", is_first ? "" : ", ", i,
                    kind == kUserDefined ? "false" : "true");
      out += json_string(text(tokens_[i])) + "}";
      is_first = false;
    }
    return out + "]";
  }

  // The id that tokenizer.ggml.NAME_token_id names, or the first of a kind; -1 if there is none.
  Result<int64_t> id_of(const char* name, int32_t kind = 0) {
    const auto n = static_cast<int32_t>(tokens_.size());  // these are named by their texts
    INLAY_ASSIGN(const SpecialId special, read_special_id(metadata_, name, n, remarks_));
    if (special.id >= 0) return special.id;
    for (size_t i = 0; kind != 0 && i < tokens_.size(); ++i) {
      if (kind_of(i) == kind) return static_cast<int64_t>(i);
    }
    return -1;
  }

  // The template of what is set around a text: [first] text [last], each left out if negative.
  std::string post_processor(int64_t first, int64_t last) const {
    std::string parts, specials;
    const auto add_special = [&](int64_t id) {
      const std::string name = json_string(tokens_[static_cast<size_t>(id)]);
      parts += "{\"SpecialToken\": {\"id\": " + name + ", \"type_id\": 0}}";
      if (specials.find(name + ":") == std::string::npos)
        append_format(specials, "%s%s: {\"id\": %s, \"ids\": [%lld], \"tokens\": [%s]}", specials.empty() ? "" : ", ",
                      name.c_str(), name.c_str(), static_cast<long long>(id), name.c_str());
    };
    if (first >= 0) add_special(first), parts += ", ";
    parts += "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}";
    if (last >= 0) parts += ", ", add_special(last);
    return "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [" + parts +
           "], \"pair\": [], \"special_tokens\": {" + specials + "}}";
  }

  // What all the models' files say beside their tokens.
  TokenizerFiles files() {
    return {.end_ids = {ends_.ids.begin(), ends_.ids.end()},
            .name = "tokenizer.ggml",
            .end_ids_name = {},
            .n_rows = n_rows_,
            .remarks = std::move(remarks_)};
  }

  // tokenizer_config.json
  std::string config(int64_t bos, int64_t eos) const {
    std::string out = "{";
    if (bos >= 0) out += "\"bos_token\": " + json_string(tokens_[static_cast<size_t>(bos)]);
    if (eos >= 0) out += (bos >= 0 ? ", " : "") + ("\"eos_token\": " + json_string(tokens_[static_cast<size_t>(eos)]));
    return out + "}";
  }

  bool has(const char* name) const { return metadata_.find("tokenizer.ggml." + std::string(name) + "_token_id"); }
  int32_t kind_of(size_t i) const { return kinds_.empty() ? static_cast<int32_t>(kNormal) : kinds_[i]; }
  std::span<const std::string_view> tokens() const { return tokens_; }

 private:
  Status read_ends() {
    std::vector<TokenKind> kinds;
    for (size_t i = 0; i < tokens_.size(); ++i) kinds.push_back(token_kind(kind_of(i)));
    kinds.resize(std::max(kinds.size(), static_cast<size_t>(n_rows_)), TokenKind::unused);
    INLAY_ASSIGN(ends_, read_gguf_ends(metadata_, tokens_, kinds, remarks_));
    if (!ends_.made_control.empty()) kinds_.resize(tokens_.size(), kNormal);
    for (const int32_t id : ends_.made_control) kinds_[static_cast<size_t>(id)] = kControl;
    return {};
  }

  static TokenKind token_kind(int32_t stored) {
    return stored == kUnknown       ? TokenKind::unknown
           : stored == kControl     ? TokenKind::control
           : stored == kUserDefined ? TokenKind::user_defined
           : stored == kUnused      ? TokenKind::unused
           : stored == kByte        ? TokenKind::byte
                                    : TokenKind::normal;
  }

  const Metadata& metadata_;
  const int32_t n_rows_;
  std::span<const std::string_view> tokens_;
  std::vector<int32_t> kinds_;
  GgufEnds ends_;
  std::vector<std::string> remarks_;
};

Result<std::string> charsmap_of(const Metadata& metadata) {
  const MetaValue* value = metadata.find(kCharsmap);
  if (!value) return std::string();
  const bool are_bytes =
      value->type == MetaType::array && (value->element_type == MetaType::u8 || value->element_type == MetaType::i8);
  if (!are_bytes) return error(Code::format, "%s is no array of bytes", kCharsmap.data());
  return std::string(reinterpret_cast<const char*>(value->data), value->count);
}

// In the order of SentencePiece: the compiled rules, then white space.
Result<std::string> unigram_normalizer(const Metadata& metadata) {
  std::string steps;
  INLAY_ASSIGN(const std::string map, charsmap_of(metadata));
  if (!map.empty()) steps = R"({"type": "Precompiled", "precompiled_charsmap": ")" + encode_base64(map) + "\"}";
  INLAY_ASSIGN(const bool trims, metadata.bool_or("tokenizer.ggml.remove_extra_whitespaces", false));
  if (trims) {
    steps += std::string(steps.empty() ? "" : ", ") +
             R"({"type": "Strip", "strip_left": true, "strip_right": true}, )" +
             R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})";
  }
  return R"("normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}";
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> read_gguf_unigram(const Metadata& metadata, int32_t n_rows) {
  Writer writer(metadata, n_rows);
  INLAY_TRY(writer.read());
  INLAY_ASSIGN(const std::vector<float> scores, metadata.f32_array(kScores));
  if (scores.size() != writer.tokens().size()) {
    return error(Code::format, "%s has %zu entries, %s has %zu", kScores.data(), scores.size(), kTokens.data(),
                 writer.tokens().size());
  }
  INLAY_ASSIGN(const bool prefixes, metadata.bool_or("tokenizer.ggml.add_space_prefix", true));
  INLAY_ASSIGN(const bool adds_bos, metadata.bool_or("tokenizer.ggml.add_bos_token", false));
  INLAY_ASSIGN(const bool adds_eos, metadata.bool_or("tokenizer.ggml.add_eos_token", true));
  INLAY_ASSIGN(const int64_t unknown, writer.id_of("unknown", kUnknown));
  INLAY_ASSIGN(const int64_t bos, writer.id_of("bos"));
  INLAY_ASSIGN(const int64_t eos, writer.id_of("eos"));
  INLAY_ASSIGN(const std::string normalizer, unigram_normalizer(metadata));
  std::string vocabulary;
  bool has_bytes = false;
  for (size_t i = 0; i < scores.size(); ++i) {
    vocabulary += (i == 0 ? "[" : ", [") + json_string(writer.tokens()[i]);
    append_format(vocabulary, ", %.17g]", static_cast<double>(scores[i]));  // exactly: ties stay ties
    has_bytes = has_bytes || writer.kind_of(i) == kByte;
  }
  TokenizerFiles files = writer.files();
  const char* scheme = prefixes ? "always" : "never";
  std::string metaspace;
  append_format(metaspace, R"({"type": "Metaspace", "replacement": "%s", "prepend_scheme": "%s", "split": true})",
                kSpaceSign.data(), scheme);
  const std::string decoder =
      has_bytes ? R"({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, )" + metaspace + "]}" : metaspace;
  files.tokenizer = "{" + writer.added_tokens([](std::string_view text) { return std::string(text); }) + ", " +
                    normalizer + R"(, "pre_tokenizer": )" + metaspace + R"(, "decoder": )" + decoder + ", " +
                    writer.post_processor(adds_bos ? bos : -1, adds_eos ? eos : -1) +
                    R"(, "model": {"type": "Unigram", )";
  append_format(files.tokenizer, R"("unk_id": %s, "byte_fallback": %s, "vocab": [)",
                unknown < 0 ? "null" : std::to_string(unknown).c_str(), has_bytes ? "true" : "false");
  files.tokenizer += vocabulary + "]}}";
  files.config = writer.config(bos, eos);
  return read_tokenizer_json(std::move(files));
}

Result<std::unique_ptr<Tokenizer>> read_gguf_word_piece(const Metadata& metadata, int32_t n_rows) {
  Writer writer(metadata, n_rows);
  INLAY_TRY(writer.read());
  const auto is_name = [](std::string_view text) {
    return text.size() > 1 && text.front() == '[' && text.back() == ']';
  };
  const auto text_of = [&](std::string_view token) {
    if (is_name(token)) return std::string(token);
    return token.starts_with(kSpaceSign) ? std::string(token.substr(kSpaceSign.size())) : "##" + std::string(token);
  };
  INLAY_ASSIGN(const int64_t unknown, writer.id_of("unknown", kUnknown));
  INLAY_ASSIGN(const int64_t cls, writer.id_of(writer.has("cls") ? "cls" : "bos"));
  INLAY_ASSIGN(const int64_t sep, writer.id_of("seperator"));  // spelt so in files
  if (unknown < 0) return error(Code::format, "%s names no unknown token", kTypes.data());
  std::string vocabulary;
  for (size_t i = 0; i < writer.tokens().size(); ++i) {
    vocabulary += (i == 0 ? "" : ", ") + json_string(text_of(writer.tokens()[i]));
    append_format(vocabulary, ": %zu", i);
  }
  TokenizerFiles files = writer.files();
  files.tokenizer = "{" + writer.added_tokens(text_of) +
                    R"(, "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, )"
                    R"("strip_accents": true, "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"}, )"
                    R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false}, )" +
                    writer.post_processor(cls, sep) + R"(, "model": {"type": "WordPiece", "unk_token": )" +
                    json_string(text_of(writer.tokens()[static_cast<size_t>(unknown)])) +
                    R"(, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {)" + vocabulary +
                    "}}}";
  files.config = writer.config(cls, sep);
  return read_tokenizer_json(std::move(files));
}

}  // namespace inlay
