// What some families' layers do beyond the plainest one, against double arithmetic on the host: activations, biases,
// factors and soft caps behind products; norms, biases and factors of what is added to the residual stream; norms over
// the whole width of queries and keys. Stand-alone: prints `ok` or `FAIL` for each case and exits with 1 if one failed.
// Each check has a control, which must be far from the results: what they would be without the part that is checked.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

constexpr Activation kActivations[] = {Activation::silu, Activation::gelu_tanh, Activation::clamped_swiglu};
const char* name_of(Activation a) {
  return a == Activation::silu ? "silu" : a == Activation::gelu_tanh ? "gelu_tanh" : "clamped_swiglu";
}

double activated(Activation a, double gate, double up) {
  if (a == Activation::silu) return gate / (1 + std::exp(-gate)) * up;
  if (a == Activation::gelu_tanh) {
    return 0.5 * gate * (1 + std::tanh(std::sqrt(2 / M_PI) * (gate + 0.044715 * gate * gate * gate))) * up;
  }
  const double g = std::min(gate, 7.0), u = std::clamp(up, -7.0, 7.0);
  return (u + 1) * g / (1 + std::exp(-1.702 * g));
}

std::vector<float> random_values(int64_t n, float size, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = size * normal(rng);
  return v;
}

// The largest error relative to `size`; infinite where a result is not finite.
double largest_error(const std::vector<float>& got, const std::function<double(size_t)>& want,
                     const std::function<double(size_t)>& size) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - want(i)) / size(i);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

void check(const std::string& what, double error, double control, double limit) {
  report(error < limit && control > 100 * limit, what,
         text("largest error %.1e", error) + text(", control %.1e", control));
}

// ---- products

// Gate rows, then up rows, and their products with rows of x as the plainest epilogue stores them, which cuda_linear
// checks.
struct Products {
  static constexpr int64_t kCols = 512, kHalf = 40;
  DType type;
  int32_t m;
  bool raw;
  const std::vector<float> gate_bias_host = random_values(kHalf, 1.0f, 3), up_bias_host = random_values(kHalf, 1.0f, 4);
  Device<uint8_t> gate, up, both, memory;
  Device<float> x, gate_bias, up_bias;
  std::vector<float> gate_sums, up_sums;  // (m, kHalf)

  Products(DType t, int32_t rows, bool as_raw)
      : type(t),
        m(rows),
        raw(as_raw),
        gate(packed_bytes(t, kHalf, kCols)),
        up(packed_bytes(t, kHalf, kCols)),
        both(packed_bytes(t, 2 * kHalf, kCols)),
        memory(std::vector<uint8_t>(activation_bytes(rows, kCols))),
        x(random_values(rows * kCols, 0.2f, 2)),
        gate_bias(gate_bias_host),
        up_bias(up_bias_host) {
    std::mt19937 rng(1);
    const Device<uint8_t> file(random_rows(t, 2 * kHalf, kCols, 1.0f, rng));
    const uint8_t* up_rows = file.get() + kHalf * row_bytes(t, kCols);
    CUDA_OK(launch_repack({file.get(), nullptr, gate.get(), kHalf, kCols, t, RowOrder::plain}, nullptr));
    CUDA_OK(launch_repack({up_rows, nullptr, up.get(), kHalf, kCols, t, RowOrder::plain}, nullptr));
    CUDA_OK(launch_repack({file.get(), up_rows, both.get(), 2 * kHalf, kCols, t, RowOrder::gate_up}, nullptr));
    if (!raw) {
      CUDA_OK(launch_activations(
          {x.get(), nullptr, nullptr, activations_at(memory.get(), m, kCols), m, kCols, 1e-6f, activation_form(t)},
          nullptr));
    }
    gate_sums = run(arguments(gate, kHalf, Epilogue::store), 0);
    up_sums = run(arguments(up, kHalf, Epilogue::store), 0);
  }
  LinearArgs arguments(const Device<uint8_t>& weights, int64_t n_rows, Epilogue epilogue) const {
    LinearArgs a{};
    a.weights = weights.get();
    if (raw) {
      a.raw = x.get();
    } else {
      a.x = activations_at(memory.get(), m, kCols);
    }
    a.n_rows = n_rows, a.n_cols = kCols, a.ld_out = kHalf;
    a.m = m;
    a.dtype = type;
    a.epilogue = epilogue;
    return a;
  }
  std::vector<float> run(LinearArgs a, const std::vector<float>& before) const {
    const Device<float> out(before);
    a.out = out.get();
    CUDA_OK(launch_linear(a, nullptr));
    return out.host();
  }
  std::vector<float> run(LinearArgs a, float before) const {
    return run(a, std::vector<float>(static_cast<size_t>(m * kHalf), before));
  }
  double gate_of(size_t i, bool biased) const { return gate_sums[i] + (biased ? gate_bias_host[i % kHalf] : 0.0); }
  double up_of(size_t i, bool biased) const { return up_sums[i] + (biased ? up_bias_host[i % kHalf] : 0.0); }
  std::string name() const { return std::string(traits(type).name) + " m " + std::to_string(m) + (raw ? " raw" : ""); }
};

