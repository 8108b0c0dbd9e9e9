// Stand-alone check of the packed products: no test framework, so that a bare machine with a GPU can run it.
//   embed: bit for bit the reference dequantizer; product: against double sums over the device's own prepared
//   activations; the bits of a row whatever the number of rows; a damaged weight must be noticed; then speeds ("speed"
//   as argument: alone).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/quant_blocks.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/ref/dequantize.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

struct Matrix {
  DType type;
  int64_t n_rows, n_cols;
  std::vector<float> values;  // in the order of the results; gate_up: gate rows, then up rows
  Device<uint8_t> packed;

  Matrix(DType t, int64_t rows, int64_t cols, RowOrder order, const std::vector<uint8_t>& bytes)
      : type(t), n_rows(rows), n_cols(cols), values(rows * cols), packed(packed_bytes(t, rows, cols)) {
    for (int64_t r = 0; r < rows; ++r) ref::dequantize_row(t, &bytes[r * row_bytes(t, cols)], cols, &values[r * cols]);
    packed.fill(0xa5);
    const Device<uint8_t> file(bytes);
    const void* up = order == RowOrder::gate_up ? file.get() + rows / 2 * row_bytes(t, cols) : nullptr;
    CUDA_OK(launch_repack({file.get(), up, packed.get(), rows, cols, t, order}, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
  }
};

std::string name(const Matrix& w) {
  return std::string(traits(w.type).name) + " " + std::to_string(w.n_rows) + "x" + std::to_string(w.n_cols);
}

void check_embed(const Matrix& w) {
  std::vector<int32_t> tokens{0, static_cast<int32_t>(w.n_rows - 1), static_cast<int32_t>(w.n_rows / 2), 7, 8, 5},
      positions{0, 1, 2, 3, 4, -1};
  const Device<int32_t> t(tokens), p(positions);
  const Device<float> hidden(std::vector<float>(tokens.size() * w.n_cols, 12345.0f));
  CUDA_OK(launch_embed(
      {w.packed.get(), t.get(), p.get(), hidden.get(), w.n_rows, w.n_cols, static_cast<int32_t>(tokens.size()), w.type},
      nullptr));
  const auto got = hidden.host();
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (int64_t c = 0; c < w.n_cols; ++c) {
      const float want = positions[i] < 0 ? 12345.0f : w.values[tokens[i] * w.n_cols + c];
      if (std::memcmp(&want, &got[i * w.n_cols + c], 4) != 0 && wrong++ == 0) first = i * w.n_cols + c;
    }
  }
  report(wrong == 0, "embed " + name(w) + ": " + std::to_string(wrong) + " differ, first " + std::to_string(first));
}

// Of a chunk of 256 columns as planes: for every 64 columns 64 bytes of high parts, then 64 of low ones; columns 16 s +
// 4 t + i in word s of the four of t, those of i 1 and 2 exchanged.
double plane_value(const uint8_t* record, int64_t column) {
  const int64_t unit = column / 64, s = column % 64 / 16, t = column % 16 / 4, i = column % 4;
  const uint8_t* high = record + unit * 128 + t * 16 + s * 4 + (i == 1 ? 2 : i == 2 ? 1 : i);
  return (256.0 * static_cast<int8_t>(high[0]) + static_cast<int8_t>(high[64])) / 64.0;
}

struct Inputs {
  int32_t m;
  bool with_norm;
  Device<float> raw, norm;
  Device<uint8_t> memory;
  Activations x;
  std::vector<double> values;  // what the products take times row_scale, (m, n_cols)

