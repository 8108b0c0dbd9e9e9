#include "src/formats/metadata.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "src/formats/text.h"

namespace inlay {
namespace {

static_assert(std::endian::native == std::endian::little, "values are stored little-endian and read in place");

struct TypeRow {
  const char* name;
  uint32_t bytes;
};

constexpr TypeRow kTypes[] = {{"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                              {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};
static_assert(std::size(kTypes) == static_cast<size_t>(MetaType::f64) + 1);

// An integer of any of the types: negative values keep their sign apart, so that all of u64 and i64 fit.
struct Integer {
  bool negative;
  uint64_t bits;  // two's complement if negative
};

bool is_integer(MetaType type) { return type < MetaType::f32 || type == MetaType::u64 || type == MetaType::i64; }
bool is_float(MetaType type) { return type == MetaType::f32 || type == MetaType::f64; }

template <class T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <class T>
Integer load_as(const std::byte* data) {
  const T value = load<T>(data);
  return {value < T{0}, static_cast<uint64_t>(value)};
}

// `type` must be an integer type.
Integer load_integer(MetaType type, const std::byte* data) {
  switch (type) {
    case MetaType::u8:
      return load_as<uint8_t>(data);
    case MetaType::i8:
      return load_as<int8_t>(data);
    case MetaType::u16:
      return load_as<uint16_t>(data);
    case MetaType::i16:
      return load_as<int16_t>(data);
    case MetaType::u32:
      return load_as<uint32_t>(data);
    case MetaType::i32:
      return load_as<int32_t>(data);
    case MetaType::i64:
      return load_as<int64_t>(data);
    default:
      return load_as<uint64_t>(data);
  }
}

std::string to_text(Integer value) {
  return value.negative ? std::to_string(static_cast<int64_t>(value.bits)) : std::to_string(value.bits);
}

bool fits_i32(Integer value) {
  if (value.negative) return static_cast<int64_t>(value.bits) >= std::numeric_limits<int32_t>::min();
  return value.bits <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
}

double load_float(MetaType type, const std::byte* data) {
  return type == MetaType::f32 ? static_cast<double>(load<float>(data)) : load<double>(data);
}

bool fits_f32(double value) { return !std::isfinite(value) || std::abs(value) <= std::numeric_limits<float>::max(); }

}  // namespace

const char* meta_type_name(MetaType type) { return kTypes[static_cast<size_t>(type)].name; }
uint32_t meta_type_bytes(MetaType type) { return kTypes[static_cast<size_t>(type)].bytes; }

Metadata::Metadata(std::shared_ptr<const std::vector<std::byte>> bytes, std::vector<MetaEntry> entries,
                   std::string name)
    : bytes_(std::move(bytes)), entries_(std::move(entries)), by_key_(entries_.size()), name_(std::move(name)),
      is_read_(std::make_shared<std::vector<std::atomic<bool>>>(entries_.size())) {
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  std::sort(by_key_.begin(), by_key_.end(), [&](uint32_t a, uint32_t b) { return entries_[a].key < entries_[b].key; });
}

const MetaValue* Metadata::find(std::string_view key) const {
  const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                   [&](uint32_t i, std::string_view k) { return entries_[i].key < k; });
  if (at == by_key_.end() || entries_[*at].key != key) return nullptr;
  (*is_read_)[*at].store(true, std::memory_order_relaxed);
  return &entries_[*at].value;
}

std::vector<const MetaEntry*> Metadata::unread() const {
  std::vector<const MetaEntry*> out;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!(*is_read_)[i].load(std::memory_order_relaxed)) out.push_back(&entries_[i]);
  }
  return out;
}

std::string Metadata::key_in_file(std::string_view key) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const MetaEntry& entry) { return entry.key == key; });
  return std::string(at == entries_.end() || at->key_in_file.empty() ? key : at->key_in_file);
}

const MetaEntry* Metadata::duplicate() const {
  const auto at = std::adjacent_find(by_key_.begin(), by_key_.end(),
                                     [&](uint32_t a, uint32_t b) { return entries_[a].key == entries_[b].key; });
  return at == by_key_.end() ? nullptr : &entries_[*at];
}

Status Metadata::missing(std::string_view key) const {
  return error(Code::format, "%smetadata key %s is missing", prefix().c_str(), quote(key).c_str());
}

Status Metadata::wrong_type(std::string_view key, const MetaValue& value, const char* expected) const {
  std::string found = meta_type_name(value.type);
  if (value.type == MetaType::array) found = std::string("array of ") + meta_type_name(value.element_type);
  return error(Code::format, "%smetadata key %s has type %s, expected %s", prefix().c_str(), quote(key).c_str(),
               found.c_str(), expected);
}

std::string Metadata::prefix() const { return name_.empty() ? std::string() : name_ + ": "; }

Result<uint64_t> Metadata::as_u64(std::string_view key, const MetaValue& value) const {
  if (!is_integer(value.type)) return wrong_type(key, value, "an integer");
  const Integer n = load_integer(value.type, value.data);
  if (n.negative)
    return error(Code::format, "%smetadata key %s is %s, expected an integer of at least 0", prefix().c_str(),
                 quote(key).c_str(), to_text(n).c_str());
  return n.bits;
}