void check_gate_up(const Products& p, Activation activation) {
  const auto want = [&](size_t i) { return activated(activation, p.gate_of(i, true), p.up_of(i, true)); };
  const auto without = [&](size_t i) { return activated(activation, p.gate_of(i, false), p.up_of(i, false)); };
  const auto size = [&](size_t i) { return (1 + std::fabs(p.gate_of(i, true))) * (1 + std::fabs(p.up_of(i, true))); };
  LinearArgs a = p.arguments(p.both, 2 * Products::kHalf, Epilogue::gate_up);
  a.bias = p.gate_bias.get(), a.up_bias = p.up_bias.get(), a.activation = activation;
  const std::vector<float> got = p.run(a, -7.0f);
  const std::string name = p.name() + " " + name_of(activation);
  // Gate and up as one matrix are another product than each alone: both are rounded.
  check("gate_up " + name, largest_error(got, want, size), largest_error(got, without, size), 5e-5);

  LinearArgs up = p.arguments(p.up, Products::kHalf, Epilogue::up);
  up.bias = p.up_bias.get(), up.activation = activation;
  std::vector<float> gates(got.size());
  for (size_t i = 0; i < gates.size(); ++i) gates[i] = static_cast<float>(p.gate_of(i, true));
  const std::vector<float> of_two = p.run(up, gates);
  check("up " + name, largest_error(of_two, want, size), largest_error(of_two, without, size), 1e-5);
}

void check_factors(const Products& p) {
  constexpr float kBefore = 1.5f, kFactor = 0.22f, kCap = 3.0f;
  const auto size = [&](size_t i) { return 1 + std::fabs(p.gate_of(i, true)); };
  LinearArgs a = p.arguments(p.gate, Products::kHalf, Epilogue::add);
  a.bias = p.gate_bias.get(), a.factor = kFactor;
  std::vector<float> got = p.run(a, kBefore);
  check("add " + p.name(),
        largest_error(
            got, [&](size_t i) { return kBefore + kFactor * p.gate_of(i, true); }, size),
        largest_error(
            got, [&](size_t i) { return kBefore + p.gate_of(i, true); }, size),
        1e-5);
  a.epilogue = Epilogue::store, a.soft_cap = kCap;
  got = p.run(a, kBefore);
  check("soft cap " + p.name(),
        largest_error(
            got, [&](size_t i) { return kCap * std::tanh(kFactor * p.gate_of(i, true) / kCap); }, size),
        largest_error(
            got, [&](size_t i) { return kFactor * p.gate_of(i, true); }, size),
        1e-5);
}

void check_products() {
  for (const DType type : {DType::q4_k, DType::q8_0, DType::f8_e4m3, DType::f16, DType::bf16, DType::f32}) {
    for (const int32_t m : {0, 1, 5, 20, 64, 70}) {  // 0: a raw row
      if (m == 0 && !linear_takes_raw(type, Products::kCols)) continue;
      const Products p(type, std::max(m, 1), m == 0);
      for (const Activation activation : kActivations) check_gate_up(p, activation);
      check_factors(p);
    }
  }
}

