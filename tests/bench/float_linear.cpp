// Speed of the F32, F16 and BF16 linear layers: GB/s of weights at one row, GFLOP/s at many, on the thread pool.
//
//   bench_float_linear [threads] [table name, for example avx512-vnni-bf16, or best] [type, for example BF16]
#include <cstdio>

#include "tests/bench/float_speed.h"

namespace inlay {
namespace {

struct Shape {
  int64_t n_rows, n_cols;
};

// Copies of a matrix that together exceed the caches by far.
struct Weights {
  const cpu::LinearKernel& kernel;
  Shape shape;
  size_t matrix_bytes;
  int64_t n_copies;
  bench::Bytes bytes;

  Weights(const cpu::LinearKernel& k, DType type, Shape s)
      : kernel(k),
        shape(s),
        matrix_bytes(k.tile_bytes(s.n_cols) * static_cast<size_t>(cpu::n_tiles(s.n_rows))),
        n_copies(static_cast<int64_t>((size_t{600} << 20) / matrix_bytes) + 1),
        bytes(matrix_bytes * static_cast<size_t>(n_copies)) {
    uint32_t state = 1;
    for (size_t i = 0; i < bytes.size() / 2; ++i) {
      const float x = bench::next_random(state);
      uint32_t bits;
      memcpy(&bits, &x, 4);
      // Upper halves of floats are good FP16 numbers as well once the exponent is cut down.
      bytes.as<uint16_t>()[i] = static_cast<uint16_t>(type == DType::f16 ? (bits >> 16 & 0xb7ffu) : bits >> 16);
    }
  }

  void run(ThreadPool& pool, const void* activations, float* out, int64_t copy, int64_t m, int64_t grain) {
    const cpu::LinearArgs args = {bytes.as() + static_cast<size_t>(copy) * matrix_bytes,
                                  activations,
                                  out,
                                  nullptr,
                                  shape.n_rows,
                                  shape.n_cols,
                                  m,
                                  shape.n_rows,
                                  0};
    pool.parallel_for(cpu::n_tiles(shape.n_rows), grain,
                      [&](int64_t begin, int64_t end, int) { kernel.run(args, begin, end, 0, m); });
  }
};

void measure(const cpu::Kernels& k, DType type, Shape shape, ThreadPool& pool) {
  Weights w(k.linear[static_cast<size_t>(type)], type, shape);
  for (const int64_t m : {1, 2, 8, 128, 512}) {
    std::vector<float> x(static_cast<size_t>(m * shape.n_cols));
    uint32_t state = 2;
    for (float& v : x) v = bench::next_random(state);
    bench::Bytes activations(k.activation_row_bytes(w.kernel.form, shape.n_cols) * static_cast<size_t>(m));
    k.prepare(w.kernel.form, x.data(), shape.n_cols, shape.n_cols, 0, m, cpu::kNoneFine, activations.as());
    std::vector<float> out(static_cast<size_t>(m * shape.n_rows));
    const int64_t copies = m <= 8 ? w.n_copies : std::min<int64_t>(w.n_copies, 4);
    const double seconds = bench::best_seconds(pool, m <= 8 ? 7 : 5, [&] {
      for (int64_t copy = 0; copy < copies; ++copy) w.run(pool, activations.as(), out.data(), copy, m, 4);
    });
    const double bytes = static_cast<double>(w.matrix_bytes) * static_cast<double>(copies);
    const double flops = 2.0 * static_cast<double>(shape.n_rows * shape.n_cols * m * copies);
    printf("%-16s %-5s %6ldx%-6ld m %-4ld %7.2f GB/s %8.1f GFLOP/s\n", k.name, traits(type).name, shape.n_rows,
           shape.n_cols, m, bytes / seconds * 1e-9, flops / seconds * 1e-9);
  }
}

// One thread packing a matrix out of the cache's reach.
void measure_pack(const cpu::Kernels& k, DType type) {
  constexpr int64_t kRows = 8192, kCols = 4096;
  const cpu::LinearKernel& kernel = k.linear[static_cast<size_t>(type)];
  bench::Bytes file(kRows * row_bytes(type, kCols)), packed(kernel.tile_bytes(kCols) * kRows / cpu::kTileRows);
  const ThreadPool alone(1);
  const double seconds =
      bench::best_seconds(alone, 3, [&] { kernel.pack(file.as(), kRows, kCols, 0, cpu::n_tiles(kRows), packed.as()); });
  printf("%-5s pack, one thread: %.2f GB/s\n", traits(type).name, static_cast<double>(file.size()) / seconds * 1e-9);
}

int run(int argc, char** argv) {
  ThreadPool pool(argc > 1 ? atoi(argv[1]) : 4);
  const cpu::Kernels* k =
      argc > 2 && strcmp(argv[2], "best") != 0 ? bench::table_named(argv[2]) : &cpu::kernels(cpu::best_isa());
  if (!k || !pool.status().ok()) return 1;
  for (const DType type : {DType::bf16, DType::f16, DType::f32, DType::f8_e4m3}) {
    if (argc > 3 && strcmp(argv[3], traits(type).name) != 0) continue;
    measure_pack(*k, type);
    for (const Shape& shape : {Shape{8192, 2048}, Shape{2048, 8192}}) measure(*k, type, shape, pool);
  }
  return 0;
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) { return inlay::run(argc, argv); }
