// UTF-8 at the level of single sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
inline constexpr std::string_view kSpaceSign = "\xE2\x96\x81";   // U+2581, which stands for a space in SentencePiece

// What stands at the beginning of some bytes: a well-formed sequence, or a maximal ill-formed part (Unicode, chapter 3,
// "U+FFFD Substitution of Maximal Subparts").
struct Utf8Sequence {
  uint32_t n_bytes;
  bool valid;
  bool incomplete;  // not valid, but further bytes could make it so: the text ended inside the sequence
};

Utf8Sequence first_sequence(std::string_view bytes);  // `bytes` is not empty

// `text` itself if it is well-formed; otherwise a copy in `storage`, each maximal ill-formed part being U+FFFD.
std::string_view well_formed(std::string_view text, std::string& storage);

inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The longest beginning of well-formed `text`, of at most n bytes, that ends behind a character.
inline size_t whole_characters(std::string_view text, size_t n) {
  if (text.size() <= n) return text.size();
  while (n > 0 && is_continuation(text[n])) --n;
  return n;
}

struct CodePoint {
  uint32_t value;
  uint32_t n_bytes;
};

// The code point at `at`, which must be the beginning of a sequence in well-formed text.
inline CodePoint decode_utf8(const char* at) {
  const auto* b = reinterpret_cast<const unsigned char*>(at);
  if (b[0] < 0x80) return {b[0], 1};
  if (b[0] < 0xE0) return {(b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu), 2};
  if (b[0] < 0xF0) return {(b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu), 3};
  return {(b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu), 4};
}

inline void append_utf8(uint32_t c, std::string& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
}

}  // namespace inlay
