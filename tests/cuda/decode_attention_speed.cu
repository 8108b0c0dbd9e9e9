// Times of decode attention: a graph of launches that may start early, one after another over caches that together
// exceed the L2, as the layers of a model are. Sequences could grow to kMaxContext, so CTAs without keys are in the
// time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/attention_reference.h"
#include "tests/cuda/kernel_test.h"

namespace {

using namespace inlay::cuda;

constexpr int32_t kMaxContext = 32768;
constexpr int kMinLaunches = 24;
constexpr size_t kBeyondL2 = size_t{256} << 20;

struct Case {
  int32_t n_heads, n_kv, d_head, m, context;
  KvType type;

  size_t pool_bytes() const { return kv_block_bytes(type, n_kv, d_head, kBlock) * m * (context / kBlock); }
};

// Every row has blocks of its own, in order.
struct Rows {
  explicit Rows(const Case& c)
      : tables(order(static_cast<size_t>(c.m) * (c.context / kBlock))),
        sequence(order(static_cast<size_t>(c.m))),
        positions(std::vector<int32_t>(static_cast<size_t>(c.m), c.context - 1)) {}
  static std::vector<int32_t> order(size_t n) {
    std::vector<int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  Device<int32_t> tables, sequence, positions;
};

void measure(const Case& c) {
  const size_t n_caches = std::clamp<size_t>(kBeyondL2 / (2 * c.pool_bytes()) + 1, 2, 64);
  const int n_launches = std::max(kMinLaunches, static_cast<int>(n_caches));
  Device<uint8_t> k(c.pool_bytes() * n_caches), v(c.pool_bytes() * n_caches);
  k.fill(0x2c);
  v.fill(0x2c);
  const Rows rows(c);
  const size_t row_floats = static_cast<size_t>(c.n_heads + 2 * c.n_kv) * c.d_head;
  Device<float> qkv(std::vector<float>(row_floats * c.m, 0.5f)), norm(std::vector<float>(c.d_head, 1.0f));
  Device<float> out(static_cast<size_t>(c.m) * c.n_heads * c.d_head);
  Device<float2> turns(std::vector<float2>(static_cast<size_t>(c.m) * (c.d_head / 2), make_float2(0.6f, 0.8f)));
  Device<char> scratch(std::vector<char>(attention_scratch_bytes(c.m, c.n_heads, c.n_kv, c.d_head, kMaxContext), 0));
  const double us = graph_us(n_launches, [&](int i, cudaStream_t stream) {
    DecodeAttentionArgs a{};
    a.qkv = qkv.get();
    a.q_norm = a.k_norm = norm.get();
    a.rope = turns.get();
    a.out = out.get();
    a.cache = {k.get() + i % n_caches * c.pool_bytes(),
               v.get() + i % n_caches * c.pool_bytes(),
               rows.tables.get(),
               rows.sequence.get(),
               rows.positions.get(),
               c.context / kBlock,
               kBlock,
               c.n_kv,
               c.d_head,
               c.type};
    a.scratch = scratch.get();
    a.m = c.m;
    a.n_heads = c.n_heads;
    a.n_rot = c.d_head;
    a.max_context = kMaxContext;
    a.scale = 0.1f;
    a.epsilon = 1e-6f;
    CUDA_OK(launch_decode_attention(a, stream));
  });
  std::printf("%2d/%d/%-3d %-4s rows %d context %5d: %8.2f us %6.0f GB/s\n", c.n_heads, c.n_kv, c.d_head,
              name_of(c.type), c.m, c.context, us, static_cast<double>(2 * c.pool_bytes()) / us * 1e-3);
}

}  // namespace

namespace inlay::cuda {

void print_decode_attention_speeds() {
  for (const KvType type : {KvType::f16, KvType::fp8_e4m3, KvType::int8}) {
    for (const int32_t m : {1, 8}) {
      for (const int32_t context : {64, 256, 1024, 4096, 16384}) {
        measure({12, 2, 128, m, context, type});
        measure({32, 8, 64, m, context, type});
        measure({32, 8, 128, m, context, type});
      }
    }
  }
}

}  // namespace inlay::cuda
