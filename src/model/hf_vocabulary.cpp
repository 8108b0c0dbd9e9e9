#include "src/model/hf_vocabulary.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "src/base/format.h"
#include "src/formats/base64.h"
#include "src/formats/json.h"
#include "src/formats/text.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_token_list.h"

namespace inlay {
namespace {

// How tokenizer.json splits text, and what GGUF calls it. The last column: whether a word that is a token is taken
// whole.
struct SplitName {
  const char* pattern;  // of a Split before ByteLevel; empty: ByteLevel's own
  bool single_digits;   // a Digits before it
  bool ignore_merges;
  const char* pre;
};

#define INLAY_WORDS_BEFORE_DIGITS R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)"
#define INLAY_WORDS_AFTER_DIGITS R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
constexpr SplitName kSplits[] = {
    {INLAY_WORDS_BEFORE_DIGITS R"(\p{N}{1,3})" INLAY_WORDS_AFTER_DIGITS, false, true, "llama-bpe"},
    {INLAY_WORDS_BEFORE_DIGITS R"(\p{N}{1,3})" INLAY_WORDS_AFTER_DIGITS, false, false, "dbrx"},
    {INLAY_WORDS_BEFORE_DIGITS R"(\p{N})" INLAY_WORDS_AFTER_DIGITS, false, false, "qwen2"},
    {"", false, false, "gpt-2"},
    {"", true, false, "smollm"},
};
#undef INLAY_WORDS_BEFORE_DIGITS
#undef INLAY_WORDS_AFTER_DIGITS

class VocabularyWriter {
 public:
  VocabularyWriter(const std::string& folder, MetadataBuilder& metadata) : folder_(folder), metadata_(metadata) {}

  Result<std::vector<std::string>> write(uint64_t n_vocab) {
    INLAY_ASSIGN(config_text_, read_hf_tokenizer_config(folder_));
    if (!config_text_.empty()) {
      INLAY_ASSIGN(tokenizer_config_, JsonDocument::parse(config_text_, folder_ + "/tokenizer_config.json"));
    }
    INLAY_ASSIGN(configured_, ConfiguredIds::open(folder_));
    INLAY_ASSIGN(const JsonDocument tokenizer, read_json_file(folder_ + "/tokenizer.json"));
    INLAY_ASSIGN(const bool is_spm, is_like_spm(tokenizer.root()));
    INLAY_ASSIGN(const bool is_other, is_spm ? Result<bool>(false) : is_unigram_or_word_piece(tokenizer.root()));
    const Status named = is_spm || is_other ? Status{} : add_model(tokenizer.root());
    if (!named.ok() && named.code != Code::unsupported) return named;
    if (is_spm) {
      INLAY_TRY(tokens_.read(tokenizer.root(), n_vocab));
      INLAY_TRY(add_spm(tokenizer.root()));
    } else if (is_other) {
      INLAY_TRY(tokens_.read(tokenizer.root(), n_vocab));
      INLAY_TRY(is_unigram_ ? add_unigram(tokenizer.root()) : add_word_piece(tokenizer.root()));
    } else if (named.ok()) {
      INLAY_TRY(tokens_.read(tokenizer.root(), n_vocab));
      metadata_.texts("tokenizer.ggml.tokens", tokens_.texts());
      metadata_.i32s("tokenizer.ggml.token_type", tokens_.types());
      INLAY_TRY(add_merges(*tokenizer.root().find("model")));
      INLAY_TRY(add_special_tokens());
      INLAY_TRY(add_flags(tokenizer.root()));
      INLAY_TRY(find_unsaid(tokenizer.root()));
    } else {
      INLAY_TRY(add_none(named.message));
    }
    // In any case: what is found unsaid is only what others are warned of, and they differ in less than that, too. GGUF's
    // splitters take no note of letters whose other case is a letter of ASCII (U+017F, U+212A), the folder's do.
    INLAY_TRY(add_files());
    return std::move(unsaid_);
  }

 private:
  Status add_files() {
    INLAY_ASSIGN(const std::string tokenizer, read_text_file(folder_ + "/tokenizer.json"));
    metadata_.text("tokenizer.huggingface.json", tokenizer);
    metadata_.text("tokenizer.inlay.config", config_text_);
    return {};
  }

