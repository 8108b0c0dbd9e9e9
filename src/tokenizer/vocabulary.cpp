#include "src/tokenizer/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/ascii.h"
#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/token_decoder.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";

class VocabularyReader {
 public:
  VocabularyReader(const Metadata& metadata, TokenizerModel model) : metadata_(metadata), model_(model) {}

  Result<Vocabulary> read(bool adds_bos, int32_t n_rows) {
    INLAY_TRY(read_tokens());
    INLAY_TRY(read_kinds());
    INLAY_TRY(read_turn_tokens());
    INLAY_TRY(read_scores());
    INLAY_TRY(make_pieces());
    pad_vocabulary(v_, n_rows);
    INLAY_TRY(read_special_ids());
    INLAY_TRY(read_ends());
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

  Status read_turn_tokens() {
    INLAY_ASSIGN(const std::vector<int32_t> ids, read_gguf_turn_tokens(metadata_, texts_, v_.kinds, v_.remarks));
    for (const int32_t id : ids) v_.kinds[static_cast<size_t>(id)] = TokenKind::control;
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
      const size_t n = std::min(text.find(kSpaceSign), text.size());
      v_.bytes.append(text.substr(0, n));
      if (n == text.size()) break;
      v_.bytes.push_back(' ');
      text.remove_prefix(n + kSpaceSign.size());
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

  // Of files that leave it out SentencePiece's customary id, if the token there looks like it.
  Result<int32_t> special_id(const char* name, int32_t customary, std::string_view text) {
    INLAY_ASSIGN(const SpecialId special, read_special_id(metadata_, name, v_.size(), v_.remarks));
    const bool has_customary = model_ == TokenizerModel::spm && customary < static_cast<int32_t>(texts_.size());
    if (special.is_stated || !has_customary) return special.id;
    const TokenKind kind = v_.kinds[customary];
    if (kind != TokenKind::control && kind != TokenKind::unknown && texts_[customary] != text) return -1;
    v_.remarks.push_back("tokenizer.ggml." + std::string(name) + "_token_id is missing: taken as " + std::to_string(customary) +
                         ", " + quote(texts_[customary]));
    return customary;
  }

  void add_name(const char* name, int32_t id) {
    if (id >= 0 && static_cast<size_t>(id) < texts_.size()) v_.special_names.push_back({name, {std::string(v_.piece(id))}});
  }

  Status read_special_ids() {
    INLAY_ASSIGN(v_.unknown, special_id("unknown", 0, "<unk>"));
    INLAY_ASSIGN(v_.bos, special_id("bos", 1, "<s>"));
    INLAY_ASSIGN(v_.eos, special_id("eos", 2, "</s>"));
    add_name("bos_token", v_.bos);
    add_name("eos_token", v_.eos);
    add_name("unk_token", v_.unknown);
    for (const auto& [name, key] : kGgufRoles) {
      INLAY_ASSIGN(const SpecialId special, read_special_id(metadata_, key, v_.size(), v_.remarks));
      add_name(name, special.id);
    }
    return {};
  }

  Status read_ends() {
    INLAY_ASSIGN(const GgufEnds ends, read_gguf_ends(metadata_, texts_, v_.kinds, v_.remarks));
    v_.ends_generation.assign(v_.kinds.size(), 0);
    for (const int32_t id : ends.ids) v_.ends_generation[id] = 1;
    for (const int32_t id : ends.made_control) v_.kinds[id] = TokenKind::control;
    if (v_.eos >= 0 && metadata_.find(kEndIdsKey) == nullptr) v_.ends_generation[v_.eos] = 1;
    return {};
  }

  // A token that the file says is none is not added.
  Result<bool> adds(const std::string& name, int32_t id, bool fallback) {
    const std::string flag = "tokenizer.ggml.add_" + name + "_token", key = "tokenizer.ggml." + name + "_token_id";
    INLAY_ASSIGN(const bool asked, metadata_.bool_or(flag, fallback));
    if (!asked || id >= 0) return asked;
    if (metadata_.find(key) == nullptr)
      return error(Code::format, "%s is true, but %s is missing", flag.c_str(), key.c_str());
    v_.remarks.push_back(flag + " is true, but there is no such token: nothing is added");
    return false;
  }

  Status read_flags(bool adds_bos) {
    INLAY_ASSIGN(v_.add_bos, adds("bos", v_.bos, adds_bos && v_.bos >= 0));
    INLAY_ASSIGN(v_.add_eos, adds("eos", v_.eos, false));
    if (model_ == TokenizerModel::spm) {
      INLAY_ASSIGN(v_.add_space_prefix, metadata_.bool_or("tokenizer.ggml.add_space_prefix", true));
    }
    // GGUF has no key for this property of an added token: the model's name is all there is to tell by.
    INLAY_ASSIGN(const std::string_view name, metadata_.string_or("general.name", ""));
    std::string lower(name);
    for (char& c : lower) c = ascii_lower(c);
    v_.strips_after_added = lower.find("phi-3") != lower.npos || lower.find("phi3") != lower.npos;
    if (v_.strips_after_added)
      v_.remarks.push_back("white space after an added token belongs to it: general.name says Phi-3");
    return {};
  }

  const Metadata& metadata_;
  const TokenizerModel model_;
  std::span<const std::string_view> texts_;
  Vocabulary v_;
};

}  // namespace

void pad_vocabulary(Vocabulary& v, int32_t n_rows) {
  if (n_rows <= v.size()) return;
  const auto n = static_cast<size_t>(n_rows);
  v.offsets.resize(n + 1, static_cast<uint32_t>(v.bytes.size()));
  v.kinds.resize(n, TokenKind::unused);
  v.matchable.resize(n, 0);
  v.ends_generation.resize(n, 0);
  if (!v.scores.empty()) v.scores.resize(n, 0);
}

Result<Vocabulary> read_vocabulary(const Metadata& metadata, TokenizerModel model, bool adds_bos, int32_t n_rows) {
  return VocabularyReader(metadata, model).read(adds_bos, n_rows);
}

}  // namespace inlay
