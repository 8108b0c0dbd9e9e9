#include "src/tokenizer/gguf_special_tokens.h"

#include <algorithm>
#include <utility>

#include "src/base/format.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr EndName kEndNames[] = {
    {"eos", "</s>"},
    {"eos", "<eos>"},
    {"eos", "[EOS]"},
    {"eot", "<|endoftext|>"},
    {"eot", "<|end_of_text|>"},
    {"eot", "<|im_end|>"},
    {"eot", "<|eot_id|>"},
    {"eot", "<end_of_turn>"},
    {"eot", "<|end|>"},
    {"eot", "<|return|>"},
    {"eot", "<EOT>"},
    {"eot", "_<EOT>"},
    {"eot", "[EOT]"},
    {"eot", "<end_of_utterance>"},
    {"eot",
     "<\xEF\xBD\x9C"
     "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"},
    {"eom", "<|eom_id|>"},
    {"eom", "<|call|>"},
    {"eom", "<|calls|>"},
    {"eom", "<|flush|>"},
    // Fill-in-the-middle models end a completion with these.
    {"fim_pad", "<|fim_pad|>"},
    {"fim_pad", "<fim-pad>"},
    {"fim_pad", "<fim_pad>"},
    {"fim_pad", "<PAD>"},
    {"fim_pad", "[PAD]"},
    {"fim_rep", "<|fim_repo|>"},
    {"fim_rep", "<|repo_name|>"},
    {"fim_rep", "<fim-repo>"},
    {"fim_rep", "<REPO>"},
    {"fim_rep", "<reponame>"},
    {"fim_sep", "<|file_sep|>"},
};
constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
    {"<s>", "</s>"}, {"<bos>", "<eos>"}, {"[BOS]", "[EOS]"}};
constexpr const char* kEndKeys[] = {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"};

const EndName* find_end_name(std::string_view text) {
  if (text.size() < 4 || (text.front() != '<' && text.front() != '[' && text.front() != '_')) return nullptr;
  const auto at = std::ranges::find(kEndNames, text, &EndName::text);
  return at == std::end(kEndNames) ? nullptr : at;
}

class EndReader {
 public:
  EndReader(const Metadata& metadata, std::span<const std::string_view> texts, std::span<const TokenKind> kinds,
            std::vector<std::string>& remarks)
      : metadata_(metadata), texts_(texts), kinds_(kinds), remarks_(remarks) {}

  Result<GgufEnds> read() {
    INLAY_TRY(look_at_all_ids());
    if (metadata_.find(kEndIdsKey)) {
      INLAY_TRY(read_list());
      return std::move(out_);
    }
    INLAY_ASSIGN(const SpecialId bos, read_special_id(metadata_, "bos", n_ids(), remarks_));
    if (bos.id >= 0 && static_cast<size_t>(bos.id) < texts_.size()) bos_ = texts_[static_cast<size_t>(bos.id)];
    for (const char* key : kEndKeys) {
      INLAY_ASSIGN(const SpecialId stated, read_special_id(metadata_, key, n_ids(), remarks_));
      if (stated.id >= 0) out_.ids.push_back(stated.id);
      if (stated.is_stated) stated_.push_back(key);
    }
    guess();
    return std::move(out_);
  }

 private:
  int32_t n_ids() const { return static_cast<int32_t>(kinds_.size()); }

  // Those that nothing here asks for are remarked on like the others. Keys are unique: only remarks of before may be the same.
  Status look_at_all_ids() {
    constexpr std::string_view kPrefix = "tokenizer.ggml.", kSuffix = "_token_id";
    const std::vector<std::string> earlier = remarks_;
    for (const MetaEntry& entry : metadata_.entries()) {
      if (!entry.key.starts_with(kPrefix) || !entry.key.ends_with(kSuffix)) continue;
      const std::string_view name = entry.key.substr(kPrefix.size(), entry.key.size() - kPrefix.size() - kSuffix.size());
      std::vector<std::string> own;
      INLAY_TRY(read_special_id(metadata_, name, n_ids(), own).status());
      if (!own.empty() && std::ranges::find(earlier, own[0]) == earlier.end()) remarks_.push_back(std::move(own[0]));
    }
    return {};
  }

  Status read_list() {
    INLAY_ASSIGN(const std::vector<int32_t> ids, metadata_.i32_array(kEndIdsKey));
    for (const int32_t id : ids) {
      if (id >= 0 && id < n_ids())
        out_.ids.push_back(id);
      else
        remarks_.push_back(no_such_token(kEndIdsKey, id, n_ids()));
    }
    return {};
  }

  // A file whose tokens have types says of ordinary ones that they are text. User-defined ones may be text too (Gemma's
  // </s> is a tag of HTML): they count where no key says which token it is, or where the file's BOS is their counterpart
  // (Phi 3 begins with <s> and states <|endoftext|>). Control tokens are no text in any case.
  void guess() {
    const bool has_types = std::ranges::any_of(
        kinds_, [](TokenKind kind) { return kind == TokenKind::control || kind == TokenKind::user_defined; });
    std::vector<int32_t> guessed;
    int32_t end = -1;
    bool has_return = false, has_call = false, has_flush = false;
    for (int32_t id = 0; id < static_cast<int32_t>(texts_.size()); ++id) {
      const EndName* name = find_end_name(texts_[static_cast<size_t>(id)]);
      if (!name) continue;
      const std::string_view text = name->text;
      has_return |= text == "<|return|>";
      has_call |= text == "<|call|>" || text == "<|calls|>";
      has_flush |= text == "<|flush|>";
      const TokenKind kind = kinds_[static_cast<size_t>(id)];
      const bool is_special = kind == TokenKind::control || kind == TokenKind::unknown;
      const bool may_be_text = kind == TokenKind::user_defined ? is_stated(name->key) && !is_counterpart_of_bos(text)
                                                               : has_types || is_stated(name->key);
      if (std::ranges::count(out_.ids, id) > 0 || (!is_special && may_be_text)) continue;
      if (text == "<|end|>") end = id;
      guessed.push_back(id);
      const bool fills = std::string_view(name->key).starts_with("fim_");
      if (kind == TokenKind::user_defined && !fills) out_.made_control.push_back(id);
    }
    // Where <|return|> or <|flush|> end a turn beside tool calls, <|end|> only separates its messages.
    if (end >= 0 && has_call && (has_return || has_flush)) std::erase(guessed, end);
    remark_on(guessed);
    out_.ids.insert(out_.ids.end(), guessed.begin(), guessed.end());
  }

  bool is_counterpart_of_bos(std::string_view end) const {
    for (const auto& [begin, its_end] : kPairs)
      if (bos_ == begin && end == its_end) return true;
    return false;
  }

  bool is_stated(std::string_view key) const { return std::ranges::find(stated_, key) != stated_.end(); }

  void remark_on(std::span<const int32_t> guessed) {
    if (guessed.empty()) return;
    std::string line = "taken as ends of generation by their names:";
    for (const int32_t id : guessed)
      append_format(line, "%s %s (%d)", line.back() == ':' ? "" : ",", quote(texts_[static_cast<size_t>(id)]).c_str(), id);
    remarks_.push_back(std::move(line));
  }

  const Metadata& metadata_;
  const std::span<const std::string_view> texts_;
  const std::span<const TokenKind> kinds_;
  std::vector<std::string>& remarks_;
  std::string_view bos_;
  std::vector<std::string_view> stated_;
  GgufEnds out_;
};

}  // namespace

