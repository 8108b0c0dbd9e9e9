#include <cmath>
#include <type_traits>

#include "src/base/format.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

constexpr uint64_t kShownElements = 16;  // of an array

template <class T>
std::string number_text(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    std::string text;
    append_format(text, "%.9g", static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

std::string scalar_text(MetaType type, const std::byte* data) {
  switch (type) {
    case MetaType::u8:
      return number_text<uint8_t>(data);
    case MetaType::i8:
      return number_text<int8_t>(data);
    case MetaType::u16:
      return number_text<uint16_t>(data);
    case MetaType::i16:
      return number_text<int16_t>(data);
    case MetaType::u32:
      return number_text<uint32_t>(data);
    case MetaType::i32:
      return number_text<int32_t>(data);
    case MetaType::u64:
      return number_text<uint64_t>(data);
    case MetaType::i64:
      return number_text<int64_t>(data);
    case MetaType::f32:
      return number_text<float>(data);
    case MetaType::f64:
      return number_text<double>(data);
    case MetaType::boolean:
      return *data != std::byte{0} ? "true" : "false";
    default:
      return "?";
  }
}

std::string array_text(const MetaValue& value) {
  const bool strings = value.element_type == MetaType::string;
  const uint64_t n = strings ? value.texts.size() : value.count;
  std::string out = "[";
  for (uint64_t i = 0; i < std::min(n, kShownElements); ++i) {
    if (i > 0) out += ", ";
    out += strings ? std::string(value.texts[i])
                   : scalar_text(value.element_type, value.data + i * meta_type_bytes(value.element_type));
  }
  if (n > kShownElements) out += ", ... " + std::to_string(n) + " in all";
  return out + "]";
}

std::string value_text(const MetaValue& value) {
  if (value.type == MetaType::string) return std::string(value.text);
  if (value.type == MetaType::array) return array_text(value);
  return scalar_text(value.type, value.data);
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_meta_count(const inlay_engine* engine, size_t* count, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(count, "count"));
    *count = engine->engine->metadata().entries().size();
    return {};
  });
}

inlay_status inlay_meta_key(const inlay_engine* engine, size_t index, char* buf, size_t cap, size_t* needed,
                            inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    const auto entries = engine->engine->metadata().entries();
    if (index >= entries.size()) {
      return error(Code::not_found, "index is %zu, but the model has %zu metadata keys", index, entries.size());
    }
    return write_text(entries[index].key, buf, cap, needed);
  });
}

inlay_status inlay_meta_value(const inlay_engine* engine, const char* key, size_t key_len, char* buf, size_t cap,
                              size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(key, "key"));
    INLAY_ASSIGN(const std::string_view name, read_text(key, key_len, "key"));
    const MetaValue* value = engine->engine->metadata().find(name);
    if (!value)
      return error(Code::not_found, "the model has no metadata key '%.*s'", static_cast<int>(std::min<size_t>(name.size(), 200)),
                   name.data());
    return write_text(value_text(*value), buf, cap, needed);
  });
}
