#include "src/tokenizer/bpe_tokenizer.h"

#include "src/base/format.h"
#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"

namespace inlay {

namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre", kDefaultPre = "default";

// `asked`, if it is not empty, stands for what the file says. Files from before the key existed have none.
Result<const PreTokenizer*> choose_pre_tokenizer(const Metadata& metadata, std::string_view asked,
                                                 std::vector<std::string>& warnings) {
  INLAY_ASSIGN(const std::string_view said, metadata.string_or(kPreKey, ""));
  std::string_view name = asked.empty() ? said : asked;
  if (name.empty()) {
    warnings.push_back(std::string(kPreKey) + " is missing: words are split by \"default\", which may not be what the model was " +
                       "trained with; the load's pre_tokenizer names another");
    name = kDefaultPre;
  }
  if (const PreTokenizer* rules = find_pre_tokenizer(name)) return rules;
  const std::string similar = similar_pre_tokenizers(name);
  if (asked.empty()) {
    return error(Code::unsupported,
                 "%s is %s, a pre-tokenizer that is not known here; the load's pre_tokenizer can name one that is, such as %s (docs/families.md has all)",
                 kPreKey.data(), quote(name).c_str(), similar.c_str());
  }
  return error(Code::invalid_argument, "pre_tokenizer is %s, expected a name such as %s (docs/families.md has all)", quote(name).c_str(),
               similar.c_str());
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(const Metadata& metadata, int32_t n_rows, std::string_view pre_tokenizer) {
  std::vector<std::string> warnings;
  INLAY_ASSIGN(const PreTokenizer* rules, choose_pre_tokenizer(metadata, pre_tokenizer, warnings));
  if (metadata.find(kMergesKey) == nullptr) return error(Code::format, "%s is missing", kMergesKey.data());
  INLAY_ASSIGN(const std::span<const std::string_view> merges, metadata.string_array(kMergesKey));
  INLAY_ASSIGN(Vocabulary vocabulary, read_vocabulary(metadata, TokenizerModel::bpe, rules->adds_bos, n_rows));
  vocabulary.warnings = std::move(warnings);
  INLAY_ASSIGN(WordSplitter splitter, WordSplitter::compile(*rules));
  std::unique_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(vocabulary), std::move(splitter), rules->whole_word_first));
  INLAY_TRY(tokenizer->index_added_tokens());
  tokenizer->note_missing_bytes();
  INLAY_TRY(tokenizer->read_merges(merges));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, WordSplitter splitter, bool whole_word_first)
    : FragmentTokenizer(std::move(vocabulary), whole_word_first),
      splitter_(std::move(splitter)),
      model_(table_, {}, vocabulary_.unknown) {}

// Of the bytes that well-formed UTF-8 can contain. Where there is an unknown token, they become that.
void BpeTokenizer::note_missing_bytes() {
  if (vocabulary_.unknown >= 0) return;
  std::string bytes;
  int first = -1, n_missing = 0;
  const auto is_missing = [&](int b) { return b < 0xF5 && model_.byte_id(b) < 0 && b != 0xC0 && b != 0xC1; };
  for (int byte = 0; byte <= 0xF5; ++byte) {
    if (is_missing(byte)) {
      ++n_missing;
      if (first < 0) first = byte;
    } else if (first >= 0) {
      append_format(bytes, "%s0x%02X", bytes.empty() ? "" : ", ", first);
      if (byte - 1 > first) append_format(bytes, "-0x%02X", byte - 1);
      first = -1;
    }
  }
  if (n_missing == 0) return;
  std::string line;
  append_format(line, "%s has no token for %d bytes, and there is no tokenizer.ggml.unknown_token_id: texts lose them (%s)",
                kTokensKey.data(), n_missing, bytes.c_str());
  vocabulary_.warnings.push_back(std::move(line));
}

Status BpeTokenizer::read_merges(std::span<const std::string_view> merges) {
  if (merges.size() >= kNoMerge)
    return error(Code::format, "%s has %zu elements, more than 32 bits can count", kMergesKey.data(), merges.size());
  model_.reserve(merges.size());
  std::string buffer;
  for (size_t rank = 0; rank < merges.size(); ++rank) INLAY_TRY(read_merge(merges[rank], rank, buffer));
  return {};
}

// LEFT RIGHT, both in the byte alphabet, which has no space.
Status BpeTokenizer::read_merge(std::string_view text, size_t rank, std::string& buffer) {
  const size_t space = text.find(' ');
  if (space == text.npos || space == 0 || space + 1 == text.size())
    return error(Code::format, "%s[%zu] is %s, not two tokens with a space between", kMergesKey.data(), rank,
                 quote(text).c_str());
  buffer.clear();
  const bool left_ok = append_bytes_of(text.substr(0, space), buffer);
  const size_t n_left = buffer.size();
  const bool right_ok = append_bytes_of(text.substr(space + 1), buffer);
  const std::string_view merged = buffer;
  int missing = left_ok ? 1 : 0;
  if (!left_ok || !right_ok ||
      !model_.add_merge(merged.substr(0, n_left), merged.substr(n_left), static_cast<uint32_t>(rank), missing)) {
    constexpr const char* kWhich[] = {"the left token of", "the right token of", "the token made by"};
    return error(Code::format, "%s %s[%zu], %s, is not in %s", kWhich[missing], kMergesKey.data(), rank,
                 quote(text).c_str(), kTokensKey.data());
  }
  return {};
}

void BpeTokenizer::encode_fragment(std::string_view text, bool, MergeScratch& scratch,
                                   std::vector<int32_t>& out) const {
  auto word = [&](const char* begin, const char* end) {
    encode_word({begin, static_cast<size_t>(end - begin)}, scratch, out);
  };
  splitter_.split(text.data(), text.data() + text.size(), word);
}

void BpeTokenizer::append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  model_.append_merged(word, scratch, out);
}

}  // namespace inlay
