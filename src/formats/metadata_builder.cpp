#include "src/formats/metadata_builder.h"

namespace inlay {
namespace {

template <class T>
std::string bytes_of(std::span<const T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

// Appends texts to bytes that were reserved, so that views of them stay.
class Packer {
 public:
  explicit Packer(size_t n_bytes) { bytes_->reserve(n_bytes); }

  std::string_view put(std::string_view text) {
    const size_t at = bytes_->size();
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes_->insert(bytes_->end(), data, data + text.size());
    return {reinterpret_cast<const char*>(bytes_->data()) + at, text.size()};
  }
  std::shared_ptr<const std::vector<std::byte>> bytes() const { return bytes_; }

 private:
  std::shared_ptr<std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};

}  // namespace

MetadataBuilder::Entry& MetadataBuilder::add(std::string_view key, MetaType type, std::string_view key_in_file) {
  const auto [at, is_new] = by_key_.try_emplace(std::string(key), entries_.size());
  Entry& entry = is_new ? entries_.emplace_back() : entries_[at->second];
  entry = {.key = std::string(key), .key_in_file = std::string(key_in_file), .type = type};
  return entry;
}

void MetadataBuilder::u32(std::string_view key, uint32_t value, std::string_view key_in_file) {
  add(key, MetaType::u32, key_in_file).bytes = bytes_of(std::span<const uint32_t>(&value, 1));
}

void MetadataBuilder::f32(std::string_view key, float value, std::string_view key_in_file) {
  add(key, MetaType::f32, key_in_file).bytes = bytes_of(std::span<const float>(&value, 1));
}

void MetadataBuilder::boolean(std::string_view key, bool value, std::string_view key_in_file) {
  add(key, MetaType::boolean, key_in_file).bytes = std::string(1, value ? '\1' : '\0');
}

void MetadataBuilder::text(std::string_view key, std::string_view value) { add(key, MetaType::string).bytes = value; }

void MetadataBuilder::texts(std::string_view key, std::span<const std::string_view> values) {
  Entry& entry = add(key, MetaType::array);
  entry.element_type = MetaType::string;
  entry.count = values.size();
  entry.texts.assign(values.begin(), values.end());
}

void MetadataBuilder::i32s(std::string_view key, std::span<const int32_t> values) {
  Entry& entry = add(key, MetaType::array);
  entry.element_type = MetaType::i32;
  entry.count = values.size();
  entry.bytes = bytes_of(values);
}

void MetadataBuilder::f32s(std::string_view key, std::span<const float> values) {
  Entry& entry = add(key, MetaType::array);
  entry.element_type = MetaType::f32;
  entry.count = values.size();
  entry.bytes = bytes_of(values);
}

void MetadataBuilder::bytes(std::string_view key, std::string_view values) {
  Entry& entry = add(key, MetaType::array);
  entry.element_type = MetaType::u8;
  entry.count = values.size();
  entry.bytes = values;
}

void MetadataBuilder::copy(const MetaEntry& source) {
  const MetaValue& value = source.value;
  Entry& entry = add(source.key, value.type, source.key_in_file);
  entry.element_type = value.element_type;
  entry.count = value.count;
  const uint64_t width = meta_type_bytes(value.type == MetaType::array ? value.element_type : value.type);
  if (value.type == MetaType::string) entry.bytes = value.text;
  if (value.data != nullptr) {
    entry.bytes.assign(reinterpret_cast<const char*>(value.data),
                       width * (value.type == MetaType::array ? value.count : 1));
  }
  entry.texts.assign(value.texts.begin(), value.texts.end());
}

Metadata MetadataBuilder::build(std::string name) const {
  size_t n_bytes = 0;
  for (const Entry& entry : entries_) {
    n_bytes += entry.key.size() + entry.key_in_file.size() + entry.bytes.size();
    for (const std::string& text : entry.texts) n_bytes += text.size();
  }
  Packer packer(n_bytes);
  std::vector<MetaEntry> entries;
  entries.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    MetaEntry out;
    out.key = packer.put(entry.key);
    out.key_in_file = packer.put(entry.key_in_file);
    out.value.type = entry.type;
    out.value.element_type = entry.element_type;
    out.value.count = entry.count;
    const std::string_view bytes = packer.put(entry.bytes);
    if (entry.type == MetaType::string) {
      out.value.text = bytes;
    } else if (!bytes.empty()) {
      out.value.data = reinterpret_cast<const std::byte*>(bytes.data());
    }
    for (const std::string& text : entry.texts) out.value.texts.push_back(packer.put(text));
    entries.push_back(std::move(out));
  }
  return Metadata(packer.bytes(), std::move(entries), std::move(name));
}

}  // namespace inlay
