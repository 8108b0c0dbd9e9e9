// Stand-alone check of the products of many rows: dequantized matrices bit for bit, what happens to rows before and
// after a product, and cuBLASLt's products where the machine has it (INLAY_CUBLAS_DIR or the loader's path). Damaged
// data must be noticed. Then speeds
// ("speed" as argument: alone; "check": none).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/quant_blocks.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/ref/dequantize.h"
#include "src/backend/cuda/cublas.h"
#include "src/base/environment.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
namespace inlay::cublas {
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(kF32 == CUDA_R_32F && kF16 == CUDA_R_16F && kBf16 == CUDA_R_16BF);
static_assert(kComputeF32 == CUBLAS_COMPUTE_32F && kTransposed == CUBLAS_OP_T);
static_assert(kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA && kCols == CUBLASLT_MATRIX_LAYOUT_COLS);
static_assert(kMaxWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kReductionSchemes == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(kReductionInComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(kAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              kAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(kAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              kAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(kSuccess == CUBLAS_STATUS_SUCCESS && kAllocationFailed == CUBLAS_STATUS_ALLOC_FAILED);
static_assert(kExecutionFailed == CUBLAS_STATUS_EXECUTION_FAILED && kInvalidValue == CUBLAS_STATUS_INVALID_VALUE);
static_assert(kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED && kNotInitialized == CUBLAS_STATUS_NOT_INITIALIZED);
static_assert(kArchMismatch == CUBLAS_STATUS_ARCH_MISMATCH);
}  // namespace inlay::cublas
#endif

using namespace inlay;
using namespace inlay::cuda;

namespace {

// ---- dequantization

struct Dequantized {
  std::vector<uint16_t> bits;  // (16 * tiles, padded)
  float largest;
};

Dequantized dequantize(DType type, int64_t n_rows, int64_t n_cols, RowOrder order, const std::vector<uint8_t>& bytes,
                       float factor) {
  const Device<uint8_t> file(bytes), packed(packed_bytes(type, n_rows, n_cols));
  const Device<float> largest(std::vector<float>{0.0f});
  const Device<uint16_t> out(std::vector<uint16_t>((n_rows + 15) / 16 * 16 * padded_cols(n_cols), 0x7bff));
  const void* up = order == RowOrder::gate_up ? file.get() + n_rows / 2 * row_bytes(type, n_cols) : nullptr;
  CUDA_OK(launch_repack({file.get(), up, packed.get(), n_rows, n_cols, type, order}, nullptr));
  CUDA_OK(launch_largest({packed.get(), largest.get(), n_rows, n_cols, type}, nullptr));
  CUDA_OK(launch_dequantize({packed.get(), out.get(), n_rows, n_cols, type, factor}, nullptr));
  return {out.host(), largest.host()[0]};
}

// Elements that differ from the reference, rounded once; -1: padding that is not zero.
int64_t wrong_elements(DType type, int64_t n_rows, int64_t n_cols, RowOrder order, const std::vector<uint8_t>& bytes,
                       float factor, const Dequantized& got, float* largest) {
  std::vector<float> row(n_cols);
  const int64_t padded = padded_cols(n_cols), n_packed = (n_rows + 15) / 16 * 16;
  int64_t wrong = 0;
  *largest = 0;
  for (int64_t r = 0; r < n_packed; ++r) {
    int64_t from = r;
    if (order == RowOrder::gate_up)
      from = r / 16 * 8 + r % 8 < n_rows / 2 ? r / 16 * 8 + r % 8 + (r % 16 < 8 ? 0 : n_rows / 2) : n_rows;
    if (from < n_rows) ref::dequantize_row(type, &bytes[from * row_bytes(type, n_cols)], n_cols, row.data());
    for (int64_t c = 0; c < padded; ++c) {
      const bool there = from < n_rows && c < n_cols;
      const float value = there ? row[c] : 0.0f;
      if (there) *largest = std::max(*largest, std::abs(value));
      const uint16_t want = __half_as_ushort(__float2half_rn(value * factor)), bits = got.bits[r * padded + c];
      if (!there && (bits & 0x7fff) != 0) return -1;
      wrong += there && bits != want;
    }
  }
  return wrong;
}

void check_dequantize(DType type, int64_t n_rows, int64_t n_cols, RowOrder order) {
  std::mt19937 rng(static_cast<unsigned>(n_rows * 31 + n_cols));
  auto bytes = random_rows(type, n_rows, n_cols, 1.0f, rng);
  const std::string name = text("%s %ldx%ld%s", traits(type).name, static_cast<long>(n_rows), static_cast<long>(n_cols),
                                order == RowOrder::gate_up ? " gate_up" : "");
  float largest;
  for (const float factor : {1.0f, 0.0625f}) {
    const auto got = dequantize(type, n_rows, n_cols, order, bytes, factor);
    const int64_t wrong = wrong_elements(type, n_rows, n_cols, order, bytes, factor, got, &largest);
    report(wrong == 0, text("dequantize %s factor %g: %ld differ", name.c_str(), factor, static_cast<long>(wrong)));
    report(got.largest == largest, text("largest %s: %g, expected %g", name.c_str(), got.largest, largest));
  }
  const auto good = dequantize(type, n_rows, n_cols, order, bytes, 1.0f);
  test::damage_factor(type, &bytes[bytes.size() / 2 / traits(type).block_bytes * traits(type).block_bytes]);
  const int64_t wrong = wrong_elements(type, n_rows, n_cols, order, bytes, 1.0f, good, &largest);
  report(wrong != 0, text("control %s: a damaged block gives %ld", name.c_str(), static_cast<long>(wrong)));
}

// Beyond F16: infinity with factor 1, and exact with the factor that launch_largest gives rise to. Of ternary types no
// value is: it is an FP16 factor or zero.
void check_range(DType type) {
  std::mt19937 rng(5);
  const auto bytes = random_rows(type, 32, 512, 3e5f, rng);
  const auto raw = dequantize(type, 32, 512, RowOrder::plain, bytes, 1.0f);
  const auto infinite =
      std::count_if(raw.bits.begin(), raw.bits.end(), [](uint16_t b) { return (b & 0x7c00) == 0x7c00; });
  const float factor = std::exp2(15.0f - std::ceil(std::log2(raw.largest)));
  const auto scaled = dequantize(type, 32, 512, RowOrder::plain, bytes, factor);
  float largest;
  const int64_t wrong = wrong_elements(type, 32, 512, RowOrder::plain, bytes, factor, scaled, &largest);
  const bool finite =
      std::none_of(scaled.bits.begin(), scaled.bits.end(), [](uint16_t b) { return (b & 0x7c00) == 0x7c00; });
  const bool ternary = type == DType::tq1_0 || type == DType::tq2_0;
  report((infinite > 0) != ternary && wrong == 0 && finite,
         text("range %s: largest %g, %ld infinite as they are, %ld differ when scaled by %g", traits(type).name,
              raw.largest, static_cast<long>(infinite), static_cast<long>(wrong), factor));
}

// cuBLASLt reads F16 and BF16 matrices where they are: row by row, padded with zeros to whole units and whole tiles.
void check_row_major(DType type, int64_t n_rows, int64_t n_cols, RowOrder order) {
  std::mt19937 rng(9);
  std::vector<uint16_t> file(n_rows * n_cols);
  for (auto& v : file) v = static_cast<uint16_t>(rng());
  const int64_t padded = padded_cols(n_cols), n_packed = (n_rows + 15) / 16 * 16, half = n_rows / 2;
  const Device<uint16_t> file_d(file), packed(std::vector<uint16_t>(packed_bytes(type, n_rows, n_cols) / 2, 0xa5a5));
  const void* up = order == RowOrder::gate_up ? file_d.get() + half * n_cols : nullptr;
  CUDA_OK(launch_repack({file_d.get(), up, packed.get(), n_rows, n_cols, type, order}, nullptr));
  const auto got = packed.host();
  int64_t wrong = static_cast<int64_t>(got.size()) == n_packed * padded ? 0 : 1;
  for (int64_t i = 0; wrong == 0 && i < n_packed * padded; ++i) {
    int64_t r = i / padded;
    const int64_t c = i % padded, of_half = r / 16 * 8 + r % 8;
    if (order == RowOrder::gate_up) r = of_half < half ? of_half + (r % 16 < 8 ? 0 : half) : n_rows;
    wrong += got[i] != (r < n_rows && c < n_cols ? file[r * n_cols + c] : 0);
  }
  report(wrong == 0, text("row-major %s %ldx%ld%s", traits(type).name, static_cast<long>(n_rows),
                          static_cast<long>(n_cols), order == RowOrder::gate_up ? " gate_up" : ""));
}

// ---- rows

double value_of(uint16_t bits, ActivationForm form) {
  return form == ActivationForm::f16 ? __half2float(__ushort_as_half(bits))
                                     : __bfloat162float(__ushort_as_bfloat16(bits));
}

std::vector<float> random_values(size_t n, float size, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (auto& x : v) x = size * normal(rng);
  return v;
}

// Error power over power of the wanted row, or -1 if the padding is not zero.
double row_error(const std::vector<double>& want, const uint16_t* got, double scale, ActivationForm form) {
  const auto n = static_cast<int64_t>(want.size());
  double error = 0, power = 1e-300;
  for (int64_t c = 0; c < padded_cols(n); ++c) {
    const double v = value_of(got[c], form) * scale;
    if (c >= n && v != 0) return -1;
    if (c < n) error += (v - want[c]) * (v - want[c]), power += want[c] * want[c];
  }
  return error / power;
}

struct NormCase {
  int64_t n_cols;
  bool addend, scaled, norm;
  ActivationForm form;
};

void check_norm_rows(const NormCase& t) {
  constexpr int32_t kRows = 5;
  std::mt19937 rng(static_cast<unsigned>(t.n_cols));
  const int64_t n = t.n_cols, padded = padded_cols(n);
  auto x = random_values(kRows * n, 1.0f, rng);
  const auto addend = random_values(kRows * n, 0.5f, rng), weight = random_values(n, 1.0f, rng);
  for (int64_t i = 0; i < kRows * n; ++i) x[i] *= std::exp2(static_cast<float>(i / n * 7 - 14));
  std::vector<float> scale(kRows);
  for (int32_t r = 0; r < kRows; ++r) scale[r] = std::exp2(static_cast<float>(r - 2));
  const Device<float> x_d(x), addend_d(addend), weight_d(weight), scale_d(scale),
      row_scale(std::vector<float>(kRows, -1.0f));
  const Device<uint16_t> out(std::vector<uint16_t>(kRows * padded, 0xffff));
  const float factor = t.norm && t.form == ActivationForm::f16 ? 8.0f : 1.0f;
  const NormRowsArgs args{x_d.get(),
                          t.addend ? addend_d.get() : nullptr,
                          t.scaled ? scale_d.get() : nullptr,
                          t.norm ? weight_d.get() : nullptr,
                          out.get(),
                          row_scale.get(),
                          kRows,
                          n,
                          1e-6f,
                          factor,
                          t.form};
  CUDA_OK(launch_norm_rows(args, nullptr));
  const auto x_after = x_d.host(), scales = row_scale.host();
  const auto bits = out.host();
  double worst = 0, worst_sum = 0, control = 1e30;
  bool in_range = true, scale_untouched = true;
  for (int32_t r = 0; r < kRows; ++r) {
    std::vector<double> want(n);
    double squares = 0;
    for (int64_t c = 0; c < n; ++c) {
      want[c] = x[r * n + c] + (t.addend ? static_cast<double>(addend[r * n + c]) * (t.scaled ? scale[r] : 1.0f) : 0.0);
      const double size = std::abs(x[r * n + c]) + std::abs(want[c]) + 1e-30;
      worst_sum = std::max(worst_sum, std::abs(x_after[r * n + c] - want[c]) / size);
      squares += want[c] * want[c];
    }
    double largest = 0;
    for (int64_t c = 0; c < n; ++c) {
      if (t.norm) want[c] *= weight[c] / std::sqrt(squares / n + 1e-6);
      largest = std::max(largest, std::abs(value_of(bits[r * padded + c], t.form)));
    }
    const double back = t.norm ? 1.0 / factor : scales[r];
    if (t.norm) scale_untouched &= scales[r] == -1.0f;
    if (!t.norm && t.form == ActivationForm::f16) in_range &= largest >= 128 && largest <= 256;
    const double error = row_error(want, &bits[r * padded], back, t.form);
    worst = error < 0 ? 1e30 : std::max(worst, error);
    auto top = std::max_element(want.begin(), want.end(), [](double p, double q) { return std::abs(p) < std::abs(q); });
    *top = -*top;
    control = std::min(control, row_error(want, &bits[r * padded], back, t.form));
  }
  const double limit = t.form == ActivationForm::f16 ? 2e-7 : 1e-5;
  report(worst < limit && worst_sum < 1e-6 && in_range && scale_untouched && control > 2 * limit,
         text("norm_rows %ld%s%s%s %s: NMSE %.1e, sum %.1e, control %.1e%s%s", static_cast<long>(n),
              t.addend ? " add" : "", t.scaled ? " scaled" : "", t.norm ? " norm" : "",
              t.form == ActivationForm::f16 ? "f16" : "bf16", worst, worst_sum, control,
              in_range ? "" : ", out of range", scale_untouched ? "" : ", row_scale written"));
  // One row alone has the same bits.
  const Device<float> one(std::vector<float>(x.begin() + 3 * n, x.begin() + 4 * n));
  const Device<uint16_t> one_out(std::vector<uint16_t>(padded, 0xffff));
  NormRowsArgs alone = args;
  alone.x = one.get(), alone.addend = t.addend ? addend_d.get() + 3 * n : nullptr,
  alone.addend_scale = t.scaled ? scale_d.get() + 3 : nullptr;
  alone.out = one_out.get(), alone.n_rows = 1;
  CUDA_OK(launch_norm_rows(alone, nullptr));
  const auto alone_bits = one_out.host();
  report(std::memcmp(alone_bits.data(), &bits[3 * padded], padded * 2) == 0,
         text("norm_rows %ld: a row alone", static_cast<long>(n)));
}

void check_gate_up(int64_t n, ActivationForm form) {
  constexpr int32_t kRows = 3;
  std::mt19937 rng(static_cast<unsigned>(n + 1));
  const int64_t width = (n + 7) / 8 * 16, padded = padded_cols(n);
  auto pair = random_values(kRows * width, 3.0f, rng);
  pair[0] = -200.0f, pair[1] = 90.0f;
  const Device<float> pair_d(pair), row_scale(kRows), values(std::vector<float>(kRows * n, 7.0f));
  const Device<uint16_t> out(std::vector<uint16_t>(kRows * padded, 0xffff));
  CUDA_OK(launch_gate_up_rows({pair_d.get(), out.get(), row_scale.get(), values.get(), kRows, n, form}, nullptr));
  const auto bits = out.host();
  const auto scales = row_scale.host(), stored = values.host();
  double worst = 0, worst_value = 0;
  for (int32_t r = 0; r < kRows; ++r) {
    std::vector<double> want(n);
    for (int64_t c = 0; c < n; ++c) {
      const double gate = pair[r * width + c / 8 * 16 + c % 8], up = pair[r * width + c / 8 * 16 + 8 + c % 8];
      want[c] = gate / (1 + std::exp(-gate)) * up;
      worst_value = std::max(worst_value, std::abs(stored[r * n + c] - want[c]) / (std::abs(want[c]) + 1e-30));
    }
    const double error = row_error(want, &bits[r * padded], scales[r], form);
    worst = error < 0 ? 1e30 : std::max(worst, error);
  }
  const double limit = form == ActivationForm::f16 ? 2e-7 : 1e-5;
  report(worst < limit && worst_value < 2e-6, text("gate_up_rows %ld %s: NMSE %.1e, values %.1e", static_cast<long>(n),
                                                   form == ActivationForm::f16 ? "f16" : "bf16", worst, worst_value));
}

void check_add_bias() {
  std::mt19937 rng(11);
  const auto x = random_values(4 * 50, 1.0f, rng), bias = random_values(37, 1.0f, rng);
  const Device<float> x_d(x), bias_d(bias);
  CUDA_OK(launch_add_bias({x_d.get(), bias_d.get(), 4, 37, 50}, nullptr));
  const auto got = x_d.host();
  bool same = true;
  for (int i = 0; i < 200; ++i) same &= got[i] == (i % 50 < 37 ? x[i] + bias[i % 50] : x[i]);
  report(same, "add_bias");
}

// ---- cuBLASLt

struct Library {
  Device<uint8_t> workspace{Cublas::kWorkspaceBytes};
  std::optional<Cublas> cublas;
};

bool open_cublas(Library& library) {
  std::string name;
  const auto api = Cublas::open_library(environment().cublas_directory, &name);
  if (!api.ok()) {
    std::printf("SKIPPED all products by cuBLASLt: %s (INLAY_CUBLAS_DIR names a directory)\n",
                api.status().message.c_str());
    return false;
  }
  auto made = Cublas::create(*api, library.workspace.get());
  report(made.ok(), "open " + name + (made.ok() ? ": " + made->version() : ": " + made.status().message));
  if (made.ok()) library.cublas.emplace(std::move(*made));
  return made.ok();
}

std::vector<uint16_t> random_halves(size_t n, ActivationForm form, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> v(n);
  for (auto& bits : v)
    bits = form == ActivationForm::f16 ? __half_as_ushort(__float2half(normal(rng)))
                                       : __bfloat16_as_ushort(__float2bfloat16(normal(rng)));
  return v;
}

void check_cublas(Cublas& cublas, int32_t m, int64_t n_rows, int64_t n_cols, ActivationForm form) {
  std::mt19937 rng(static_cast<unsigned>(m + n_rows + n_cols));
  const int64_t padded = padded_cols(n_cols), ld = n_rows + 5;
  auto w = random_halves(n_rows * padded, form, rng), x = random_halves(m * padded, form, rng);
  for (int64_t i = 0; i < static_cast<int64_t>(w.size()); ++i) w[i] = i % padded < n_cols ? w[i] : 0;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) x[i] = i % padded < n_cols ? x[i] : 0;
  const Device<uint16_t> w_d(w), x_d(x);
  const Device<float> out(std::vector<float>(m * ld, 3.0f));
  const CublasProduct product{w_d.get(), x_d.get(), out.get(), n_rows, padded, ld, m, form, 0.25f, 2.0f};
  const Status status = cublas.multiply(product, nullptr);
  if (!status.ok())
    return report(false, text("cuBLASLt %dx%ldx%ld: %s", m, static_cast<long>(n_rows), static_cast<long>(n_cols),
                              status.message.c_str()));
  const auto got = out.host();
  double worst = 0, control = 1e30;
  bool outside = false;
  const int64_t step = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n_rows) * m * n_cols / 2e7));
  for (int64_t i = 0; i < m * ld; ++i) outside |= i % ld >= n_rows && got[i] != 3.0f;
  for (int64_t i = 0; i < m * n_rows; i += step) {
    const int64_t row = i / n_rows, r = i % n_rows;
    double sum = 0, size = 6;
    for (int64_t c = 0; c < n_cols; ++c) {
      const double p = 0.25 * value_of(w[r * padded + c], form) * value_of(x[row * padded + c], form);
      sum += p, size += std::abs(p);
    }
    worst = std::max(worst, std::abs(sum + 6 - got[row * ld + r]) / size);
    const double first = 0.25 * value_of(w[r * padded], form) * value_of(x[row * padded], form);
    if (std::abs(first) > 0.1) control = std::min(control, std::abs(sum - 2 * first + 6 - got[row * ld + r]) / size);
  }
  report(worst < 1e-5 && !outside && control > 2e-5,
         text("cuBLASLt %s %dx%ldx%ld: error %.1e, with one sign turned at least %.1e%s",
              form == ActivationForm::f16 ? "f16" : "bf16", m, static_cast<long>(n_rows), static_cast<long>(n_cols),
              worst, control, outside ? ", wrote outside" : ""));
}

// ---- speeds

constexpr std::pair<int64_t, int64_t> kShapes[] = {
    {28672, 4096}, {4096, 14336}, {6144, 4096}, {17920, 1536}};  // rows, columns of W

// Dequantization, bytes read and written; copies rotate, so that nothing waits in the L2 cache.
double dequantize_speed(DType type, int64_t n_rows, int64_t n_cols) {
  const size_t packed = packed_bytes(type, n_rows, n_cols), out_bytes = n_rows * n_cols * 2;
  const int copies = static_cast<int>(200'000'000 / packed + 1);
  const Device<uint8_t> weights(packed * copies), out(out_bytes);
  weights.fill(0x11);
  return stream_us(2 * copies, [&](int i, cudaStream_t stream) {
    CUDA_OK(launch_dequantize({weights.get() + i % copies * packed, out.get(), n_rows, n_cols, type, 1.0f}, stream));
  });
}

double cublas_speed(Cublas& cublas, int64_t n_rows, int64_t n_cols, int32_t m, ActivationForm form) {
  std::mt19937 rng(3);
  const auto some = random_halves(1 << 20, form, rng);
  const Device<uint16_t> w(n_rows * n_cols), x(m * n_cols);
  for (size_t at = 0; at < w.size(); at += some.size())
    CUDA_OK(cudaMemcpy(w.get() + at, some.data(), 2 * std::min(some.size(), w.size() - at), cudaMemcpyHostToDevice));
  for (size_t at = 0; at < x.size(); at += some.size())
    CUDA_OK(cudaMemcpy(x.get() + at, some.data(), 2 * std::min(some.size(), x.size() - at), cudaMemcpyHostToDevice));
  const Device<float> out(m * n_rows);
  out.fill(0);
  return stream_us(20, [&](int, cudaStream_t stream) {
    const Status status = cublas.multiply({w.get(), x.get(), out.get(), n_rows, n_cols, n_rows, m, form}, stream);
    if (!status.ok()) report(false, status.message), std::exit(1);
  });
}

// Our own product of the same rows.
double own_speed(DType type, int64_t n_rows, int64_t n_cols, int32_t m) {
  const size_t packed = packed_bytes(type, n_rows, n_cols);
  const Device<uint8_t> weights(packed), x(activation_bytes(m, n_cols));
  const Device<float> out(m * n_rows);
  weights.fill(0x11);
  x.fill(0);
  LinearArgs args{};
  args.weights = weights.get(), args.x = activations_at(x.get(), m, n_cols), args.out = out.get();
  args.n_rows = n_rows, args.n_cols = n_cols, args.ld_out = n_rows;
  args.m = m, args.dtype = type, args.epilogue = Epilogue::store;
  return stream_us(5, [&](int, cudaStream_t stream) { CUDA_OK(launch_linear(args, stream)); });
}

void rows_speed(int32_t m, int64_t d_model, int64_t d_ff) {
  const Device<float> x(m * d_model), addend(m * d_model), weight(d_model), scale(m), gate_up(2 * m * d_ff);
  const Device<uint16_t> out(m * std::max(d_model, d_ff));
  for (const auto* b : {&x, &addend, &weight, &scale, &gate_up}) b->fill(0);
  const double norm = stream_us(20, [&](int, cudaStream_t stream) {
    CUDA_OK(launch_norm_rows({x.get(), addend.get(), scale.get(), weight.get(), out.get(), scale.get(), m, d_model,
                              1e-6f, 1.0f, ActivationForm::f16},
                             stream));
  });
  const double silu = stream_us(20, [&](int, cudaStream_t stream) {
    CUDA_OK(
        launch_gate_up_rows({gate_up.get(), out.get(), scale.get(), nullptr, m, d_ff, ActivationForm::f16}, stream));
  });
  std::printf("rows %5d: norm_rows %ld with addend %.1f us (%.0f GB/s), gate_up_rows %ld %.1f us (%.0f GB/s)\n", m,
              static_cast<long>(d_model), norm, 14e-3 * m * d_model / norm, static_cast<long>(d_ff), silu,
              10e-3 * m * d_ff / silu);
}

void speed_tables(Cublas* cublas) {
  std::printf("dequantize, us (GB/s read and written)\n%-7s", "type");
  for (const auto& [r, c] : kShapes) std::printf(" %9ldx%-8ld", static_cast<long>(r), static_cast<long>(c));
  std::printf("\n");
  for (const DType type : {DType::f8_e4m3, DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k,
                           DType::q5_k, DType::q6_k, DType::q2_k, DType::q3_k, DType::iq4_nl, DType::iq4_xs,
                           DType::mxfp4, DType::tq2_0, DType::iq2_s, DType::iq3_xxs}) {
    std::printf("%-7s", traits(type).name);
    for (const auto& [r, c] : kShapes) {
      const double us = dequantize_speed(type, r, c);
      std::printf("  %8.1f (%5.0f) ", us, (static_cast<double>(packed_bytes(type, r, c)) + 2.0 * r * c) / us * 1e-3);
    }
    std::printf("\n");
  }
  for (const int32_t m : {512, 2048}) rows_speed(m, 4096, 14336);
  if (cublas == nullptr) return std::puts("SKIPPED the speeds of cuBLASLt"), void();
  std::printf("us (TFLOP/s): cuBLASLt, for Q4_K and F8_E4M3 with their dequantization; our own products\n");
  for (const auto& [r, c] : kShapes) {
    const double unpack = dequantize_speed(DType::q4_k, r, c), unpack_f8 = dequantize_speed(DType::f8_e4m3, r, c);
    for (const int32_t m : {32, 64, 128, 256, 512, 1024, 2048}) {
      const double flops = 2.0 * r * c * m, f16 = cublas_speed(*cublas, r, c, m, ActivationForm::f16);
      const std::pair<const char*, double> columns[] = {{"f16", f16},
                                                        {"bf16", cublas_speed(*cublas, r, c, m, ActivationForm::bf16)},
                                                        {"Q4_K", f16 + unpack},
                                                        {"F8", f16 + unpack_f8},
                                                        {"own bf16", own_speed(DType::bf16, r, c, m)},
                                                        {"own Q4_K", own_speed(DType::q4_k, r, c, m)},
                                                        {"own F8", own_speed(DType::f8_e4m3, r, c, m)}};
      std::printf("%5d x %5ld -> %-5ld", m, static_cast<long>(c), static_cast<long>(r));
      for (const auto& [name, us] : columns) std::printf("  %s %7.1f (%5.1f)", name, us, flops / us * 1e-6);
      std::printf("\n");
    }
  }
}

void checks() {
  for (int t = 0; t < static_cast<int>(DType::count); ++t) {
    const DType type = static_cast<DType>(t);
    if (!is_quantized(type)) continue;
    const int64_t block = traits(type).block_elements;
    for (const auto& [r, c] :
         {std::pair<int64_t, int64_t>{16, 32}, {24, 64}, {40, 96}, {25, 320}, {160, 256}, {48, 1792}, {272, 8960}}) {
      if (c % block != 0) continue;
      check_dequantize(type, r, c, RowOrder::plain);
      if (r % 2 == 0) check_dequantize(type, r, c, RowOrder::gate_up);
    }
    check_range(type);
  }
  for (const DType type : {DType::f16, DType::bf16}) {
    for (const RowOrder order : {RowOrder::plain, RowOrder::gate_up}) {
      for (const auto& [r, c] : {std::pair<int64_t, int64_t>{16, 64}, {40, 77}, {42, 320}})
        check_row_major(type, r, c, order);
    }
  }
  for (const ActivationForm form : {ActivationForm::f16, ActivationForm::bf16}) {
    for (const int64_t n : {32, 77, 130, 576, 1536, 4096, 5120, 8960, 14336, 32768}) {
      check_norm_rows({n, false, false, true, form});
      check_norm_rows({n, true, true, true, form});
      check_norm_rows({n, true, false, false, form});
      check_norm_rows({n, false, false, false, form});
    }
    for (const int64_t n : {8, 36, 77, 100, 1536, 8960, 14336, 17408, 32768}) check_gate_up(n, form);
  }
  check_add_bias();
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string only = argc > 1 ? argv[1] : "";
  Library library;
  const bool with_cublas = open_cublas(library);
  if (only != "speed") {
    checks();
    if (with_cublas) {
      for (const ActivationForm form : {ActivationForm::f16, ActivationForm::bf16}) {
        for (const int32_t m : {1, 17, 64, 513}) {
          for (const auto& [r, c] :
               {std::pair<int64_t, int64_t>{16, 32}, {40, 77}, {1001, 320}, {4096, 1536}, {320, 14336}}) {
            check_cublas(*library.cublas, m, r, c, form);
          }
        }
      }
    }
  }
  if (only != "check") speed_tables(with_cublas ? &*library.cublas : nullptr);
  return finish();
}
