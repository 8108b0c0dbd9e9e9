#include "src/tokenizer/utf8.h"

#include <cstring>

#include "src/tokenizer/tokenizer.h"

namespace inlay {
namespace {

// Table 3-7 of the Unicode Standard: a lead byte fixes the length and the range of the second byte; later ones
// are 80..BF.
struct Lead {
  uint32_t n_bytes;  // 0 if no sequence begins with this byte
  unsigned char second_low;
  unsigned char second_high;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

size_t ascii_prefix(const char* text, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    std::memcpy(&word, text + i, 8);
    if (word & 0x8080808080808080ull) break;
  }
  while (i < n && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

// Length of the well-formed text at the beginning of `text`.
size_t well_formed_prefix(std::string_view text) {
  size_t i = 0;
  while (true) {
    i += ascii_prefix(text.data() + i, text.size() - i);
    if (i == text.size()) return i;
    const Utf8Sequence sequence = first_sequence(text.substr(i));
    if (!sequence.valid) return i;
    i += sequence.n_bytes;
  }
}

}  // namespace

Utf8Sequence first_sequence(std::string_view bytes) {
  const auto* b = reinterpret_cast<const unsigned char*>(bytes.data());
  const Lead lead = lead_of(b[0]);
  if (lead.n_bytes == 0) return {1, false, false};
  for (uint32_t i = 1; i < lead.n_bytes; ++i) {
    if (i == bytes.size()) return {i, false, true};
    const unsigned char low = i == 1 ? lead.second_low : 0x80;
    const unsigned char high = i == 1 ? lead.second_high : 0xBF;
    if (b[i] < low || b[i] > high) return {i, false, false};
  }
  return {lead.n_bytes, true, false};
}

std::string_view well_formed(std::string_view text, std::string& storage) {
  size_t n = well_formed_prefix(text);
  if (n == text.size()) return text;
  storage.clear();
  while (n < text.size()) {
    storage.append(text.substr(0, n)).append(kReplacement);
    text.remove_prefix(n + first_sequence(text.substr(n)).n_bytes);
    n = well_formed_prefix(text);
  }
  storage.append(text);
  return storage;
}

void Utf8Assembler::append(std::string_view bytes, std::string& out) {
  while (n_held_ > 0 && !bytes.empty()) {
    const size_t n = static_cast<size_t>(n_held_) & 3;  // at most three bytes are incomplete
    held_[n] = bytes.front();
    const Utf8Sequence sequence = first_sequence({held_, n + 1});
    if (sequence.incomplete) {
      ++n_held_;
      bytes.remove_prefix(1);
      continue;
    }
    n_held_ = 0;
    if (sequence.valid) {
      out.append(held_, n + 1);
      bytes.remove_prefix(1);
    } else {
      out.append(kReplacement);  // for the bytes held before: the new one does not continue them and begins anew
    }
  }
  while (!bytes.empty()) {
    const size_t n = well_formed_prefix(bytes);
    out.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (bytes.empty()) return;
    const Utf8Sequence sequence = first_sequence(bytes);
    if (sequence.incomplete) {
      n_held_ = static_cast<int32_t>(sequence.n_bytes);
      std::memcpy(held_, bytes.data(), sequence.n_bytes);
      return;
    }
    out.append(kReplacement);
    bytes.remove_prefix(sequence.n_bytes);
  }
}

void Utf8Assembler::flush(std::string& out) {
  if (n_held_ > 0) out.append(kReplacement);
  n_held_ = 0;
}

}  // namespace inlay
