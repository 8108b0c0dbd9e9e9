// Speed of attention and of the element-wise operations: GB/s of cache read at one query, GFLOP/s at many.
//
//   bench_attention [threads] [table name [window]]
#include <cstdio>

#include "tests/bench/float_speed.h"

namespace inlay {
namespace {

constexpr int64_t kBlockTokens = 32;

struct Shape {
  int64_t n_heads, n_kv_heads, d_head;
};

// n_layers caches of n_tokens positions, filled with random keys and values.
struct Cache {
  Shape s;
  int64_t n_tokens, n_layers;
  int64_t window = 0;
  size_t block_bytes;
  bench::Bytes memory;  // as KvMemory has it: block after block, in a block layer after layer, its keys, its values
  std::vector<int32_t> table;

  Cache(const cpu::Kernels& kernels, Shape shape, int64_t tokens, int64_t layers)
      : s(shape),
        n_tokens(tokens),
        n_layers(layers),
        block_bytes(kernels.kv_block_bytes(s.n_kv_heads, s.d_head, kBlockTokens)),
        memory(static_cast<size_t>(block_stride() * ((tokens + kBlockTokens - 1) / kBlockTokens))) {
    for (int64_t b = 0; b * kBlockTokens < tokens; ++b) table.push_back(static_cast<int32_t>(b));
    uint32_t state = 3;
    const int64_t ld = s.n_kv_heads * s.d_head;
    std::vector<float> x(static_cast<size_t>(ld));
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (int32_t position = 0; position < tokens; ++position) {
        for (float& f : x) f = bench::next_random(state);
        kernels.kv_append({x.data(), x.data(), keys(layer), values(layer), &position, table.data(), block_stride(), 1,
                           s.n_kv_heads, s.d_head, kBlockTokens, ld},
                          0, 1);
      }
    }
  }
  int64_t block_stride() const { return 2 * n_layers * static_cast<int64_t>(block_bytes); }
  char* keys(int64_t layer) { return memory.as() + 2 * static_cast<size_t>(layer) * block_bytes; }
  char* values(int64_t layer) { return keys(layer) + block_bytes; }
};

void attend(const cpu::Kernels& kernels, Cache& c, ThreadPool& pool, int64_t layer, const std::vector<float>& q,
            int64_t m, std::vector<float>& out, std::vector<float>& scratch) {
  const Shape& s = c.s;
  const int64_t ld = s.n_heads * s.d_head;
  const AttentionArgs args = {q.data(),
                              out.data(),
                              c.keys(layer),
                              c.values(layer),
                              c.table.data(),
                              c.block_stride(),
                              m,
                              c.n_tokens - m,
                              s.n_heads,
                              s.n_kv_heads,
                              s.d_head,
                              kBlockTokens,
                              ld,
                              ld,
                              0.1f,
                              0.0f,
                              c.window};
  scratch.resize(kernels.attention_scratch_bytes(args) / 4);
  const size_t workspace_bytes = (kernels.attention_workspace_bytes() + 63) / 64 * 64;
  std::vector<std::byte> memory(workspace_bytes * static_cast<size_t>(pool.size()) + 63);
  std::byte* workspaces = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  pool.parallel_for(kernels.attention_items(args), 1, [&](int64_t begin, int64_t end, int thread) {
    kernels.attention(args, begin, end, scratch.data(), workspaces + static_cast<size_t>(thread) * workspace_bytes);
  });
  pool.parallel_for(
      m, 1, [&](int64_t begin, int64_t end, int) { kernels.attention_merge(args, begin, end, scratch.data()); });
}

void measure(const cpu::Kernels& kernels, const Shape& s, int64_t n_tokens, int64_t window, ThreadPool& pool) {
  const size_t token_bytes = kernels.kv_block_bytes(s.n_kv_heads, s.d_head, kBlockTokens) * 2 / kBlockTokens;
  const int64_t n_layers =
      static_cast<int64_t>((size_t{300} << 20) / (token_bytes * static_cast<size_t>(n_tokens))) + 1;
  Cache cache(kernels, s, n_tokens, n_layers);
  cache.window = window;
  const int64_t seen = window > 0 && window < n_tokens ? window : n_tokens;  // by the last query
  std::vector<float> scratch;
  for (const int64_t m : {int64_t{1}, int64_t{8}, std::min<int64_t>(512, n_tokens)}) {
    std::vector<float> q(static_cast<size_t>(m * s.n_heads * s.d_head)), out(q.size());
    uint32_t state = 5;
    for (float& f : q) f = bench::next_random(state);
    const int64_t layers = m <= 8 ? n_layers : 1;
    const double seconds = bench::best_seconds(pool, 5, [&] {
      for (int64_t layer = 0; layer < layers; ++layer) attend(kernels, cache, pool, layer, q, m, out, scratch);
    });
    const double bytes =
        static_cast<double>(layers * std::min(seen + m - 1, n_tokens)) * static_cast<double>(token_bytes);
    double pairs = 0;
    for (int64_t i = 0; i < m; ++i) pairs += static_cast<double>(std::min(seen, n_tokens - i));
    const double flops = 4.0 * static_cast<double>(layers * s.n_heads * s.d_head) * pairs;
    printf("%-16s heads %2ld/%-2ld d %-3ld keys %-6ld m %-4ld %9.1f us %7.2f GB/s %8.1f GFLOP/s\n", kernels.name,
           s.n_heads, s.n_kv_heads, s.d_head, n_tokens, m, seconds * 1e6 / static_cast<double>(layers),
           bytes / seconds * 1e-9, flops / seconds * 1e-9);
  }
}

void measure_elementwise(const cpu::Kernels& k) {
  ThreadPool alone(1);
  constexpr int64_t kCols = 8192, kRows = 64;
  std::vector<float> x(kCols * kRows, 0.5f), y(kCols * kRows, 0.25f), inv_freq(64, 0.1f);
  std::vector<int32_t> positions(kRows, 1000);
  const double norm = bench::best_seconds(alone, 20, [&] {
    k.rms_norm({x.data(), y.data(), y.data() + kCols, 2048, kCols, kCols, 1e-5f}, 0, kRows - 1);
  });
  const double silu = bench::best_seconds(
      alone, 20, [&] { k.gated[static_cast<size_t>(Activation::silu)](x.data(), y.data(), kCols, kCols, 0, kRows); });
  const double rope = bench::best_seconds(alone, 20, [&] {
    k.rope({x.data(), positions.data(), inv_freq.data(), 32, 128, 128, kCols, 1.0f}, 0, kRows);
  });
  printf("%-16s one thread, a row of: rms_norm 2048 %.2f us, silu_mul 8192 %.2f us, rope 32 x 128 %.2f us\n", k.name,
         norm / (kRows - 1) * 1e6, silu / kRows * 1e6, rope / kRows * 1e6);
}

int run(int argc, char** argv) {
  ThreadPool pool(argc > 1 ? atoi(argv[1]) : 4);
  const cpu::Kernels* k = argc > 2 ? bench::table_named(argv[2]) : &cpu::kernels(cpu::best_isa());
  if (!k || !pool.status().ok()) return 1;
  measure_elementwise(*k);
  for (const Shape& s : {Shape{32, 8, 64}, Shape{32, 8, 128}, Shape{12, 2, 128}}) {
    for (const int64_t n_tokens : {512, 4096, 16384}) measure(*k, s, n_tokens, argc > 3 ? atol(argv[3]) : 0, pool);
  }
  return 0;
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) { return inlay::run(argc, argv); }
