#include "src/formats/checkpoint.h"

#include <algorithm>
#include <numeric>

#include "src/formats/text.h"

namespace inlay {

Checkpoint::Checkpoint(Metadata metadata, std::vector<TensorEntry> tensors,
                       std::vector<std::unique_ptr<ByteSource>> sources,
                       std::vector<std::shared_ptr<const std::vector<std::byte>>> headers)
    : metadata_(std::move(metadata)),
      tensors_(std::move(tensors)),
      sources_(std::move(sources)),
      headers_(std::move(headers)),
      by_name_(tensors_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](uint32_t a, uint32_t b) { return tensors_[a].name < tensors_[b].name; });
}

std::string Checkpoint::model_path() const {
  if (!conventions_.model_path.empty() || sources_.empty()) return conventions_.model_path;
  return std::string(sources_[0]->name());
}

std::string Checkpoint::name_in_file(std::string_view gguf_name) const {
  return conventions_.tensor_name ? conventions_.tensor_name(gguf_name) : std::string(gguf_name);
}

const TensorEntry* Checkpoint::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](uint32_t i, std::string_view n) { return tensors_[i].name < n; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

const TensorEntry* Checkpoint::duplicate() const {
  const auto at = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                     [&](uint32_t a, uint32_t b) { return tensors_[a].name == tensors_[b].name; });
  return at == by_name_.end() ? nullptr : &tensors_[*at];
}

uint64_t Checkpoint::n_tensor_bytes() const {
  uint64_t n = 0;
  for (const TensorEntry& tensor : tensors_) n += tensor.n_bytes;
  return n;
}

Result<const std::byte*> Checkpoint::bytes(const TensorEntry& tensor, std::vector<std::byte>& scratch) const {
  if (tensor.source >= sources_.size())
    return error(Code::invalid_argument, "tensor %s is not one of this checkpoint's", quote(tensor.name).c_str());
  const ByteSource& source = *sources_[tensor.source];
  if (const std::byte* data = source.view(tensor.offset, tensor.n_bytes)) return data;
  // Before the scratch grows: a wrong entry must not ask for more memory than the source has bytes.
  INLAY_TRY(source.check_range(tensor.offset, tensor.n_bytes));
  if (scratch.size() < tensor.n_bytes) scratch.resize(tensor.n_bytes);
  INLAY_TRY(source.read(tensor.offset, std::span(scratch).first(tensor.n_bytes)));
  return static_cast<const std::byte*>(scratch.data());
}

Status Checkpoint::read(const TensorEntry& tensor, uint64_t at, std::span<std::byte> into) const {
  if (tensor.source >= sources_.size() || at > tensor.n_bytes || into.size() > tensor.n_bytes - at) {
    return error(Code::invalid_argument, "%zu bytes at %llu are not part of tensor %s", into.size(), static_cast<unsigned long long>(at),
                 quote(tensor.name).c_str());
  }
  return sources_[tensor.source]->read(tensor.offset + at, into);
}

bool Checkpoint::is_concurrent() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->is_concurrent(); });
}

Status Checkpoint::check_unchanged() const {
  for (const auto& source : sources_) INLAY_TRY(source->check_unchanged());
  return {};
}

void Checkpoint::discard(const TensorEntry& tensor, uint64_t at, uint64_t n_bytes) const {
  if (tensor.source < sources_.size()) sources_[tensor.source]->discard(tensor.offset + at, n_bytes);
}

}  // namespace inlay
