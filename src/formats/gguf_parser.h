// Parses the bytes of a GGUF header; knows nothing of where they come from. Private to the GGUF reader.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

// Reads forward over the first `have` of `size` bytes. A failed call leaves the position alone.
class GgufCursor {
 public:
  GgufCursor(const std::byte* data, uint64_t have, uint64_t size) : data_(data), have_(have), size_(size) {}

  bool take(uint64_t n, const std::byte*& out) {
    if (n > have_ - position_) return false;
    out = data_ + position_;
    position_ += n;
    return true;
  }
  template <class T>
  bool number(T& out) {
    static_assert(std::is_arithmetic_v<T>);
    const std::byte* at = nullptr;
    if (!take(sizeof(T), at)) return false;
    std::memcpy(&out, at, sizeof(T));
    return true;
  }
  bool string(std::string_view& out);  // u64 length, then the bytes

  const std::byte* data() const { return data_; }
  uint64_t position() const { return position_; }
  uint64_t have() const { return have_; }
  uint64_t size() const { return size_; }
  uint64_t remaining() const { return size_ - position_; }  // in the file, read already or not

 private:
  const std::byte* data_;
  uint64_t have_;
  uint64_t size_;
  uint64_t position_ = 0;
};

// Headers with vocabularies of a million tokens stay below a tenth of this; it bounds what a hostile file makes us
// copy.
inline constexpr uint64_t kMaxGgufHeaderBytes = uint64_t{512} << 20;

class GgufParser {
 public:
  // `bytes`, of which no more than kMaxGgufHeaderBytes are read, are the first of the `size` bytes of the file `name`.
  GgufParser(std::span<const std::byte> bytes, uint64_t size, std::string_view name)
      : cursor_(bytes.data(), std::min<uint64_t>(bytes.size(), kMaxGgufHeaderBytes), size), name_(name) {}

  Status parse();

  // After a failed parse: the bytes from the start that it asked for, if the file has them but it was not given them;
  // else 0, and the error stands.
  uint64_t wanted() const { return wanted_; }

  uint64_t header_bytes() const { return cursor_.position(); }
  // Views point into the bytes that were given; offsets of tensors are relative to the tensor data.
  std::vector<MetaEntry>& entries() { return entries_; }
  std::vector<TensorEntry>& tensors() { return tensors_; }

 private:
  Status parse_preamble(uint64_t& n_tensors, uint64_t& n_entries);
  // `n` things of at least `min_bytes` each must fit into what is left, less `reserved` bytes for what precedes them.
  Status check_count(const char* what, uint64_t n, uint64_t min_bytes, uint64_t reserved);
  Status parse_entry(uint64_t index);
  Status parse_scalar(MetaEntry& entry);
  Status parse_array(MetaEntry& entry);
  Status parse_texts(MetaEntry& entry);
  Status check_booleans(const MetaEntry& entry, uint64_t n);
  Status parse_tensor(uint64_t index);
  Status parse_shape(TensorEntry& tensor, uint32_t rank);
  Status check_tensor_name(std::string_view tensor, uint64_t index);
  Status set_dtype(TensorEntry& tensor, uint32_t ggml_type);

  // The error of a read of `n` bytes that the cursor refused. `what` names the field.
  Status cut_off(const std::string& what, uint64_t n);
  Status cut_off_string(const std::string& what);
  Status empty_file() const;
  Status no_gguf() const;

  GgufCursor cursor_;
  std::string name_;
  uint64_t wanted_ = 0;
  std::vector<MetaEntry> entries_;
  std::vector<TensorEntry> tensors_;
};

}  // namespace inlay
