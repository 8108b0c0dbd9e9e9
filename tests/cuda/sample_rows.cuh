// Rows to draw from: random ones, their form on the device, and a plain third sampler that takes the random number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/philox.h"
#include "kernels/cuda/cuda_kernels.h"
#include "src/sampler/sampler.h"
#include "tests/cuda/kernel_test.h"

namespace inlay {
namespace {

using cuda::report;
using cuda::text;

constexpr float kInf = INFINITY;
constexpr int kBatch = 9;
constexpr double kNudge = 1e-6;  // how far from a boundary a random number decides for sure

struct Case {
  std::vector<float> logits;
  SamplerParams params;
  std::vector<int32_t> history;
  SamplerState state;
  uint64_t stream = 0, position = 0;
  std::vector<uint32_t> mask{};  // none: all tokens may be drawn

  bool may(int32_t t) const { return mask.empty() || (mask[t / 32] >> (t % 32) & 1) != 0; }
};

struct Batch {
  std::vector<cuda::SampleRowParams> rows;
  std::vector<float> logits;
  std::vector<int32_t> bias_tokens, count_tokens, count_values;
  std::vector<float> bias_values;
  std::vector<uint32_t> masks;  // of each row
  int64_t n_vocab = 0;
};

void add_row(Batch& batch, const Case& c) {
  const SamplerParams& p = c.params;
  cuda::SampleRowParams row = {};
  row.temperature = p.temperature;
  row.top_p = p.top_p;
  row.min_p = p.min_p;
  row.repetition_penalty = p.repetition_penalty;
  row.frequency_penalty = p.frequency_penalty;
  row.presence_penalty = p.presence_penalty;
  row.top_k = p.top_k;
  row.n_logprobs = p.n_logprobs;
  row.slot = static_cast<int32_t>(batch.rows.size());
  row.first_bias = static_cast<int32_t>(batch.bias_tokens.size());
  row.n_bias = static_cast<int32_t>(p.bias.size());
  for (const LogitBias& b : p.bias) {
    batch.bias_tokens.push_back(b.token);
    batch.bias_values.push_back(b.bias);
  }
  std::map<int32_t, int32_t> counts;
  const size_t window = p.penalty_window < 0 ? c.history.size() : std::min<size_t>(p.penalty_window, c.history.size());
  for (size_t i = c.history.size() - window; i < c.history.size(); ++i) ++counts[c.history[i]];
  row.first_count = static_cast<int32_t>(batch.count_tokens.size());
  row.n_counts = static_cast<int32_t>(counts.size());
  for (const auto& [token, count] : counts) {
    batch.count_tokens.push_back(token);
    batch.count_values.push_back(count);
  }
  row.temperature_last = has_late_temperature(p) ? 1 : 0;
  if (has_general_steps(p)) {
    row.general = 1;
    row.typical_p = p.typical_p;
    row.top_n_sigma = p.top_n_sigma;
    row.dynatemp_range = p.dynatemp_range;
    row.dynatemp_exponent = p.dynatemp_exponent;
    row.xtc_probability = p.xtc_probability;
    row.xtc_threshold = p.xtc_threshold;
    row.chooser = p.mirostat_tau > 0      ? cuda::Chooser::mirostat
                  : p.adaptive_target > 0 ? cuda::Chooser::adaptive
                                          : cuda::Chooser::plain;
    row.mirostat_mu = mirostat_mu(p, c.state);
    row.adaptive_aim = adaptive_aim(p, c.state);
  }
  row.seed = p.seed;
  row.stream = c.stream;
  row.position = c.position;
  batch.rows.push_back(row);
  batch.logits.insert(batch.logits.end(), c.logits.begin(), c.logits.end());
  batch.n_vocab = static_cast<int64_t>(c.logits.size());
  batch.rows.back().masked = c.mask.empty() ? 0 : 1;
  std::vector<uint32_t> mask = c.mask;
  mask.resize(mask_words(static_cast<int32_t>(c.logits.size())));
  batch.masks.insert(batch.masks.end(), mask.begin(), mask.end());
}

// The rows of a batch on the device, launched as often as wanted.
class DeviceBatch {
 public:
  explicit DeviceBatch(const Batch& batch)
      : logits_(batch.logits),
        rows_(batch.rows),
        bias_tokens_(batch.bias_tokens),
        bias_values_(batch.bias_values),
        count_tokens_(batch.count_tokens),
        count_values_(batch.count_values),
        masks_(batch.masks),
        results_(batch.rows.size()),
        scratch_(cuda::sample_scratch_bytes(static_cast<int32_t>(batch.rows.size()), batch.n_vocab)) {
    scratch_.fill(0);
    std::vector<cuda::SampleRowResult> results(batch.rows.size());
    std::memset(results.data(), 0x5a, results.size() * sizeof results[0]);
    results_.put(results);
    args_ = {logits_.get(),       rows_.get(),
             bias_tokens_.get(),  bias_values_.get(),
             count_tokens_.get(), count_values_.get(),
             results_.get(),      scratch_.get(),
             batch.n_vocab,       static_cast<int32_t>(batch.rows.size())};
    args_.masks = masks_.get();
  }
  void launch(cudaStream_t stream) { CUDA_OK(cuda::launch_sample(args_, stream)); }
  std::vector<cuda::SampleRowResult> run() {
    launch(nullptr);
    CUDA_OK(cudaDeviceSynchronize());
    return results_.host();
  }
  std::vector<cuda::SampleRowResult> results() const { return results_.host(); }
  void set_results(cuda::SampleRowResult* results) { args_.results = results; }
  void set_masks(const uint32_t* masks) { args_.masks = masks; }
  void set_rows(const std::vector<cuda::SampleRowParams>& rows) { rows_.put(rows); }

