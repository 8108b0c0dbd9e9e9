#include "src/tokenizer/charsmap.h"

#include <cstring>

#include "src/formats/base64.h"
#include "src/formats/text.h"
#include "src/tokenizer/unicode_class.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr size_t kMaxCluster = 6;  // bytes

// One unit of the trie: bits 0-7 the label, bit 8 whether a value follows, bit 9 whether the offset is a multiple of
// 256, bits 10-30 the offset; a value's unit has bit 31.
uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

Result<PrecompiledCharsmap> PrecompiledCharsmap::read(const JsonValue& json) {
  INLAY_ASSIGN(const std::string_view text, json.as_string());
  PrecompiledCharsmap out;
  std::string bytes;
  uint32_t n = 0;
  if (!decode_base64(text, bytes) || bytes.size() < sizeof(n))
    return error(Code::format, "%s is not a precompiled map in base64", json.where().c_str());
  std::memcpy(&n, bytes.data(), sizeof(n));
  if (n > bytes.size() - sizeof(n) || n % sizeof(uint32_t) != 0)
    return error(Code::format, "%s has a trie of %u bytes, but there are %zu", json.where().c_str(), n,
                 bytes.size() - sizeof(n));
  out.units_.resize(n / sizeof(uint32_t));
  if (n > 0) std::memcpy(out.units_.data(), bytes.data() + sizeof(n), n);
  out.texts_ = bytes.substr(sizeof(n) + n);
  if (!is_valid_utf8(out.texts_))
    return error(Code::format, "%s has replacements that are not UTF-8", json.where().c_str());
  out.texts_.push_back('\0');
  return out;
}

std::optional<std::string_view> PrecompiledCharsmap::replacement(std::string_view bytes) const {
  if (units_.empty()) return std::nullopt;
  uint32_t node = offset_of(units_[0]);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    node ^= byte;
    if (node >= units_.size()) return std::nullopt;
    const uint32_t unit = units_[node];
    if ((unit & 0x800000FFu) != byte) return std::nullopt;
    node ^= offset_of(unit);
    if ((unit & 0x100) == 0) continue;
    const size_t at = node < units_.size() ? units_[node] & 0x7FFFFFFF : texts_.size();
    if (at >= texts_.size() || is_continuation(texts_[at])) return std::nullopt;
    return std::string_view(texts_.data() + at);
  }
  return std::nullopt;
}

void PrecompiledCharsmap::apply(std::string_view text, size_t most, std::string& out) const {
  const auto extends = [](uint32_t c) {
    return c >= 0x300 && (char_class(c) == CharClass::mark || c == 0x200C || c == 0x200D);
  };
  while (!text.empty() && out.size() <= most) {
    size_t n = decode_utf8(text.data()).n_bytes;
    if (text.starts_with("\r\n")) n = 2;
    while (n < text.size() && static_cast<unsigned char>(text[n]) >= 0x80) {
      const CodePoint next = decode_utf8(text.data() + n);
      if (!extends(next.value)) break;
      n += next.n_bytes;
    }
    const std::string_view cluster = text.substr(0, n);
    const auto whole = n < kMaxCluster ? replacement(cluster) : std::nullopt;
    if (whole) out.append(*whole);
    for (size_t at = 0; !whole && at < n;) {
      const std::string_view character = cluster.substr(at, decode_utf8(cluster.data() + at).n_bytes);
      out.append(replacement(character).value_or(character));
      at += character.size();
    }
    text.remove_prefix(n);
  }
}

}  // namespace inlay
