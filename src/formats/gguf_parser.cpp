#include "src/formats/gguf_parser.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "src/base/format.h"
#include "src/formats/other_files.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;           // key length, key, type, value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name length, name, rank, one dimension, type, offset
constexpr uint64_t kMaxKeyBytes = 65535;
constexpr uint64_t kMaxTensorNameBytes = 127;
// Vectors are reserved for what the file announces, up to this; beyond it they grow with what was really parsed.
constexpr uint64_t kMaxReserved = 1 << 18;

// ggml's type names by number, for messages; withdrawn types keep theirs.
constexpr const char* kGgmlTypeNames[] = {
    "F32",    "F16",      "Q4_0",     "Q4_1",     "Q4_2",  "Q4_3",  "Q5_0",       "Q5_1",       "Q8_0",       "Q8_1",
    "Q2_K",   "Q3_K",     "Q4_K",     "Q5_K",     "Q6_K",  "Q8_K",  "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",    "IQ1_S",
    "IQ4_NL", "IQ3_S",    "IQ2_S",    "IQ4_XS",   "I8",    "I16",   "I32",        "I64",        "F64",        "IQ1_M",
    "BF16",   "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0", "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4"};

std::string ggml_type_text(uint32_t type) {
  if (type < std::size(kGgmlTypeNames)) return std::string(kGgmlTypeNames[type]) + " (" + std::to_string(type) + ")";
  return std::to_string(type);
}

std::string of_key(std::string_view key) { return "metadata key " + quote(key); }
std::string of_tensor(std::string_view name) { return "tensor " + quote(name); }

bool multiply(uint64_t a, uint64_t b, uint64_t& out) {
  if (b != 0 && a > static_cast<uint64_t>(INT64_MAX) / b) return false;
  out = a * b;
  return true;
}

}  // namespace

bool GgufCursor::string(std::string_view& out) {
  uint64_t n = 0;
  if (!number(n)) return false;
  const std::byte* at = nullptr;
  if (!take(n, at)) {
    position_ -= sizeof(n);
    return false;
  }
  out = {reinterpret_cast<const char*>(at), n};
  return true;
}

Status GgufParser::cut_off(const std::string& what, uint64_t n) {
  if (n <= cursor_.remaining() && cursor_.position() + n > kMaxGgufHeaderBytes) {
    Status s =
        error(Code::unsupported, "%s: %s would end at byte %" PRIu64 ", past the %" PRIu64 " bytes a header may have",
              name_.c_str(), what.c_str(), cursor_.position() + n, kMaxGgufHeaderBytes);
    s.required = cursor_.position() + n;
    s.available = kMaxGgufHeaderBytes;
    return s;
  }
  if (n <= cursor_.remaining()) {
    wanted_ = cursor_.position() + n;
    return error(Code::io, "%s: %s has not been read yet", name_.c_str(), what.c_str());
  }
  Status s =
      error(Code::format, "%s: %s at byte %" PRIu64 " takes %s, but the file has only %" PRIu64 " left: it is cut off or damaged",
            name_.c_str(), what.c_str(), cursor_.position(), counted(n, "byte").c_str(), cursor_.remaining());
  s.required = n;
  s.available = cursor_.remaining();
  return s;
}

Status GgufParser::cut_off_string(const std::string& what) {
  uint64_t length = 0;
  GgufCursor ahead = cursor_;
  if (!ahead.number(length)) return cut_off("the length of " + what, sizeof(length));
  if (length > ahead.remaining()) {
    Status s =
        error(Code::format,
              "%s: %s at byte %" PRIu64 " is a string of %" PRIu64 " bytes, but the file has only %" PRIu64
              " left: it is cut off or damaged",
              name_.c_str(), what.c_str(), cursor_.position(), length, ahead.remaining());
    s.required = length;
    s.available = ahead.remaining();
    return s;
  }
  return cut_off(what, sizeof(length) + length);
}

Status GgufParser::empty_file() const {
  Status s = error(Code::format, "%s: the file is empty", name_.c_str());
  s.required = 4;
  return s;
}