  // BPE over characters in which a space is U+2581: what GGUF calls "llama" if it has scores for the merges.
  Result<bool> is_like_spm(const JsonValue& root) {
    INLAY_ASSIGN(const JsonValue model, root.get("model"));
    INLAY_ASSIGN(const std::string_view name, model.string_or("type", model.find("merges") ? "BPE" : ""));
    if (name != "BPE") return false;
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      INLAY_ASSIGN(const std::string_view value, model.string_or(key, ""));
      if (!value.empty()) return false;
    }
    INLAY_ASSIGN(const bool ignores, model.bool_or("ignore_merges", false));
    INLAY_TRY(list_parts(root, "normalizer", "normalizers", normalizers_));
    INLAY_TRY(list_parts(root, "pre_tokenizer", "pretokenizers", splitters_));
    bool replaces = false;
    for (const JsonValue& part : normalizers_) {
      INLAY_ASSIGN(const bool prepends, is_part(part, "Prepend", "prepend"));
      INLAY_ASSIGN(const bool is_replace, is_replacement(part, "content"));
      if (!prepends && !is_replace) return false;
      if (prepends) adds_space_prefix_ = true;
      if (is_replace) replaces = true;
    }
    if (splitters_.empty()) return replaces && !ignores;
    if (splitters_.size() != 1 || ignores) return false;
    INLAY_ASSIGN(const std::string_view type, splitters_[0].string_or("type", ""));
    if (type == "Split" && replaces) {  // by the space that is no more
      const auto pattern = splitters_[0].find("pattern");
      if (!pattern) return false;
      INLAY_ASSIGN(const std::string_view text, pattern->string_or("String", ""));
      INLAY_ASSIGN(const bool invert, splitters_[0].bool_or("invert", false));
      return text == " " && !invert;
    }
    if (type != "Metaspace" || !normalizers_.empty()) return false;
    INLAY_ASSIGN(const std::string_view replacement, splitters_[0].string_or("replacement", kWordBegins));
    INLAY_ASSIGN(const bool prefixes, splitters_[0].bool_or("add_prefix_space", true));
    INLAY_ASSIGN(const std::string_view scheme, splitters_[0].string_or("prepend_scheme", prefixes ? "always" : "never"));
    INLAY_ASSIGN(const bool splits, splitters_[0].bool_or("split", true));
    adds_space_prefix_ = scheme != "never";
    if (adds_space_prefix_) unsaid_.push_back("prepend_scheme " + std::string(scheme) + ": a space that is there already, or behind an added token");
    if (splits) unsaid_.push_back("Metaspace that splits words");
    return replacement == kWordBegins;
  }

  // The steps of a part of the file that may be a sequence.
  static Status list_parts(const JsonValue& root, const char* key, const char* list, std::vector<JsonValue>& out) {
    const auto part = root.find(key);
    if (!part || part->is_null()) return {};
    INLAY_ASSIGN(const std::string_view type, part->string_or("type", ""));
    if (type != "Sequence") {
      out.push_back(*part);
      return {};
    }
    INLAY_ASSIGN(const JsonValue parts, part->get(list));
    INLAY_ASSIGN(const JsonElements elements, parts.as_array());
    for (const JsonValue element : elements) out.push_back(element);
    return {};
  }

  static Result<bool> is_part(const JsonValue& part, std::string_view type, const char* key) {
    INLAY_ASSIGN(const std::string_view found, part.string_or("type", ""));
    if (found != type) return false;
    INLAY_ASSIGN(const std::string_view value, part.string_or(key, ""));
    return value == kWordBegins;
  }

  static Result<bool> is_replacement(const JsonValue& part, const char* key) {
    INLAY_ASSIGN(const bool is_replace, is_part(part, "Replace", key));
    const auto pattern = part.find("pattern");
    if (!is_replace || !pattern) return false;
    INLAY_ASSIGN(const std::string_view text, pattern->string_or("String", ""));
    return text == " ";
  }

  Status add_spm(const JsonValue& root) {
    const JsonValue model = *root.find("model");
    INLAY_ASSIGN(const std::string_view unknown, model.string_or("unk_token", ""));
    INLAY_ASSIGN(const bool byte_fallback, model.bool_or("byte_fallback", false));
    const int32_t unknown_id = unknown.empty() ? -1 : tokens_.find(unknown);
    if (unknown_id >= 0) tokens_.set_type(unknown_id, kUnknown);
    for (int byte = 0; byte < 256 && byte_fallback; ++byte) {
      std::string text;
      append_format(text, "<0x%02X>", byte);
      const int32_t id = tokens_.find(text);
      if (id >= 0) tokens_.set_type(id, kByte);
      if (id < 0 && unknown_id < 0) return add_none("the byte " + text + " has no token");
    }
    if (!byte_fallback && unknown_id < 0) return add_none("there is neither byte_fallback nor an unknown token");
    INLAY_ASSIGN(const std::vector<float> scores, scores_of(model));
    metadata_.text("tokenizer.ggml.model", "llama");
    metadata_.text("tokenizer.ggml.pre", "default");
    metadata_.texts("tokenizer.ggml.tokens", tokens_.texts());
    metadata_.i32s("tokenizer.ggml.token_type", tokens_.types());
    metadata_.f32s("tokenizer.ggml.scores", scores);
    metadata_.boolean("tokenizer.ggml.add_space_prefix", adds_space_prefix_);
    INLAY_TRY(add_special_tokens());
    if (unknown_id >= 0) metadata_.u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(unknown_id));
    INLAY_TRY(add_flags(root));
    return find_unsaid_of_spm(root, byte_fallback);
  }

