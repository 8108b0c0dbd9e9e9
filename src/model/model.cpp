#include "src/model/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/model/hyper_parameters.h"

namespace inlay {
namespace {

struct RoleNames {
  WeightRole role;
  const char* name;  // of the tensor; a layer's stands behind "blk.<layer>."
};

constexpr RoleNames kRoleNames[] = {
    {WeightRole::token_embd, "token_embd.weight"},
    {WeightRole::output_norm, "output_norm.weight"},
    {WeightRole::output, "output.weight"},
    {WeightRole::attn_norm, "attn_norm.weight"},
    {WeightRole::attn_q, "attn_q.weight"},
    {WeightRole::attn_k, "attn_k.weight"},
    {WeightRole::attn_v, "attn_v.weight"},
    {WeightRole::attn_q_bias, "attn_q.bias"},
    {WeightRole::attn_k_bias, "attn_k.bias"},
    {WeightRole::attn_v_bias, "attn_v.bias"},
    {WeightRole::attn_q_norm, "attn_q_norm.weight"},
    {WeightRole::attn_k_norm, "attn_k_norm.weight"},
    {WeightRole::attn_output, "attn_output.weight"},
    {WeightRole::ffn_norm, "ffn_norm.weight"},
    {WeightRole::ffn_gate, "ffn_gate.weight"},
    {WeightRole::ffn_up, "ffn_up.weight"},
    {WeightRole::ffn_down, "ffn_down.weight"},
};
static_assert(std::size(kRoleNames) == static_cast<size_t>(WeightRole::count));

constexpr const char* kRopeFreqs = "rope_freqs.weight";

// Finds the weights of one model in its checkpoint and checks their shapes; remembers what was used.
class WeightFinder {
 public:
  WeightFinder(const Checkpoint& checkpoint, const ArchSpec& arch, ModelSpec& spec, std::vector<Weight>& out)
      : checkpoint_(checkpoint), arch_(arch), spec_(spec), out_(out), used_(checkpoint.tensors().size(), false) {}

  Status run() {
    INLAY_TRY(find_vocabulary());
    INLAY_TRY(find_rope_factors());
    for (int32_t layer = 0; layer < spec_.n_layers; ++layer) INLAY_TRY(find_layer(layer));
    INLAY_TRY(matrix_or_vector(WeightRole::output_norm, kNoLayer, 1, spec_.d_model));
    if (!spec_.tied_embeddings) INLAY_TRY(matrix_or_vector(WeightRole::output, kNoLayer, spec_.n_vocab, spec_.d_model));
    return nothing_left_over();
  }

 private:
  static std::string tensor_name(WeightRole role, int32_t layer) {
    const char* name = kRoleNames[static_cast<size_t>(role)].name;
    return layer == kNoLayer ? std::string(name) : "blk." + std::to_string(layer) + "." + name;
  }

  bool present(WeightRole role, int32_t layer) const { return checkpoint_.find(tensor_name(role, layer)) != nullptr; }

  Status find_vocabulary() {
    const TensorEntry* embd = checkpoint_.find(tensor_name(WeightRole::token_embd, kNoLayer));
    if (!embd) return error(Code::format, "the tensor token_embd.weight is missing");
    if (embd->rank != 2 || embd->shape[0] > (1 << 24)) {
      return error(Code::format, "the tensor token_embd.weight has rank %d and %lld rows, expected a matrix of at most %d rows",
                   embd->rank, static_cast<long long>(embd->shape[0]), 1 << 24);
    }
    spec_.n_vocab = static_cast<int32_t>(embd->shape[0]);
    const std::string key = spec_.arch + ".vocab_size";
    INLAY_ASSIGN(const uint64_t said, checkpoint_.metadata().u64_or(key, static_cast<uint64_t>(spec_.n_vocab)));
    if (said != static_cast<uint64_t>(spec_.n_vocab)) {
      return error(Code::format, "%s is %llu but token_embd.weight has %d rows", key.c_str(),
                   static_cast<unsigned long long>(said), spec_.n_vocab);
    }
    spec_.tied_embeddings = !present(WeightRole::output, kNoLayer);
    return matrix_or_vector(WeightRole::token_embd, kNoLayer, spec_.n_vocab, spec_.d_model);
  }