Status GgufParser::no_gguf() const {
  const std::string known = what_else({cursor_.data(), static_cast<size_t>(cursor_.have())}, ExpectedFile::gguf);
  if (!known.empty()) return error(Code::format, "%s: %s", name_.c_str(), known.c_str());
  return error(Code::format, "%s: it is no GGUF file: it begins with %s, expected 'GGUF'", name_.c_str(),
               shown_magic({cursor_.data(), 4}).c_str());
}

Status GgufParser::parse() {
  uint64_t n_tensors = 0, n_entries = 0;
  INLAY_TRY(parse_preamble(n_tensors, n_entries));
  entries_.reserve(std::min(n_entries, kMaxReserved));
  for (uint64_t i = 0; i < n_entries; ++i) INLAY_TRY(parse_entry(i));
  tensors_.reserve(std::min(n_tensors, kMaxReserved));
  for (uint64_t i = 0; i < n_tensors; ++i) INLAY_TRY(parse_tensor(i));
  return {};
}

Status GgufParser::parse_preamble(uint64_t& n_tensors, uint64_t& n_entries) {
  const std::byte* magic = nullptr;
  if (cursor_.size() == 0) return empty_file();
  if (!cursor_.take(4, magic)) return cut_off("the magic 'GGUF'", 4);
  if (std::memcmp(magic, "GGUF", 4) != 0) return no_gguf();
  uint32_t version = 0;
  if (!cursor_.number(version)) return cut_off("the version", sizeof(version));
  if (version != 0 && (version & 0xFFFF) == 0)
    return error(Code::unsupported, "%s: the version reads 0x%08" PRIx32 ": big-endian GGUF files are not supported",
                 name_.c_str(), version);
  if (version < 2 || version > 3)
    return error(Code::unsupported, "%s: GGUF version %" PRIu32 " is not supported, only 2 and 3 are", name_.c_str(),
                 version);
  if (!cursor_.number(n_tensors)) return cut_off("the tensor count", sizeof(n_tensors));
  if (!cursor_.number(n_entries)) return cut_off("the metadata count", sizeof(n_entries));

  INLAY_TRY(check_count("metadata", n_entries, kMinEntryBytes, 0));
  INLAY_TRY(check_count("tensor", n_tensors, kMinTensorBytes, n_entries * kMinEntryBytes));
  // Entries are indexed with 32 bits.
  if (n_entries > UINT32_MAX || n_tensors > UINT32_MAX)
    return error(Code::unsupported, "%s: %" PRIu64 " metadata keys and %" PRIu64 " tensors are more than 2^32 - 1",
                 name_.c_str(), n_entries, n_tensors);
  return {};
}

Status GgufParser::check_count(const char* what, uint64_t n, uint64_t min_bytes, uint64_t reserved) {
  const uint64_t left = cursor_.remaining();
  if (n <= (left - reserved) / min_bytes) return {};
  Status s = error(Code::format,
                   "%s: the %s count is %" PRIu64 ", each of at least %" PRIu64 " bytes, but the file has only %" PRIu64
                   " bytes left: it is cut off or damaged",
                   name_.c_str(), what, n, min_bytes, left);
  s.required = n > (UINT64_MAX - reserved) / min_bytes ? UINT64_MAX : reserved + n * min_bytes;
  s.available = left;
  return s;
}

Status GgufParser::parse_entry(uint64_t index) {
  MetaEntry entry;
  if (!cursor_.string(entry.key)) return cut_off_string("metadata key number " + std::to_string(index));
  if (entry.key.empty())
    return error(Code::format, "%s: metadata key number %" PRIu64 " is empty", name_.c_str(), index);
  if (entry.key.size() > kMaxKeyBytes || !is_valid_utf8(entry.key))
    return error(Code::format, "%s: metadata key number %" PRIu64 ", %s, is %s", name_.c_str(), index,
                 quote(entry.key).c_str(),
                 entry.key.size() > kMaxKeyBytes ? "longer than 65535 bytes" : "not valid UTF-8");
  uint32_t type = 0;
  if (!cursor_.number(type)) return cut_off("the type of " + of_key(entry.key), sizeof(type));
  if (type > static_cast<uint32_t>(MetaType::f64))
    return error(Code::format, "%s: %s has the unknown type %" PRIu32, name_.c_str(), of_key(entry.key).c_str(), type);
  entry.value.type = static_cast<MetaType>(type);

  if (entry.value.type == MetaType::array) {
    INLAY_TRY(parse_array(entry));
  } else if (entry.value.type == MetaType::string) {
    if (!cursor_.string(entry.value.text)) return cut_off_string("the value of " + of_key(entry.key));
  } else {
    INLAY_TRY(parse_scalar(entry));
  }
  entries_.push_back(std::move(entry));
  return {};
}

