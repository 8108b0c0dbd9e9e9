#include "src/formats/gguf_writer.h"

#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr uint64_t kAlignment = 32;  // GGUF's default
constexpr uint32_t kVersion = 3;

uint64_t padding_of(uint64_t n) { return (kAlignment - n % kAlignment) % kAlignment; }

class HeaderBytes {
 public:
  template <class T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes += value;
  }
  void entry(const MetaEntry& entry) {
    const MetaValue& value = entry.value;
    text(entry.key);
    number(static_cast<uint32_t>(value.type));
    uint64_t n_bytes = meta_type_bytes(value.type);
    if (value.type == MetaType::array) {
      number(static_cast<uint32_t>(value.element_type));
      number(value.count);
      n_bytes = value.count * meta_type_bytes(value.element_type);
      for (const std::string_view element : value.texts) text(element);
    }
    if (value.type == MetaType::string) text(value.text);
    if (n_bytes > 0) bytes.append(reinterpret_cast<const char*>(value.data), n_bytes);
  }
  void tensor(const GgufTensor& tensor, uint64_t offset) {
    text(tensor.name);
    number(static_cast<uint32_t>(tensor.rank));
    for (int32_t i = tensor.rank - 1; i >= 0; --i) number(static_cast<uint64_t>(tensor.shape[static_cast<size_t>(i)]));
    number(traits(tensor.dtype).ggml_type);
    number(offset);
  }

  std::string bytes;
};

}  // namespace

uint64_t GgufTensor::n_bytes() const {
  uint64_t n = row_bytes(dtype, static_cast<uint64_t>(shape[static_cast<size_t>(rank - 1)]));
  for (int32_t i = 0; i + 1 < rank; ++i) n *= static_cast<uint64_t>(shape[static_cast<size_t>(i)]);
  return n;
}

Result<GgufWriter> GgufWriter::create(const std::string& path, const Metadata& metadata,
                                      std::vector<GgufTensor> tensors) {
  INLAY_ASSIGN(std::unique_ptr<TargetFile> file, TargetFile::create(path));
  GgufWriter writer(std::move(file), std::move(tensors));
  INLAY_TRY(writer.write_header(metadata));
  return writer;
}

Status GgufWriter::write_header(const Metadata& metadata) {
  HeaderBytes header;
  header.bytes = "GGUF";
  header.number(kVersion);
  header.number<uint64_t>(tensors_.size());
  header.number<uint64_t>(metadata.entries().size());
  for (const MetaEntry& entry : metadata.entries()) header.entry(entry);
  uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors_) {
    header.tensor(tensor, offset);
    offset += tensor.n_bytes() + padding_of(tensor.n_bytes());
  }
  header.bytes.append(padding_of(header.bytes.size()), '\0');
  return file_->write(std::as_bytes(std::span(header.bytes)));
}

Status GgufWriter::append(std::span<const std::byte> bytes) {
  if (at_tensor_ == tensors_.size() || bytes.size() > tensors_[at_tensor_].n_bytes() - n_appended_) {
    return error(Code::internal, "%s: %zu bytes are more than tensor number %zu has left", file_->path().c_str(), bytes.size(),
                 at_tensor_);
  }
  INLAY_TRY(file_->write(bytes));
  n_appended_ += bytes.size();
  if (n_appended_ < tensors_[at_tensor_].n_bytes()) return {};
  constexpr std::byte kZeros[kAlignment] = {};
  INLAY_TRY(file_->write(std::span(kZeros).first(padding_of(n_appended_))));
  ++at_tensor_;
  n_appended_ = 0;
  return {};
}

Status GgufWriter::finish() {
  if (at_tensor_ != tensors_.size()) {
    return error(Code::internal, "%s: tensor %s was not written", file_->path().c_str(),
                 quote(tensors_[at_tensor_].name).c_str());
  }
  return file_->publish();
}

}  // namespace inlay
