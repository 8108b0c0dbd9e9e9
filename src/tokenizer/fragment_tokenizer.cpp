#include "src/tokenizer/fragment_tokenizer.h"

#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// The Phi-3 models' added tokens take the white space after them, these excepted.
bool strips_space(std::string_view added_token) {
  return added_token != "<unk>" && added_token != "<s>" && added_token != "<|endoftext|>";
}

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

FragmentTokenizer::FragmentTokenizer(Vocabulary vocabulary, bool whole_word_first)
    : VocabularyTokenizer(std::move(vocabulary)),
      table_(vocabulary_),
      whole_words_(table_, static_cast<size_t>(vocabulary_.size()), whole_word_first) {}

Status FragmentTokenizer::index_added_tokens() {
  INLAY_ASSIGN(added_, collect_added_tokens(vocabulary_));
  return {};
}

Status FragmentTokenizer::encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const {
  std::string repaired;
  text = well_formed(text, repaired);
  const AddedTokens& added = options.parse_special ? added_.with_special : added_.user_defined;
  AddedTokenFinder beside_plain(added_, text, options.plain);
  const bool has_plain = options.parse_special && !options.plain.empty();
  MergeScratch scratch;
  if (options.add_special && vocabulary_.add_bos) out.push_back(vocabulary_.bos);
  bool after_added = true;
  for (size_t from = 0; from < text.size();) {
    const AddedMatch match = has_plain ? beside_plain.find(from) : added.find(text, from);
    if (from < match.begin) {
      encode_fragment(text.substr(from, match.begin - from), after_added, scratch, out);
      after_added = false;
    }
    from = match.end;
    if (match.id < 0) break;
    out.push_back(match.id);
    if (!scratch.pulse.work(1)) break;
    after_added = true;
    if (vocabulary_.strips_after_added && strips_space(vocabulary_.piece(match.id)))
      while (from < text.size() && is_ascii_space(text[from])) ++from;
  }
  if (options.add_special && vocabulary_.add_eos) out.push_back(vocabulary_.eos);
  return scratch.pulse.status();
}

void FragmentTokenizer::encode_word(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  if (!scratch.pulse.work(word.size())) return;
  whole_words_.encode(word, out, [&](std::string_view part) { append_merged(part, scratch, out); });
}

}  // namespace inlay
