// The key-value part of a model file, owned: it outlives the file that it came from.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace inlay {

// In the order of GGUF's numbers.
enum class MetaType : uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

const char* meta_type_name(MetaType type);
uint32_t meta_type_bytes(MetaType type);  // of one scalar; 0 for strings and arrays

struct MetaValue {
  MetaType type = MetaType::u8;
  MetaType element_type = MetaType::u8;  // of an array
  uint64_t count = 0;                    // elements of an array
  const std::byte* data = nullptr;       // scalar or packed array elements, little-endian, unaligned; not for strings
  std::string_view text;                 // of a string
  std::vector<std::string_view> texts;   // of an array of strings
};

struct MetaEntry {
  std::string_view key;
  MetaValue value;
  std::string_view key_in_file = {};  // where the file calls it otherwise
};

// Keys are unique. Views point into `bytes`, which the object owns.
class Metadata {
 public:
  Metadata() = default;
  // `name` says in messages whose metadata it is: the file.
  Metadata(std::shared_ptr<const std::vector<std::byte>> bytes, std::vector<MetaEntry> entries, std::string name = {});

  std::span<const MetaEntry> entries() const { return entries_; }  // in the file's order
  const MetaValue* find(std::string_view key) const;               // null if absent
  std::string key_in_file(std::string_view key) const;             // in messages: the key itself unless the file has another
  std::vector<const MetaEntry*> unread() const;                    // those that no getter has asked for, of this object or a copy
  const MetaEntry* duplicate() const;                              // an entry whose key another has too, null if none

  // The typed getters convert between integer widths (range-checked) and between f32 and f64 (a finite f64 beyond f32
  // is refused where float is asked); another type is a format error that names the key. `get_*` needs the key; `*_or`
  // gives the fallback if it is absent (a wrong type is still an error).
  Result<uint64_t> get_u64(std::string_view key) const;
  // Also below 0; a u64 above the range is taken as the two's complement that it is.
  Result<int64_t> get_i64(std::string_view key) const;
  Result<double> get_f64(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string_view> get_string(std::string_view key) const;
  Result<uint64_t> u64_or(std::string_view key, uint64_t fallback) const;
  Result<double> f64_or(std::string_view key, double fallback) const;
  Result<bool> bool_or(std::string_view key, bool fallback) const;
  Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const;
  // Arrays of any integer type (int32), of f32/f64 (float), of strings. Empty if absent; an empty array has any type.
  Result<std::vector<int32_t>> i32_array(std::string_view key) const;
  Result<std::vector<float>> f32_array(std::string_view key) const;
  Result<std::vector<bool>> bool_array(std::string_view key) const;  // integers too: not 0 is true
  Result<std::span<const std::string_view>> string_array(std::string_view key) const;

 private:
  std::string prefix() const;  // of messages: "FILE: ", or nothing
  Status missing(std::string_view key) const;
  Status wrong_type(std::string_view key, const MetaValue& value, const char* expected) const;
  Result<uint64_t> as_u64(std::string_view key, const MetaValue& value) const;
  Result<double> as_f64(std::string_view key, const MetaValue& value) const;
  Result<bool> as_bool(std::string_view key, const MetaValue& value) const;
  Result<std::string_view> as_string(std::string_view key, const MetaValue& value) const;

  std::shared_ptr<const std::vector<std::byte>> bytes_;
  std::vector<MetaEntry> entries_;
  std::vector<uint32_t> by_key_;  // indices into entries_, sorted by key
  std::string name_;
  std::shared_ptr<std::vector<std::atomic<bool>>> is_read_;  // of entries_; several threads read at once
};

}  // namespace inlay
