// Values as bytes, little-endian, one behind the other, and back: the same list of fields serves both ways. docs/design/session-state.md
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace inlay {

template <class T>
concept StateScalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class StateOut {
 public:
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <StateScalar T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  template <class T>
  void put(const std::optional<T>& given) {
    put(given.has_value());
    if (given) put(*given);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<uint64_t>(list.size()));
    for (const T& element : list) put(element);
  }
  template <class T>
  void put(const T& fields) {
    const_cast<T&>(fields).archive(*this);
  }

  std::string bytes_;
};

// Once the bytes are used up, or a truth value is neither 0 nor 1, all that follows is zeros and empty.
class StateIn {
 public:
  explicit StateIn(std::string_view bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  bool ok() const { return ok_; }
  bool is_at_end() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view next(uint64_t n) {
    if (n > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view out = bytes_.substr(0, static_cast<size_t>(n));
    bytes_.remove_prefix(static_cast<size_t>(n));
    return out;
  }
  template <StateScalar T>
  void get(T& value) {
    value = T{};
    const std::string_view from = next(sizeof value);
    if constexpr (std::is_same_v<T, bool>) {
      if (!from.empty() && from[0] != 0 && from[0] != 1) ok_ = false;
      value = ok_ && from[0] == 1;
    } else if (!from.empty()) {
      std::memcpy(&value, from.data(), sizeof value);
    }
  }
  void get(std::string& text) {
    uint64_t n = 0;
    get(n);
    text = next(n);
  }
  template <class T>
  void get(std::optional<T>& given) {
    bool is_there = false;
    T value{};
    get(is_there);
    if (is_there) get(value);
    given = is_there ? std::optional<T>(std::move(value)) : std::nullopt;
  }
  // One by one: a count that the bytes do not bear out takes no memory.
  template <class T>
  void get(std::vector<T>& list) {
    uint64_t n = 0;
    get(n);
    list.clear();
    for (uint64_t i = 0; i < n && ok_; ++i) {
      list.emplace_back();
      get(list.back());
    }
    if (!ok_) list.clear();
  }
  template <class T>
  void get(T& fields) {
    fields.archive(*this);
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace inlay
