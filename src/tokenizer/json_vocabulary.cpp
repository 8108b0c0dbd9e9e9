#include "src/tokenizer/json_vocabulary.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/token_decoder.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {


class PipelineReader {
 public:
  PipelineReader(const JsonValue& root, int32_t n_rows, Vocabulary& vocabulary)
      : root_(root), model_(root), n_rows_(n_rows), v_(vocabulary) {}

  Result<JsonPipeline> read() {
    INLAY_ASSIGN(model_, root_.get("model"));
    INLAY_TRY(read_type());
    INLAY_TRY(read_texts());
    INLAY_TRY(read_added());
    INLAY_TRY(read_steps());
    INLAY_TRY(normalize_added());
    INLAY_TRY(make_pieces());
    pad_vocabulary(v_, n_rows_);
    INLAY_TRY(make_model());
    index_added();
    INLAY_TRY(read_post_processor(member(root_, "post_processor")));
    return std::move(out_);
  }

  // After read(): of a token, -1 if there is none.
  std::string_view text(int32_t id) const { return texts_[static_cast<size_t>(id)]; }
  int32_t id_of(std::string_view text) const {
    const auto found = added_ids_.find(text);
    if (found != added_ids_.end()) return found->second;
    const auto at = std::find(texts_.begin(), texts_.end(), text);
    return at == texts_.end() ? -1 : static_cast<int32_t>(at - texts_.begin());
  }

 private:
  static std::optional<JsonValue> member(const JsonValue& json, std::string_view key) {
    const auto value = json.find(key);
    return value && !value->is_null() ? value : std::nullopt;
  }

  // Files of early versions have no type: it shows in what else there is.
  Status read_type() {
    const bool has_merges = model_.find("merges").has_value();
    const auto vocab = model_.find("vocab");
    const char* guess = has_merges                                 ? "BPE"
                        : vocab && vocab->is_array()               ? "Unigram"
                        : model_.find("continuing_subword_prefix") ? "WordPiece"
                                                                   : "WordLevel";
    INLAY_ASSIGN(type_, model_.string_or("type", guess));
    for (const std::string_view known : {"BPE", "Unigram", "WordPiece", "WordLevel"})
      if (type_ == known) return {};
    return error(Code::unsupported, "%s.type is %s, a model that is not known here", model_.where().c_str(),
                 quote(type_).c_str());
  }

  Status set_text(const JsonValue& where, int64_t id, std::string_view text) {
    if (id < 0 || id >= max_tokens_)
      return error(Code::format, "%s: the id %lld is out of range", where.where().c_str(), static_cast<long long>(id));
    if (static_cast<size_t>(id) >= texts_.size()) {
      texts_.resize(static_cast<size_t>(id) + 1);
      known_.resize(texts_.size());
    }
    if (known_[id] && texts_[id] != text)
      return error(Code::format, "%s: the id %lld stands for %s and for %s", where.where().c_str(),
                   static_cast<long long>(id), quote(texts_[id]).c_str(), quote(text).c_str());
    texts_[id] = text;
    known_[id] = true;
    return {};
  }

  Status read_texts() {
    INLAY_ASSIGN(const JsonValue vocab, model_.get("vocab"));
    const auto added = root_.find("added_tokens");
    // Ids may have gaps, but not so large that the memory for them would matter.
    max_tokens_ = static_cast<int64_t>(4 * (vocab.size() + (added ? added->size() : 0)) + 65536);
    if (type_ == "Unigram") return read_scored_texts(vocab);
    INLAY_ASSIGN(const JsonMembers members, vocab.as_object());
    texts_.reserve(members.size());
    known_.reserve(members.size());
    for (const JsonMember& entry : members) {
      INLAY_ASSIGN(const int64_t id, entry.value.as_i64());
      INLAY_TRY(set_text(entry.value, id, entry.key));
    }
    return {};
  }

  Status read_scored_texts(const JsonValue& vocab) {
    INLAY_ASSIGN(const JsonElements elements, vocab.as_array());
    int64_t id = 0;
    for (const JsonValue element : elements) {
      INLAY_ASSIGN(const JsonElements pair, element.as_array());
      if (pair.size() != 2) return element.expected("a token and its score");
      auto at = pair.begin();
      INLAY_ASSIGN(const std::string_view text, (*at).as_string());
      INLAY_ASSIGN(const double score, (*++at).as_f64());
      scores_.push_back(score);
      INLAY_TRY(set_text(element, id++, text));
    }
    return {};
  }