Status GgufParser::parse_scalar(MetaEntry& entry) {
  const uint32_t width = meta_type_bytes(entry.value.type);
  if (!cursor_.take(width, entry.value.data)) return cut_off("the value of " + of_key(entry.key), width);
  return entry.value.type == MetaType::boolean ? check_booleans(entry, 1) : Status{};
}

Status GgufParser::parse_array(MetaEntry& entry) {
  uint32_t type = 0;
  if (!cursor_.number(type)) return cut_off("the element type of " + of_key(entry.key), sizeof(type));
  if (type > static_cast<uint32_t>(MetaType::f64))
    return error(Code::format, "%s: %s is an array of the unknown type %" PRIu32, name_.c_str(),
                 of_key(entry.key).c_str(), type);
  MetaValue& value = entry.value;
  value.element_type = static_cast<MetaType>(type);
  if (value.element_type == MetaType::array)
    return error(Code::unsupported, "%s: %s is an array of arrays, which is not supported", name_.c_str(),
                 of_key(entry.key).c_str());
  if (!cursor_.number(value.count)) return cut_off("the element count of " + of_key(entry.key), sizeof(value.count));

  const bool strings = value.element_type == MetaType::string;
  const uint64_t width = strings ? sizeof(uint64_t) : meta_type_bytes(value.element_type);
  if (value.count > cursor_.remaining() / width) {
    Status s = error(
        Code::format,
        "%s: %s is an array of %" PRIu64 " elements of type %s, but the file has only %" PRIu64
        " bytes left: it is cut off or damaged",
        name_.c_str(), of_key(entry.key).c_str(), value.count, meta_type_name(value.element_type), cursor_.remaining());
    s.required = value.count > UINT64_MAX / width ? UINT64_MAX : value.count * width;
    s.available = cursor_.remaining();
    return s;
  }
  if (strings) return parse_texts(entry);
  if (!cursor_.take(value.count * width, value.data))
    return cut_off("the elements of " + of_key(entry.key), value.count * width);
  return value.element_type == MetaType::boolean ? check_booleans(entry, value.count) : Status{};
}

Status GgufParser::parse_texts(MetaEntry& entry) {
  std::vector<std::string_view>& texts = entry.value.texts;
  texts.reserve(std::min(entry.value.count, kMaxReserved));
  std::string_view text;
  for (uint64_t i = 0; i < entry.value.count; ++i) {
    if (!cursor_.string(text)) return cut_off_string("element " + std::to_string(i) + " of " + of_key(entry.key));
    texts.push_back(text);
  }
  return {};
}

Status GgufParser::check_booleans(const MetaEntry& entry, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    const auto value = static_cast<unsigned>(entry.value.data[i]);
    if (value > 1)
      return error(Code::format, "%s: %s holds the boolean %u, expected 0 or 1", name_.c_str(),
                   of_key(entry.key).c_str(), value);
  }
  return {};
}

Status GgufParser::check_tensor_name(std::string_view tensor, uint64_t index) {
  const char* wrong = nullptr;
  if (tensor.empty())
    wrong = "has an empty name";
  else if (tensor.size() > kMaxTensorNameBytes)
    wrong = "has a name longer than 127 bytes";
  else if (!is_valid_utf8(tensor))
    wrong = "has a name that is not valid UTF-8";
  if (wrong == nullptr) return {};
  return error(Code::format, "%s: tensor number %" PRIu64 ", %s, %s (of %zu bytes)", name_.c_str(), index,
               quote(tensor).c_str(), wrong, tensor.size());
}