std::span<const EndName> gguf_end_names() { return kEndNames; }

std::string no_such_token(std::string_view where, int64_t id, int32_t n_ids) {
  std::string line(where);
  append_format(line, " is %lld, none of the %d token ids: taken as none", static_cast<long long>(id), n_ids);
  return line;
}

Result<SpecialId> read_special_id(const Metadata& metadata, std::string_view name, int32_t n_ids,
                                  std::vector<std::string>& remarks) {
  const std::string key = "tokenizer.ggml." + std::string(name) + "_token_id";
  if (!metadata.find(key)) return SpecialId{};
  INLAY_ASSIGN(const int64_t id, metadata.get_i64(key));
  if (id >= 0 && id < n_ids) return SpecialId{static_cast<int32_t>(id), true};
  std::string remark = no_such_token(key, id, n_ids);
  if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(std::move(remark));
  return SpecialId{-1, true};
}

bool is_turn_mark(std::string_view text) {
  constexpr std::string_view kBar = "\xEF\xBD\x9C";  // U+FF5C
  constexpr std::string_view kNames[] = {"<start_of_turn>", "<end_of_turn>", "<end_of_utterance>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"};
  const auto between = [&](const std::string& begin, const std::string& end) {
    return text.size() > begin.size() + end.size() && text.starts_with(begin) && text.ends_with(end) && text.find_first_of(" \n\t") == text.npos;
  };
  return between("<|", "|>") || between("<" + std::string(kBar), std::string(kBar) + ">") || std::ranges::find(kNames, text) != std::end(kNames);
}

Result<std::vector<int32_t>> read_gguf_turn_tokens(const Metadata& metadata, std::span<const std::string_view> texts,
                                                   std::span<const TokenKind> kinds, std::vector<std::string>& remarks) {
  std::vector<int32_t> out;
  if (metadata.find(kEndIdsKey)) return out;  // the types are the folder's own
  INLAY_ASSIGN(const SpecialId bos, read_special_id(metadata, "bos", static_cast<int32_t>(kinds.size()), remarks));
  std::string written;  // all templates
  for (const MetaEntry& entry : metadata.entries()) {
    if (!entry.key.starts_with("tokenizer.chat_template")) continue;
    const auto source = metadata.get_string(entry.key);
    if (source.ok()) (written += *source) += '\n';
  }
  std::string line;
  for (int32_t id = 0; id < static_cast<int32_t>(texts.size()); ++id) {
    const std::string_view text = texts[static_cast<size_t>(id)];
    const TokenKind kind = kinds[static_cast<size_t>(id)];
    if (text.size() < 3 || (text.front() != '<' && text.front() != '[') || (kind != TokenKind::normal && kind != TokenKind::user_defined)) continue;
    const EndName* end = find_end_name(text);
    const bool is_end = end && is_turn_mark(text) && !std::string_view(end->key).starts_with("fim_");
    const bool is_normal = kind == TokenKind::normal;  // user-defined ones are taken whole as they are
    const bool is_written = is_normal && is_turn_mark(text) && written.find(text) != written.npos;
    if (!is_end && !is_written && !(is_normal && id == bos.id)) continue;
    out.push_back(id);
    append_format(line, "%s %s (%d, %s)", line.empty() ? "" : ",", quote(text).c_str(), id,
                  is_end ? "a name of ends" : is_written ? "the chat template writes it" : "tokenizer.ggml.bos_token_id");
  }
  if (!line.empty()) remarks.push_back("taken as control tokens, though the file has them as text:" + line);
  return out;
}

Result<GgufEnds> read_gguf_ends(const Metadata& metadata, std::span<const std::string_view> texts,
                                std::span<const TokenKind> kinds, std::vector<std::string>& remarks) {
  return EndReader(metadata, texts, kinds, remarks).read();
}

}  // namespace inlay
