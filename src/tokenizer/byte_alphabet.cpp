#include "src/tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace inlay {
namespace {

constexpr uint32_t kNumChars = 0x100 + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<int16_t, kNumChars> byte_of_char() {
  std::array<int16_t, kNumChars> out{};
  for (auto& entry : out) entry = -1;
  uint32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) out[stands_for_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  return out;
}

constexpr std::array<int16_t, kNumChars> kByteOfChar = byte_of_char();

}  // namespace

bool append_bytes_of(std::string_view text, std::string& out) {
  const size_t old_size = out.size();
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t value = static_cast<unsigned char>(text[i]);
    if (value >= 0xC2 && value < 0xE0 && i + 1 < text.size()) {
      value = (value & 0x1F) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F);
    } else if (value >= 0x80) {
      value = kNumChars;
    }
    if (value >= kNumChars || kByteOfChar[value] < 0) {
      out.resize(old_size);
      return false;
    }
    out.push_back(static_cast<char>(kByteOfChar[value]));
  }
  return true;
}

}  // namespace inlay