Status GgufParser::parse_tensor(uint64_t index) {
  TensorEntry tensor;
  if (!cursor_.string(tensor.name)) return cut_off_string("the name of tensor number " + std::to_string(index));
  INLAY_TRY(check_tensor_name(tensor.name, index));
  uint32_t rank = 0, ggml_type = 0;
  if (!cursor_.number(rank)) return cut_off("the rank of " + of_tensor(tensor.name), sizeof(rank));
  if (rank < 1 || rank > 4)
    return error(Code::format, "%s: %s has rank %" PRIu32 ", expected 1 to 4", name_.c_str(),
                 of_tensor(tensor.name).c_str(), rank);
  INLAY_TRY(parse_shape(tensor, rank));
  if (!cursor_.number(ggml_type)) return cut_off("the type of " + of_tensor(tensor.name), sizeof(ggml_type));
  INLAY_TRY(set_dtype(tensor, ggml_type));
  if (!cursor_.number(tensor.offset)) return cut_off("the offset of " + of_tensor(tensor.name), sizeof(tensor.offset));
  tensors_.push_back(tensor);
  return {};
}

// The file writes the innermost dimension first.
Status GgufParser::parse_shape(TensorEntry& tensor, uint32_t rank) {
  tensor.rank = static_cast<int32_t>(rank);
  tensor.shape.fill(1);
  uint64_t n_elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    uint64_t n = 0;
    if (!cursor_.number(n))
      return cut_off("dimension " + std::to_string(i) + " of " + of_tensor(tensor.name), sizeof(n));
    if (n == 0)
      return error(Code::format, "%s: %s has dimension %" PRIu32 " equal to 0", name_.c_str(),
                   of_tensor(tensor.name).c_str(), i);
    if (!multiply(n_elements, n, n_elements))
      return error(Code::format, "%s: %s has more than 2^63 - 1 elements: dimension %" PRIu32 " is %" PRIu64,
                   name_.c_str(), of_tensor(tensor.name).c_str(), i, n);
    tensor.shape[rank - 1 - i] = static_cast<int64_t>(n);
  }
  return {};
}

// Sets dtype and n_bytes; the shape must be set.
Status GgufParser::set_dtype(TensorEntry& tensor, uint32_t ggml_type) {
  const auto* row = std::find_if(std::begin(kDTypeTable), std::end(kDTypeTable),
                                 [&](const DTypeTraits& t) { return t.ggml_type == ggml_type; });
  if (row == std::end(kDTypeTable) || ggml_type == kNotInFiles)
    return error(Code::unsupported, "%s: %s: ggml type %s is not supported", name_.c_str(),
                 of_tensor(tensor.name).c_str(), ggml_type_text(ggml_type).c_str());
  tensor.dtype = static_cast<DType>(row - std::begin(kDTypeTable));
  const auto n_cols = static_cast<uint64_t>(tensor.shape[static_cast<size_t>(tensor.rank - 1)]);
  if (n_cols % row->block_elements != 0)
    return error(Code::format,
                 "%s: %s has rows of %" PRIu64 " elements, not a multiple of the %" PRIu32 " elements of a %s block",
                 name_.c_str(), of_tensor(tensor.name).c_str(), n_cols, row->block_elements, row->name);
  uint64_t n_bytes = 0;
  bool fits = multiply(n_cols / row->block_elements, row->block_bytes, n_bytes);
  for (int32_t i = 0; fits && i + 1 < tensor.rank; ++i)
    fits = multiply(n_bytes, static_cast<uint64_t>(tensor.shape[static_cast<size_t>(i)]), n_bytes);
  if (!fits)
    return error(Code::format, "%s: %s takes more than 2^63 - 1 bytes", name_.c_str(), of_tensor(tensor.name).c_str());
  tensor.n_bytes = n_bytes;
  return {};
}

}  // namespace inlay