 private:
  cuda::Device<float> logits_;
  cuda::Device<cuda::SampleRowParams> rows_;
  cuda::Device<int32_t> bias_tokens_;
  cuda::Device<float> bias_values_;
  cuda::Device<int32_t> count_tokens_, count_values_;
  cuda::Device<uint32_t> masks_;
  cuda::Device<cuda::SampleRowResult> results_;
  cuda::Device<unsigned char> scratch_;
  cuda::SampleArgs args_;
};

// Equal in everything that a row's result defines.
bool same_bits(const cuda::SampleRowResult& a, const cuda::SampleRowResult& b) {
  if (a.token != b.token || a.error != b.error || a.bad_token != b.bad_token || a.n_logprobs != b.n_logprobs)
    return false;
  if (std::memcmp(&a.logprob, &b.logprob, sizeof a.logprob) != 0) return false;
  if (std::memcmp(&a.p_kept, &b.p_kept, sizeof a.p_kept) != 0) return false;
  const int n = a.n_logprobs;
  return n >= 0 && n <= cuda::kMaxLogprobs && std::memcmp(a.top_token, b.top_token, n * sizeof(int32_t)) == 0 &&
         std::memcmp(a.top_logprob, b.top_logprob, n * sizeof(float)) == 0;
}

// ---- a plain third sampler, which takes the random number, to judge draws near a boundary

float clamped(double logit) {
  return static_cast<float>(
      std::clamp<double>(logit, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()));
}

std::vector<float> modified_row(const Case& c) {
  std::vector<float> row = c.logits;
  const SamplerParams& p = c.params;
  for (size_t t = 0; t < row.size(); ++t) row[t] = c.may(static_cast<int32_t>(t)) ? row[t] : -kInf;
  for (const LogitBias& b : p.bias) {
    row[b.token] =
        b.bias == -kInf || row[b.token] == -kInf ? -kInf : clamped(static_cast<double>(row[b.token]) + b.bias);
  }
  std::map<int32_t, int32_t> counts;
  const size_t window = p.penalty_window < 0 ? c.history.size() : std::min<size_t>(p.penalty_window, c.history.size());
  for (size_t i = c.history.size() - window; i < c.history.size(); ++i) ++counts[c.history[i]];
  for (const auto& [token, count] : counts) {
    if (row[token] == -kInf) continue;
    double logit = row[token];
    logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
    row[token] = clamped(logit - (static_cast<double>(count) * p.frequency_penalty + p.presence_penalty));
  }
  return row;
}

// What a step keeps, where a boundary that is nearer than `slack`, a part of the boundary, may go either way.
struct PlainSteps {
  const std::vector<float>& row;
  const SamplerParams& p;
  double slack;
  std::vector<int32_t> ids{};  // in rank
  double max = 0, temperature = 0;

  double exponent(int32_t t) const { return (row[t] - max) / temperature; }
  double weight(int32_t t) const { return std::exp(exponent(t)); }
  double total() const {
    double sum = 0;
    for (const int32_t t : ids) sum += weight(t);
    return sum;
  }
  template <class Stays>
  void keep(Stays stays) {
    std::erase_if(ids, [&](int32_t t) { return !stays(t); });
  }