  Status add_none(std::string why) {
    unsaid_.push_back(std::move(why));
    metadata_.text("tokenizer.ggml.model", "none");
    return add_configured_ends();
  }

  // Merges by scores take any two neighbours that are a token together, the one with the highest score first: as the list of
  // merges says if it has each way to make a token, all of one token in a row.
  Result<std::vector<float>> scores_of(const JsonValue& model) {
    INLAY_ASSIGN(const auto merges, merges_of(model));
    std::vector<float> out(tokens_.texts().size(), 0);
    std::vector<size_t> n_ways(out.size(), 0);
    std::string unordered, unmade;
    int32_t last = -1, n_made = 0;
    for (const auto& [left, right] : merges) {
      const int32_t id = tokens_.find(left + right);
      if (id < 0) continue;
      const auto i = static_cast<size_t>(id);
      if (n_ways[i]++ == 0) out[i] = -static_cast<float>(++n_made);
      else if (id != last && unordered.empty()) unordered = left + right;
      last = id;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (unmade.empty() && tokens_.types()[i] == kNormal && n_ways[i] != n_pairs(tokens_.texts()[i])) unmade = tokens_.texts()[i];
      if (n_ways[i] == 0) out[i] = -static_cast<float>(n_made + 1);
    }
    if (!unordered.empty()) unsaid_.push_back("the order of merges, such as of " + quote(unordered));
    if (!unmade.empty()) unsaid_.push_back("merges that are not in the list, such as for " + quote(unmade));
    return out;
  }

  // In how many ways two tokens of the text make this one. Of a token that is longer than those of any model it is not counted.
  size_t n_pairs(std::string_view token) const {
    if (token.size() > kMaxCountedBytes) return SIZE_MAX;
    size_t n = 0;
    for (size_t i = 1; i < token.size(); ++i) {
      if ((static_cast<unsigned char>(token[i]) & 0xC0) == 0x80) continue;
      n += is_of_text(token.substr(0, i)) && is_of_text(token.substr(i));
    }
    return n;
  }

  static constexpr size_t kMaxCountedBytes = 4096;

  bool is_of_text(std::string_view part) const {
    const int32_t id = tokens_.find(part);
    if (id < 0) return false;
    const int32_t type = tokens_.types()[static_cast<size_t>(id)];
    return type == kNormal || type == kUserDefined;
  }

  Status find_unsaid_of_spm(const JsonValue& root, bool byte_fallback) {
    std::vector<JsonValue> decoders;
    INLAY_TRY(list_parts(root, "decoder", "decoders", decoders));
    std::string said;
    for (const JsonValue& part : decoders) {
      INLAY_ASSIGN(const std::string_view type, part.string_or("type", ""));
      said += (said.empty() ? "" : ", ") + std::string(type);
    }
    const std::string usual = std::string("Replace") + (byte_fallback ? ", ByteFallback" : "") + ", Fuse" + (adds_space_prefix_ ? ", Strip" : "");
    if (said != usual && !(said == "Metaspace" && !splitters_.empty())) unsaid_.push_back("decoder " + (said.empty() ? "none" : said));
    const JsonValue model = *root.find("model");
    INLAY_ASSIGN(const bool fuses, model.bool_or("fuse_unk", false));
    if (!fuses && !byte_fallback) unsaid_.push_back("model.fuse_unk");
    const auto dropout = model.find("dropout");
    if (dropout && !dropout->is_null()) unsaid_.push_back("model.dropout");
    return find_unsaid_of_added(root);
  }

