// Vocabularies for tests of constraints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/constraint/token_trie.h"

namespace inlay::constraint {

// One token for each byte, then an end.
inline std::shared_ptr<const TokenTrie> byte_vocabulary() {
  static const std::shared_ptr<const TokenTrie> made = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.push_back(std::string(1, static_cast<char>(byte)));
    std::vector<Piece> pieces;
    for (const std::string& text : texts) pieces.push_back({text, PieceKind::text});
    pieces.push_back({"</s>", PieceKind::end});
    return *TokenTrie::make(pieces);
  }();
  return made;
}

}  // namespace inlay::constraint
