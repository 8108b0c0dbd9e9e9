#include "src/tokenizer/bpe_tokenizer.h"

#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"

namespace inlay {

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(const Metadata& metadata, int32_t n_rows) {
  constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
  INLAY_ASSIGN(const std::string_view name, metadata.get_string(kPreKey));
  const PreTokenizer* rules = find_pre_tokenizer(name);
  if (rules == nullptr)
    return error(Code::unsupported, "%s is %s, a pre-tokenizer that is not known here", kPreKey.data(),
                 quote(name).c_str());
  if (metadata.find(kMergesKey) == nullptr) return error(Code::format, "%s is missing", kMergesKey.data());
  INLAY_ASSIGN(const std::span<const std::string_view> merges, metadata.string_array(kMergesKey));
  INLAY_ASSIGN(Vocabulary vocabulary, read_vocabulary(metadata, TokenizerModel::bpe, rules->adds_bos, n_rows));
  INLAY_ASSIGN(WordSplitter splitter, WordSplitter::compile(*rules));
  std::unique_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(vocabulary), std::move(splitter), rules->whole_word_first));
  INLAY_TRY(tokenizer->index_added_tokens());
  INLAY_TRY(tokenizer->check_bytes());
  INLAY_TRY(tokenizer->read_merges(merges));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, WordSplitter splitter, bool whole_word_first)
    : FragmentTokenizer(std::move(vocabulary), whole_word_first),
      splitter_(std::move(splitter)),
      model_(table_, {}, vocabulary_.unknown) {}

// Every text must have ids: each byte that well-formed UTF-8 can contain needs a token, unless there is an unknown
// token.
Status BpeTokenizer::check_bytes() {
  if (vocabulary_.unknown >= 0) return {};
  for (int byte = 0; byte < 0xF5; ++byte)
    if (model_.byte_id(byte) < 0 && byte != 0xC0 && byte != 0xC1)
      return error(Code::format, "%s has no token for the byte 0x%02X, and there is no tokenizer.ggml.unknown_token_id",
                   kTokensKey.data(), byte);
  return {};
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
