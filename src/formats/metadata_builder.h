// Metadata that comes from no GGUF file, or from one and was changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/formats/metadata.h"

namespace inlay {

class MetadataBuilder {
 public:
  // A key that is there already gets the new value. `key_in_file`: what messages call it.
  void u32(std::string_view key, uint32_t value, std::string_view key_in_file = {});
  void f32(std::string_view key, float value, std::string_view key_in_file = {});
  void boolean(std::string_view key, bool value, std::string_view key_in_file = {});
  void text(std::string_view key, std::string_view value);
  void texts(std::string_view key, std::span<const std::string_view> values);
  void i32s(std::string_view key, std::span<const int32_t> values);
  void f32s(std::string_view key, std::span<const float> values);
  void bytes(std::string_view key, std::string_view values);  // an array of u8
  void copy(const MetaEntry& entry);

  // `name`: the file, in messages.
  Metadata build(std::string name) const;

 private:
  struct Entry {
    std::string key, key_in_file;
    MetaType type, element_type = MetaType::u8;
    uint64_t count = 0;              // of an array
    std::string bytes;               // of scalars, numbers in arrays, and strings
    std::vector<std::string> texts;  // of an array of strings
  };
  Entry& add(std::string_view key, MetaType type, std::string_view key_in_file = {});

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> by_key_;  // indices into entries_
};

}  // namespace inlay