  void cut_sigma() {
    double mean = 0, variance = 0;
    for (const int32_t t : ids) mean += row[t] / static_cast<double>(ids.size());
    for (const int32_t t : ids) variance += (row[t] - mean) * (row[t] - mean) / static_cast<double>(ids.size());
    const double bar = max - p.top_n_sigma * std::sqrt(variance) * (1 + slack);
    keep([&](int32_t t) { return row[t] >= bar; });
  }
  void set_temperature() {
    temperature = 1;
    max = row[*std::max_element(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return row[a] < row[b]; })];
    double entropy = 0;
    const double sum = total();
    for (const int32_t t : ids) entropy -= weight(t) > 0 ? weight(t) / sum * std::log(weight(t) / sum) : 0;
    const double part = ids.size() > 1 ? std::clamp(entropy / std::log(static_cast<double>(ids.size())), 0.0, 1.0) : 0;
    const double range = p.dynatemp_range, low = std::max(0.0, p.temperature - range);
    temperature = p.temperature;
    if (range > 0) {
      temperature = std::max(low + (p.temperature + range - low) * std::pow(part, p.dynatemp_exponent), 0x1p-126);
    }
  }
  void cut_typical() {
    double mean = 0;
    const double sum = total();
    for (const int32_t t : ids) mean += weight(t) / sum * (row[t] - max);
    mean += max;
    std::vector<int32_t> near = ids;
    const auto off = [&](int32_t t) { return static_cast<float>(std::fabs(row[t] - mean)); };
    std::stable_sort(near.begin(), near.end(), [&](int32_t a, int32_t b) { return off(a) < off(b); });
    double kept = 0;
    size_t n = 0;
    while (n < near.size() && kept < p.typical_p * (1 + slack) * sum) kept += weight(near[n++]);
    near.resize(n);
    std::sort(near.begin(), near.end());
    keep([&](int32_t t) { return std::binary_search(near.begin(), near.end(), t); });
  }
  void cut_top_p() {
    const double wanted = p.top_p * (1 + slack) * total();
    double sum = 0;
    size_t n = 0;
    while (n < ids.size() && sum < wanted) sum += weight(ids[n++]);
    ids.resize(n);
  }
  void cut_top_choices() {
    const double bar = p.xtc_threshold * (1 + slack) * total();
    size_t n = 0;
    while (n < ids.size() && weight(ids[n]) >= bar) ++n;
    if (n > 1) ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n - 1));
  }
  void cut_surprise(double mu) {
    const double bar = std::log(total()) - mu * (1 + slack) * std::log(2.0);
    const int32_t first = ids[0];
    keep([&](int32_t t) { return exponent(t) >= bar || t == first; });
  }
};

int32_t plain_general_draw(const Case& c, std::vector<int32_t> in_rank, const std::vector<float>& row, double nudge) {
  const SamplerParams& p = c.params;
  const double max = row[in_rank[0]];
  PlainSteps s = {row, p, nudge * 1e-4, std::move(in_rank), max};
  if (p.top_n_sigma > 0) s.cut_sigma();
  s.temperature = 1;
  if (!has_late_temperature(p)) s.set_temperature();
  const PhiloxUniforms random = philox_uniforms(p.seed, c.stream, c.position);
  if (p.mirostat_tau > 0) {
    s.cut_surprise(mirostat_mu(p, c.state));
  } else {
    if (p.top_k > 0 && s.ids.size() > static_cast<size_t>(p.top_k)) s.ids.resize(p.top_k);
    if (p.typical_p < 1) s.cut_typical();
    if (p.top_p < 1) s.cut_top_p();
    const double largest = s.weight(s.ids[0]);
    if (p.min_p > 0) s.keep([&](int32_t t) { return s.weight(t) >= p.min_p * (1 + s.slack) * largest; });
    if (random.second < p.xtc_probability) s.cut_top_choices();
  }
  if (has_late_temperature(p)) s.set_temperature();
  std::sort(s.ids.begin(), s.ids.end());
  const double total = s.total();
  std::vector<double> weights;
  double drawn_total = 0, sum = 0;
  for (const int32_t t : s.ids) {
    const double away = std::fabs(s.weight(t) / total - adaptive_aim(p, c.state)) / 0.3;
    weights.push_back(p.adaptive_target > 0 ? std::exp(-10 * away * away / (1 + away)) : s.weight(t));
    drawn_total += weights.back();
  }
  int32_t last = s.ids[0];
  for (size_t i = 0; i < s.ids.size(); ++i) {
    if (weights[i] == 0) continue;
    last = s.ids[i];
    sum += weights[i];
    if (sum > (random.first + nudge) * drawn_total) break;
  }
  return last;
}