  Status read_added() {
    n_model_ = texts_.size();
    const auto list = member(root_, "added_tokens");
    if (!list) return {};
    INLAY_ASSIGN(const JsonElements elements, list->as_array());
    for (const JsonValue element : elements) INLAY_TRY(read_added_token(element));
    return {};
  }

  Status read_added_token(const JsonValue& json) {
    INLAY_ASSIGN(const JsonValue id_value, json.get("id"));
    INLAY_ASSIGN(const JsonValue content, json.get("content"));
    INLAY_ASSIGN(const int64_t id, id_value.as_i64());
    INLAY_ASSIGN(const std::string_view text, content.as_string());
    if (text.size() > kMaxAddedTokenBytes)
      return error(Code::format, "%s has %zu bytes, the limit is %zu", content.where().c_str(), text.size(),
                   kMaxAddedTokenBytes);
    INLAY_TRY(set_text(json, id, text));
    Added added;
    added.rule.text = text;
    added.rule.id = static_cast<int32_t>(id);
    INLAY_ASSIGN(added.rule.special, json.bool_or("special", false));
    INLAY_ASSIGN(added.rule.single_word, json.bool_or("single_word", false));
    INLAY_ASSIGN(added.rule.strips_left, json.bool_or("lstrip", false));
    INLAY_ASSIGN(added.rule.strips_right, json.bool_or("rstrip", false));
    INLAY_ASSIGN(added.normalized, json.bool_or("normalized", !added.rule.special));
    added_ids_.emplace(text, added.rule.id);
    added_.push_back(std::move(added));
    return {};
  }

  template <class Part>
  Status read_step(const char* key, Part& part) {
    const auto json = root_.find(key);
    if (!json) return {};
    INLAY_ASSIGN(part, Part::read(*json));
    return {};
  }

  Status read_steps() {
    INLAY_TRY(read_step("normalizer", out_.normalizer));
    return read_step("pre_tokenizer", out_.splitter);
  }

  // Tokens that are looked for in normalized text are normalized themselves, for decoding too.
  Status normalize_added() {
    EncodingPulse pulse;
    std::string storage;
    for (Added& added : added_) {
      if (!added.normalized) continue;
      const auto text = out_.normalizer.apply(added.rule.text, pulse, storage);
      if (!text.ok() && !pulse.status().ok()) return pulse.status();
      if (!text.ok())
        return error(text.status().code, "%s: the added token %s: %s", root_.where().c_str(), quote(added.rule.text).c_str(),
                     text.status().message.c_str());
      if (text->size() > kMaxAddedTokenBytes)
        return error(Code::format, "%s: the added token %s has %zu bytes when it is normalized, the limit is %zu", root_.where().c_str(),
                     quote(added.rule.text).c_str(), text->size(), kMaxAddedTokenBytes);
      added.rule.text = std::string(*text);
    }
    return {};
  }

  // Of the vocabulary what decoding gives, and of the model's texts what words are compared with.
  Status make_pieces() {
    const auto json = root_.find("decoder");
    INLAY_ASSIGN(const JsonDocument none, JsonDocument::parse("null", "decoder"));
    INLAY_ASSIGN(const TokenDecoder decoder, TokenDecoder::read(json ? *json : none.root()));
    INLAY_ASSIGN(const bool byte_tokens, model_.bool_or("byte_fallback", false));
    byte_tokens_ = byte_tokens;
    if (texts_.empty()) return error(Code::format, "%s.vocab is empty", model_.where().c_str());
    Vocabulary model;
    std::vector<std::string_view> shown = texts_;
    std::vector<bool> hidden(texts_.size());  // from Unigram, which would find special tokens where they are plain text
    for (const Added& added : added_) {
      shown[added.rule.id] = added.rule.text;
      hidden[added.rule.id] = added.rule.special && type_ == "Unigram";
    }
    for (size_t i = 0; i < texts_.size(); ++i) {
      v_.offsets.push_back(static_cast<uint32_t>(v_.bytes.size()));
      model.offsets.push_back(static_cast<uint32_t>(model.bytes.size()));
      const Status made = known_[i] ? decoder.append_piece(shown[i], v_.bytes) : Status{};
      if (!made.ok()) return error(made.code, "%s: %s", root_.where().c_str(), made.message.c_str());
      const bool is_byte = byte_tokens && byte_of_token(texts_[i]) >= 0;
      v_.kinds.push_back(!known_[i] ? TokenKind::unused : is_byte ? TokenKind::byte : TokenKind::normal);
      model.matchable.push_back(i < n_model_ && known_[i] && !hidden[i] && append_model_text(texts_[i], model.bytes));
      if (v_.bytes.size() > UINT32_MAX / 2) return error(Code::format, "%s.vocab is too large", model_.where().c_str());
    }
    v_.offsets.push_back(static_cast<uint32_t>(v_.bytes.size()));
    model.offsets.push_back(static_cast<uint32_t>(model.bytes.size()));
    model.kinds.assign(texts_.size(), TokenKind::normal);
    v_.matchable = model.matchable;
    v_.ends_generation.assign(texts_.size(), 0);
    v_.add_space_prefix = decoder.strips_leading_space();
    for (const double score : scores_) v_.scores.push_back(static_cast<float>(score));
    if (!scores_.empty()) v_.scores.resize(texts_.size());
    for (const Added& added : added_)
      v_.kinds[added.rule.id] = added.rule.special ? TokenKind::control : TokenKind::user_defined;
    out_.texts = std::make_unique<const ModelTexts>(std::move(model));
    return {};
  }

