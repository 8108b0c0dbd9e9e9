#include "src/tokenizer/bpe_tokenizer.h"

#include <bit>

#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"

namespace inlay {

void BpeTokenizer::MergeTable::reserve(size_t n) {
  slots_.resize(std::bit_ceil(n + n / 2 + 1));
  mask_ = slots_.size() - 1;
}

size_t BpeTokenizer::MergeTable::slot_of(int32_t left, int32_t right) const {
  size_t at = mix_bits(static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right)) & mask_;
  while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask_;
  return at;
}

void BpeTokenizer::MergeTable::insert(int32_t left, int32_t right, Merge merge) {
  Slot& slot = slots_[slot_of(left, right)];
  if (slot.left < 0) slot = {left, right, merge};
}

Merge BpeTokenizer::MergeTable::find(int32_t left, int32_t right) const {
  if ((left | right) < 0) return {};
  return slots_[slot_of(left, right)].merge;
}

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(const Metadata& metadata) {
  constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
  INLAY_ASSIGN(const std::string_view name, metadata.get_string(kPreKey));
  const PreTokenizer* rules = find_pre_tokenizer(name);
  if (rules == nullptr)
    return error(Code::unsupported, "%s is %s, a pre-tokenizer that is not known here", kPreKey.data(),
                 quote(name).c_str());
  if (metadata.find(kMergesKey) == nullptr) return error(Code::format, "%s is missing", kMergesKey.data());
  INLAY_ASSIGN(const std::span<const std::string_view> merges, metadata.string_array(kMergesKey));
  INLAY_ASSIGN(Vocabulary vocabulary, read_vocabulary(metadata, TokenizerModel::bpe, rules->adds_bos));
  INLAY_ASSIGN(WordSplitter splitter, WordSplitter::compile(*rules));
  std::unique_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(vocabulary), std::move(splitter), rules->whole_word_first));
  INLAY_TRY(tokenizer->index_added_tokens());
  INLAY_TRY(tokenizer->check_bytes());
  INLAY_TRY(tokenizer->read_merges(merges));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, WordSplitter splitter, bool whole_word_first)
    : VocabularyTokenizer(std::move(vocabulary), whole_word_first), splitter_(std::move(splitter)) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    byte_ids_[byte] = table_.find({&c, 1});
  }
}

// Every text must have ids: each byte that well-formed UTF-8 can contain needs a token, unless there is an unknown
// token.
Status BpeTokenizer::check_bytes() {
  if (vocabulary_.unknown >= 0) return {};
  for (int byte = 0; byte < 0xF5; ++byte)
    if (byte_ids_[byte] < 0 && byte != 0xC0 && byte != 0xC1)
      return error(Code::format, "%s has no token for the byte 0x%02X, and there is no tokenizer.ggml.unknown_token_id",
                   kTokensKey.data(), byte);
  return {};
}

Status BpeTokenizer::read_merges(std::span<const std::string_view> merges) {
  if (merges.size() >= kNoMerge)
    return error(Code::format, "%s has %zu elements, more than 32 bits can count", kMergesKey.data(), merges.size());
  merges_.reserve(merges.size());
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
  const int32_t left = left_ok ? table_.find(merged.substr(0, n_left)) : -1;
  const int32_t right = right_ok ? table_.find(merged.substr(n_left)) : -1;
  const int32_t both = left_ok && right_ok ? table_.find(merged) : -1;
  if (left < 0 || right < 0 || both < 0) {
    const char* which = left < 0 ? "the left token of" : right < 0 ? "the right token of" : "the token made by";
    return error(Code::format, "%s %s[%zu], %s, is not in %s", which, kMergesKey.data(), rank, quote(text).c_str(),
                 kTokensKey.data());
  }
  merges_.insert(left, right, {static_cast<uint32_t>(rank), both});
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
  scratch.symbols.resize(word.size());
  for (uint32_t i = 0; i < word.size(); ++i)
    scratch.symbols[i] = {i, i + 1, byte_ids_[static_cast<unsigned char>(word[i])]};
  merge_symbols([this](const Symbol& left, const Symbol& right) { return merges_.find(left.id, right.id); }, scratch);
  for (const Symbol& symbol : scratch.symbols) out.push_back(symbol.id >= 0 ? symbol.id : vocabulary_.unknown);
}

}  // namespace inlay
