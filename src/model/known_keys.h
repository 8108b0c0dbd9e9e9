// What files write beside what is read: older spellings of keys, keys that change nothing, and a line about each other one.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/json.h"
#include "src/formats/metadata.h"

namespace inlay {

// Of GGUF's keys of a family, behind "<arch>.".
struct KeySpelling {
  const char* key;
  const char* older;  // read where `key` is missing
};
std::span<const KeySpelling> gguf_spellings();

// Of keys in config.json and in its objects: where several are filled, the first counts.
struct ConfigSpellings {
  std::array<const char*, 3> keys;  // null after the last
};
std::span<const ConfigSpellings> config_spellings();
// The spelling of `key` that the object has filled; `key` itself if there is none.
std::string_view spelling_in(const JsonValue& object, std::string_view key);

// A key that is not read: it has no effect on results where it has this value, whatever it has if `neutral` is null. Numbers
// are written as %g writes them. Zero, false, null and what is empty are neutral for keys that no table has.
struct UnreadKey {
  const char* key;
  const char* neutral = nullptr;
};
std::span<const UnreadKey> unread_gguf_keys();    // behind "<arch>.", or whole
std::span<const UnreadKey> unread_config_keys();  // of config.json

// A line for each key under "<arch>." and "tokenizer.ggml." that nobody has read and that may change results.
std::vector<std::string> gguf_key_warnings(const Metadata& metadata, std::string_view arch);

// Likewise of config.json, where `is_read` says of a key whether it is read.
template <class IsRead>
std::vector<std::string> config_key_warnings(const JsonValue& config, const IsRead& is_read);

bool changes_nothing(std::string_view key, const JsonValue& value);
std::string key_warning(std::string_view where);

template <class IsRead>
std::vector<std::string> config_key_warnings(const JsonValue& config, const IsRead& is_read) {
  std::vector<std::string> out;
  for (const JsonMember& member : config.members()) {
    if (!is_read(member.key) && !changes_nothing(member.key, member.value)) out.push_back(key_warning(member.value.where()));
  }
  return out;
}

}  // namespace inlay