  bool append_model_text(std::string_view text, std::string& out) const {
    if (text.empty()) return false;
    if (out_.splitter.byte_level()) return append_bytes_of(text, out);
    out.append(text);
    return true;
  }

  Status make_model() {
    INLAY_TRY(read_unknown());
    if (type_ == "BPE") return make_bpe();
    const TokenTable& table = out_.texts->table;
    if (type_ == "Unigram") {
      out_.model = std::make_unique<UnigramModel>(out_.texts->texts, scores_, table,
                                                  UnigramModel::Rules{v_.unknown, byte_tokens_});
    } else if (type_ == "WordPiece") {
      INLAY_ASSIGN(const std::string_view prefix, affix("continuing_subword_prefix", "##"));
      INLAY_ASSIGN(const int64_t most, model_.i64_or("max_input_chars_per_word", 100));
      if (most < 0 || most > 100'000)
        return model_.expected("an object whose max_input_chars_per_word is at most 100000");
      out_.model = std::make_unique<WordPieceModel>(
          table, WordPieceModel::Rules{v_.unknown, std::string(prefix), static_cast<size_t>(most)});
    } else {
      out_.model = std::make_unique<WordLevelModel>(table, v_.unknown);
    }
    return {};
  }

  Status read_unknown() {
    if (type_ == "Unigram") {
      INLAY_ASSIGN(const int64_t id, model_.i64_or("unk_id", -1));
      if (id < -1 || id >= static_cast<int64_t>(n_model_))
        return error(Code::format, "%s.unk_id is %lld, but there are %zu tokens", model_.where().c_str(),
                     static_cast<long long>(id), n_model_);
      v_.unknown = static_cast<int32_t>(id);
    } else {
      INLAY_ASSIGN(const std::string_view text, model_.string_or("unk_token", type_ == "WordPiece" ? "[UNK]" : ""));
      v_.unknown = text.empty() ? -1 : id_of(text);
    }
    // Only special tokens are left out of decoded text.
    if (v_.unknown >= 0 && v_.kinds[v_.unknown] == TokenKind::control) v_.kinds[v_.unknown] = TokenKind::unknown;
    return {};
  }

  // Encoding adds it to every character.
  Result<std::string_view> affix(const char* key, std::string_view fallback) const {
    INLAY_ASSIGN(const std::string_view text, model_.string_or(key, fallback));
    if (text.size() <= kMaxAddedTokenBytes) return text;
    return error(Code::format, "%s.%s has %zu bytes, the limit is %zu", model_.where().c_str(), key, text.size(), kMaxAddedTokenBytes);
  }

  Status make_bpe() {
    INLAY_ASSIGN(const double dropout, model_.f64_or("dropout", 0));
    if (dropout != 0) return error(Code::unsupported, "%s.dropout is not 0", model_.where().c_str());
    INLAY_ASSIGN(const bool whole_first, model_.bool_or("ignore_merges", false));
    INLAY_ASSIGN(const bool fuses, model_.bool_or("fuse_unk", false));
    INLAY_ASSIGN(const std::string_view prefix, affix("continuing_subword_prefix", ""));
    INLAY_ASSIGN(const std::string_view suffix, affix("end_of_word_suffix", ""));
    const bool bytes = out_.splitter.byte_level();
    if (bytes && !(prefix.empty() && suffix.empty()))
      return error(Code::unsupported, "%s has affixes together with the pre-tokenizer ByteLevel",
                   model_.where().c_str());
    BpeModel bpe(out_.texts->table, {bytes, byte_tokens_, fuses, std::string(prefix), std::string(suffix), true}, v_.unknown);
    INLAY_TRY(read_merges(bpe));
    const bool cuts = !bytes && prefix.empty() && suffix.empty() && sign_only_begins();
    out_.model = std::make_unique<BpeTextModel>(out_.texts->table, texts_.size(), whole_first, std::move(bpe),
                                                std::string(cuts ? kSpaceSign : ""));
    return {};
  }

  bool sign_only_begins() const {
    for (size_t i = 0; i < n_model_; ++i) {
      std::string_view text = texts_[i];
      while (text.starts_with(kSpaceSign)) text.remove_prefix(kSpaceSign.size());
      if (text.find(kSpaceSign) != text.npos) return false;
    }
    return true;
  }

  // The last of several for one pair counts: they are added from the end, and the first that is added stays.
  Status read_merges(BpeModel& bpe) {
    INLAY_ASSIGN(const JsonValue list, model_.get("merges"));
    INLAY_ASSIGN(const JsonElements elements, list.as_array());
    std::vector<JsonValue> merges;
    merges.reserve(elements.size());
    for (const JsonValue element : elements) merges.push_back(element);
    bpe.reserve(merges.size());
    std::string left, right;
    for (size_t rank = merges.size(); rank-- > 0;) {
      std::string_view texts[2];
      INLAY_TRY(read_pair(merges[rank], texts));
      left.clear(), right.clear();
      int missing = 0;
      const bool ok = append_model_text(texts[0], left) && (missing = 1, append_model_text(texts[1], right)) &&
                      bpe.add_merge(left, right, static_cast<uint32_t>(rank), missing);
      if (!ok) {
        constexpr const char* kWhich[] = {"the left token of", "the right token of", "the token made by"};
        return error(Code::format, "%s: %s %s %s is not in the vocabulary", merges[rank].where().c_str(),
                     kWhich[missing], quote(texts[0]).c_str(), quote(texts[1]).c_str());
      }
    }
    return {};
  }

  // "LEFT RIGHT", or the two as an array
  static Status read_pair(const JsonValue& json, std::string_view (&out)[2]) {
    if (json.is_array() && json.size() == 2) {
      auto at = json.elements().begin();
      INLAY_ASSIGN(out[0], (*at).as_string());
      INLAY_ASSIGN(out[1], (*++at).as_string());
      return {};
    }
    if (!json.is_string()) return json.expected("two tokens");
    INLAY_ASSIGN(const std::string_view text, json.as_string());
    const size_t space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      return json.expected("two tokens with a space between");
    out[0] = text.substr(0, space);
    out[1] = text.substr(space + 1);
    return {};
  }

  void index_added() {
    std::vector<AddedTokenRule> raw, normalized;
    for (Added& added : added_) (added.normalized ? normalized : raw).push_back(std::move(added.rule));
    out_.raw_added = AddedTokenMatcher(std::move(raw));
    out_.normalized_added = AddedTokenMatcher(std::move(normalized));
  }

  Status check_id(const JsonValue& json, int64_t id) const {
    if (id >= 0 && id < v_.size()) return {};
    return error(Code::format, "%s is %lld, but there are %d tokens", json.where().c_str(), static_cast<long long>(id),
                 v_.size());
  }

  Status read_post_processor(const std::optional<JsonValue>& json) {
    if (!json) return {};
    INLAY_ASSIGN(const JsonValue type_value, json->get("type"));
    INLAY_ASSIGN(const std::string_view type, type_value.as_string());
    if (type == "ByteLevel") return {};
    if (type == "TemplateProcessing") return read_template(*json);
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      INLAY_TRY(read_pair_id(*json, "cls", out_.before));
      return read_pair_id(*json, "sep", out_.after);
    }
    if (type == "Sequence") {
      INLAY_ASSIGN(const JsonValue list, json->get("processors"));
      INLAY_ASSIGN(const JsonElements elements, list.as_array());
      for (const JsonValue element : elements) INLAY_TRY(read_post_processor(element));
      return {};
    }
    return error(Code::unsupported, "%s has the type %s, a post-processor that is not known here",
                 json->where().c_str(), quote(type).c_str());
  }