int32_t plain_draw(const Case& c, double nudge) {
  const SamplerParams& p = c.params;
  const std::vector<float> row = modified_row(c);
  std::vector<int32_t> ids;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] > -kInf) ids.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
  if (p.temperature == 0) return ids[0];
  if (has_general_steps(p)) return plain_general_draw(c, ids, row, nudge);
  const double max = row[ids[0]];
  double temperature = has_late_temperature(p) ? 1.0 : p.temperature;
  const auto weight = [&](int32_t t) { return std::exp((row[t] - max) / temperature); };
  if (p.top_k > 0 && ids.size() > static_cast<size_t>(p.top_k)) ids.resize(p.top_k);
  if (p.top_p < 1) {
    double total = 0, sum = 0;
    for (const int32_t t : ids) total += weight(t);
    size_t kept = 0;
    while (kept < ids.size() && sum < p.top_p * total) sum += weight(ids[kept++]);
    ids.resize(kept);
  }
  while (ids.size() > 1 && weight(ids.back()) < p.min_p) ids.pop_back();
  std::sort(ids.begin(), ids.end());
  temperature = p.temperature;
  double total = 0, sum = 0;
  for (const int32_t t : ids) total += weight(t);
  const double u = philox_uniform(p.seed, c.stream, c.position) + nudge;
  for (const int32_t t : ids) {
    sum += weight(t);
    if (sum > u * total) return t;
  }
  return ids.back();
}

// ---- random rows

enum Feature {
  kTopK = 1,
  kTopP = 2,
  kMinP = 4,
  kPenalties = 8,
  kBias = 16,
  kTemperature = 32,
  kTypical = 64,
  kSigma = 128,
  kDynamic = 256,
  kXtc = 512,
  kMirostat = 1024,
  kAdaptive = 2048,
  kLate = 4096,
  kMask = 8192
};

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> from) {
  return from.begin()[random() % from.size()];
}

std::vector<float> random_logits(int32_t n_vocab, std::mt19937_64& random) {
  const int kind = static_cast<int>(random() % 7);
  const float spread = kind == 0 ? 0.1f : kind == 1 ? 6.0f : kind == 5 ? 300.0f : 2.0f;
  std::normal_distribution<float> normal(pick(random, {0.0f, -20.0f, 15.0f}), spread);
  std::vector<float> logits(n_vocab);
  for (float& l : logits) l = normal(random);
  for (float& l : logits) {
    if (kind == 2) l = std::round(l);                     // ties
    if (kind == 3) l = random() % 2 == 0 ? 0.0f : -0.0f;  // ties only
    if (kind == 6 && random() % 16 != 0) l = -kInf;       // mostly banned
  }
  if (kind == 4) logits[random() % n_vocab] += 25.0f;  // one sure token
  if (random() % 3 == 0) {
    for (float& l : logits) l = random() % 4 == 0 ? -kInf : l;
  }
  if (*std::max_element(logits.begin(), logits.end()) == -kInf) logits[random() % n_vocab] = 1.0f;
  return logits;
}

// Of a constraint: a few tokens, some run of neighbours, all but a few, half, or none. Bits past the vocabulary are set, and mean nothing.
std::vector<uint32_t> random_mask(int32_t n_vocab, std::mt19937_64& random) {
  std::vector<uint32_t> mask(mask_words(n_vocab));
  const auto flip = [&](uint64_t t) { mask[t / 32] ^= 1u << (t % 32); };
  const uint64_t kind = random() % 8, n = static_cast<uint64_t>(n_vocab);
  if (kind == 0) return mask;
  if (kind < 4) {
    for (uint64_t i = 0; i < kind * kind; ++i) flip(random() % n);
  } else if (kind == 4) {
    const uint64_t first = random() % n, end = std::min(n, first + random() % 9000);
    for (uint64_t t = first; t < end; ++t) flip(t);
  } else if (kind == 5) {
    for (uint32_t& word : mask) word = static_cast<uint32_t>(random());
  } else {
    for (uint32_t& word : mask) word = 0xffffffffu;
    for (int i = 0; i < 20; ++i) flip(random() % n);
  }
  for (uint64_t t = n; t < mask.size() * 32; ++t) mask[t / 32] |= 1u << (t % 32);
  return mask;
}