  Status find_rope_factors() {
    const TensorEntry* t = checkpoint_.find(kRopeFreqs);
    if (!t) return {};
    used_[static_cast<size_t>(t - checkpoint_.tensors().data())] = true;
    const int64_t expected = spec_.rope.n_rot / 2;
    if (t->rank != 1 || t->shape[0] != expected || t->dtype != DType::f32) {
      return error(Code::format, "the tensor %s is %s of %lld elements, expected F32 of %lld", kRopeFreqs,
                   traits(t->dtype).name, static_cast<long long>(t->shape[0]), static_cast<long long>(expected));
    }
    std::vector<std::byte> scratch;
    INLAY_ASSIGN(const std::byte* bytes, checkpoint_.bytes(*t, scratch));
    spec_.rope.frequency_factors.resize(static_cast<size_t>(expected));
    std::memcpy(spec_.rope.frequency_factors.data(), bytes, static_cast<size_t>(expected) * sizeof(float));
    for (int64_t i = 0; i < expected; ++i) {
      const float f = spec_.rope.frequency_factors[static_cast<size_t>(i)];
      if (!(f > 0.0f && std::isfinite(f))) {
        return error(Code::format, "element %lld of %s is %g, expected a positive number", static_cast<long long>(i), kRopeFreqs,
                     double{f});
      }
    }
    return {};
  }

  Status find_layer(int32_t layer) {
    const int64_t d = spec_.d_model, q = spec_.d_q(), kv = spec_.d_kv(), ff = spec_.d_ff;
    INLAY_TRY(matrix_or_vector(WeightRole::attn_norm, layer, 1, d));
    INLAY_TRY(matrix_or_vector(WeightRole::attn_q, layer, q, d));
    INLAY_TRY(matrix_or_vector(WeightRole::attn_k, layer, kv, d));
    INLAY_TRY(matrix_or_vector(WeightRole::attn_v, layer, kv, d));
    INLAY_TRY(settle(arch_.qkv_bias, WeightRole::attn_q_bias, layer, spec_.qkv_bias));
    if (spec_.qkv_bias) {
      INLAY_TRY(matrix_or_vector(WeightRole::attn_q_bias, layer, 1, q));
      INLAY_TRY(matrix_or_vector(WeightRole::attn_k_bias, layer, 1, kv));
      INLAY_TRY(matrix_or_vector(WeightRole::attn_v_bias, layer, 1, kv));
    }
    INLAY_TRY(settle(arch_.qk_norm, WeightRole::attn_q_norm, layer, spec_.qk_norm));
    if (spec_.qk_norm) {
      INLAY_TRY(matrix_or_vector(WeightRole::attn_q_norm, layer, 1, spec_.d_head));
      INLAY_TRY(matrix_or_vector(WeightRole::attn_k_norm, layer, 1, spec_.d_head));
    }
    INLAY_TRY(matrix_or_vector(WeightRole::attn_output, layer, d, q));
    INLAY_TRY(matrix_or_vector(WeightRole::ffn_norm, layer, 1, d));
    INLAY_TRY(matrix_or_vector(WeightRole::ffn_gate, layer, ff, d));
    INLAY_TRY(matrix_or_vector(WeightRole::ffn_up, layer, ff, d));
    return matrix_or_vector(WeightRole::ffn_down, layer, d, ff);
  }

  // Decides in the first layer whether a group of weights exists; the other layers must agree (a missing tensor is then
  // reported by name, a surplus one as left over).
  Status settle(Presence presence, WeightRole first_of_group, int32_t layer, bool& used) {
    if (layer == 0) used = presence == Presence::required || (presence == Presence::optional && present(first_of_group, 0));
    return {};
  }