  // What JSON repeats by name could be of any length.
  Status add_around(const JsonValue& json, std::vector<int32_t>& out) {
    INLAY_ASSIGN(const int64_t id, json.as_i64());
    INLAY_TRY(check_id(json, id));
    if (++n_around_ > kMaxAround)
      return error(Code::unsupported, "%s is one token more than the %zu that may stand around a text", json.where().c_str(), kMaxAround);
    out.push_back(static_cast<int32_t>(id));
    return {};
  }

  // [TEXT, ID]
  Status read_pair_id(const JsonValue& json, const char* key, std::vector<int32_t>& out) {
    INLAY_ASSIGN(const JsonValue pair, json.get(key));
    if (!pair.is_array() || pair.size() != 2) return pair.expected("a token and its id");
    auto at = pair.elements().begin();
    return add_around(*++at, out);
  }

  Status read_template(const JsonValue& json) {
    INLAY_ASSIGN(const JsonValue single, json.get("single"));
    INLAY_ASSIGN(const JsonElements items, single.as_array());
    if (items.size() > kMaxAround)  // each is sought among all special_tokens
      return error(Code::unsupported, "%s has %zu items, expected at most %zu", single.where().c_str(), items.size(), kMaxAround);
    std::vector<int32_t> before, after;
    bool seen_text = false;
    for (const JsonValue item : items) {
      if (item.find("Sequence")) {
        if (seen_text) return error(Code::unsupported, "%s has the text more than once", single.where().c_str());
        seen_text = true;
        continue;
      }
      INLAY_ASSIGN(const JsonValue special, item.get("SpecialToken"));
      INLAY_TRY(read_template_ids(json, special, seen_text ? after : before));
    }
    if (!seen_text) return error(Code::format, "%s does not have the text", single.where().c_str());
    out_.before.insert(out_.before.begin(), before.begin(), before.end());
    out_.after.insert(out_.after.end(), after.begin(), after.end());
    return {};
  }