  // Those that GGUF's "t5" and "bert" are, or are nearly; is_like_spm has listed their parts.
  Result<bool> is_unigram_or_word_piece(const JsonValue& root) {
    INLAY_ASSIGN(const JsonValue model, root.get("model"));
    INLAY_ASSIGN(const std::string_view name, model.string_or("type", ""));
    is_unigram_ = name == "Unigram";
    if (!is_unigram_ && name != "WordPiece") return false;
    normalizers_.clear();
    splitters_.clear();
    INLAY_TRY(list_parts(root, "normalizer", "normalizers", normalizers_));
    INLAY_TRY(list_parts(root, "pre_tokenizer", "pretokenizers", splitters_));
    if (splitters_.empty()) return false;
    INLAY_ASSIGN(const std::string_view type, splitters_.back().string_or("type", ""));
    if (is_unigram_) return type == "Metaspace" && model.find("unk_id") && !model.find("unk_id")->is_null();
    INLAY_ASSIGN(const std::string_view prefix, model.string_or("continuing_subword_prefix", "##"));
    INLAY_ASSIGN(const std::string_view unknown, model.string_or("unk_token", "[UNK]"));
    const auto vocab = model.find("vocab");
    return prefix == "##" && type == "BertPreTokenizer" && splitters_.size() == 1 && vocab && vocab->find(unknown);
  }