  // Records a weight of n_rows x n_cols; vectors have one row.
  Status matrix_or_vector(WeightRole role, int32_t layer, int64_t n_rows, int64_t n_cols) {
    Weight w;
    w.role = role;
    w.layer = layer;
    w.name = tensor_name(role, layer);
    const TensorEntry* t = checkpoint_.find(w.name);
    if (!t) return error(Code::format, "the tensor %s is missing", w.name.c_str());
    const bool vector = n_rows == 1;
    const int64_t rows = t->rank >= 2 ? t->shape[0] : 1;
    const int64_t cols = t->rank >= 2 ? t->shape[1] : t->shape[0];
    if (t->rank > 2 || t->rank != (vector ? 1 : 2) || rows != n_rows || cols != n_cols) {
      return error(Code::format, "the tensor %s is %lld x %lld (rank %d), expected %lld x %lld", w.name.c_str(),
                   static_cast<long long>(rows), static_cast<long long>(cols), t->rank, static_cast<long long>(n_rows),
                   static_cast<long long>(n_cols));
    }
    if (vector && t->dtype != DType::f32 && t->dtype != DType::f16 && t->dtype != DType::bf16) {
      return error(Code::unsupported, "the tensor %s is %s; norms and biases are F32, F16 or BF16", w.name.c_str(),
                   traits(t->dtype).name);
    }
    w.dtype = t->dtype;
    w.n_rows = n_rows;
    w.n_cols = n_cols;
    const bool q_or_k = role == WeightRole::attn_q || role == WeightRole::attn_k || role == WeightRole::attn_q_bias ||
                        role == WeightRole::attn_k_bias;
    w.unpermute = arch_.interleaved_rope && q_or_k;
    w.tensor = static_cast<uint32_t>(t - checkpoint_.tensors().data());
    used_[w.tensor] = true;
    out_.push_back(std::move(w));
    return {};
  }

  // A tensor that the family does not know would change the results if it were ignored.
  Status nothing_left_over() const {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      const std::string name(checkpoint_.tensors()[i].name);
      return error(Code::unsupported, "the tensor %s is not part of a %s model as supported here", name.c_str(), arch_.name);
    }
    return {};
  }

  const Checkpoint& checkpoint_;
  const ArchSpec& arch_;
  ModelSpec& spec_;
  std::vector<Weight>& out_;
  std::vector<bool> used_;
};

// Which row of a head of interleaved pairs is row `i` of two halves.
int64_t unpermuted_row(int64_t i, const ModelSpec& spec) {
  const int64_t half = spec.rope.n_rot / 2;
  return i < half ? 2 * i : i < 2 * half ? 2 * (i - half) + 1 : i;
}

// Copies the rows of every head from the order of interleaved pairs to that of two halves.
void unpermute_rows(const std::byte* from, std::byte* to, int64_t n_heads, const ModelSpec& spec, size_t bytes_per_row) {
  for (int64_t head = 0; head < n_heads; ++head) {
    for (int64_t i = 0; i < spec.d_head; ++i) {
      const int64_t source = unpermuted_row(i, spec);
      std::memcpy(to + static_cast<size_t>(head * spec.d_head + i) * bytes_per_row,
                  from + static_cast<size_t>(head * spec.d_head + source) * bytes_per_row, bytes_per_row);
    }
  }
}

float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
  float value;
  if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else if (exponent == 31) {
    value = mantissa ? NAN : INFINITY;
  } else {
    value = std::ldexp(static_cast<float>(mantissa | 1024), static_cast<int>(exponent) - 25);
  }
  return sign ? -value : value;
}

float element_to_float(DType dtype, const std::byte* bytes, size_t i) {
  if (dtype == DType::f32) {
    float v;
    std::memcpy(&v, bytes + 4 * i, 4);
    return v;
  }
  uint16_t h;
  std::memcpy(&h, bytes + 2 * i, 2);
  if (dtype == DType::f16) return half_to_float(h);
  const uint32_t wide = uint32_t{h} << 16;
  float v;
  std::memcpy(&v, &wide, 4);
  return v;
}

}  // namespace

