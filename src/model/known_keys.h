// What files write beside what is read: older spellings of keys, keys that change nothing, and a line about each other one, whatever its value.
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
// are written as %g writes them, objects and arrays without blanks; empty ones are neutral as "none" is, and null always.
struct UnreadKey {
  const char* key;
  const char* neutral = nullptr;
  bool is_refused = false;  // with another value; else that is a warning
};
std::span<const UnreadKey> unread_gguf_keys();    // behind "<arch>.", or whole
std::span<const UnreadKey> unread_config_keys();  // of config.json

// The keys of another file of a folder, or of config.json's objects of RoPE.
struct KnownKeys {
  const char* where;
  std::span<const char* const> read;  // where they count; values that cannot be had are refused there
  std::span<const UnreadKey> unread;
};
std::span<const KnownKeys> known_files();  // `where` is the file's name
const KnownKeys& known_rope_keys();

// A line for each key under "<arch>." and "tokenizer.ggml." that nobody has read and that is not known to change nothing.
std::vector<std::string> gguf_key_warnings(const Metadata& metadata, std::string_view arch);

// Paths in the document of the members that are not read and not known to change nothing.
template <class IsRead>
std::vector<std::string> unknown_keys(const JsonValue& object, const std::span<const UnreadKey> unread, const IsRead& is_read);
std::vector<std::string> unknown_keys(const JsonValue& object, const KnownKeys& known);
// Of an object of RoPE, and of those for each kind of layer in it.
std::vector<std::string> unknown_rope_keys(const JsonValue& object);

// UNSUPPORTED for the first key of the table that has a value which is refused.
Status refuse_keys(const JsonValue& object, std::span<const UnreadKey> unread);
Status refuse_gguf_keys(const Metadata& metadata, std::string_view arch);  // likewise of "<arch>."
const KnownKeys& known_file(std::string_view name);  // one of known_files()

std::string shown_key(std::string_view key);  // as in a path: JsonValue::path() takes time that grows with the members before
bool changes_nothing(std::span<const UnreadKey> unread, std::string_view key, const JsonValue& value);
// One line for all keys of a file, if there are any. `root` is the document's.
std::vector<std::string> key_warning(const JsonValue& root, const std::vector<std::string>& keys);

template <class IsRead>
std::vector<std::string> unknown_keys(const JsonValue& object, const std::span<const UnreadKey> unread, const IsRead& is_read) {
  std::vector<std::string> out;
  const std::string before = object.place() == 0 ? "" : object.path() + ".";
  for (const JsonMember& member : object.members()) {
    if (!is_read(member.key) && !changes_nothing(unread, member.key, member.value)) out.push_back(before + shown_key(member.key));
  }
  return out;
}

}  // namespace inlay
