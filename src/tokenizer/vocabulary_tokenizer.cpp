#include "src/tokenizer/vocabulary_tokenizer.h"

#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// The Phi-3 models' added tokens take the white space after them, these excepted.
bool strips_space(std::string_view added_token) {
  return added_token != "<unk>" && added_token != "<s>" && added_token != "<|endoftext|>";
}

// Keeps a word's byte offsets far inside 32 bits and its merging within a gigabyte; longer ones are cut.
constexpr size_t kMaxWordBytes = 16 << 20;

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

VocabularyTokenizer::VocabularyTokenizer(Vocabulary vocabulary, bool whole_word_first)
    : vocabulary_(std::move(vocabulary)),
      table_(vocabulary_),
      whole_word_first_(whole_word_first),
      merges_to_itself_(std::make_unique<std::atomic<uint8_t>[]>(static_cast<size_t>(vocabulary_.size()))) {}

Status VocabularyTokenizer::index_added_tokens() {
  INLAY_ASSIGN(added_, collect_added_tokens(vocabulary_));
  return {};
}

void VocabularyTokenizer::encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const {
  std::string repaired;
  text = well_formed(text, repaired);
  const AddedTokens& added = options.parse_special ? added_.with_special : added_.user_defined;
  MergeScratch scratch;
  if (options.add_special && vocabulary_.add_bos) out.push_back(vocabulary_.bos);
  bool after_added = true;
  for (size_t from = 0; from < text.size();) {
    const AddedMatch match = added.find(text, from);
    if (from < match.begin) {
      encode_fragment(text.substr(from, match.begin - from), after_added, scratch, out);
      after_added = false;
    }
    from = match.end;
    if (match.id < 0) break;
    out.push_back(match.id);
    after_added = true;
    if (vocabulary_.strips_after_added && strips_space(vocabulary_.piece(match.id)))
      while (from < text.size() && is_ascii_space(text[from])) ++from;
  }
  if (options.add_special && vocabulary_.add_eos) out.push_back(vocabulary_.eos);
}

void VocabularyTokenizer::encode_word(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  while (word.size() > kMaxWordBytes) {
    size_t n = kMaxWordBytes;
    while (is_continuation(word[n])) --n;
    append_merged(word.substr(0, n), scratch, out);
    word.remove_prefix(n);
  }
  const int32_t whole = table_.find(word);
  if (whole >= 0 && (whole_word_first_ || merges_to_itself_[whole].load(std::memory_order_relaxed) != 0)) {
    out.push_back(whole);
    return;
  }
  const size_t n = out.size();
  append_merged(word, scratch, out);
  if (whole >= 0 && out.size() == n + 1 && out[n] == whole)
    merges_to_itself_[whole].store(1, std::memory_order_relaxed);
}

Status VocabularyTokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options, std::string& out) const {
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary_.size())
      return error(Code::invalid_argument, "token %zu is %d, but the vocabulary has %d tokens", i, ids[i],
                   vocabulary_.size());
  bool at_start = true;
  for (const int32_t id : ids) {
    const TokenKind kind = vocabulary_.kinds[id];
    if (!options.show_special && (kind == TokenKind::control || kind == TokenKind::unknown)) continue;
    std::string_view piece = vocabulary_.piece(id);
    if (at_start && vocabulary_.add_space_prefix && kind == TokenKind::normal && piece.starts_with(' '))
      piece.remove_prefix(1);
    at_start = false;
    out.append(piece);
  }
  return {};
}

}  // namespace inlay