  Status add_unigram(const JsonValue& root) {
    const JsonValue model = *root.find("model");
    INLAY_ASSIGN(const JsonValue unknown, model.get("unk_id"));
    INLAY_ASSIGN(const uint64_t unknown_id, unknown.as_u64());
    if (unknown_id >= tokens_.texts().size()) return unknown.expected("the id of a token");
    tokens_.set_type(static_cast<int32_t>(unknown_id), kUnknown);
    INLAY_ASSIGN(const bool byte_fallback, model.bool_or("byte_fallback", false));
    if (byte_fallback) unsaid_.push_back("model.byte_fallback");
    bool trims = splitters_.size() > 1;
    if (trims) unsaid_.push_back("pre_tokenizer of several parts");
    const JsonValue space = splitters_.back();
    INLAY_ASSIGN(const std::string_view scheme, space.string_or("prepend_scheme", "always"));
    INLAY_ASSIGN(const bool splits, space.bool_or("split", true));
    if ((scheme != "always" && scheme != "never") || !splits) unsaid_.push_back("pre_tokenizer Metaspace");
    std::string steps;
    for (const JsonValue& part : normalizers_) {
      INLAY_ASSIGN(const std::string_view type, part.string_or("type", ""));
      steps += (steps.empty() ? "" : ", ") + std::string(type);
      if (type != "Precompiled") continue;
      INLAY_ASSIGN(const std::string_view map, part.string_or("precompiled_charsmap", ""));
      std::string bytes;
      if (!decode_base64(map, bytes)) return error(Code::format, "%s: precompiled_charsmap is not base64", part.where().c_str());
      metadata_.bytes("tokenizer.ggml.precompiled_charsmap", bytes);
    }
    const bool squeezes = steps == "Strip, Replace" || steps == "Precompiled, Strip, Replace";
    if (!squeezes && !steps.empty() && steps != "Precompiled") unsaid_.push_back("normalizer " + steps);
    if (squeezes) {
      INLAY_ASSIGN(const JsonValue pattern, normalizers_.back().get("pattern"));
      INLAY_ASSIGN(const std::string_view text, pattern.string_or("Regex", ""));
      INLAY_ASSIGN(const std::string_view content, normalizers_.back().string_or("content", ""));
      if (text != " {2,}" || content != " ") unsaid_.push_back("normalizer Replace");
    }
    trims = trims || squeezes;
    metadata_.text("tokenizer.ggml.model", "t5");
    add_tokens(tokens_.texts());
    std::vector<float> scores = tokens_.scores();
    scores.resize(tokens_.texts().size(), 0);
    metadata_.f32s("tokenizer.ggml.scores", scores);
    metadata_.boolean("tokenizer.ggml.add_space_prefix", scheme != "never");
    metadata_.boolean("tokenizer.ggml.remove_extra_whitespaces", trims);
    INLAY_TRY(add_special_tokens());
    metadata_.u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(unknown_id));
    INLAY_TRY(add_flags(root));
    INLAY_TRY(find_unsaid_part(root, "decoder", "Metaspace"));
    return find_unsaid_of_added(root);
  }

  Status add_word_piece(const JsonValue& root) {
    const JsonValue model = *root.find("model");
    INLAY_ASSIGN(const std::string_view unknown, model.string_or("unk_token", "[UNK]"));
    const int32_t unknown_id = tokens_.find(unknown);
    tokens_.set_type(unknown_id, kUnknown);
    std::vector<std::string> texts;
    for (const std::string_view text : tokens_.texts()) {
      const bool is_name = text.size() > 1 && text.front() == '[' && text.back() == ']';
      if (is_name) texts.emplace_back(text);
      else if (text.size() > 2 && text.starts_with("##")) texts.emplace_back(text.substr(2));
      else texts.push_back(std::string(kWordBegins) + std::string(text));
    }
    metadata_.text("tokenizer.ggml.model", "bert");
    add_tokens(std::vector<std::string_view>(texts.begin(), texts.end()));
    INLAY_TRY(add_special_tokens());
    metadata_.u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(unknown_id));
    Around around;
    const auto post = root.find("post_processor");
    if (post && !post->is_null()) INLAY_TRY(read_around(*post, around));
    if (around.before.size() == 1 && around.after.size() == 1) {
      add_id("cls", tokens_.find(around.before[0]));
      add_id("seperator", tokens_.find(around.after[0]));  // spelt so in files
    } else {
      unsaid_.push_back("tokens around the text");
    }
    INLAY_TRY(find_unsaid_part(root, "normalizer", "BertNormalizer"));
    INLAY_TRY(find_unsaid_part(root, "decoder", "WordPiece"));
    for (const char* key : {"clean_text", "handle_chinese_chars", "lowercase", "strip_accents"}) {
      INLAY_ASSIGN(const bool set, normalizers_.empty() ? Result<bool>(false) : normalizers_[0].bool_or(key, true));
      if (!set) unsaid_.push_back(std::string("normalizer without ") + key);
    }
    const auto decoder = root.find("decoder");
    INLAY_ASSIGN(const bool cleans, decoder ? decoder->bool_or("cleanup", true) : Result<bool>(false));
    if (cleans) unsaid_.push_back("decoder.cleanup");
    INLAY_ASSIGN(const int64_t longest, model.i64_or("max_input_chars_per_word", 100));
    if (longest != 100) unsaid_.push_back("model.max_input_chars_per_word");
    return find_unsaid_of_added(root);
  }

  void add_tokens(std::span<const std::string_view> texts) {
    metadata_.texts("tokenizer.ggml.tokens", texts);
    metadata_.i32s("tokenizer.ggml.token_type", tokens_.types());
  }

  // What a reader of tokenizer.ggml.* alone would do otherwise.
  Status find_unsaid(const JsonValue& root) {
    INLAY_TRY(find_unsaid_part(root, "normalizer", "none"));
    INLAY_TRY(find_unsaid_part(root, "decoder", "ByteLevel"));
    const JsonValue model = *root.find("model");
    INLAY_ASSIGN(const bool byte_fallback, model.bool_or("byte_fallback", false));
    if (byte_fallback) unsaid_.push_back("model.byte_fallback");
    for (const char* key : {"unk_token", "dropout"}) {
      const auto value = model.find(key);
      if (value && !value->is_null()) unsaid_.push_back(std::string("model.") + key);
    }
    return find_unsaid_of_added(root);
  }

  Status find_unsaid_of_added(const JsonValue& root) {
    const auto added = root.find("added_tokens");
    if (!added) return {};
    INLAY_ASSIGN(const JsonElements tokens, added->as_array());
    for (const JsonValue token : tokens) {
      for (const char* key : {"lstrip", "rstrip", "single_word"}) {
        INLAY_ASSIGN(const bool set, token.bool_or(key, false));
        if (set) unsaid_.push_back(std::string(key) + " of added tokens, such as " + token.where());
        if (set) return {};
      }
    }
    return {};
  }

  Status find_unsaid_part(const JsonValue& root, const char* key, std::string_view said) {
    const auto part = root.find(key);
    std::string_view type = "none";
    if (part && !part->is_null()) {
      INLAY_ASSIGN(type, part->string_or("type", ""));
    }
    if (type != said) unsaid_.push_back(std::string(key) + " " + std::string(type));
    return {};
  }

  Status add_configured_ends() {
    INLAY_ASSIGN(const HfConfiguredIds all, configured_.ids("eos_token_id"));
    std::vector<int32_t> ends;
    for (const int64_t id : all.ids) {
      if (id >= 0 && id <= INT32_MAX) ends.push_back(static_cast<int32_t>(id));
    }
    metadata_.i32s("tokenizer.inlay.end_token_ids", ends);
    return {};
  }

  Status add_model(const JsonValue& root) {
    INLAY_ASSIGN(const JsonValue model, root.get("model"));
    // Files of early versions have no type.
    INLAY_ASSIGN(const std::string_view name, model.string_or("type", model.find("merges") ? "BPE" : ""));
    if (name != "BPE") {
      return error(Code::unsupported, "%s.type is %s, expected 'BPE'", model.where().c_str(), quote(name).c_str());
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      INLAY_ASSIGN(const std::string_view value, model.string_or(key, ""));
      if (!value.empty())
        return error(Code::unsupported, "%s.%s is %s, expected none", model.where().c_str(), key, quote(value).c_str());
    }
    INLAY_ASSIGN(const bool ignore_merges, model.bool_or("ignore_merges", false));
    const auto found = root.find("pre_tokenizer");
    if (!found) return error(Code::unsupported, "%s has no pre_tokenizer", root.where().c_str());
    const JsonValue pre = *found;
    INLAY_TRY(read_split(pre));
    for (const SplitName& split : kSplits) {
      if (!byte_level_ || pattern_ != split.pattern || single_digits_ != split.single_digits ||
          ignore_merges != split.ignore_merges) {
        continue;
      }
      metadata_.text("tokenizer.ggml.model", "gpt2");
      metadata_.text("tokenizer.ggml.pre", split.pre);
      return {};
    }
    return error(Code::unsupported,
                 "%s splits text%s%s (ignore_merges %s), which has no name in GGUF files that is known here",
                 pre.where().c_str(), pattern_.empty() ? "" : " by ", pattern_.empty() ? "" : quote(pattern_).c_str(),
                 ignore_merges ? "true" : "false");
  }

  // Of one pre-tokenizer, or a sequence of them.
  Status read_split(const JsonValue& pre) {
    INLAY_ASSIGN(const std::string_view type, pre.string_or("type", ""));
    if (type == "Sequence") {
      INLAY_ASSIGN(const JsonValue parts, pre.get("pretokenizers"));
      INLAY_ASSIGN(const JsonElements elements, parts.as_array());
      for (const JsonValue part : elements) {
        INLAY_TRY(read_split(part));
      }
      return {};
    }
    bool is_known = false;
    if (!byte_level_ && type == "Split") {
      INLAY_ASSIGN(is_known, read_pattern(pre));
    } else if (!byte_level_ && type == "Digits") {
      INLAY_ASSIGN(single_digits_, pre.bool_or("individual_digits", false));
      is_known = single_digits_;
    } else if (!byte_level_ && type == "ByteLevel") {
      INLAY_ASSIGN(const bool prefixes, pre.bool_or("add_prefix_space", true));
      INLAY_ASSIGN(const bool splits, pre.bool_or("use_regex", true));
      is_known = byte_level_ = !prefixes && splits == pattern_.empty();
    }
    if (is_known) return {};
    return error(Code::unsupported, "%s is a %s that has no name in GGUF files that is known here", pre.where().c_str(),
                 quote(type).c_str());
  }

  // Of the first Split, if its matches are words and what is between them, too.
  Result<bool> read_pattern(const JsonValue& split) {
    if (!pattern_.empty()) return false;
    INLAY_ASSIGN(const JsonValue pattern, split.get("pattern"));
    INLAY_ASSIGN(pattern_, pattern.string_or("Regex", ""));
    INLAY_ASSIGN(const std::string_view behavior, split.string_or("behavior", "Removed"));
    INLAY_ASSIGN(const bool invert, split.bool_or("invert", false));
    return !pattern_.empty() && behavior == "Isolated" && !invert;
  }

  Status add_merges(const JsonValue& model) {
    INLAY_ASSIGN(const auto merges, merges_of(model));
    std::vector<std::string> joined;
    joined.reserve(merges.size());
    for (const auto& [left, right] : merges) joined.push_back(left + " " + right);
    const std::vector<std::string_view> views(joined.begin(), joined.end());
    metadata_.texts("tokenizer.ggml.merges", views);
    return {};
  }

  // Two texts with a blank between them, or a list of the two.
  static Result<std::vector<std::pair<std::string, std::string>>> merges_of(const JsonValue& model) {
    INLAY_ASSIGN(const JsonValue value, model.get("merges"));
    INLAY_ASSIGN(const JsonElements merges, value.as_array());
    std::vector<std::pair<std::string, std::string>> out;
    out.reserve(merges.size());
    for (const JsonValue merge : merges) {
      if (merge.is_string()) {
        INLAY_ASSIGN(const std::string_view text, merge.as_string());
        const size_t blank = text.find(' ');
        if (blank == text.npos) return merge.expected("two tokens");
        out.emplace_back(text.substr(0, blank), text.substr(blank + 1));
        continue;
      }
      INLAY_ASSIGN(const JsonElements pair, merge.as_array());
      if (pair.size() != 2) return merge.expected("two tokens");
      std::vector<std::string> parts;
      for (const JsonValue token : pair) {
        INLAY_ASSIGN(const std::string_view part, token.as_string());
        if (part.empty() || part.find(' ') != part.npos) return token.expected("a token without a blank");
        parts.emplace_back(part);
      }
      out.emplace_back(parts[0], parts[1]);
    }
    return out;
  }

  // A token that tokenizer_config.json names, as text or as an object; -1 if it names none that there is.
  Result<int32_t> named_token(const char* key) const {
    auto value = member(tokenizer_config_, key);
    if (value && value->is_object()) value = value->find("content");
    if (!value) return -1;
    INLAY_ASSIGN(const std::string_view text, value->as_string());
    return tokens_.find(text);
  }

  // Of the ids under a key those of tokens.
  Result<std::vector<int32_t>> configured(const char* key) const {
    INLAY_ASSIGN(const HfConfiguredIds all, configured_.ids(key));
    std::vector<int32_t> out;
    for (const int64_t id : all.ids) {
      if (id >= 0 && id < static_cast<int64_t>(tokens_.texts().size())) out.push_back(static_cast<int32_t>(id));
    }
    return out;
  }

  Result<int32_t> special_token(const char* text_key, const char* id_key) const {
    INLAY_ASSIGN(const int32_t id, named_token(text_key));
    if (id >= 0) return id;
    INLAY_ASSIGN(const std::vector<int32_t> ids, configured(id_key));
    return ids.empty() ? -1 : ids[0];
  }

  void add_id(const char* name, int32_t id) {
    if (id >= 0 && static_cast<size_t>(id) < tokens_.texts().size())
      metadata_.u32(std::string("tokenizer.ggml.") + name + "_token_id", static_cast<uint32_t>(id));
  }

  Status add_special_tokens() {
    INLAY_ASSIGN(bos_, special_token("bos_token", "bos_token_id"));
    INLAY_ASSIGN(eos_, special_token("eos_token", "eos_token_id"));
    INLAY_ASSIGN(const int32_t padding, special_token("pad_token", "pad_token_id"));
    for (const auto& [name, key] : {std::pair{"sep_token", "seperator"}, {"cls_token", "cls"}, {"mask_token", "mask"}}) {
      INLAY_ASSIGN(const int32_t id, named_token(name));
      add_id(key, id);
    }
    INLAY_ASSIGN(const int32_t unknown, named_token("unk_token"));
    add_id("bos", bos_);
    add_id("eos", eos_);
    add_id("padding", padding);
    add_id("unknown", unknown);
    INLAY_ASSIGN(std::vector<int32_t> ends, configured("eos_token_id"));
    // GGUF has two more keys for ends of generation; ours has room for all of them, and says that there are no others.
    std::vector<const char*> names = {"eom", "eot"};
    std::string others;
    for (const int32_t id : ends) {
      if (id == eos_) continue;
      if (names.empty()) {
        others += " " + std::to_string(id);
        continue;
      }
      add_id(names.back(), id);
      names.pop_back();
    }
    if (!others.empty()) unsaid_.push_back("ends of generation beside three:" + others);
    if (eos_ >= 0 && std::find(ends.begin(), ends.end(), eos_) == ends.end()) ends.push_back(eos_);
    metadata_.i32s("tokenizer.inlay.end_token_ids", ends);
    return {};
  }

  static constexpr size_t kMaxAround = 256;

  // Tokens that stand around a text.
  struct Around {
    std::vector<std::string_view> before, after;
  };

  // BOS before a text and EOS behind it, or nothing: that much the flags say.
  Status add_flags(const JsonValue& root) {
    Around around;
    const auto post = root.find("post_processor");
    if (post && !post->is_null()) INLAY_TRY(read_around(*post, around));
    INLAY_TRY(apply_flag("add_bos_token", bos_, around.before));
    INLAY_TRY(apply_flag("add_eos_token", eos_, around.after));
    INLAY_TRY(add_flag("bos", bos_, around.before, "before"));
    return add_flag("eos", eos_, around.after, "behind");
  }

  Status read_around(const JsonValue& post, Around& around) const {
    INLAY_ASSIGN(const std::string_view type, post.string_or("type", ""));
    if (type == "Sequence") {
      INLAY_ASSIGN(const JsonValue parts, post.get("processors"));
      INLAY_ASSIGN(const JsonElements elements, parts.as_array());
      for (const JsonValue part : elements) INLAY_TRY(read_around(part, around));
      return {};
    }
    Around of_this;
    if (type == "TemplateProcessing") {
      INLAY_ASSIGN(const JsonValue single, post.get("single"));
      INLAY_ASSIGN(const JsonElements parts, single.as_array());
      if (parts.size() > kMaxAround) return single.expected("at most 256 items");  // each is sought among all special_tokens
      bool behind = false;
      for (const JsonValue part : parts) {
        const auto special = part.find("SpecialToken");
        behind = behind || !special;
        if (!special) continue;
        INLAY_ASSIGN(const JsonValue name, special->get("id"));
        INLAY_ASSIGN(const std::string_view text, name.as_string());
        INLAY_TRY(add_ids_of(post, text, behind ? of_this.after : of_this.before));
      }
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (const auto& [key, texts] : {std::pair{"cls", &of_this.before}, {"sep", &of_this.after}}) {
        INLAY_ASSIGN(const JsonValue pair, post.get(key));
        if (!pair.is_array() || pair.size() != 2) return pair.expected("a token and its id");
        auto at = pair.elements().begin();
        INLAY_TRY(add_text_of(*++at, *texts));
      }
    }
    around.before.insert(around.before.begin(), of_this.before.begin(), of_this.before.end());
    around.after.insert(around.after.end(), of_this.after.begin(), of_this.after.end());
    return {};
  }

  // Of a name in a template.
  Status add_ids_of(const JsonValue& post, std::string_view name, std::vector<std::string_view>& out) const {
    INLAY_ASSIGN(const JsonValue names, post.get("special_tokens"));
    INLAY_ASSIGN(const JsonValue token, names.get(name));
    INLAY_ASSIGN(const JsonValue ids, token.get("ids"));
    INLAY_ASSIGN(const JsonElements elements, ids.as_array());
    for (const JsonValue id : elements) INLAY_TRY(add_text_of(id, out));
    return {};
  }

  Status add_text_of(const JsonValue& id_value, std::vector<std::string_view>& out) const {
    INLAY_ASSIGN(const uint64_t id, id_value.as_u64());
    if (id >= tokens_.texts().size()) return id_value.expected("the id of a token");
    if (out.size() >= kMaxAround) return id_value.expected("the last of at most 256 tokens around a text");
    out.push_back(tokens_.texts()[id]);
    return {};
  }

  // tokenizer_config.json has the last word.
  Status apply_flag(const char* key, int32_t id, std::vector<std::string_view>& texts) const {
    const auto flag = member(tokenizer_config_, key);
    if (!flag || id < 0) return {};
    INLAY_ASSIGN(const bool adds, flag->as_bool());
    const std::string_view text = tokens_.texts()[static_cast<size_t>(id)];
    if (!adds) std::erase(texts, text);
    if (adds && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.insert(id == bos_ ? texts.begin() : texts.end(), text);
    return {};
  }

  Status add_flag(const char* name, int32_t id, const std::vector<std::string_view>& texts, const char* place) {
    const std::string_view text = id < 0 ? std::string_view() : tokens_.texts()[static_cast<size_t>(id)];
    const bool adds = id >= 0 && std::find(texts.begin(), texts.end(), text) != texts.end();
    metadata_.boolean("tokenizer.ggml.add_" + std::string(name) + "_token", adds);
    if (texts.size() == (adds ? 1u : 0u)) return {};
    std::string line = std::string("tokens ") + place + " the text:";
    for (const std::string_view t : texts) line += " " + quote(t);
    unsaid_.push_back(std::move(line));
    return {};
  }

  const std::string& folder_;
  MetadataBuilder& metadata_;
  std::string config_text_;
  std::optional<JsonDocument> tokenizer_config_;
  ConfiguredIds configured_;
  TokenList tokens_;
  std::string pattern_;
  bool single_digits_ = false, byte_level_ = false;
  std::vector<JsonValue> normalizers_, splitters_;
  bool adds_space_prefix_ = false, is_unigram_ = false;
  int32_t bos_ = -1, eos_ = -1;
  std::vector<std::string> unsaid_;
};

}  // namespace

Result<std::vector<std::string>> add_hf_vocabulary(const std::string& folder, uint64_t n_vocab, MetadataBuilder& metadata) {
  return VocabularyWriter(folder, metadata).write(n_vocab);
}

Result<HfConfiguredIds> read_hf_end_ids(const std::string& folder) {
  INLAY_ASSIGN(const ConfiguredIds configured, ConfiguredIds::open(folder));
  return configured.ids("eos_token_id");
}

}  // namespace inlay
