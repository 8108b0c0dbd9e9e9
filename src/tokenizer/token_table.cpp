#include "src/tokenizer/token_table.h"

#include <algorithm>
#include <bit>

namespace inlay {

TokenTable::TokenTable(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  const auto n = static_cast<size_t>(vocabulary.size());
  slots_.resize(std::bit_ceil(n + n / 2 + 1));
  mask_ = slots_.size() - 1;
  for (const bool normal : {true, false})
    for (int32_t id = 0; id < vocabulary.size(); ++id)
      if (vocabulary.matchable[id] && (vocabulary.kinds[id] == TokenKind::normal) == normal) insert(id);
}

void TokenTable::insert(int32_t id) {
  const std::string_view bytes = vocabulary_.piece(id);
  max_bytes_ = std::max(max_bytes_, bytes.size());
  const uint64_t hash = hash_bytes(bytes);
  size_t at = hash & mask_;
  while (slots_[at].id >= 0) {
    if (slots_[at].tag == tag_of(hash) && vocabulary_.piece(slots_[at].id) == bytes) return;
    at = (at + 1) & mask_;
  }
  slots_[at] = {tag_of(hash), id};
}

}  // namespace inlay
