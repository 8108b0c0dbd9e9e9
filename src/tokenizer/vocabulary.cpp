#include "src/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/tokenizer/byte_alphabet.h"
#include "src/tokenizer/token_decoder.h"

namespace inlay {
namespace {

constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, which SPM vocabularies write for a space

// Names under which models end a turn or a text, whatever the type that a converter gave them.
constexpr std::string_view kEndNames[] = {
    "</s>",
    "<eos>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|calls|>",
    "<|flush|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
};
// Fill-in-the-middle models end a completion with these.
constexpr std::string_view kFillEndNames[] = {
    "<|fim_pad|>",   "<fim-pad>",  "<fim_pad>", "<PAD>",      "[PAD]",        "<|fim_repo|>",
    "<|repo_name|>", "<fim-repo>", "<REPO>",    "<reponame>", "<|file_sep|>",
};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class VocabularyReader {
 public:
  VocabularyReader(const Metadata& metadata, TokenizerModel model) : metadata_(metadata), model_(model) {}

  Result<Vocabulary> read(bool adds_bos) {
    INLAY_TRY(read_tokens());
    INLAY_TRY(read_kinds());
    INLAY_TRY(read_scores());
    INLAY_TRY(make_pieces());
    INLAY_TRY(read_special_ids());
    mark_ends_by_name(v_, texts_);
    INLAY_TRY(read_flags(adds_bos));
    return std::move(v_);
  }

 private:
  Status read_tokens() {
    if (metadata_.find(kTokensKey) == nullptr) return error(Code::format, "%s is missing", kTokensKey.data());
    INLAY_ASSIGN(texts_, metadata_.string_array(kTokensKey));
    if (texts_.empty()) return error(Code::format, "%s is empty", kTokensKey.data());
    if (texts_.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      return error(Code::format, "%s has %zu tokens, more than ids can count", kTokensKey.data(), texts_.size());
    return {};
  }

  Status check_count(std::string_view key, size_t count) const {
    if (count == texts_.size()) return {};
    return error(Code::format, "%s has %zu elements, but %s has %zu", key.data(), count, kTokensKey.data(),
                 texts_.size());
  }

  Status read_kinds() {
    v_.kinds.assign(texts_.size(), TokenKind::normal);
    if (metadata_.find(kTypesKey) == nullptr) return {};
    // GGUF numbers the types from 1; 0 says that the converter did not know
    constexpr TokenKind kKinds[] = {TokenKind::normal,       TokenKind::normal, TokenKind::unknown, TokenKind::control,
                                    TokenKind::user_defined, TokenKind::unused, TokenKind::byte};
    INLAY_ASSIGN(const std::vector<int32_t> types, metadata_.i32_array(kTypesKey));
    INLAY_TRY(check_count(kTypesKey, types.size()));
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] < 0 || types[i] >= static_cast<int32_t>(std::size(kKinds)))
        return error(Code::format, "%s[%zu] is %d, not a token type", kTypesKey.data(), i, types[i]);
      v_.kinds[i] = kKinds[types[i]];
    }
    return {};
  }

  Status read_scores() {
    if (metadata_.find(kScoresKey) == nullptr) {
      if (model_ == TokenizerModel::spm) return error(Code::format, "%s is missing", kScoresKey.data());
      return {};
    }
    INLAY_ASSIGN(v_.scores, metadata_.f32_array(kScoresKey));
    INLAY_TRY(check_count(kScoresKey, v_.scores.size()));
    for (size_t i = 0; i < v_.scores.size(); ++i)
      if (std::isnan(v_.scores[i])) return error(Code::format, "%s[%zu] is not a number", kScoresKey.data(), i);
    return {};
  }

  Status make_pieces() {
    uint64_t total = 0;
    for (const std::string_view text : texts_) total += text.size();
    if (total > std::numeric_limits<uint32_t>::max())
      return error(Code::format, "%s has %llu bytes of text, the limit is 4 GiB", kTokensKey.data(),
                   static_cast<unsigned long long>(total));
    v_.bytes.reserve(total);
    v_.offsets.reserve(texts_.size() + 1);
    v_.matchable.assign(texts_.size(), 0);
    for (size_t i = 0; i < texts_.size(); ++i) {
      v_.offsets.push_back(static_cast<uint32_t>(v_.bytes.size()));
      INLAY_TRY(append_piece(i));
    }
    v_.offsets.push_back(static_cast<uint32_t>(v_.bytes.size()));
    return {};
  }

  // A piece is never longer than its token's text.
  Status append_piece(size_t i) {
    const std::string_view text = texts_[i];
    switch (v_.kinds[i]) {
      case TokenKind::unknown:
      case TokenKind::control:
        v_.bytes.append(text);
        return {};
      case TokenKind::unused:
        return {};
      case TokenKind::user_defined:
        v_.bytes.append(text);
        v_.matchable[i] = !text.empty() && (model_ == TokenizerModel::bpe || text.find(' ') == text.npos);
        return {};
      case TokenKind::byte:
        if (model_ == TokenizerModel::spm) return append_byte(i);
        break;
      case TokenKind::normal:
        break;
    }
    v_.matchable[i] = append_normal(text) && !text.empty();
    return {};
  }

