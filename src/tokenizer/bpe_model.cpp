#include "src/tokenizer/bpe_model.h"

#include <bit>

#include "src/base/format.h"
#include "src/tokenizer/utf8.h"

namespace inlay {

void MergeTable::reserve(size_t n) {
  slots_.assign(std::bit_ceil(n + n / 2 + 1), {});
  mask_ = slots_.size() - 1;
}

size_t MergeTable::slot_of(int32_t left, int32_t right) const {
  size_t at = mix_bits(static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right)) & mask_;
  while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask_;
  return at;
}

void MergeTable::insert(int32_t left, int32_t right, Merge merge) {
  Slot& slot = slots_[slot_of(left, right)];
  if (slot.left < 0) slot = {left, right, merge};
}

Merge MergeTable::find(int32_t left, int32_t right) const {
  if ((left | right) < 0) return {};
  return slots_[slot_of(left, right)].merge;
}

size_t WholeWords::cut_of(std::string_view word) {
  size_t n = kMaxWordBytes;
  while (is_continuation(word[n])) --n;
  return n;
}

BpeModel::BpeModel(const TokenTable& table, BpeRules rules, int32_t unknown)
    : table_(table), rules_(std::move(rules)), unknown_(unknown) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string text(rules_.bytes ? 1 : 0, static_cast<char>(byte));
    if (!rules_.bytes) append_format(text, "<0x%02X>", byte);
    byte_ids_[byte] = rules_.bytes || rules_.byte_tokens ? table.find(text) : -1;
  }
}

bool BpeModel::add_merge(std::string_view left, std::string_view right, uint32_t rank, int& missing) {
  const std::string_view tail = right.starts_with(rules_.prefix) ? right.substr(rules_.prefix.size()) : right;
  const int32_t left_id = table_.find(left), right_id = table_.find(right);
  const int32_t both = table_.find(std::string(left).append(tail));
  missing = left_id < 0 ? 0 : right_id < 0 ? 1 : 2;
  if (left_id < 0 || right_id < 0 || both < 0) return false;
  merges_.insert(left_id, right_id, {rank, both});
  return true;
}

void BpeModel::append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const {
  if (rules_.bytes) {
    scratch.symbols.resize(word.size());
    for (uint32_t i = 0; i < word.size(); ++i)
      scratch.symbols[i] = {i, i + 1, byte_ids_[static_cast<unsigned char>(word[i])]};
  } else {
    add_characters(word, scratch);
  }
  if (rules_.closes_gaps && unknown_ < 0) std::erase_if(scratch.symbols, [](const Symbol& symbol) { return symbol.id < 0; });
  merge_symbols([this](const Symbol& left, const Symbol& right) { return merges_.find(left.id, right.id); }, scratch);
  bool after_unknown = false;
  for (const Symbol& symbol : scratch.symbols) {
    const bool is_unknown = symbol.id < 0;
    const int32_t id = is_unknown ? unknown_ : symbol.id;
    if (id >= 0 && !(is_unknown && after_unknown && rules_.fuses_unknown)) out.push_back(id);
    after_unknown = is_unknown;
  }
}

void BpeModel::add_characters(std::string_view word, MergeScratch& scratch) const {
  scratch.symbols.clear();
  std::string affixed;
  for (uint32_t begin = 0; begin < word.size();) {
    const uint32_t end = begin + decode_utf8(word.data() + begin).n_bytes;
    std::string_view text = word.substr(begin, end - begin);
    const std::string_view character = text;
    if ((begin > 0 && !rules_.prefix.empty()) || (end == word.size() && !rules_.suffix.empty())) {
      affixed = begin > 0 ? rules_.prefix : "";
      affixed.append(text).append(end == word.size() ? rules_.suffix : "");
      text = affixed;
    }
    const int32_t id = table_.find(text);
    if (id >= 0 || !rules_.byte_tokens || !add_byte_tokens(begin, character, scratch))
      scratch.symbols.push_back({begin, end, id});
    begin = end;
  }
}

bool BpeModel::add_byte_tokens(uint32_t begin, std::string_view character, MergeScratch& scratch) const {
  const size_t n = scratch.symbols.size();
  for (const char c : character) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    if (id < 0) {
      scratch.symbols.resize(n);
      return false;
    }
    scratch.symbols.push_back({begin, begin + 1, id});
    ++begin;
  }
  return true;
}

}  // namespace inlay