Result<Model> Model::from_checkpoint(const Checkpoint& checkpoint) {
  INLAY_ASSIGN(const std::string_view arch_name, checkpoint.metadata().get_string("general.architecture"));
  const ArchSpec* arch = find_arch(arch_name);
  if (!arch) {
    std::string known;
    for (const ArchSpec* a : all_archs()) known += (known.empty() ? "" : ", ") + std::string(a->name);
    return error(Code::unsupported, "general.architecture \"%s\" is not supported (%s)", std::string(arch_name).c_str(),
                 known.c_str());
  }
  Model model;
  INLAY_ASSIGN(model.spec_, read_hyper_parameters(checkpoint.metadata(), *arch));
  INLAY_TRY(WeightFinder(checkpoint, *arch, model.spec_, model.weights_).run());
  return model;
}

const Weight* Model::find(WeightRole role, int32_t layer) const {
  for (const Weight& w : weights_) {
    if (w.role == role && w.layer == layer) return &w;
  }
  return nullptr;
}

uint64_t Model::n_params() const {
  uint64_t n = 0;
  for (const Weight& w : weights_) n += static_cast<uint64_t>(w.n_rows * w.n_cols);
  return n;
}

Result<const std::byte*> WeightReader::read(const Weight& weight) {
  INLAY_ASSIGN(const std::byte* bytes, checkpoint_.bytes(checkpoint_.tensors()[weight.tensor], scratch_));
  if (!weight.unpermute) return bytes;
  // A vector has an element where a matrix has a row.
  const bool vector = weight.n_rows == 1;
  const int64_t n_rows = vector ? weight.n_cols : weight.n_rows;
  const size_t bytes_per_row = static_cast<size_t>(row_bytes(weight.dtype, static_cast<uint64_t>(vector ? 1 : weight.n_cols)));
  reordered_.resize(static_cast<size_t>(weight.n_bytes()));
  unpermute_rows(bytes, reordered_.data(), n_rows / model_.spec().d_head, model_.spec(), bytes_per_row);
  return reordered_.data();
}

Result<std::vector<float>> WeightReader::read_vector(const Weight& weight) {
  INLAY_ASSIGN(const std::byte* bytes, read(weight));
  std::vector<float> out(static_cast<size_t>(weight.n_cols));
  for (size_t i = 0; i < out.size(); ++i) out[i] = element_to_float(weight.dtype, bytes, i);
  return out;
}

Status WeightReader::read_range(const Weight& weight, uint64_t at, std::span<std::byte> into, std::vector<std::byte>& scratch) const {
  const TensorEntry& tensor = checkpoint_.tensors()[weight.tensor];
  if (!weight.unpermute || into.empty()) return checkpoint_.read(tensor, at, into);
  // The heads that the range touches, then from each row the part that lies in it.
  const ModelSpec& spec = model_.spec();
  const uint64_t row = weight.n_bytes() / static_cast<uint64_t>(weight.n_rows == 1 ? weight.n_cols : weight.n_rows);
  const uint64_t head = row * static_cast<uint64_t>(spec.d_head), first = at / head * head;
  const uint64_t end = std::min((at + into.size() + head - 1) / head * head, weight.n_bytes());
  if (scratch.size() < end - first) scratch.resize(end - first);
  INLAY_TRY(checkpoint_.read(tensor, first, std::span(scratch).first(end - first)));
  for (uint64_t done = 0; done < into.size();) {
    const uint64_t place = at + done, in_head = place % head / row, in_row = place % row;
    const uint64_t n = std::min(row - in_row, into.size() - done);
    const auto source = static_cast<uint64_t>(unpermuted_row(static_cast<int64_t>(in_head), spec));
    std::memcpy(into.data() + done, scratch.data() + (place / head * head - first) + source * row + in_row, n);
    done += n;
  }
  return {};
}

void WeightReader::discard(const Weight& weight) const { checkpoint_.discard(checkpoint_.tensors()[weight.tensor]); }

}  // namespace inlay
