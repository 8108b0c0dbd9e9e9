// Writes small GGUF files in memory for tests, field by field, and remembers where each field lies so that a test can
// break it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/formats/metadata.h"

namespace inlay::testing {

class GgufImage {
 public:
  using Bytes = std::vector<std::byte>;

  explicit GgufImage(uint32_t version = 3, uint64_t alignment = 32) : version_(version), alignment_(alignment) {}

  template <class T>
  GgufImage& scalar(std::string_view key, MetaType type, T value) {
    static_assert(std::is_arithmetic_v<T>);
    begin_entry(key, type);
    mark_entry("value:", key);
    put(entries_, value);
    return *this;
  }
  GgufImage& u32(std::string_view key, uint32_t value) { return scalar(key, MetaType::u32, value); }
  GgufImage& f32(std::string_view key, float value) { return scalar(key, MetaType::f32, value); }
  GgufImage& boolean(std::string_view key, bool value) { return scalar(key, MetaType::boolean, uint8_t{value}); }

  GgufImage& text(std::string_view key, std::string_view value) {
    begin_entry(key, MetaType::string);
    mark_entry("value:", key);
    put_string(entries_, value);
    return *this;
  }
  template <class T>
  GgufImage& array(std::string_view key, MetaType type, const std::vector<T>& values) {
    begin_array(key, type, values.size());
    for (const T& value : values) put(entries_, value);
    return *this;
  }
  GgufImage& texts(std::string_view key, const std::vector<std::string>& values) {
    begin_array(key, MetaType::string, values.size());
    for (const std::string& value : values) put_string(entries_, value);
    return *this;
  }

  // `dims` innermost first, as the file has them. The data follows the previous tensor's, aligned.
  GgufImage& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t ggml_type, const Bytes& data) {
    ++n_tensors_;
    data_.resize((data_.size() + alignment_ - 1) / alignment_ * alignment_);
    mark_tensor(name, "");
    put_string(directory_, name);
    mark_tensor(name, ".rank");
    put(directory_, static_cast<uint32_t>(dims.size()));
    for (size_t i = 0; i < dims.size(); ++i) {
      mark_tensor(name, ".dim" + std::to_string(i));
      put(directory_, dims[i]);
    }
    mark_tensor(name, ".type");
    put(directory_, ggml_type);
    mark_tensor(name, ".offset");
    put(directory_, static_cast<uint64_t>(data_.size()));
    data_.insert(data_.end(), data.begin(), data.end());
    return *this;
  }

  Bytes build() const {
    Bytes out;
    for (const char c : std::string_view("GGUF")) out.push_back(static_cast<std::byte>(c));
    put(out, version_);
    put(out, n_tensors_);
    put(out, n_entries_);
    out.insert(out.end(), entries_.begin(), entries_.end());
    out.insert(out.end(), directory_.begin(), directory_.end());
    if (!data_.empty()) out.resize((out.size() + alignment_ - 1) / alignment_ * alignment_);
    out.insert(out.end(), data_.begin(), data_.end());
    return out;
  }

  // Where a field lies in the built image: "magic", "version", "n_tensors", "n_entries", "key:K" (its length),
  // "type:K", "value:K" (a string's length), "element_type:K", "count:K", "elements:K", "tensor:T" (its name's length),
  // "tensor:T.rank", ".dim0", ".type", ".offset", "data" (the first tensor byte).
  size_t at(const std::string& field) const {
    static const std::map<std::string, size_t> fixed = {
        {"magic", 0}, {"version", 4}, {"n_tensors", 8}, {"n_entries", 16}};
    if (const auto it = fixed.find(field); it != fixed.end()) return it->second;
    if (const auto it = entry_marks_.find(field); it != entry_marks_.end()) return kPreambleBytes + it->second;
    if (field == "data") return build().size() - data_.size();
    return kPreambleBytes + entries_.size() + directory_marks_.at(field);
  }

 private:
  static constexpr size_t kPreambleBytes = 24;

  template <class T>
  static void put(Bytes& out, T value) {
    std::byte bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const std::byte byte : bytes) out.push_back(byte);
  }
  static void put_string(Bytes& out, std::string_view text) {
    put(out, static_cast<uint64_t>(text.size()));
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
  }
  void mark_entry(const char* what, std::string_view key) { entry_marks_[what + std::string(key)] = entries_.size(); }
  void mark_tensor(std::string_view name, const std::string& what) {
    directory_marks_["tensor:" + std::string(name) + what] = directory_.size();
  }
  void begin_entry(std::string_view key, MetaType type) {
    ++n_entries_;
    mark_entry("key:", key);
    put_string(entries_, key);
    mark_entry("type:", key);
    put(entries_, static_cast<uint32_t>(type));
  }
  void begin_array(std::string_view key, MetaType type, uint64_t count) {
    begin_entry(key, MetaType::array);
    mark_entry("element_type:", key);
    put(entries_, static_cast<uint32_t>(type));
    mark_entry("count:", key);
    put(entries_, count);
    mark_entry("elements:", key);
  }

  uint32_t version_;
  uint64_t alignment_;
  uint64_t n_tensors_ = 0, n_entries_ = 0;
  Bytes entries_, directory_, data_;
  std::map<std::string, size_t> entry_marks_, directory_marks_;
};

// `n` bytes of a pattern that tells tensors apart.
inline GgufImage::Bytes pattern(size_t n, uint8_t seed) {
  GgufImage::Bytes out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(seed + i * 7);
  return out;
}

// A small valid file with every value type, three tensors and both a plain and a quantized dtype.
inline GgufImage small_image(uint32_t version = 3) {
  GgufImage image(version);
  image.text("general.architecture", "llama")
      .u32("general.alignment", 32)
      .scalar("v.u8", MetaType::u8, uint8_t{200})
      .scalar("v.i8", MetaType::i8, int8_t{-100})
      .scalar("v.u16", MetaType::u16, uint16_t{60000})
      .scalar("v.i16", MetaType::i16, int16_t{-30000})
      .scalar("v.i32", MetaType::i32, int32_t{-2000000000})
      .f32("v.f32", 0.5f)
      .boolean("v.true", true)
      .boolean("v.false", false)
      .scalar("v.u64", MetaType::u64, uint64_t{UINT64_MAX})
      .scalar("v.i64", MetaType::i64, int64_t{INT64_MIN})
      .scalar("v.f64", MetaType::f64, 1e300)
      .text("v.empty", "")
      .texts("a.texts", {"one", "", "drei\xC3\xA9"})
      .array<int32_t>("a.i32", MetaType::i32, {1, -2, 3})
      .array<float>("a.f32", MetaType::f32, {0.25f, -1.0f})
      .array<uint8_t>("a.bool", MetaType::boolean, {1, 0, 1})
      .array<uint16_t>("a.none", MetaType::u16, {})
      .tensor("w.f32", {8, 3}, 0, pattern(96, 1))
      .tensor("w.q8_0", {64, 2}, 8, pattern(136, 50))
      .tensor("b.f16", {5}, 1, pattern(10, 99));
  return image;
}

}  // namespace inlay::testing
