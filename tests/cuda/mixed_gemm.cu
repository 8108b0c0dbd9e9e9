// Stand-alone check of products of F16 rows and packed, quantized matrices: against double arithmetic on what the
// file's blocks stand for, for every type, with every shape of the kernel. Damaged data must be noticed. Then speeds
// ("speed" as argument: alone; "check": none).
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/ref/dequantize.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

struct Case {
  DType type;
  int64_t n_rows, n_cols;
  int32_t m;
  int n_tokens, n_ctas;
};

// Element of a row at which a column stands.
int64_t place_of(ColumnOrder order, int64_t c) {
  const int64_t in_pair = c % 2, second = c % 4 / 2;
  if (order == ColumnOrder::runs_of_4) return c / 16 * 16 + 8 * second + 2 * (c % 16 / 4) + in_pair;
  if (order == ColumnOrder::runs_of_8) return c / 32 * 32 + 16 * (c % 8 / 4) + 8 * second + 2 * (c % 32 / 8) + in_pair;
  return c;
}

std::vector<uint16_t> random_x(int32_t m, int64_t n_cols, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> x(static_cast<size_t>(m * padded_cols(n_cols)), 0);
  for (int32_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n_cols; ++c) x[r * padded_cols(n_cols) + c] = __half_as_ushort(__float2half(normal(rng)));
  }
  return x;
}

std::vector<uint16_t> in_order(const std::vector<uint16_t>& x, int64_t padded, ColumnOrder order) {
  std::vector<uint16_t> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    out[at / padded * padded + place_of(order, at % padded)] = x[i];
  }
  return out;
}

double value_of(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

double product(const Case& t, const std::vector<uint8_t>& bytes, int64_t row, const uint16_t* x) {
  std::vector<float> w(t.n_cols);
  ref::dequantize_row(t.type, &bytes[row * row_bytes(t.type, t.n_cols)], t.n_cols, w.data());
  double sum = 0;
  for (int64_t c = 0; c < t.n_cols; ++c) sum += w[c] * value_of(x[c]);
  return sum;
}

// Power of the error over power of the wanted results, of some of the first n_rows rows of W and of x.
double error_of(const Case& t, int64_t n_rows, const std::vector<uint8_t>& bytes, const std::vector<uint16_t>& x,
                const std::vector<float>& got, int64_t ld) {
  double error = 0, power = 1e-300;
  for (int64_t r = 0; r < n_rows; r += n_rows / 31 + 1) {
    for (int64_t i = 0; i < t.m; i += t.m / 9 + 1) {
      const uint16_t* row = &x[i * padded_cols(t.n_cols)];
      const double want = product(t, bytes, r, row);
      const double e = want - got[i * ld + r];
      error += e * e, power += want * want;
    }
  }
  return error / power;
}

void* scratch() {
  static const Device<uint8_t> memory(std::vector<uint8_t>(mixed_gemm_scratch_bytes(0)));
  return memory.get();
}

void check(const Case& t) {
  std::mt19937 rng(static_cast<unsigned>(t.n_rows * 31 + t.n_cols + t.m));
  auto bytes = random_rows(t.type, t.n_rows, t.n_cols, 1.0f, rng);
  const auto x = random_x(t.m, t.n_cols, rng);
  const int64_t ld = t.n_rows + 3;
  constexpr float kUntouched = 12345.0f;
  const Device<uint8_t> file(bytes), packed(packed_bytes(t.type, t.n_rows, t.n_cols));
  const Device<uint16_t> x_d(in_order(x, padded_cols(t.n_cols), column_order(t.type)));
  const Device<float> out(std::vector<float>((t.m + 1) * ld, kUntouched));
  CUDA_OK(launch_repack({file.get(), nullptr, packed.get(), t.n_rows, t.n_cols, t.type, RowOrder::plain}, nullptr));
  const float factor = 64.0f;
  const MixedGemmArgs args{.packed = packed.get(),
                           .x = x_d.get(),
                           .out = out.get(),
                           .n_rows = t.n_rows,
                           .n_cols = t.n_cols,
                           .ld_out = ld,
                           .m = t.m,
                           .dtype = t.type,
                           .scratch = scratch(),
                           .factor = factor,
                           .alpha = 1.0f / factor,
                           .n_tokens = t.n_tokens,
                           .n_ctas = t.n_ctas};
  CUDA_OK(launch_mixed_gemm(args, nullptr));
  const auto got = out.host();
  int64_t outside = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    outside += (at / ld >= t.m || at % ld >= t.n_rows) && got[i] != kUntouched;
  }
  const double error = error_of(t, t.n_rows, bytes, x, got, ld);
  CUDA_OK(launch_mixed_gemm(args, nullptr));
  const bool again = out.host() == got;
  for (int64_t at = 0; at < row_bytes(t.type, t.n_cols); at += traits(t.type).block_bytes)
    test::damage_factor(t.type, &bytes[at]);
  const double damaged = error_of(t, 1, bytes, x, got, ld);
  constexpr double kLimit = 1e-6;
  report(error < kLimit && outside == 0 && again && damaged > 2 * kLimit,
         text("%s %ldx%ld, %d rows, %d at a time, %d CTAs", traits(t.type).name, static_cast<long>(t.n_rows),
              static_cast<long>(t.n_cols), t.m, t.n_tokens, t.n_ctas),
         text("NMSE %.1e, of damaged data %.1e%s%s", error, damaged, outside > 0 ? ", wrote outside" : "",
              again ? "" : ", other bits the second time"));
}