  Inputs(const Matrix& w, int32_t rows, std::mt19937& rng)
      : m(rows),
        with_norm(w.n_cols % 128 == 0),
        raw(random_rows_of(rows, w.n_cols, rng)),
        norm(random_norm(w.n_cols, rng)),
        memory(std::vector<uint8_t>(activation_bytes(rows, w.n_cols))),
        x(activations_at(memory.get(), rows, w.n_cols)),
        values(rows * w.n_cols) {
    CUDA_OK(launch_activations(
        {raw.get(), with_norm ? norm.get() : nullptr, nullptr, x, m, w.n_cols, 1e-6f, activation_form(w.type)},
        nullptr));
    const auto bytes = memory.host();
    const auto raw_host = raw.host(), norm_host = norm.host();
    auto at = [&](const void* p, size_t i) { return &bytes[static_cast<const uint8_t*>(p) - memory.get() + i]; };
    auto float_at = [&](const float* p, size_t i) {
      float v;
      std::memcpy(&v, at(p, 4 * i), 4);
      return v;
    };
    double worst = 0;
    bool padding = true;
    for (int32_t r = 0; r < m; ++r) {
      double squares = 0;
      for (int64_t c = 0; c < w.n_cols; ++c)
        squares += static_cast<double>(raw_host[r * w.n_cols + c]) * raw_host[r * w.n_cols + c];
      const double inverse = 1 / std::sqrt(squares / w.n_cols + 1e-6);
      double error = 0, power = 0;
      for (int64_t c = 0; c < x.ld; ++c) {
        const bool planes = activation_form(w.type) == ActivationForm::planes;
        double v = planes ? plane_value(at(x.values, (c / 256 * x.scale_stride + r) * 576), c % 256)
                          : read(w.type, at(x.values, (r * x.ld + c) * element(w.type)));
        if (planes || activation_form(w.type) == ActivationForm::f16)
          v *= float_at(x.chunk_scale, c / 256 * x.scale_stride + r);
        if (c >= w.n_cols) {
          padding &= v == 0;
          continue;
        }
        values[r * w.n_cols + c] = v * float_at(x.row_scale, r);
        const double want = raw_host[r * w.n_cols + c] * (with_norm ? inverse * norm_host[c] : 1.0);
        const double got = values[r * w.n_cols + c];
        error += (want - got) * (want - got), power += want * want;
      }
      worst = std::max(worst, error / power);
    }
    const double limit = w.type == DType::f32 ? 1e-12 : w.type == DType::bf16 ? 1e-5 : 2e-7;
    if (!(worst < limit) || !padding) {
      report(false, "activations for " + name(w) + " m " + std::to_string(m) + " NMSE " + std::to_string(worst) +
                        (padding ? "" : ", padding not zero"));
    }
  }
  static std::vector<float> random_rows_of(int32_t rows, int64_t n_cols, std::mt19937& rng) {
    std::normal_distribution<float> normal;
    std::vector<float> v(rows * n_cols);
    for (int64_t i = 0; i < rows * n_cols; ++i)
      v[i] =
          normal(rng) * std::exp2(static_cast<float>(i / n_cols % 30 - 15) + static_cast<float>(i % n_cols / 300 % 3));
    return v;
  }
  static std::vector<float> random_norm(int64_t n_cols, std::mt19937& rng) {
    std::normal_distribution<float> normal;
    std::vector<float> v(n_cols);
    for (auto& w : v) w = 1.0f + 0.1f * normal(rng);
    return v;
  }
  static size_t element(DType t) { return t == DType::f32 ? 4 : 2; }
  static double read(DType t, const uint8_t* p) {
    if (t == DType::f32) {
      float v;
      std::memcpy(&v, p, 4);
      return v;
    }
    if (t == DType::bf16) {
      Bf16 v;
      std::memcpy(&v, p, 2);
      return to_float(v);
    }
    Fp16 v;
    std::memcpy(&v, p, 2);
    return to_float(v);
  }
};

LinearArgs arguments(const Matrix& w, const Inputs& in, int32_t m, Epilogue epilogue, const float* bias, float* out,
                     int64_t ld) {
  LinearArgs a{};
  a.weights = w.packed.get();
  a.x = in.x;
  a.bias = bias;
  if (epilogue == Epilogue::gate_up && bias != nullptr) a.up_bias = bias + w.n_rows / 2;
  a.out = out;
  a.n_rows = w.n_rows, a.n_cols = w.n_cols, a.ld_out = ld;
  a.m = m;
  a.dtype = w.type;
  a.epilogue = epilogue;
  return a;
}

std::vector<float> run(const Matrix& w, const Inputs& in, int32_t m, Epilogue epilogue, const std::vector<float>& bias,
                       float before) {
  const int64_t n_out = epilogue == Epilogue::gate_up ? w.n_rows / 2 : w.n_rows, ld = n_out + 3;
  const Device<float> bias_d(bias), out(std::vector<float>(m * ld, before));
  CUDA_OK(launch_linear(arguments(w, in, m, epilogue, bias.empty() ? nullptr : bias_d.get(), out.get(), ld), nullptr));
  return out.host();
}

// A single raw row against the same row prepared by a launch, and rows sent elsewhere.
void check_raw(const Matrix& w, const Inputs& in, const std::vector<float>& bias) {
  if (!linear_takes_raw(w.type, w.n_cols)) {
    return report(w.type == DType::f32 || w.n_cols % 8 != 0, "raw " + name(w) + " is refused");
  }
  const int64_t ld = w.n_rows + 3;
  const std::vector<float> want = run(w, in, 9, Epilogue::store, bias, -7.0f);
  const Device<float> bias_d(bias);
  bool same = true;
  for (const int32_t row : {0, 1, 8}) {
    const Device<int32_t> from(std::vector<int32_t>{row}), to(std::vector<int32_t>{2}),
        nowhere(std::vector<int32_t>{-1});
    const Device<float> out(std::vector<float>(3 * ld, -7.0f));
    LinearArgs a = arguments(w, in, 1, Epilogue::store, bias_d.get(), out.get(), ld);
    a.x = {};
    a.raw = in.raw.get(), a.raw_row = from.get(), a.out_rows = to.get(), a.epsilon = 1e-6f;
    a.norm_weight = in.with_norm ? in.norm.get() : nullptr;
    CUDA_OK(launch_linear(a, nullptr));
    a.out_rows = nowhere.get();
    CUDA_OK(launch_linear(a, nullptr));
    const auto got = out.host();
    same &= std::memcmp(&got[2 * ld], &want[row * ld], ld * sizeof(float)) == 0;
    for (int64_t i = 0; i < 2 * ld; ++i) same &= got[i] == -7.0f;
  }
  report(same, "raw " + name(w) + ": the bits of a prepared row");
}

// The largest error relative to sum |w x|, and in gate_up to what that error can become. -1: wrote outside.
double error_of(const Matrix& w, const Inputs& in, int32_t m, Epilogue epilogue, const std::vector<float>& bias,
                const std::vector<float>& got, float before) {
  const int64_t n_out = epilogue == Epilogue::gate_up ? w.n_rows / 2 : w.n_rows, ld = n_out + 3;
  double worst = 0;
  const int64_t row_step = std::max<int64_t>(1, static_cast<double>(n_out) * m * w.n_cols / 4e7);
  for (int32_t row = 0; row < m; ++row) {
    for (int64_t c = n_out; c < ld; ++c)
      if (got[row * ld + c] != before) return -1;
    auto dot = [&](int64_t r, double& size) {
      double sum = bias.empty() ? 0 : bias[r];
      size = std::abs(sum);
      for (int64_t c = 0; c < w.n_cols; ++c) {
        const double p = static_cast<double>(w.values[r * w.n_cols + c]) * in.values[row * w.n_cols + c];
        sum += p, size += std::abs(p);
      }
      return sum;
    };
    for (int64_t r = row % row_step; r < n_out; r += row_step) {
      double size, want = dot(r, size);
      if (epilogue == Epilogue::gate_up) {
        double up_size;
        const double up = dot(n_out + r, up_size), silu = want / (1 + std::exp(-want));
        size = std::abs(silu) * up_size + size * std::abs(up) * 1.1 + 1e-30, want = silu * up;
      }
      if (epilogue == Epilogue::add) want += before, size += std::abs(before);
      const double error = std::abs(want - got[row * ld + r]) / size;
      if (!(error <= worst)) worst = std::isfinite(error) ? error : 1e30;
    }
  }
  return worst;
}

// Every number of rows; a row's bits must not depend on it, up to 64 and above.
void check_rows(const Matrix& w, const Inputs& in, const std::vector<float>& bias) {
  const auto few = run(w, in, 64, Epilogue::store, bias, -7.0f), all = run(w, in, 130, Epilogue::store, bias, -7.0f);
  double worst = 0;
  bool same = true, outside = false;
  auto note = [&](double e) { outside |= e < 0, worst = std::max(worst, e); };
  for (const int32_t m : {1, 2, 3, 5, 8, 9, 16, 17, 32, 33, 64, 65, 130}) {
    const auto got = run(w, in, m, Epilogue::store, bias, -7.0f);
    same &= std::memcmp(got.data(), (m <= 64 ? few : all).data(), got.size() * sizeof(float)) == 0;
    if (m == 5 || m == 64 || m == 130) note(error_of(w, in, m, Epilogue::store, bias, got, -7.0f));
  }
  note(error_of(w, in, 9, Epilogue::add, {}, run(w, in, 9, Epilogue::add, {}, 0.5f), 0.5f));
  report(worst < 1e-5 && !outside,
         text("linear %s: error %.2e%s", name(w).c_str(), worst, outside ? ", wrote outside" : ""));
  report(same, "linear " + name(w) + ": a row's bits for every m up to 64, and for every m above");
}

void check_gate_up(const Matrix& pair, const Inputs& in, const std::vector<float>& bias) {
  double worst = 0;
  for (const int32_t m : {3, 64, 70}) {
    const double e =
        error_of(pair, in, m, Epilogue::gate_up, bias, run(pair, in, m, Epilogue::gate_up, bias, 3.0f), 3.0f);
    worst = e < 0 ? 1e30 : std::max(worst, e);
  }
  report(worst < 1e-5, text("gate_up %s: error %.2e", name(pair).c_str(), worst));
}

// Negative control: damaged weights (the factors of all blocks, or 16 values) must show.
void check_damaged(const Matrix& w, const Inputs& in, const std::vector<float>& bias, std::vector<uint8_t> bytes) {
  const size_t block = traits(w.type).block_bytes;
  if (is_quantized(w.type)) {
    for (size_t at = 0; at < bytes.size(); at += block) test::damage_factor(w.type, &bytes[at]);
  } else {
    for (size_t i = 1; i <= 16; ++i) bytes[i * block - 1] ^= 0x84;
  }
  Matrix damaged(w.type, w.n_rows, w.n_cols, RowOrder::plain, bytes);
  damaged.values = w.values;
  const double e =
      error_of(damaged, in, 3, Epilogue::store, bias, run(damaged, in, 3, Epilogue::store, bias, -7.0f), -7.0f);
  report(e > 2e-5, text("control %s: a damaged weight gives %.2e", name(w).c_str(), e));
}

void check_product(DType type, int64_t n_rows, int64_t n_cols, std::mt19937& rng) {
  const auto bytes = random_rows(type, n_rows, n_cols, 1.0f, rng);
  const Matrix w(type, n_rows, n_cols, RowOrder::plain, bytes);
  check_embed(w);
  const Inputs in(w, 130, rng);
  std::normal_distribution<float> normal;
  std::vector<float> bias(n_rows);
  for (auto& v : bias) v = normal(rng);
  check_rows(w, in, bias);
  check_raw(w, in, bias);
  if (n_rows % 2 == 0) check_gate_up(Matrix(type, n_rows, n_cols, RowOrder::gate_up, bytes), in, bias);
  check_damaged(w, in, bias, bytes);
}

// Microseconds of one product, from a replayed graph of many over rotating weights.
double microseconds(DType type, int64_t n_rows, int64_t n_cols, int32_t m) {
  const size_t bytes = packed_bytes(type, n_rows, n_cols);
  const int copies = static_cast<int>(300'000'000 / bytes + 1), launches = m > 64 ? 2 * copies : 8 * copies;
  const Device<uint8_t> weights(bytes * copies), memory(activation_bytes(m, n_cols));
  const Device<float> raw(2 * n_cols), out(m * n_rows);
  weights.fill(0x11);
  memory.fill(0x11);
  raw.fill(0x3d);
  return graph_us(launches, [&](int i, cudaStream_t stream) {
    LinearArgs a{};
    a.weights = weights.get() + i % copies * bytes;
    a.x = activations_at(memory.get(), m, n_cols);
    if (m == 1) a.raw = raw.get(), a.norm_weight = raw.get() + n_cols;
    a.out = out.get();
    a.n_rows = a.ld_out = n_rows, a.n_cols = n_cols;
    a.m = m;
    a.dtype = type;
    CUDA_OK(launch_linear(a, stream));
  });
}

void speed_table() {
  std::printf("%-7s %14s  m=1 us (GB/s)     m=8 us (GB/s)     m=64 us (GB/s)    m=512 us (TFLOP/s)\n", "type",
              "matrix");
  for (const DType type : {DType::q4_k, DType::q6_k, DType::q8_0, DType::f8_e4m3, DType::bf16, DType::q2_k, DType::q3_k,
                           DType::iq4_nl, DType::iq4_xs, DType::mxfp4, DType::tq2_0, DType::iq2_s, DType::iq3_xxs}) {
    for (const auto& [r, c] : {std::pair<int64_t, int64_t>{1536, 1536},
                               {17920, 1536},
                               {1536, 8960},
                               {4096, 4096},
                               {28672, 4096},
                               {4096, 14336}}) {
      const double bytes = static_cast<double>(packed_bytes(type, r, c));
      std::printf("%-7s %6ldx%-7ld", traits(type).name, static_cast<long>(r), static_cast<long>(c));
      for (const int32_t m : {1, 8, 64}) {
        const double us = microseconds(type, r, c, m);
        std::printf("  %7.1f (%6.0f)", us, bytes / us * 1e-3);
      }
      const double us = microseconds(type, r, c, 512);
      std::printf("  %8.1f (%5.1f)\n", us, 2.0 * r * c * 512 / us * 1e-6);
    }
  }
}

}  // namespace

