// Speed of the linear kernels: m = 1 as GB/s of packed bytes (with 1 and 4 threads, from memory: the copies of the
// matrix are larger than any cache) beside a plain read of the same memory, and a large m as 10^9 operations per second
// and core.
//
//   bench_linear_speed [--type NAME] [--isa generic|avx2|avx512] [--shape ROWSxCOLS] [--m N] [--threads N] [--fine] [--quick]
//
// --fine: all activations in 16 bits.
//
// One line per measurement, the best of several passes: the machine may be shared.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/linear_data.h"

namespace inlay {
namespace {

struct Options {
  std::string type, isa, shape;
  int64_t m = 512;
  int threads = 4;
  float fine_above = cpu::kNoneFine;
  bool quick = false;
};

struct Shape {
  int64_t n_rows, n_cols;
};

const char* isa_name(cpu::Isa isa) {
  const char* names[] = {"generic", "avx2", "avx512"};
  return names[static_cast<size_t>(isa)];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Best seconds of `passes` runs of work(thread) on n threads, all started at the same moment.
template <class Work>
double best_seconds(int n_threads, int passes, Work work) {
  double best = 1e30;
  for (int pass = 0; pass < passes; ++pass) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; ++t) {
      threads.emplace_back([&, t] {
        ready.fetch_add(1);
        while (!go.load()) {
        }
        work(t);
      });
    }
    while (ready.load() < n_threads) {
    }
    const double start = now();
    go.store(true);
    for (std::thread& thread : threads) thread.join();
    best = std::min(best, now() - start);
  }
  return best;
}

// Copies of one packed matrix of random blocks, together larger than the caches.
struct Matrices {
  Matrices(DType type, const cpu::LinearKernel& kernel, Shape shape, size_t at_least)
      : tile_bytes(kernel.tile_bytes(shape.n_cols)),
        matrix_bytes(tile_bytes * cpu::n_tiles(shape.n_rows)),
        copies(static_cast<int64_t>(at_least / matrix_bytes + 1)),
        bytes(matrix_bytes * copies) {
    constexpr int64_t kTiles = 8;
    const auto blocks = test::random_blocks(type, kTiles * 16, shape.n_cols, 1);
    kernel.pack(blocks.data(), kTiles * 16, shape.n_cols, 0, kTiles, bytes.data());
    for (size_t at = kTiles * tile_bytes; at < bytes.size(); at += tile_bytes) {
      std::memcpy(bytes.data() + at, bytes.data() + at % (kTiles * tile_bytes), tile_bytes);
    }
  }
  size_t tile_bytes, matrix_bytes;
  int64_t copies;
  test::AlignedBytes bytes;
};

// Adds up n bytes. Loads as wide as the machine has: narrower ones do not reach the memory's speed.
uint64_t read_all(const uint8_t* p, size_t n) {
  uint64_t sums[32] = {};
  for (size_t at = 0; at + 256 <= n; at += 256) {
    uint64_t lines[32];
    std::memcpy(lines, p + at, 256);
    for (int i = 0; i < 32; ++i) sums[i] += lines[i];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) uint64_t read_all_avx512(const uint8_t* p, size_t n) {
  __m512i sums[4] = {};
  for (size_t at = 0; at + 256 <= n; at += 256) {
    for (int i = 0; i < 4; ++i) {
      _mm_prefetch(reinterpret_cast<const char*>(p + at + 2048 + 64 * i), _MM_HINT_T0);
      sums[i] = _mm512_add_epi64(sums[i], _mm512_loadu_si512(p + at + 64 * i));
    }
  }
  alignas(64) uint64_t parts[8];
  _mm512_store_si512(parts, _mm512_add_epi64(_mm512_add_epi64(sums[0], sums[1]), _mm512_add_epi64(sums[2], sums[3])));
  uint64_t total = 0;
  for (const uint64_t part : parts) total += part;
  return total;
}
#endif

double read_speed(Matrices& matrices, int n_threads, int passes) {
  auto read = read_all;
#if defined(__x86_64__)
  if (cpu::supported(cpu::Isa::avx512)) read = read_all_avx512;
#endif
  const size_t share = matrices.bytes.size() / n_threads / 64 * 64;
  std::atomic<uint64_t> sink{0};
  const double seconds =
      best_seconds(n_threads, passes, [&](int t) { sink.fetch_add(read(matrices.bytes.data() + t * share, share)); });
  return static_cast<double>(share) * n_threads / seconds * 1e-9;
}

double decode_speed(const cpu::Kernels& kernels, const cpu::LinearKernel& kernel, Matrices& matrices, Shape shape,
                    float fine_above, int n_threads, int passes) {
  const auto x = test::random_activations(1, shape.n_cols, 2);
  test::PreparedActivations prepared(kernels, kernel.form, x, shape.n_cols, fine_above);
  std::vector<float> out(shape.n_rows);
  const int64_t tiles = cpu::n_tiles(shape.n_rows);
  const double seconds = best_seconds(n_threads, passes, [&](int t) {
    for (int64_t copy = 0; copy < matrices.copies; ++copy) {
      const cpu::LinearArgs args = {matrices.bytes.data() + copy * matrices.matrix_bytes,
                                    prepared.bytes.data(),
                                    out.data(),
                                    nullptr,
                                    shape.n_rows,
                                    shape.n_cols,
                                    1,
                                    shape.n_rows,
                                    0};
      kernel.run(args, tiles * t / n_threads, tiles * (t + 1) / n_threads, 0, 1);
    }
  });
  return static_cast<double>(matrices.bytes.size()) / seconds * 1e-9;
}

// Per core, with all threads busy. At most 512 rows of the matrix per thread (the arithmetic does not depend on them),
// as often as a measurable time takes.
double prefill_speed(const cpu::Kernels& kernels, const cpu::LinearKernel& kernel, Matrices& matrices, Shape shape,
                     int64_t m, float fine_above, int n_threads, int passes) {
  const auto x = test::random_activations(m, shape.n_cols, 3);
  test::PreparedActivations prepared(kernels, kernel.form, x, shape.n_cols, fine_above);
  const int64_t tiles = std::min<int64_t>(cpu::n_tiles(shape.n_rows) / n_threads, 32) * n_threads;
  const int64_t n_rows = tiles * 16;
  std::vector<float> out(m * n_rows);
  const cpu::LinearArgs args = {
      matrices.bytes.data(), prepared.bytes.data(), out.data(), nullptr, n_rows, shape.n_cols, m, n_rows, 0};
  const double operations = 2.0 * n_rows * shape.n_cols * m / n_threads;
  const int repeats = 1 + static_cast<int>(2e9 / operations);
  const double seconds = best_seconds(n_threads, passes, [&](int t) {
    for (int i = 0; i < repeats; ++i) kernel.run(args, tiles * t / n_threads, tiles * (t + 1) / n_threads, 0, m);
  });
  return operations * repeats / seconds * 1e-9;
}

void measure(DType type, cpu::Isa isa, Shape shape, const Options& options) {
  const cpu::Kernels& kernels = cpu::kernels(isa);
  const cpu::LinearKernel& kernel = kernels.linear[static_cast<size_t>(type)];
  if (!kernel.run) return;
  const bool slow = isa == cpu::Isa::generic;
  Matrices matrices(type, kernel, shape, (slow ? 16u : 192u) << 20);
  const int passes = slow || options.quick ? 3 : 50;  // of a few milliseconds
  const int threads = options.threads;
  const double one = decode_speed(kernels, kernel, matrices, shape, options.fine_above, 1, passes);
  const double all = decode_speed(kernels, kernel, matrices, shape, options.fine_above, threads, passes);
  const double read = read_speed(matrices, threads, passes);
  const double ops = prefill_speed(kernels, kernel, matrices, shape, slow ? 16 : options.m, options.fine_above, threads, slow ? 1 : passes);
  std::printf(
      "%-5s %-8s %6lldx%-5lld m=1: %5.1f GB/s with 1 thread, %5.1f with %d (%3.0f%% of %4.1f read); m=%lld: %6.1f GOPS "
      "per core\n",
      traits(type).name, isa_name(isa), static_cast<long long>(shape.n_rows), static_cast<long long>(shape.n_cols), one,
      all, threads, 100 * all / read, read, static_cast<long long>(slow ? 16 : options.m), ops);
  std::fflush(stdout);
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick") {
      options.quick = true;
      continue;
    }
    if (name == "--fine") {
      options.fine_above = cpu::kAllFine;
      continue;
    }
    if (i + 1 == argc) return false;
    const char* value = argv[++i];
    if (name == "--type")
      options.type = value;
    else if (name == "--isa")
      options.isa = value;
    else if (name == "--shape")
      options.shape = value;
    else if (name == "--m")
      options.m = std::max(1, std::atoi(value));
    else if (name == "--threads")
      options.threads = std::max(1, std::atoi(value));
    else
      return false;
  }
  return true;
}

int run(const Options& options) {
  for (const Shape shape : {Shape{1536, 8960}, Shape{8960, 1536}, Shape{2048, 8192}, Shape{151936, 1536}}) {
    if (!options.shape.empty() && options.shape != std::to_string(shape.n_rows) + "x" + std::to_string(shape.n_cols)) {
      continue;
    }
    for (int type = 0; type < static_cast<int>(DType::count); ++type) {
      for (int isa = static_cast<int>(cpu::Isa::count) - 1; isa >= 0; --isa) {
        const auto t = static_cast<DType>(type);
        const auto i = static_cast<cpu::Isa>(isa);
        if (!cpu::supported(i) || (!options.isa.empty() && options.isa != isa_name(i)) ||
            (!options.type.empty() && options.type != traits(t).name)) {
          continue;
        }
        measure(t, i, shape, options);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  inlay::Options options;
  if (!inlay::parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: bench_linear_speed [--type NAME] [--isa generic|avx2|avx512] [--shape ROWSxCOLS] [--m N] "
                 "[--threads N] [--quick]\n");
    return 2;
  }
  return inlay::run(options);
}