  // False if no text can give the token.
  bool append_normal(std::string_view text) {
    if (model_ == TokenizerModel::bpe) {
      if (append_bytes_of(text, v_.bytes)) return true;
      v_.bytes.append(text);
      return false;
    }
    const bool has_plain_space = text.find(' ') != text.npos;  // a text's spaces are all U+2581 when it is matched
    while (!text.empty()) {
      const size_t n = std::min(text.find(kSpace), text.size());
      v_.bytes.append(text.substr(0, n));
      if (n == text.size()) break;
      v_.bytes.push_back(' ');
      text.remove_prefix(n + kSpace.size());
    }
    return !has_plain_space;
  }

  // <0xAB>
  Status append_byte(size_t i) {
    const int byte = byte_of_token(texts_[i]);
    if (byte < 0)
      return error(Code::format, "%s[%zu] has the type of a byte, but its text is not of the form <0xAB>",
                   kTokensKey.data(), i);
    v_.bytes.push_back(static_cast<char>(byte));
    return {};
  }

  // -1 if the key is absent
  Result<int32_t> special_id(const char* name) const {
    const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
    if (metadata_.find(key) == nullptr) return -1;
    INLAY_ASSIGN(const uint64_t id, metadata_.get_u64(key));
    if (id >= texts_.size())
      return error(Code::format, "%s is %llu, but there are %zu tokens", key.c_str(),
                   static_cast<unsigned long long>(id), texts_.size());
    return static_cast<int32_t>(id);
  }

  // SentencePiece's customary ids, for files that leave them out.
  int32_t customary(int32_t id, int32_t fallback, std::string_view text) const {
    if (id >= 0 || model_ != TokenizerModel::spm || fallback >= v_.size()) return id;
    const bool special = v_.kinds[fallback] == TokenKind::control || v_.kinds[fallback] == TokenKind::unknown;
    return special || texts_[fallback] == text ? fallback : -1;
  }

  Status read_special_ids() {
    INLAY_ASSIGN(v_.bos, special_id("bos"));
    INLAY_ASSIGN(v_.eos, special_id("eos"));
    INLAY_ASSIGN(v_.unknown, special_id("unknown"));
    v_.unknown = customary(v_.unknown, 0, "<unk>");
    v_.bos = customary(v_.bos, 1, "<s>");
    v_.eos = customary(v_.eos, 2, "</s>");
    v_.ends_generation.assign(texts_.size(), 0);
    for (const char* name : {"eos", "eot", "eom"}) {
      INLAY_ASSIGN(const int32_t id, special_id(name));
      if (id >= 0) v_.ends_generation[id] = 1;
    }
    if (v_.eos >= 0) v_.ends_generation[v_.eos] = 1;
    return {};
  }

  Status read_flags(bool adds_bos) {
    constexpr std::string_view kAddBos = "tokenizer.ggml.add_bos_token", kAddEos = "tokenizer.ggml.add_eos_token";
    INLAY_ASSIGN(v_.add_bos, metadata_.bool_or(kAddBos, adds_bos && v_.bos >= 0));
    INLAY_ASSIGN(v_.add_eos, metadata_.bool_or(kAddEos, false));
    if (v_.add_bos && v_.bos < 0)
      return error(Code::format, "%s is true, but tokenizer.ggml.bos_token_id is missing", kAddBos.data());
    if (v_.add_eos && v_.eos < 0)
      return error(Code::format, "%s is true, but tokenizer.ggml.eos_token_id is missing", kAddEos.data());
    if (model_ == TokenizerModel::spm) {
      INLAY_ASSIGN(v_.add_space_prefix, metadata_.bool_or("tokenizer.ggml.add_space_prefix", true));
    }
    // GGUF has no key for this property of an added token: the model's name is all there is to tell by.
    INLAY_ASSIGN(const std::string_view name, metadata_.string_or("general.name", ""));
    std::string lower(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    v_.strips_after_added = lower.find("phi-3") != lower.npos || lower.find("phi3") != lower.npos;
    return {};
  }

  const Metadata& metadata_;
  const TokenizerModel model_;
  std::span<const std::string_view> texts_;
  Vocabulary v_;
};

}  // namespace

void mark_ends_by_name(Vocabulary& v, std::span<const std::string_view> texts) {
  int32_t end = -1;
  bool has_return = false, has_call = false, has_flush = false;
  for (int32_t id = 0; id < v.size(); ++id) {
    const std::string_view text = texts[id];
    if (text.size() < 4 || (text.front() != '<' && text.front() != '[' && text.front() != '_')) continue;
    if (contains(kFillEndNames, text)) v.ends_generation[id] = 1;
    if (!contains(kEndNames, text)) continue;
    v.ends_generation[id] = 1;
    if (v.kinds[id] == TokenKind::user_defined) v.kinds[id] = TokenKind::control;
    if (text == "<|end|>") end = id;
    has_return |= text == "<|return|>";
    has_call |= text == "<|call|>" || text == "<|calls|>";
    has_flush |= text == "<|flush|>";
  }
  // Where <|return|> or <|flush|> end a turn beside tool calls, <|end|> only separates its messages.
  if (end >= 0 && end != v.eos && has_call && (has_return || has_flush)) v.ends_generation[end] = 0;
}

Result<Vocabulary> read_vocabulary(const Metadata& metadata, TokenizerModel model, bool adds_bos) {
  return VocabularyReader(metadata, model).read(adds_bos);
}

}  // namespace inlay