  Status read_template_ids(const JsonValue& json, const JsonValue& special, std::vector<int32_t>& out) {
    INLAY_ASSIGN(const JsonValue name_value, special.get("id"));
    INLAY_ASSIGN(const std::string_view name, name_value.as_string());
    INLAY_ASSIGN(const JsonValue tokens, json.get("special_tokens"));
    INLAY_ASSIGN(const JsonValue token, tokens.get(name));
    INLAY_ASSIGN(const JsonValue ids, token.get("ids"));
    INLAY_ASSIGN(const JsonElements list, ids.as_array());
    for (const JsonValue element : list) INLAY_TRY(add_around(element, out));
    return {};
  }

  static constexpr size_t kMaxAround = 256;

  struct Added {
    AddedTokenRule rule;
    bool normalized = false;
  };

  const JsonValue root_;
  JsonValue model_;
  const int32_t n_rows_;
  std::string_view type_;
  std::vector<std::string_view> texts_;  // by id
  std::vector<bool> known_;              // ids that the file uses
  std::vector<double> scores_;
  int64_t max_tokens_ = 0;
  size_t n_model_ = 0;  // ids below are the model's
  std::vector<Added> added_;
  std::unordered_map<std::string_view, int32_t> added_ids_;
  bool byte_tokens_ = false;
  size_t n_around_ = 0;  // ids that the post-processor adds
  JsonPipeline out_;
  Vocabulary& v_;
};

// The ids of tokenizer_config.json and the flags for adding them.
class ConfigReader {
 public:
  ConfigReader(const PipelineReader& tokens, JsonPipeline& pipeline, Vocabulary& vocabulary)
      : tokens_(tokens), out_(pipeline), v_(vocabulary) {}