// Far outside of where an activation bends nothing overflows, and a NaN stays one.
void check_extremes() {
  const std::vector<float> values = {-1e30f, -200.0f, -90.0f, -1e-30f, 0.0f, 1e-30f, 90.0f, 200.0f, 1e18f, NAN};
  for (const Activation activation : kActivations) {
    const int64_t n = 16;
    std::vector<float> pairs;  // groups of eight gates and eight ups
    for (int group = 0; group < 2; ++group) {
      for (int i = 0; i < 16; ++i) {
        pairs.push_back(i < 8 ? values[static_cast<size_t>(8 * group + i) % values.size()] : 2.0f);
      }
    }
    const Device<float> pairs_d(pairs), row_scale(1), out_values(static_cast<size_t>(n));
    const Device<uint16_t> out(static_cast<size_t>(padded_cols(n)));
    CUDA_OK(launch_gate_up_rows({.gate_up = pairs_d.get(),
                                 .out = out.get(),
                                 .row_scale = row_scale.get(),
                                 .values = out_values.get(),
                                 .n_rows = 1,
                                 .n_cols = n,
                                 .form = ActivationForm::bf16,
                                 .activation = activation},
                                nullptr));
    const std::vector<float> got = out_values.host();
    bool good = true;
    for (size_t i = 0; i < got.size(); ++i) {
      const double gate = values[i % values.size()], want = activated(activation, gate, 2.0);
      good &= std::isnan(gate) ? std::isnan(got[i]) : std::fabs(got[i] - want) <= 1e-6 * std::fabs(want) + 1e-30;
    }
    report(good, std::string("extremes of ") + name_of(activation));
  }
}

// ---- rows around a product

double value_of(uint16_t bits, ActivationForm form) {
  return form == ActivationForm::f16 ? __half2float(__ushort_as_half(bits))
                                     : __bfloat162float(__ushort_as_bfloat16(bits));
}
const char* name_of(ActivationForm form) { return form == ActivationForm::f16 ? "f16" : "bf16"; }

// Error power of converted rows over their power, and the padding that is not zero.
struct Converted {
  std::vector<uint16_t> bits;  // (rows, padded)
  std::vector<float> scales;   // (rows) what brings them back
  ActivationForm form;

  double error(int64_t n, const std::function<double(size_t)>& want) const {
    const int64_t padded = padded_cols(n);
    double worst = 0;
    for (size_t r = 0; r < scales.size(); ++r) {
      double error = 0, power = 1e-300;
      for (int64_t c = 0; c < padded; ++c) {
        const double v = value_of(bits[r * padded + c], form) * scales[r];
        if (c >= n && v != 0) return INFINITY;
        if (c >= n) continue;
        const double w = want(r * n + c);
        error += (v - w) * (v - w), power += w * w;
      }
      worst = std::max(worst, error / power);
    }
    return worst;
  }
};
double conversion_limit(ActivationForm form) { return form == ActivationForm::f16 ? 2e-7 : 1e-5; }

