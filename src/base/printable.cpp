#include "src/base/printable.h"

#include <cstdint>
#include <cstring>

namespace inlay {
namespace {

constexpr size_t kLongestEscape = 6;  // \u202e

struct Character {
  uint32_t value = 0;
  size_t n_bytes = 0;  // 0: no UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t n = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (n <= 1) return {byte(0), n};
  if (text.size() < n) return {};
  uint32_t value = byte(0) & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const bool too_long = (n == 3 && value < 0x800) || (n == 4 && value < 0x10000);
  if (too_long || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {};
  return {value, n};
}

bool is_obeyed(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

size_t escape(uint32_t value, bool is_byte, char* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  const char letter = is_byte && value == '\n' ? 'n' : is_byte && value == '\t' ? 't' : is_byte && value == '\r' ? 'r' : 0;
  out[0] = '\\';
  out[1] = letter ? letter : is_byte ? 'x' : 'u';
  size_t n = 2;
  for (int shift = is_byte ? 4 : 12; shift >= 0 && !letter; shift -= 4) out[n++] = kDigits[value >> shift & 15];
  return n;
}

}  // namespace

size_t write_printable(std::string_view text, char* out, size_t cap, LineEnds line_ends) {
  size_t n = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    const size_t n_taken = c.n_bytes > 0 ? c.n_bytes : 1;
    char piece[kLongestEscape];
    size_t n_piece = n_taken;
    std::memcpy(piece, text.data(), n_taken);
    if (c.n_bytes == 0 || c.value < 0x80) {
      const auto byte = static_cast<unsigned char>(text[0]);
      const bool kept = c.n_bytes > 0 && (!is_obeyed(byte) || (byte == '\n' && line_ends == LineEnds::kept));
      if (!kept) n_piece = escape(byte, true, piece);
    } else if (is_obeyed(c.value)) {
      n_piece = escape(c.value, false, piece);
    }
    if (n_piece > cap - n) break;
    std::memcpy(out + n, piece, n_piece);
    n += n_piece;
    text.remove_prefix(n_taken);
  }
  return n;
}

std::string printable(std::string_view text, LineEnds line_ends) {
  std::string out(text.size() * 4, '\0');  // a byte becomes \x1b at most, three become \u202e
  out.resize(write_printable(text, out.data(), out.size(), line_ends));
  return out;
}

}  // namespace inlay