  Status read(const std::optional<JsonValue>& config, const TokenizerFiles& files) {
    if (config) {
      INLAY_ASSIGN(v_.bos, token_id(*config, "bos_token"));
      INLAY_ASSIGN(v_.eos, token_id(*config, "eos_token"));
      INLAY_TRY(read_names(*config));
    }
    if (v_.bos < 0 && !out_.before.empty()) {
      v_.bos = out_.before.front();
      v_.special_names.push_back({"bos_token", {std::string(tokens_.text(v_.bos))}});
    }
    if (config) {
      INLAY_TRY(apply_flag(*config, "add_bos_token", v_.bos, out_.before));
      INLAY_TRY(apply_flag(*config, "add_eos_token", v_.eos, out_.after));
    }
    v_.add_bos = v_.bos >= 0 && std::find(out_.before.begin(), out_.before.end(), v_.bos) != out_.before.end();
    v_.add_eos = v_.eos >= 0 && std::find(out_.after.begin(), out_.after.end(), v_.eos) != out_.after.end();
    if (v_.eos >= 0) v_.ends_generation[v_.eos] = 1;
    for (const int64_t id : files.end_ids) {
      if (id >= 0 && id < v_.size())
        v_.ends_generation[id] = 1;
      else
        v_.remarks.push_back(no_such_token(files.end_ids_name, id, v_.size()));
    }
    return {};
  }

 private:
  // What is named ..._token, lists of further tokens, and names of the model's own.
  Status read_names(const JsonValue& config) {
    for (const JsonMember& member : config.members()) {
      const JsonValue& value = member.value;
      if (member.key.ends_with("_special_tokens") && value.is_object()) {
        for (const JsonMember& own : value.members()) add_name(own.key, own.value);
      } else if (member.key.ends_with("_special_tokens") && value.is_array()) {
        SpecialTokenName list{std::string(member.key), {}, true};
        for (const JsonValue token : value.elements())
          if (auto text = text_of(token)) list.texts.push_back(*std::move(text));
        names_.insert(member.key);
        v_.special_names.push_back(std::move(list));
      } else if (member.key.ends_with("_token")) {
        add_name(member.key, value);
      }
    }
    return {};
  }

  void add_name(std::string_view name, const JsonValue& value) {
    if (auto text = text_of(value); text && names_.insert(name).second) v_.special_names.push_back({std::string(name), {*std::move(text)}});
  }

  static std::optional<std::string> text_of(JsonValue value) {
    if (value.is_object()) {
      const auto content = value.find("content");
      if (!content) return std::nullopt;
      value = *content;
    }
    const auto text = value.as_string();
    return text.ok() ? std::optional(std::string(*text)) : std::nullopt;
  }

  // A string, or an object with the content; -1 if there is none
  Result<int32_t> token_id(const JsonValue& config, const char* key) {
    auto value = config.find(key);
    if (!value || value->is_null()) return -1;
    if (value->is_object()) {
      INLAY_ASSIGN(value, value->get("content"));
    }
    INLAY_ASSIGN(const std::string_view text, value->as_string());
    const int32_t id = tokens_.id_of(text);
    if (id < 0) v_.remarks.push_back(value->where() + " is " + quote(text) + ", which is no token: taken as none");
    return id;
  }

  Status apply_flag(const JsonValue& config, const char* key, int32_t id, std::vector<int32_t>& ids) const {
    const auto flag = config.find(key);
    if (!flag || flag->is_null()) return {};
    INLAY_ASSIGN(const bool adds, flag->as_bool());
    if (adds && id < 0) return error(Code::format, "%s is true, but there is no such token", flag->where().c_str());
    const bool has = std::find(ids.begin(), ids.end(), id) != ids.end();
    if (adds && !has) ids.insert(&ids == &out_.before ? ids.begin() : ids.end(), id);
    if (!adds) std::erase(ids, id);
    return {};
  }

  const PipelineReader& tokens_;
  JsonPipeline& out_;
  Vocabulary& v_;
  std::set<std::string_view> names_;  // of v_.special_names
};

}  // namespace

Result<JsonPipeline> read_json_pipeline(TokenizerFiles files, Vocabulary& vocabulary) {
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(files.tokenizer), files.name));
  vocabulary.remarks = std::move(files.remarks);
  PipelineReader reader(document.root(), files.n_rows, vocabulary);
  INLAY_ASSIGN(JsonPipeline pipeline, reader.read());
  std::optional<JsonDocument> config;
  if (!files.config.empty()) {
    INLAY_ASSIGN(config, JsonDocument::parse(std::move(files.config), files.name + "'s config"));
  }
  const auto root = config ? std::optional(config->root()) : std::nullopt;
  INLAY_TRY(ConfigReader(reader, pipeline, vocabulary).read(root, files));
  return pipeline;
}

}  // namespace inlay
