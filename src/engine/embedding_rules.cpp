#include "src/engine/embedding_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "src/template/text.h"

namespace inlay {
namespace {

constexpr std::string_view kPrefix = "inlay.embedding.";

std::string key_of(std::string_view name) { return std::string(kPrefix) + std::string(name); }

constexpr std::pair<const char*, Pooling> kPoolings[] = {{"cls", Pooling::first},
                                                         {"lasttoken", Pooling::last},
                                                         {"max", Pooling::max},
                                                         {"mean", Pooling::mean},
                                                         {"mean_sqrt_len_tokens", Pooling::mean_sqrt_len},
                                                         {"weightedmean", Pooling::weighted_mean}};

// Empty where there is none.
Result<F32View> view_of(const Metadata& metadata, const std::string& key) {
  const MetaValue* value = metadata.find(key);
  if (!value) return F32View();
  if (value->type != MetaType::array || (value->count > 0 && value->element_type != MetaType::f32))
    return error(Code::format, "%s is expected to be an array of f32", metadata.key_in_file(key).c_str());
  return F32View(*value);
}

}  // namespace

Result<EmbeddingRules::Step> EmbeddingRules::read_dense(const Metadata& metadata, const std::string& key, size_t n_in) {
  Step out{.n_in = n_in};
  INLAY_ASSIGN(out.n_out, metadata.get_u64(key + ".width"));
  INLAY_ASSIGN(out.weight, view_of(metadata, key + ".weight"));
  INLAY_ASSIGN(out.bias, view_of(metadata, key + ".bias"));
  INLAY_ASSIGN(const std::string_view activation, metadata.get_string(key + ".activation"));
  out.is_tanh = activation == "tanh";
  if (!out.is_tanh && activation != "identity")
    return error(Code::unsupported, "%s.activation is '%s', expected tanh or identity", key.c_str(), std::string(activation).c_str());
  if (out.n_out == 0 || out.weight.size() % out.n_out != 0 || out.weight.size() / out.n_out != n_in)
    return error(Code::format, "%s.weight has %zu values, expected %zu for each of %s.width %zu", key.c_str(), out.weight.size(), n_in, key.c_str(), out.n_out);
  if (!out.bias.empty() && out.bias.size() != out.n_out)
    return error(Code::format, "%s.bias has %zu values, expected %zu", key.c_str(), out.bias.size(), out.n_out);
  return out;
}

Result<std::vector<Pooling>> EmbeddingRules::read_poolings(const Metadata& metadata) {
  INLAY_ASSIGN(const std::span<const std::string_view> names, metadata.string_array(key_of("pooling")));
  std::vector<Pooling> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto* row = std::ranges::find_if(kPoolings, [&](const auto& known) { return names[i] == known.first; });
    if (row == std::end(kPoolings)) {
      std::string known;
      for (const auto& [name, pooling] : kPoolings) known += (known.empty() ? "" : ", ") + std::string(name);
      return error(Code::unsupported, "%s[%zu] is '%s', expected %s", key_of("pooling").c_str(), i, std::string(names[i]).c_str(), known.c_str());
    }
    out.push_back(row->second);
  }
  return out;
}

Result<EmbeddingRules> EmbeddingRules::read(const Metadata& metadata, size_t d_model) {
  EmbeddingRules out;
  INLAY_ASSIGN(out.poolings_, read_poolings(metadata));
  out.width_ = d_model * std::max<size_t>(1, out.poolings_.size());
  INLAY_ASSIGN(const std::span<const std::string_view> steps, metadata.string_array(key_of("steps")));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == "normalize") {
      out.steps_.push_back({.n_in = out.width_, .n_out = out.width_});
    } else if (steps[i] == "dense") {
      INLAY_ASSIGN(Step step, read_dense(metadata, key_of("step.") + std::to_string(i), out.width_));
      out.width_ = step.n_out;
      out.steps_.push_back(std::move(step));
    } else {
      return error(Code::unsupported, "%s[%zu] is '%s', expected dense or normalize", key_of("steps").c_str(), i, std::string(steps[i]).c_str());
    }
  }
  INLAY_ASSIGN(const uint64_t width, metadata.u64_or(key_of("width"), out.width_));
  if (width == 0) return error(Code::format, "%s is 0", metadata.key_in_file(key_of("width")).c_str());
  out.width_ = std::min<size_t>(out.width_, width);
  INLAY_ASSIGN(out.max_tokens_, metadata.u64_or(key_of("max_tokens"), 0));
  INLAY_ASSIGN(out.keeps_end_, metadata.bool_or(key_of("keeps_end"), false));
  INLAY_ASSIGN(out.lower_case_, metadata.bool_or(key_of("lower_case"), false));
  INLAY_ASSIGN(const std::string_view name, metadata.string_or(key_of("default_prompt"), ""));
  if (!name.empty()) {
    INLAY_ASSIGN(out.prompt_, metadata.get_string(key_of("prompt.") + std::string(name)));
  }
  return out;
}

Status EmbeddingRules::encode(const Tokenizer& tokenizer, std::string_view text, bool without_prompt, std::vector<int32_t>& out) const {
  std::string changed;
  if (!without_prompt && !prompt_.empty()) text = changed = prompt_ + std::string(text);
  if (lower_case_) text = changed = tmpl::lower(text);
  const size_t begin = out.size();
  INLAY_TRY(tokenizer.encode(text, {}, out));
  const size_t n = out.size() - begin;
  if (max_tokens_ == 0 || n <= max_tokens_) return {};
  // What the model wants around a text stays around what is left of it.
  std::vector<int32_t> bare;
  INLAY_TRY(tokenizer.encode(text, {.add_special = false}, bare));
  const size_t n_around = n - bare.size();
  size_t n_before = 0;
  while (n_before < n_around && !std::ranges::equal(bare, std::span(out).subspan(begin + n_before, bare.size()))) ++n_before;
  if (n_around >= max_tokens_)
    return error(Code::unsupported, "the model takes %zu tokens of a text, which leaves no room beside the %zu that it wants around it", max_tokens_, n_around);
  const size_t n_kept = max_tokens_ - n_around, n_cut = bare.size() - n_kept;
  const auto cut = out.begin() + static_cast<std::ptrdiff_t>(begin + n_before + (keeps_end_ ? 0 : n_kept));
  out.erase(cut, cut + static_cast<std::ptrdiff_t>(n_cut));
  return {};
}

void EmbeddingRules::apply(std::vector<double>& vector) const {
  std::vector<double> next;
  for (const Step& step : steps_) {
    if (step.weight.empty()) {
      scale_to_one(vector);
      continue;
    }
    next.resize(step.n_out);
    for (size_t row = 0; row < step.n_out; ++row) {
      double sum = step.bias.empty() ? 0.0 : double{step.bias[row]};
      for (size_t k = 0; k < step.n_in; ++k) sum += double{step.weight[row * step.n_in + k]} * vector[k];
      next[row] = step.is_tanh ? std::tanh(sum) : sum;
    }
    vector.swap(next);
  }
  vector.resize(width_);
}

void scale_to_one(std::span<double> values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  if (squares == 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (double& v : values) v *= scale;
}

}  // namespace inlay