void check_gate_up_rows(int64_t n, ActivationForm form, Activation activation) {
  constexpr int32_t kRows = 3;
  const int64_t width = (n + 7) / 8 * 16;
  const auto pairs = random_values(kRows * width, 3.0f, static_cast<unsigned>(n));
  const auto gate_bias = random_values(n, 1.0f, 21), up_bias = random_values(n, 1.0f, 22);
  const std::vector<float> scale = {0.5f, 1.0f, 2.0f};
  const Device<float> pairs_d(pairs), gate_bias_d(gate_bias), up_bias_d(up_bias), scale_d(scale);
  const Device<float> values(static_cast<size_t>(kRows * n));
  const Device<uint16_t> out(std::vector<uint16_t>(static_cast<size_t>(kRows * padded_cols(n)), 0xffff));
  CUDA_OK(launch_gate_up_rows({.gate_up = pairs_d.get(),
                               .out = out.get(),
                               .row_scale = scale_d.get(),  // the same memory
                               .values = values.get(),
                               .n_rows = kRows,
                               .n_cols = n,
                               .form = form,
                               .activation = activation,
                               .scale = scale_d.get(),
                               .gate_bias = gate_bias_d.get(),
                               .up_bias = up_bias_d.get()},
                              nullptr));
  const auto part = [&](size_t i, int64_t at) {
    const int64_t c = static_cast<int64_t>(i) % n, r = static_cast<int64_t>(i) / n;
    return static_cast<double>(pairs[r * width + c / 8 * 16 + c % 8 + at]) * scale[r];
  };
  const auto want = [&](size_t i) {
    return activated(activation, part(i, 0) + gate_bias[i % n], part(i, 8) + up_bias[i % n]);
  };
  const auto without = [&](size_t i) { return activated(activation, part(i, 0), part(i, 8)); };
  const std::vector<float> got = values.host();
  // Near up = -1 clamped_swiglu is the small rest of a sum.
  const auto size = [&](size_t i) { return 0.1 + std::fabs(want(i)); };
  const std::string name = text("gate_up_rows %ld ", static_cast<long>(n)) + name_of(activation) + " " + name_of(form);
  check(name, largest_error(got, want, size), largest_error(got, without, size), 2e-5);
  const Converted converted{out.host(), scale_d.host(), form};
  check(name + " converted", converted.error(n, want), converted.error(n, without), conversion_limit(form));
}

struct AddCase {
  int64_t n;
  bool scaled, bias, addend_norm;
  float factor;
  bool next_norm;
  ActivationForm form;

  std::string name() const {
    return text("rows added %ld", static_cast<long>(n)) + (scaled ? " scaled" : "") + (bias ? " bias" : "") +
           (addend_norm ? " norm" : "") + text(" factor %g", factor) + (next_norm ? " then norm " : " ") +
           name_of(form);
  }
};

constexpr int32_t kAddRows = 4;
constexpr double kEpsilon = 1e-6;

// What is added, and the rows after it; `plain`: without bias, norm and factor.
std::vector<double> added(const AddCase& t, const std::vector<float>& x, const std::vector<float>& addend,
                          const std::vector<float>& scale, const std::vector<float>& bias,
                          const std::vector<float>& weight, bool plain) {
  std::vector<double> out(x.size());
  for (int32_t r = 0; r < kAddRows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < t.n; ++c) {
      double& v = out[r * t.n + c];
      v = static_cast<double>(addend[r * t.n + c]) * (t.scaled ? scale[r] : 1.0f) + (t.bias && !plain ? bias[c] : 0.0);
      squares += v * v;
    }
    const double inverse = t.addend_norm && !plain ? 1 / std::sqrt(squares / t.n + kEpsilon) : 1.0;
    for (int64_t c = 0; c < t.n; ++c) {
      double& v = out[r * t.n + c];
      v = x[r * t.n + c] + (plain ? 1.0 : t.factor) * v * inverse * (t.addend_norm && !plain ? weight[c] : 1.0);
    }
  }
  return out;
}