Case random_case(int32_t n_vocab, int features, std::mt19937_64& random) {
  Case c;
  c.logits = random_logits(n_vocab, random);
  SamplerParams& p = c.params;
  if (features & kTemperature) p.temperature = pick(random, {0.05f, 0.3f, 0.8f, 1.0f, 1.7f, 20.0f});
  if (features & kLate) p.temperature_last = true;
  if (features & kTopK) p.top_k = pick<int32_t>(random, {1, 2, 5, 40, 300, 5000, n_vocab - 1, n_vocab + 7});
  if (features & kTopP) p.top_p = pick(random, {0.02f, 0.5f, 0.9f, 0.95f, 0.9999f});
  if (features & kMinP) p.min_p = pick(random, {1e-6f, 0.05f, 0.5f, 1.0f});
  if (features & kPenalties) {
    p.repetition_penalty = pick(random, {1.0f, 1.3f, 0.7f});
    p.frequency_penalty = pick(random, {0.0f, 0.4f, -0.3f});
    p.presence_penalty = pick(random, {0.0f, 1.1f});
    p.penalty_window = pick<int32_t>(random, {-1, 0, 1, 64, 300});
    const int32_t range = pick<int32_t>(random, {std::min(n_vocab, 30), n_vocab});
    for (size_t i = random() % 400; i > 0; --i) c.history.push_back(static_cast<int32_t>(random() % range));
  }
  if (features & kBias) {
    std::vector<int32_t> tokens;
    const size_t n_bias = std::min<size_t>(random() % kMaxBias, n_vocab - 1);
    while (tokens.size() < n_bias) {
      for (size_t i = tokens.size(); i < n_bias; ++i) tokens.push_back(static_cast<int32_t>(random() % n_vocab));
      std::sort(tokens.begin(), tokens.end());
      tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    }
    std::shuffle(tokens.begin(), tokens.end(), random);
    for (const int32_t t : tokens) p.bias.push_back({t, pick(random, {-kInf, 2.5f, -1.0f, 1e38f, -3e38f, 0.0f})});
  }
  if (features & kMask) c.mask = random_mask(n_vocab, random);
  if (features & kTypical) p.typical_p = pick(random, {1e-6f, 0.2f, 0.7f, 0.95f, 0.9999f});
  if (features & kSigma) p.top_n_sigma = pick(random, {1e-6f, 0.4f, 1.0f, 2.0f, 5.0f});
  if (features & kDynamic) {
    p.dynatemp_range = pick(random, {0.1f, 0.7f, 30.0f});
    p.dynatemp_exponent = pick(random, {0.3f, 1.0f, 2.5f});
  }
  if (features & kXtc) {
    p.xtc_probability = pick(random, {0.5f, 1.0f});
    p.xtc_threshold = pick(random, {1e-5f, 0.01f, 0.1f, 0.4f});
  }
  if (features & kMirostat) p.mirostat_tau = pick(random, {0.1f, 2.0f, 5.0f, 14.0f});
  if (features & kAdaptive && p.mirostat_tau == 0) p.adaptive_target = pick(random, {0.01f, 0.3f, 0.9f});
  c.state.mirostat_drift = pick(random, {0.0, -1.5, 3.0});
  c.state.adaptive_lead = pick(random, {0.0, -0.2, 0.15});
  p.seed = random();
  c.stream = random();
  c.position = random() % 100000;
  p.n_logprobs = pick<int32_t>(random, {0, 0, 1, 5, 20});
  return c;
}

std::string describe(const Case& c) {
  const SamplerParams& p = c.params;
  return text(
      "vocab %zu T %g k %d p %g min_p %g typical %g sigma %g dynatemp %g ^ %g xtc %g from %g mirostat %g adaptive %g "
      "rep %g "
      "freq %g pres %g window %d history %zu bias %zu mask %zu logprobs %d seed %llx",
      c.logits.size(), p.temperature, p.top_k, p.top_p, p.min_p, p.typical_p, p.top_n_sigma, p.dynatemp_range,
      p.dynatemp_exponent, p.xtc_probability, p.xtc_threshold, p.mirostat_tau, p.adaptive_target, p.repetition_penalty,
      p.frequency_penalty, p.presence_penalty, p.penalty_window, c.history.size(), p.bias.size(), c.mask.size(), p.n_logprobs,
      static_cast<unsigned long long>(p.seed));
}

}  // namespace
}  // namespace inlay