void checks() {
  for (int i = 0; i < static_cast<int>(DType::count); ++i) {
    const auto type = static_cast<DType>(i);
    if (!is_quantized(type)) continue;
    for (const int n_tokens : {64, 128, 256}) {
      check({type, 200, 1024, 70, n_tokens, 0});
      check({type, 264, 2304, 130, n_tokens, 7});  // every tile is cut
      if (traits(type).block_elements <= 32) check({type, 136, 320 + 32, 33, n_tokens, 0});
    }
  }
  for (const int n_ctas : {1, 2, 5, 31, 132}) check({DType::q4_k, 200, 14336, 65, 64, n_ctas});  // tiles of many CTAs
  for (const int32_t m : {1, 63, 64, 65, 200, 513}) check({DType::q6_k, 4096, 1536, m, 0, 0});
  check({DType::q4_k, 28672, 1024, 600, 0, 0});  // tiles follow one another in a CTA
  check({DType::q4_0, 28672, 1024, 600, 256, 0});
  check({DType::q8_0, 20001, 1024, 300, 128, 0});
}

void refuses(const char* what, MixedGemmArgs args, cudaError_t wanted) {
  const cudaError_t e = launch_mixed_gemm(args, nullptr);
  report(e == wanted, text("%s: %s", what, cudaGetErrorName(e)));
}

void check_refusals() {
  const Device<uint8_t> memory(1 << 16);
  const MixedGemmArgs good{memory.get(), memory.get(), reinterpret_cast<float*>(memory.get()), 16, 256, 16, 1,
                           DType::q4_k,  scratch()};
  MixedGemmArgs args = good;
  args.dtype = DType::bf16;
  refuses("BF16 weights", args, cudaErrorInvalidValue);
  args = good, args.n_cols = 100;
  refuses("a part of a block", args, cudaErrorInvalidValue);
  args = good, args.ld_out = 15;
  refuses("rows that overlap", args, cudaErrorInvalidValue);
  args = good, args.x = nullptr;
  refuses("no x", args, cudaErrorInvalidValue);
  args = good, args.scratch = nullptr;
  refuses("no scratch", args, cudaErrorInvalidValue);
  args = good, args.n_tokens = 96;
  refuses("a shape that there is not", args, cudaErrorInvalidValue);
}

// Weights rotate through more than the L2 cache holds.
void speeds() {
  std::mt19937 rng(3);
  for (const DType type : {DType::q4_k, DType::q6_k, DType::q8_0, DType::q4_0}) {
    for (const auto& [r, c] : {std::pair<int64_t, int64_t>{28672, 4096},
                               {4096, 14336},
                               {6144, 4096},
                               {4096, 4096},
                               {1024, 4096},
                               {17920, 1536}}) {
      const size_t bytes = packed_bytes(type, r, c);
      const int copies = static_cast<int>(120'000'000 / bytes + 1);
      const Device<uint8_t> weights(bytes * copies);
      const auto random = random_rows(type, r, c, 1.0f, rng);
      const Device<uint8_t> file(random);
      for (int i = 0; i < copies; ++i) {
        CUDA_OK(launch_repack({file.get(), nullptr, weights.get() + i * bytes, r, c, type, RowOrder::plain}, nullptr));
      }
      std::printf("%-5s %5ldx%-5ld us (TFLOP/s)", traits(type).name, static_cast<long>(r), static_cast<long>(c));
      for (const int32_t m : {16, 64, 128, 256, 512, 1024, 2048}) {
        const Device<uint16_t> x(random_x(m, c, rng));
        const Device<float> out(static_cast<size_t>(m * r));
        const double us = stream_us(12, [&](int i, cudaStream_t stream) {
          CUDA_OK(launch_mixed_gemm(
              {weights.get() + i % copies * bytes, x.get(), out.get(), r, c, r, m, type, scratch()}, stream));
        });
        std::printf("  %d: %.1f (%.0f)", m, us, 2e-6 * static_cast<double>(r * c) * m / us);
      }
      std::printf("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  if (!has_mixed_gemm(0)) {
    std::puts("skipped: needs a GPU of compute capability 9.0: the device or the build has no mixed GEMM");
    return kSkipped;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string only = argc > 1 ? argv[1] : "";
  if (only != "speed") checks(), check_refusals();
  if (only != "check") speeds();
  return finish();
}