void check_added(const AddCase& t) {
  const auto x = random_values(kAddRows * t.n, 1.0f, 31), addend = random_values(kAddRows * t.n, 4.0f, 32);
  const auto bias = random_values(t.n, 1.0f, 33), weight = random_values(t.n, 1.0f, 34);
  const auto next_weight = random_values(t.n, 1.0f, 35);
  const std::vector<float> scale = {0.25f, 0.5f, 1.0f, 2.0f};
  const Device<float> x_d(x), addend_d(addend), bias_d(bias), weight_d(weight), next_d(next_weight), scale_d(scale);
  const Device<uint16_t> out(std::vector<uint16_t>(static_cast<size_t>(kAddRows * padded_cols(t.n)), 0xffff));
  const float next_factor = t.next_norm && t.form == ActivationForm::f16 ? 8.0f : 1.0f;
  NormRowsArgs args{.x = x_d.get(),
                    .addend = addend_d.get(),
                    .addend_scale = t.scaled ? scale_d.get() : nullptr,
                    .norm_weight = t.next_norm ? next_d.get() : nullptr,
                    .out = out.get(),
                    .row_scale = scale_d.get(),  // the same memory
                    .n_rows = kAddRows,
                    .n_cols = t.n,
                    .epsilon = static_cast<float>(kEpsilon),
                    .factor = next_factor,
                    .form = t.form,
                    .addend_bias = t.bias ? bias_d.get() : nullptr,
                    .addend_norm = t.addend_norm ? weight_d.get() : nullptr,
                    .addend_factor = t.factor};
  CUDA_OK(launch_norm_rows(args, nullptr));
  const std::vector<float> got = x_d.host();
  const auto want = added(t, x, addend, scale, bias, weight, false),
             plain = added(t, x, addend, scale, bias, weight, true);
  const auto of = [](const std::vector<double>& v) { return [&v](size_t i) { return v[i]; }; };
  const auto size = [&](size_t i) { return 1 + std::fabs(want[i]); };
  check(t.name(), largest_error(got, of(want), size), largest_error(got, of(plain), size), 2e-6);

  std::vector<double> inverse(kAddRows, 1.0);
  for (int32_t r = 0; r < kAddRows && t.next_norm; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < t.n; ++c) squares += want[r * t.n + c] * want[r * t.n + c];
    inverse[r] = 1 / std::sqrt(squares / t.n + kEpsilon);
  }
  const auto next = [&](const std::vector<double>& rows) {
    return [&](size_t i) { return rows[i] * inverse[i / t.n] * (t.next_norm ? next_weight[i % t.n] : 1.0); };
  };
  Converted converted{out.host(), scale_d.host(), t.form};
  if (t.next_norm) converted.scales.assign(kAddRows, 1 / next_factor);
  check(t.name() + " converted", converted.error(t.n, next(want)), converted.error(t.n, next(plain)),
        conversion_limit(t.form));

  // The sum alone, of one row alone: the same bits.
  const Device<float> one(std::vector<float>(x.begin() + 2 * t.n, x.begin() + 3 * t.n)), one_scale(scale);
  args.x = one.get(), args.out = nullptr, args.n_rows = 1, args.addend = addend_d.get() + 2 * t.n;
  if (t.scaled) args.addend_scale = one_scale.get() + 2;
  CUDA_OK(launch_norm_rows(args, nullptr));
  const std::vector<float> alone = one.host();
  report(std::memcmp(alone.data(), &got[2 * t.n], alone.size() * sizeof(float)) == 0, t.name() + " a row alone");
}

void check_rows() {
  for (const ActivationForm form : {ActivationForm::f16, ActivationForm::bf16}) {
    for (const int64_t n : {8, 36, 77, 1536, 8960, 17408}) {
      for (const Activation activation : kActivations) check_gate_up_rows(n, form, activation);
    }
    for (const int64_t n : {32, 77, 576, 2304, 4096, 5120, 8960, 32768}) {
      check_added({n, false, false, true, 1.0f, true, form});
      check_added({n, true, true, true, 0.5f, true, form});
      check_added({n, true, true, false, 1.0f, false, form});
      check_added({n, false, true, true, 1.0f, false, form});
      check_added({n, true, false, false, 0.22f, true, form});
    }
  }
}

void check_small() {
  const auto x = random_values(4 * 50, 1.0f, 41), bias = random_values(37, 1.0f, 42);
  const std::vector<float> scale = {0.5f, 1.0f, 2.0f, 4.0f};
  for (const bool biased : {false, true}) {
    const Device<float> x_d(x), bias_d(bias), scale_d(scale);
    CUDA_OK(launch_add_bias({.x = x_d.get(),
                             .bias = biased ? bias_d.get() : nullptr,
                             .n_rows = 4,
                             .n_cols = 37,
                             .ld = 50,
                             .scale = scale_d.get()},
                            nullptr));
    const auto got = x_d.host();
    bool same = true, control = false;
    for (int i = 0; i < 200; ++i) {
      same &= got[i] == (i % 50 < 37 ? std::fmaf(x[i], scale[i / 50], biased ? bias[i % 50] : 0.0f) : x[i]);
      control |= got[i] != x[i];
    }
    report(same && control, std::string("add_bias with scales") + (biased ? "" : " alone"));
  }
  const Device<float> capped(x);
  CUDA_OK(launch_soft_cap({capped.get(), static_cast<int64_t>(x.size()), 2.0f}, nullptr));
  const auto got = capped.host();
  const auto one = [](size_t) { return 1.0; };
  check("soft_cap",
        largest_error(
            got, [&](size_t i) { return 2 * std::tanh(x[i] / 2.0); }, one),
        largest_error(
            got, [&](size_t i) { return x[i]; }, one),
        1e-6);
}

