#include "examples/cli/synthetic_model.h"

#include <algorithm>
#include <cstring>

#include "examples/cli/synthetic_shapes.h"

namespace inlay::cli {
namespace {

constexpr uint64_t kAlignment = 32;  // GGUF's default, of the tensors' bytes

uint64_t aligned(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// The fields of a GGUF header, little-endian.
class HeaderWriter {
 public:
  template <class T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes += value;
  }
  void entry(std::string_view key, uint32_t value) { tagged(key, 4), number(value); }
  void entry(std::string_view key, float value) { tagged(key, 6), number(value); }
  void entry(std::string_view key, std::string_view value) { tagged(key, 8), text(value); }

  std::string bytes;
  uint64_t n_entries = 0;

 private:
  void tagged(std::string_view key, uint32_t value_type) {
    text(key);
    number(value_type);
    ++n_entries;
  }
};

HeaderWriter metadata_of(const Shape& shape, const Recipe& recipe) {
  HeaderWriter meta;
  const std::string prefix = std::string(family_name(shape.family)) + ".";
  const auto size = [&](const char* key, int32_t value) { meta.entry(prefix + key, static_cast<uint32_t>(value)); };
  meta.entry("general.architecture", std::string_view(family_name(shape.family)));
  meta.entry("general.name", std::string_view(shape.name));
  meta.entry("general.file_type", recipe.file_type);
  meta.entry("general.quantization_version", uint32_t{2});
  size("block_count", shape.n_layers);
  size("context_length", shape.n_context);
  size("embedding_length", shape.d_model);
  size("feed_forward_length", shape.d_ff);
  size("attention.head_count", shape.n_heads);
  size("attention.head_count_kv", shape.n_kv_heads);
  size("attention.key_length", shape.d_head);
  size("attention.value_length", shape.d_head);
  meta.entry(prefix + "attention.layer_norm_rms_epsilon", shape.norm_epsilon);
  size("rope.dimension_count", shape.d_head);
  meta.entry(prefix + "rope.freq_base", shape.rope_base);
  size("vocab_size", shape.n_vocab);
  if (shape.n_experts > 0) {
    size("expert_count", shape.n_experts);
    size("expert_used_count", shape.n_used);
    size("expert_feed_forward_length", shape.d_ff_expert);
  }
  if (shape.window > 0) size("attention.sliding_window", shape.window);
  if (shape.family == Family::gpt_oss) {
    meta.entry(prefix + "rope.scaling.type", std::string_view("yarn"));
    meta.entry(prefix + "rope.scaling.factor", 32.0f);
    size("rope.scaling.original_context_length", 4096);
  }
  meta.entry("tokenizer.ggml.model", std::string_view("no_vocab"));
  return meta;
}

uint64_t n_elements(const TensorShape& tensor) {
  uint64_t n = 1;
  for (const uint64_t dim : tensor.dims) n *= dim;
  return n;
}

template <class Table>
auto find_named(const Table& table, const std::string& name) -> decltype(&table[0]) {
  for (const auto& entry : table) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

std::vector<std::string> synthetic_shape_names() {
  std::vector<std::string> names;
  for (const Shape& shape : synthetic_shapes()) names.emplace_back(shape.name);
  return names;
}

std::vector<std::string> synthetic_recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : synthetic_recipes()) names.emplace_back(recipe.name);
  return names;
}

bool SyntheticModel::build(const SyntheticRequest& request, std::string& error) {
  const Shape* found = find_named(synthetic_shapes(), request.shape);
  const Recipe* recipe = find_named(synthetic_recipes(), request.recipe);
  if (!found)
    error = "no shape '" + request.shape + "'; there are " + joined(synthetic_shape_names());
  else if (!recipe)
    error = "no recipe '" + request.recipe + "'; there are " + joined(synthetic_recipe_names());
  else if (!(request.scale > 0.0 && request.scale <= 1.0))
    error = "the scale must be above 0 and at most 1";
  else if (recipe->mxfp4_experts && found->n_experts == 0)
    error = "'" + request.recipe + "' is for models with experts, and '" + request.shape + "' has none";
  else if (request.n_layers < 0 || request.n_vocab < 0)
    error = "the numbers of layers and of tokens cannot be negative";
  if (!found || !recipe || !error.empty()) return false;

  Shape shape = request.scale < 1.0 ? scaled(*found, request.scale) : *found;
  if (request.n_layers > 0) shape.n_layers = request.n_layers;
  if (request.n_vocab > 0) shape.n_vocab = request.n_vocab;

  n_context_ = shape.n_context;
  const HeaderWriter meta = metadata_of(shape, *recipe);
  std::vector<TensorShape> list = tensors_of(shape, *recipe);
  HeaderWriter header;
  header.bytes = "GGUF";
  header.number<uint32_t>(3);  // version
  header.number<uint64_t>(list.size());
  header.number<uint64_t>(meta.n_entries);
  header.bytes += meta.bytes;

  uint64_t offset = 0;
  n_params_ = 0;
  tensors_.clear();
  for (TensorShape& tensor : list) {
    const BlockTraits& traits = block_traits(tensor.type);
    header.text(tensor.name);
    header.number(static_cast<uint32_t>(tensor.dims.size()));
    for (const uint64_t dim : tensor.dims) header.number(dim);
    header.number(traits.ggml_type);
    header.number(offset);
    const uint64_t n_bytes = n_elements(tensor) / traits.n_elements * traits.n_bytes;
    tensors_.push_back({tensor.type, tensor.spread, std::move(tensor.values), offset, n_bytes});
    n_params_ += n_elements(tensor);
    offset += aligned(n_bytes);
  }
  header_ = std::move(header.bytes);
  header_.resize(aligned(header_.size()));
  for (Tensor& tensor : tensors_) tensor.offset += header_.size();
  n_bytes_ = header_.size() + offset;
  return true;
}

void SyntheticModel::read(uint64_t offset, std::byte* into, uint64_t n) const {
  std::memset(into, 0, n);  // what lies between the tensors
  const uint64_t end = offset + n;
  if (offset < header_.size())
    std::memcpy(into, header_.data() + offset, std::min<uint64_t>(n, header_.size() - offset));
  // The first tensor that ends behind the offset, and those after it.
  auto at = std::partition_point(tensors_.begin(), tensors_.end(),
                                 [&](const Tensor& t) { return t.offset + t.n_bytes <= offset; });
  for (; at != tensors_.end() && at->offset < end; ++at) {
    const uint64_t from = std::max(offset, at->offset), to = std::min(end, at->offset + at->n_bytes);
    read_tensor(static_cast<size_t>(at - tensors_.begin()), from - at->offset, into + (from - offset), to - from);
  }
}

void SyntheticModel::read_tensor(size_t index, uint64_t offset, std::byte* into, uint64_t n) const {
  const Tensor& tensor = tensors_[index];
  if (!tensor.values.empty()) {
    std::memcpy(into, reinterpret_cast<const std::byte*>(tensor.values.data()) + offset, n);
    return;
  }
  const uint64_t block_bytes = block_traits(tensor.type).n_bytes, seed = (index + 1) * 0x2545F4914F6CDD1Du;
  while (n > 0) {
    const uint64_t block = offset / block_bytes, skip = offset % block_bytes;
    uint64_t done = n / block_bytes * block_bytes;
    if (skip == 0 && done > 0) {
      fill_blocks(tensor.type, tensor.spread, seed, block, done / block_bytes, into);
    } else {  // the reading begins or ends inside this block
      std::byte whole[256];
      fill_blocks(tensor.type, tensor.spread, seed, block, 1, whole);
      done = std::min(n, block_bytes - skip);
      std::memcpy(into, whole + skip, done);
    }
    into += done, offset += done, n -= done;
  }
}

}  // namespace inlay::cli
