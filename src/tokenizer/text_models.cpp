#include "src/tokenizer/text_models.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr double kUnknownPenalty = 10;       // below the lowest score, as in SentencePiece
constexpr size_t kMaxUnigramWord = 4 << 20;  // bytes; longer ones are cut, which bounds the memory for one

}  // namespace

void BpeTextModel::append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  const auto merge = [&](std::string_view part) { model_.append_merged(part, scratch, out); };
  while (!cut_sign_.empty() && word.size() > cut_sign_.size()) {
    // Signs in succession stay together: a token may be a run of them.
    size_t body = 0;
    while (word.substr(body).starts_with(cut_sign_)) body += cut_sign_.size();
    const size_t end = std::min(word.find(cut_sign_, body), word.size());
    if (end == word.size()) break;
    words_.encode(word.substr(0, end), out, merge);
    word.remove_prefix(end);
  }
  words_.encode(word, out, merge);
}

UnigramModel::UnigramModel(const Vocabulary& texts, std::vector<double> scores, const TokenTable& table, Rules rules)
    : scores_(std::move(scores)), rules_(rules) {
  unknown_score_ = scores_.empty() ? 0 : *std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty;
  for (int byte = 0; byte < 256; ++byte) {
    std::string text;
    append_format(text, "<0x%02X>", byte);
    byte_ids_[byte] = table.find(text);
  }
  build(texts);
}

// Breadth first over the sorted texts, so that a node's children are neighbours in the order of their labels.
void UnigramModel::build(const Vocabulary& texts) {
  std::vector<std::pair<std::string_view, int32_t>> sorted;
  for (int32_t id = 0; id < static_cast<int32_t>(scores_.size()); ++id)
    if (id != rules_.unknown && !texts.piece(id).empty()) sorted.push_back({texts.piece(id), id});
  std::sort(sorted.begin(), sorted.end());
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, sorted.size(), 0}};
  nodes_.resize(1);
  for (size_t at = 0; at < ranges.size(); ++at) {
    auto [begin, end, depth] = ranges[at];
    for (; begin < end && sorted[begin].first.size() == depth; ++begin) nodes_[at].id = sorted[begin].second;
    nodes_[at].first_child = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char label = sorted[begin].first[depth];
      size_t stop = begin;
      while (stop < end && sorted[stop].first[depth] == label) ++stop;
      ranges.push_back({begin, stop, depth + 1});
      nodes_.push_back({0, 0, static_cast<unsigned char>(label), -1});
      ++nodes_[at].n_children;
      begin = stop;
    }
  }
}

const UnigramModel::Node* UnigramModel::child(const Node& node, unsigned char label) const {
  const Node* begin = nodes_.data() + node.first_child;
  const Node* end = begin + node.n_children;
  const Node* found = std::lower_bound(begin, end, label, [](const Node& n, unsigned char l) { return n.label < l; });
  return found != end && found->label == label ? found : nullptr;
}

// Extends the best way to `from` by each token there, and by an unknown character unless that is a token itself.
size_t UnigramModel::reach(std::string_view word, uint32_t from, std::vector<Place>& places) const {
  const auto offer = [&](uint32_t to, int32_t id, double score) {
    Place& place = places[to];
    const double sum = places[from].score + score;
    if (place.from == UINT32_MAX || sum > place.score) place = {sum, from, id};
  };
  const uint32_t n = decode_utf8(word.data() + from).n_bytes;
  bool single = false;
  const Node* node = nodes_.data();
  uint32_t at = from;
  while (at < word.size()) {
    node = child(*node, static_cast<unsigned char>(word[at++]));
    if (node == nullptr) break;
    if (node->id < 0) continue;
    offer(at, node->id, scores_[node->id]);
    single |= at == from + n;
  }
  if (!single) offer(from + n, -1, unknown_score_);
  return at - from;
}

void UnigramModel::append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  while (word.size() > kMaxUnigramWord) {
    size_t n = kMaxUnigramWord;
    while (is_continuation(word[n])) --n;
    append_part(word.substr(0, n), scratch.pulse, out);
    word.remove_prefix(n);
  }
  append_part(word, scratch.pulse, out);
}

void UnigramModel::append_part(std::string_view word, EncodingPulse& pulse, std::vector<int32_t>& out) const {
  std::vector<Place> places(word.size() + 1);
  for (uint32_t at = 0; at < word.size(); at += decode_utf8(word.data() + at).n_bytes) {
    if (!pulse.work(reach(word, at, places))) return;
  }
  std::vector<uint32_t> ends;
  for (auto at = static_cast<uint32_t>(word.size()); at > 0; at = places[at].from) ends.push_back(at);
  for (size_t i = ends.size(); i-- > 0;) {
    const Place& place = places[ends[i]];
    if (place.id >= 0 && place.id != rules_.unknown) {
      out.push_back(place.id);
      continue;
    }
    while (i > 0 && (places[ends[i - 1]].id < 0 || places[ends[i - 1]].id == rules_.unknown)) --i;
    append_unknown(word.substr(place.from, ends[i] - place.from), out);
  }
}

void UnigramModel::append_unknown(std::string_view text, std::vector<int32_t>& out) const {
  const size_t n = out.size();
  bool all = rules_.byte_tokens;
  for (const char c : text) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    all = all && id >= 0;
    if (all) out.push_back(id);
  }
  if (all) return;
  out.resize(n);
  if (rules_.unknown >= 0) out.push_back(rules_.unknown);
}

void WordPieceModel::append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  const size_t n_characters =
      word.size() - static_cast<size_t>(std::count_if(word.begin(), word.end(), is_continuation));
  const auto unknown = [&](size_t n) {
    out.resize(n);
    if (rules_.unknown >= 0) out.push_back(rules_.unknown);
  };
  const size_t n = out.size();
  if (n_characters > rules_.max_characters) return unknown(n);
  std::string text;
  for (size_t from = 0; from < word.size();) {
    text = from > 0 ? rules_.prefix : "";
    const size_t n_prefix = text.size();
    text.append(word.substr(from));
    int32_t id = table_.find(text);
    while (id < 0 && text.size() > n_prefix) {
      if (!scratch.pulse.work(text.size())) return;
      while (text.size() > n_prefix && is_continuation(text.back())) text.pop_back();
      if (text.size() > n_prefix) text.pop_back();
      if (text.size() > n_prefix) id = table_.find(text);
    }
    if (id < 0) return unknown(n);
    out.push_back(id);
    from += text.size() - n_prefix;
  }
}

void WordLevelModel::append(std::string_view word, MergeScratch&, std::vector<int32_t>& out) const {
  const int32_t id = table_.find(word);
  if (id >= 0 || unknown_ >= 0) out.push_back(id >= 0 ? id : unknown_);
}

}  // namespace inlay