// ---- queries and keys, embeddings

void check_norm_width(int32_t n_q, int32_t n_k) {
  constexpr int32_t kRows = 3;
  const int64_t width = n_q + 2 * n_k;
  const auto qkv = random_values(kRows * width, 2.0f, static_cast<unsigned>(n_q));
  const auto q_norm = random_values(n_q, 1.0f, 51), k_norm = random_values(n_k, 1.0f, 52);
  const Device<float> qkv_d(qkv), q_d(q_norm), k_d(k_norm);
  const NormWidthArgs args{qkv_d.get(), q_d.get(), k_d.get(), kRows, n_q, n_k, static_cast<float>(kEpsilon)};
  CUDA_OK(launch_norm_width(args, nullptr));
  const auto got = qkv_d.host();
  std::vector<double> want(qkv.begin(), qkv.end());
  for (int32_t r = 0; r < kRows; ++r) {
    for (const bool keys : {false, true}) {
      double* x = want.data() + r * width + (keys ? n_q : 0);
      const int32_t n = keys ? n_k : n_q;
      double squares = 0;
      for (int32_t i = 0; i < n; ++i) squares += x[i] * x[i];
      for (int32_t i = 0; i < n; ++i) x[i] *= (keys ? k_norm : q_norm)[i] / std::sqrt(squares / n + kEpsilon);
    }
  }
  const auto one = [](size_t) { return 1.0; };
  const std::string name = text("norm_width %d and ", n_q) + std::to_string(n_k);
  check(name,
        largest_error(
            got, [&](size_t i) { return want[i]; }, one),
        largest_error(
            got, [&](size_t i) { return qkv[i]; }, one),
        5e-6);
  const Device<float> alone_d(std::vector<float>(qkv.begin() + width, qkv.begin() + 2 * width));
  NormWidthArgs alone = args;
  alone.qkv = alone_d.get(), alone.m = 1;
  CUDA_OK(launch_norm_width(alone, nullptr));
  report(std::memcmp(alone_d.host().data(), &got[width], width * sizeof(float)) == 0, name + " a row alone");
}

void check_embed() {
  constexpr int64_t kVocab = 48, kModel = 96;
  const auto table = random_values(kVocab * kModel, 1.0f, 61);
  const Device<float> file(table), hidden(static_cast<size_t>(2 * kModel));
  const Device<uint8_t> packed(packed_bytes(DType::f32, kVocab, kModel));
  const Device<int32_t> tokens(std::vector<int32_t>{7, 40}), positions(std::vector<int32_t>{0, 1});
  CUDA_OK(launch_repack({file.get(), nullptr, packed.get(), kVocab, kModel, DType::f32, RowOrder::plain}, nullptr));
  EmbedArgs args{packed.get(), tokens.get(), positions.get(), hidden.get(), kVocab, kModel, 2, DType::f32, false};
  bool same[2];
  for (const bool scaled : {false, true}) {
    args.factor = scaled ? 12.0f : 1.0f;
    CUDA_OK(launch_embed(args, nullptr));
    const auto got = hidden.host();
    same[scaled] = true;
    for (int64_t i = 0; i < 2 * kModel; ++i) {
      same[scaled] &= got[i] == args.factor * table[(i < kModel ? 7 : 40) * kModel + i % kModel];
    }
  }
  report(same[0] && same[1], "embed with and without a factor");
}

}  // namespace

int main() {
  if (!has_device()) return kSkipped;
  check_products();
  check_extremes();
  check_rows();
  check_small();
  for (const auto& [n_q, n_k] : {std::pair<int32_t, int32_t>{16, 8}, {128, 128}, {1000, 40}, {4096, 1024}}) {
    check_norm_width(n_q, n_k);
  }
  check_embed();
  return finish();
}