Result<double> Metadata::as_f64(std::string_view key, const MetaValue& value) const {
  if (!is_float(value.type)) return wrong_type(key, value, "f32 or f64");
  return load_float(value.type, value.data);
}

Result<bool> Metadata::as_bool(std::string_view key, const MetaValue& value) const {
  if (value.type != MetaType::boolean) return wrong_type(key, value, "bool");
  return load<uint8_t>(value.data) != 0;
}

Result<std::string_view> Metadata::as_string(std::string_view key, const MetaValue& value) const {
  if (value.type != MetaType::string) return wrong_type(key, value, "string");
  return value.text;
}

Result<uint64_t> Metadata::get_u64(std::string_view key) const {
  const MetaValue* value = find(key);
  return value ? as_u64(key, *value) : missing(key);
}

Result<int64_t> Metadata::get_i64(std::string_view key) const {
  const MetaValue* value = find(key);
  if (!value) return missing(key);
  if (!is_integer(value->type)) return wrong_type(key, *value, "an integer");
  return static_cast<int64_t>(load_integer(value->type, value->data).bits);
}

Result<double> Metadata::get_f64(std::string_view key) const {
  const MetaValue* value = find(key);
  return value ? as_f64(key, *value) : missing(key);
}

Result<bool> Metadata::get_bool(std::string_view key) const {
  const MetaValue* value = find(key);
  return value ? as_bool(key, *value) : missing(key);
}

Result<std::string_view> Metadata::get_string(std::string_view key) const {
  const MetaValue* value = find(key);
  return value ? as_string(key, *value) : missing(key);
}

Result<uint64_t> Metadata::u64_or(std::string_view key, uint64_t fallback) const {
  const MetaValue* value = find(key);
  return value ? as_u64(key, *value) : fallback;
}

Result<double> Metadata::f64_or(std::string_view key, double fallback) const {
  const MetaValue* value = find(key);
  return value ? as_f64(key, *value) : fallback;
}

Result<bool> Metadata::bool_or(std::string_view key, bool fallback) const {
  const MetaValue* value = find(key);
  return value ? as_bool(key, *value) : fallback;
}

Result<std::string_view> Metadata::string_or(std::string_view key, std::string_view fallback) const {
  const MetaValue* value = find(key);
  return value ? as_string(key, *value) : fallback;
}

Result<std::vector<int32_t>> Metadata::i32_array(std::string_view key) const {
  const MetaValue* value = find(key);
  std::vector<int32_t> out;
  if (value == nullptr) return out;
  if (value->type != MetaType::array) return wrong_type(key, *value, "an array of integers");
  if (value->count == 0) return out;
  if (!is_integer(value->element_type)) return wrong_type(key, *value, "an array of integers");
  const uint32_t width = meta_type_bytes(value->element_type);
  out.reserve(value->count);
  for (uint64_t i = 0; i < value->count; ++i) {
    const Integer n = load_integer(value->element_type, value->data + i * width);
    if (!fits_i32(n))
      return error(Code::format, "%smetadata key %s: element %llu is %s, outside the range of i32", prefix().c_str(),
                   quote(key).c_str(), static_cast<unsigned long long>(i), to_text(n).c_str());
    out.push_back(static_cast<int32_t>(n.bits));
  }
  return out;
}

Result<std::vector<bool>> Metadata::bool_array(std::string_view key) const {
  const MetaValue* value = find(key);
  std::vector<bool> out;
  if (value == nullptr) return out;
  const bool is_array = value->type == MetaType::array;
  if (!is_array || value->element_type != MetaType::boolean) {
    INLAY_ASSIGN(const std::vector<int32_t> numbers, i32_array(key));
    for (const int32_t n : numbers) out.push_back(n != 0);
    return out;
  }
  for (uint64_t i = 0; i < value->count; ++i) out.push_back(load<uint8_t>(value->data + i) != 0);
  return out;
}

Result<std::vector<float>> Metadata::f32_array(std::string_view key) const {
  const MetaValue* value = find(key);
  std::vector<float> out;
  if (value == nullptr) return out;
  if (value->type != MetaType::array) return wrong_type(key, *value, "an array of f32 or f64");
  if (value->count == 0) return out;
  if (!is_float(value->element_type)) return wrong_type(key, *value, "an array of f32 or f64");
  const uint32_t width = meta_type_bytes(value->element_type);
  out.reserve(value->count);
  for (uint64_t i = 0; i < value->count; ++i) {
    const double x = load_float(value->element_type, value->data + i * width);
    if (!fits_f32(x))
      return error(Code::format, "%smetadata key %s: element %llu is %g, outside the range of f32", prefix().c_str(),
                   quote(key).c_str(), static_cast<unsigned long long>(i), x);
    out.push_back(static_cast<float>(x));
  }
  return out;
}

Result<std::span<const std::string_view>> Metadata::string_array(std::string_view key) const {
  const MetaValue* value = find(key);
  if (value == nullptr) return std::span<const std::string_view>{};
  if (value->type != MetaType::array) return wrong_type(key, *value, "an array of strings");
  if (value->count > 0 && value->element_type != MetaType::string)
    return wrong_type(key, *value, "an array of strings");
  return std::span<const std::string_view>(value->texts);
}

}  // namespace inlay
