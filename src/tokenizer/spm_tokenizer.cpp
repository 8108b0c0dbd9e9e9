#include "src/tokenizer/spm_tokenizer.h"

#include <bit>

#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// Orders scores downwards; never kNoMerge, since no score is NaN.
uint32_t priority_of(float score) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 and +0 are one score
  const uint32_t ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return ~ascending;
}

bool has_space_inside(std::string_view piece) {
  for (size_t i = 1; i < piece.size(); ++i)
    if (piece[i] == ' ' && piece[i - 1] != ' ') return true;
  return false;
}

// `text` with spaces for U+2581, and one before if asked.
std::string with_plain_spaces(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + 1);
  if (prefix) out.push_back(' ');
  while (!text.empty()) {
    const size_t n = std::min(text.find(kSpaceSign), text.size());
    out.append(text.substr(0, n));
    if (n == text.size()) break;
    out.push_back(' ');
    text.remove_prefix(n + kSpaceSign.size());
  }
  return out;
}

// The end of the word that begins at `from`: its spaces, then everything up to the next space.
size_t word_end(std::string_view text, size_t from) {
  const size_t body = std::min(text.find_first_not_of(' ', from), text.size());
  return std::min(text.find(' ', body), text.size());
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> SpmTokenizer::create(const Metadata& metadata, int32_t n_rows) {
  INLAY_ASSIGN(Vocabulary vocabulary, read_vocabulary(metadata, TokenizerModel::spm, true, n_rows));
  std::unique_ptr<SpmTokenizer> tokenizer(new SpmTokenizer(std::move(vocabulary)));
  INLAY_TRY(tokenizer->index_added_tokens());
  INLAY_TRY(tokenizer->check_bytes());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

SpmTokenizer::SpmTokenizer(Vocabulary vocabulary) : FragmentTokenizer(std::move(vocabulary), false) {
  byte_ids_.fill(-1);
  priorities_.reserve(vocabulary_.scores.size());
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    priorities_.push_back(priority_of(vocabulary_.scores[id]));
    const std::string_view piece = vocabulary_.piece(id);
    if (vocabulary_.kinds[id] == TokenKind::byte) {
      int32_t& entry = byte_ids_[static_cast<unsigned char>(piece[0])];
      if (entry < 0) entry = id;
    }
    if (vocabulary_.matchable[id] && has_space_inside(piece)) merges_within_words_ = false;
  }
  if (table_.find(" ") < 0) merges_within_words_ = false;  // a run of unknown characters may go on after a space
}

// Every text must have ids: each byte needs a token, unless there is an unknown token.
Status SpmTokenizer::check_bytes() {
  if (vocabulary_.unknown >= 0) return {};
  for (int byte = 0; byte < 256; ++byte)
    if (byte_ids_[byte] < 0)
      return error(Code::format, "%s has no token <0x%02X>, and there is no tokenizer.ggml.unknown_token_id",
                   kTokensKey.data(), byte);
  return {};
}

void SpmTokenizer::encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                                   std::vector<int32_t>& out) const {
  const std::string spaced = with_plain_spaces(text, after_added && vocabulary_.add_space_prefix);
  const std::string_view all = spaced;
  if (!merges_within_words_) return encode_word(all, scratch, out);
  for (size_t from = 0; from < all.size();) {
    const size_t end = word_end(all, from);
    encode_word(all.substr(from, end - from), scratch, out);
    from = end;
  }
}

void SpmTokenizer::append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  scratch.symbols.clear();
  for (uint32_t begin = 0; begin < word.size();) {
    const uint32_t end = begin + decode_utf8(word.data() + begin).n_bytes;
    scratch.symbols.push_back({begin, end, table_.find(word.substr(begin, end - begin))});
    begin = end;
  }
  const auto rule = [&](const Symbol& left, const Symbol& right) -> Merge {
    const int32_t id = table_.find(word.substr(left.begin, right.end - left.begin));
    return id < 0 ? Merge{} : Merge{priorities_[id], id};
  };
  merge_symbols(rule, scratch);
  bool unknown_before = false;
  for (const Symbol& symbol : scratch.symbols) {
    bool unknown = false;
    if (symbol.id >= 0)
      out.push_back(symbol.id);
    else
      unknown = !append_bytes(word.substr(symbol.begin, symbol.end - symbol.begin), out);
    if (unknown && !unknown_before) out.push_back(vocabulary_.unknown);  // one for a run of them
    unknown_before = unknown;
  }
}

// The bytes of a character that is no token; false if they have no tokens either.
bool SpmTokenizer::append_bytes(std::string_view character, std::vector<int32_t>& out) const {
  if (character == " ") character = kSpaceSign;
  const size_t n = out.size();
  for (const char byte : character) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id < 0) {
      out.resize(n);
      return false;
    }
    out.push_back(id);
  }
  return true;
}

}  // namespace inlay
