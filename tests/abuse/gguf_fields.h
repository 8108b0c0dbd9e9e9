// Where the fields of a GGUF file lie, for mutations that a reader does not refuse at the first byte. It knows
// well-formed files only.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace inlay::abuse {

enum class FieldKind { number, real, type, length, count, text, dimension, tensor_type, offset };

struct Field {
  FieldKind kind;
  size_t at, width;
};

struct GgufFields {
  std::vector<Field> fields;
  size_t data_begin = 0;  // of the tensors
};

class GgufWalk {
 public:
  explicit GgufWalk(const fuzz::Input& file) : file_(file) {}

  GgufFields walk() {
    at_ = 8;
    const uint64_t n_tensors = take(FieldKind::count, 8), n_entries = take(FieldKind::count, 8);
    for (uint64_t i = 0; i < n_entries && good(); ++i) {
      text();
      value(static_cast<uint32_t>(take(FieldKind::type, 4)));
    }
    for (uint64_t i = 0; i < n_tensors && good(); ++i) {
      text();
      const uint64_t rank = take(FieldKind::count, 4);
      for (uint64_t d = 0; d < rank && d < 8; ++d) take(FieldKind::dimension, 8);
      take(FieldKind::tensor_type, 4);
      take(FieldKind::offset, 8);
    }
    out_.data_begin = at_;
    return out_;
  }

 private:
  static constexpr uint32_t kString = 8, kArray = 9;

  bool good() const { return at_ < file_.size(); }
  uint64_t take(FieldKind kind, size_t width) {
    uint64_t value = 0;
    if (at_ + width <= file_.size()) {
      std::memcpy(&value, file_.data() + at_, width);
      out_.fields.push_back({kind, at_, width});
    }
    at_ += width;
    return value;
  }
  void text() {
    const uint64_t n = take(FieldKind::length, 8);
    if (n > 0 && at_ + n <= file_.size()) out_.fields.push_back({FieldKind::text, at_, static_cast<size_t>(n)});
    at_ += static_cast<size_t>(n);
  }
  void value(uint32_t type) {
    static constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == kString) return text();
    if (type == kArray) {
      const auto element = static_cast<uint32_t>(take(FieldKind::type, 4));
      const uint64_t n = take(FieldKind::count, 8);
      for (uint64_t i = 0; i < n && good(); ++i) value(element);
      return;
    }
    if (type < std::size(kWidths)) take(type == 6 || type == 12 ? FieldKind::real : FieldKind::number, kWidths[type]);
  }

  const fuzz::Input& file_;
  GgufFields out_;
  size_t at_ = 0;
};

}  // namespace inlay::abuse