// For profilers: a few launches of one product.
int launch_one(const std::string& type_name, int64_t n_rows, int64_t n_cols, int32_t m) {
  for (int t = 0; t < static_cast<int>(DType::count); ++t) {
    if (type_name == traits(static_cast<DType>(t)).name) {
      std::printf("%.1f us\n", microseconds(static_cast<DType>(t), n_rows, n_cols, m));
      return 0;
    }
  }
  return 2;
}

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc == 6 && std::string(argv[1]) == "one") {
    return launch_one(argv[2], std::atoll(argv[3]), std::atoll(argv[4]), std::atoi(argv[5]));
  }
  if (argc < 2 || std::string(argv[1]) != "speed") {
    for (int t = 0; t < static_cast<int>(DType::count); ++t) {
      const DType type = static_cast<DType>(t);
      std::mt19937 rng(1234 + t);
      const int64_t block = traits(type).block_elements;
      for (const auto& [r, c] : {std::pair<int64_t, int64_t>{16, 32},
                                 {24, 64},
                                 {40, 96},
                                 {160, 256},
                                 {1000, 1536},
                                 {25, 1792},
                                 {5000, 1536},
                                 {48, 14336},
                                 {48, 8960},
                                 {17040, 320},
                                 {17040, 768}}) {
        if (c % block == 0) check_product(type, r, c, rng);
      }
      if (block == 1) check_product(type, 40, 77, rng);
    }
  }
  if (argc < 2 || std::string(argv[1]) != "check") speed_table();
  return finish();
}
