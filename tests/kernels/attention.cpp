// Attention over the paged FP16 cache against the reference on an F32 cache that holds the same (FP16-rounded) values.
#include "kernels/ref/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/common/half.h"
#include "kernels/ref/kv_cache.h"
#include "src/base/thread_pool.h"
#include "tests/kernels/float_data.h"

namespace inlay {
namespace {

using cpu::Kernels;

constexpr int64_t kBlockTokens = 32;

struct Shape {
  int64_t n_heads, n_kv_heads, d_head, first_position, m;
  int64_t window = 0;
  float softcap = 0;
  bool sinks = false;
  bool both_ways = false;
};

constexpr size_t kGap = 192;  // bytes between blocks, which nothing may touch
constexpr int32_t kNowhere = -(1 << 28);  // in a block table: reading there ends the program

// The first_position + m keys and values of a sequence, its last m queries, and a block table in random order.
struct Problem {
  Shape s;
  int64_t n_tokens, n_blocks;
  std::vector<float> q, k, v, sinks;
  std::vector<int32_t> table, positions;
  std::vector<int32_t> seen;  // the table without the blocks that no query sees
  float scale;

  explicit Problem(const Shape& shape)
      : s(shape), n_tokens(shape.first_position + shape.m), n_blocks((n_tokens + kBlockTokens - 1) / kBlockTokens) {
    q = test::random_floats(s.m * s.n_heads * s.d_head, 1);
    k = test::random_floats(n_tokens * s.n_kv_heads * s.d_head, 2);
    v = test::random_floats(n_tokens * s.n_kv_heads * s.d_head, 3);
    for (auto* values : {&k, &v}) {
      for (float& x : *values) x = float_from_f16(f16_from_float(x));
    }
    table.resize(static_cast<size_t>(n_blocks) + 1);
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(7));
    table.resize(static_cast<size_t>(n_blocks));  // one block of the pool belongs to nobody
    positions.resize(static_cast<size_t>(n_tokens));
    std::iota(positions.begin(), positions.end(), 0);
    scale = 1.0f / std::sqrt(static_cast<float>(s.d_head));
    sinks = test::random_floats(s.n_heads, 4, 3.0f);
    seen = table;
    const AttentionArgs all = attend(nullptr, nullptr, 0, nullptr, 0, 0, s.m);
    std::fill(seen.begin(), seen.begin() + all.first_key(0) / kBlockTokens, kNowhere);
    const auto unseen = all.first_key(0) * s.n_kv_heads * s.d_head;  // what a mask hides must not even be added as zero
    for (auto* values : {&k, &v}) std::fill(values->begin(), values->begin() + unseen, NAN);
  }

  KvAppendArgs append(void* k_pool, void* v_pool, int64_t block_stride) const {
    return {k.data(),     v.data(), k_pool,       v_pool,   positions.data(), table.data(),
            block_stride, n_tokens, s.n_kv_heads, s.d_head, kBlockTokens,     s.n_kv_heads * s.d_head};
  }

  // Queries [begin, end) of the m.
  AttentionArgs attend(const void* k_pool, const void* v_pool, int64_t block_stride, float* out, int64_t ld_out,
                       int64_t begin, int64_t end) const {
    const int64_t ld = s.n_heads * s.d_head;
    return {q.data() + begin * ld,
            out + begin * ld_out,
            k_pool,
            v_pool,
            seen.data(),
            block_stride,
            end - begin,
            s.first_position + begin,
            s.n_heads,
            s.n_kv_heads,
            s.d_head,
            kBlockTokens,
            ld,
            ld_out,
            scale,
            s.softcap,
            s.window,
            s.sinks ? sinks.data() : nullptr,
            s.both_ways};
  }

  std::vector<float> exact() const {
    const size_t stride = ref::kv_block_bytes(s.n_kv_heads, s.d_head, kBlockTokens) + kGap;
    std::vector<float> k_pool(stride / 4 * static_cast<size_t>(n_blocks + 1));
    std::vector<float> v_pool(k_pool.size()), out(q.size());
    ref::kv_append(append(k_pool.data(), v_pool.data(), static_cast<int64_t>(stride)), 0, n_tokens);
    ref::attention(attend(k_pool.data(), v_pool.data(), static_cast<int64_t>(stride), out.data(), s.n_heads * s.d_head, 0, s.m), 0, s.m);
    return out;
  }
};

// A cache filled by the kernels. Everything not written is NaN, so that whatever is read beyond the keys shows.
struct Cache {
  size_t stride;
  std::vector<uint16_t> k, v;

  Cache(const Kernels& kernels, const Problem& p)
      : stride(kernels.kv_block_bytes(p.s.n_kv_heads, p.s.d_head, kBlockTokens) + kGap),
        k(stride / 2 * static_cast<size_t>(p.n_blocks + 1), 0x7fff),
        v(k.size(), 0x7fff) {
    const KvAppendArgs args = p.append(k.data(), v.data(), static_cast<int64_t>(stride));
    kernels.kv_append(args, p.n_tokens / 2, p.n_tokens);
    kernels.kv_append(args, 0, p.n_tokens / 2);
  }
};

// A thread's memory, of lines of the cache.
class Workspace {
 public:
  explicit Workspace(const Kernels& kernels) : lines_((kernels.attention_workspace_bytes() + 63) / 64) {}
  void* data() { return lines_.data(); }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines_;
};

// Queries m_at_once at a time, items in reverse order and in runs of `items_at_once`.
std::vector<float> run(const Kernels& kernels, const Problem& p, const Cache& cache, int64_t m_at_once,
                       int64_t items_at_once) {
  test::GuardedRows out(p.s.m, p.s.n_heads * p.s.d_head);
  for (int64_t begin = 0; begin < p.s.m; begin += m_at_once) {
    const int64_t end = std::min(begin + m_at_once, p.s.m);
    const AttentionArgs args = p.attend(cache.k.data(), cache.v.data(), static_cast<int64_t>(cache.stride), out.data(), out.ld(), begin, end);
    const size_t bytes = kernels.attention_scratch_bytes(args);
    std::vector<float> scratch(bytes / 4 + 1, NAN);
    Workspace workspace(kernels);
    const int64_t items = kernels.attention_items(args);
    for (int64_t last = items; last > 0; last -= items_at_once) {
      kernels.attention(args, std::max<int64_t>(last - items_at_once, 0), last, scratch.data(), workspace.data());
    }
    for (int64_t j = args.m - 1; j >= 0; --j) kernels.attention_merge(args, j, j + 1, scratch.data());
    EXPECT_TRUE(std::isnan(scratch.back())) << "scratch memory overrun";
  }
  EXPECT_TRUE(out.guards_intact()) << kernels.name;
  return out.values();
}

std::string describe(const Kernels& k, const Shape& s) {
  return std::string(k.name) + ": " + std::to_string(s.n_heads) + " heads, " + std::to_string(s.n_kv_heads) +
         " kv, d_head " + std::to_string(s.d_head) + ", first " + std::to_string(s.first_position) + ", m " +
         std::to_string(s.m) + ", window " + std::to_string(s.window) + ", cap " + std::to_string(s.softcap) +
         (s.sinks ? ", sinks" : "") + (s.both_ways ? ", both ways" : "");
}

constexpr double kLimit = 1e-11;

TEST(Attention, MatchesTheReference) {
  std::vector<Shape> shapes;
  for (const int64_t n : {1, 2, 31, 32, 33, 63, 64, 255, 256, 257, 512, 1023, 1024, 1025}) {
    shapes.push_back({4, 2, 64, n - 1, 1});
    shapes.push_back({4, 2, 64, 0, std::min<int64_t>(n, 300)});
    if (n > 20) shapes.push_back({6, 1, 32, n - 20, 40});
  }
  for (const int64_t d_head : {8, 16, 24, 40, 64, 72, 80, 96, 112, 128, 192, 256}) {
    shapes.push_back({4, 2, d_head, 290, 7});
    shapes.push_back({2, 2, d_head, 0, 1});
  }
  for (const int64_t group : {1, 2, 4, 6, 8, 32}) shapes.push_back({group * 2, 2, 64, 300, 17});
  for (int64_t m = 1; m <= 40; ++m) shapes.push_back({3, 3, 16, 230, m});
  for (const Kernels* k : test::all_tables()) {
    for (const Shape& s : shapes) {
      const Problem p(s);
      const Cache cache(*k, p);
      EXPECT_LT(test::nmse(run(*k, p, cache, s.m, 1000000), p.exact()), kLimit) << describe(*k, s);
    }
  }
}

TEST(Attention, WindowsCapsAndSinksMatchTheReference) {
  for (const Kernels* k : test::all_tables()) {
    for (const int64_t window : {0, 1, 2, 31, 33, 64, 255, 257, 300, 700, 5000}) {
      for (const Shape& s : {Shape{4, 2, 64, 0, 40}, {4, 2, 64, 700, 1}, {6, 2, 16, 600, 30}, {8, 1, 72, 250, 20}}) {
        for (const auto& [cap, sinks] : {std::pair{0.0f, false}, {1.5f, true}, {50.0f, false}}) {
          Shape shape = s;
          shape.window = window, shape.softcap = cap, shape.sinks = sinks;
          const Problem p(shape);
          const Cache cache(*k, p);
          EXPECT_LT(test::nmse(run(*k, p, cache, s.m, 1), p.exact()), kLimit) << describe(*k, shape);
        }
      }
    }
  }
}

TEST(Attention, BothWaysMatchesTheReference) {
  for (const Kernels* k : test::all_tables()) {
    for (const int64_t window : {0, 1, 2, 31, 33, 129, 256, 700}) {
      for (const Shape& s : {Shape{4, 2, 64, 0, 1}, {4, 2, 64, 0, 40}, {6, 2, 16, 0, 300}, {8, 1, 72, 0, 530}, {4, 4, 32, 0, 257, 0, 1.5f, true}}) {
        if (k->isa == cpu::Isa::generic && s.m > 300) continue;  // slow
        Shape shape = s;
        shape.window = window, shape.both_ways = true;
        const Problem p(shape);
        const Cache cache(*k, p);
        for (const int64_t items_at_once : {1, 1000000}) EXPECT_LT(test::nmse(run(*k, p, cache, s.m, items_at_once), p.exact()), kLimit) << describe(*k, shape);
        if (s.m == 1 || window == 1) continue;  // the query alone
        shape.both_ways = false;
        EXPECT_GT(test::nmse(run(*k, Problem(shape), cache, s.m, 1), p.exact()), 1e-3) << describe(*k, shape) << " is another";
      }
    }
  }
}

// By hand: two keys with values 1 and 3, scores 0 and ln 2 of scale 1.
TEST(Attention, TheReferenceKnowsWindowsCapsAndSinks) {
  const auto attend = [](int64_t window, float cap, const float* sink) {
    const float q[] = {1, 0}, k[] = {0, 0, std::log(2.0f), 0}, v[] = {1, 10, 3, 30};
    const int32_t table[] = {0};
    float out[2];
    ref::attention({q, out, k, v, table, 0, 1, 1, 1, 1, 2, 2, 2, 2, 1.0f, cap, window, sink}, 0, 1);
    EXPECT_FLOAT_EQ(out[1], 10 * out[0]);
    return out[0];
  };
  EXPECT_FLOAT_EQ(attend(0, 0, nullptr), 7.0f / 3);
  EXPECT_FLOAT_EQ(attend(2, 0, nullptr), 7.0f / 3);
  EXPECT_FLOAT_EQ(attend(1, 0, nullptr), 3.0f);
  const float zero = 0, large = 50;
  EXPECT_FLOAT_EQ(attend(0, 0, &zero), 7.0f / 4);
  EXPECT_LT(attend(0, 0, &large), 1e-15f);
  // Of three keys with values 1, 2 and 6 and equal scores.
  const auto both_ways = [](int64_t window, bool later) {
    const float q[] = {0, 0, 0}, k[] = {0, 0, 0}, v[] = {1, 2, 6};
    const int32_t table[] = {0};
    std::vector<float> out(3);
    ref::attention({q, out.data(), k, v, table, 0, 3, 0, 1, 1, 1, 3, 1, 1, 1.0f, 0, window, nullptr, later}, 0, 3);
    return out;
  };
  EXPECT_EQ(both_ways(0, true), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(both_ways(0, false), (std::vector<float>{1, 1.5f, 3}));
  EXPECT_EQ(both_ways(1, true), (std::vector<float>{1, 2, 6}));
  EXPECT_EQ(both_ways(2, true), (std::vector<float>{1.5f, 3, 4}));
  EXPECT_EQ(both_ways(3, true), (std::vector<float>{3, 3, 3}));
  const float capped = std::exp(0.5f * std::tanh(2 * std::log(2.0f)));
  EXPECT_FLOAT_EQ(attend(0, 0.5f, nullptr), (1 + 3 * capped) / (1 + capped));
}

TEST(Attention, AQueryHasTheSameBitsInAnyBatchAndCut) {
  // Short and long, with chunks as items and without; a query alone, in ragged parts, in the whole prefill.
  const Shape shapes[] = {{4, 2, 64, 0, 300},           {6, 2, 128, 700, 70},
                          {8, 8, 80, 240, 33},          {12, 1, 16, 1000, 50},
                          {32, 8, 64, 0, 512},          {4, 2, 64, 0, 300, 40, 0, true},
                          {6, 2, 32, 700, 70, 300, 30}, {8, 1, 16, 900, 50, 256, 0, true},
                          {4, 4, 16, 500, 40, 1}};
  for (const Kernels* k : test::all_tables()) {
    for (const Shape& s : shapes) {
      if (k->isa == cpu::Isa::generic && s.m > 300) continue;  // slow
      const Problem p(s);
      const Cache cache(*k, p);
      const auto whole = run(*k, p, cache, s.m, 1000000);
      for (const auto& [m_at_once, items_at_once] :
           {std::pair<int64_t, int64_t>{1, 1}, {1, 3}, {5, 1}, {17, 1000000}, {s.m, 1}}) {
        const auto cut = run(*k, p, cache, m_at_once, items_at_once);
        EXPECT_TRUE(test::same_bits(whole.data(), cut.data(), static_cast<int64_t>(whole.size())))
            << describe(*k, s) << ", " << m_at_once << " queries and " << items_at_once << " items at once";
      }
    }
  }
}

TEST(Attention, ThreadsShareACallAndAgree) {
  ThreadPool pool(4);
  for (const Kernels* k : test::all_tables()) {
    for (const Shape& s : {Shape{8, 2, 64, 2000, 1}, Shape{8, 2, 64, 500, 64}}) {
      const Problem p(s);
      const Cache cache(*k, p);
      const auto alone = run(*k, p, cache, s.m, 1);
      for (int round = 0; round < 5; ++round) {
        test::GuardedRows out(s.m, s.n_heads * s.d_head);
        const AttentionArgs args = p.attend(cache.k.data(), cache.v.data(), static_cast<int64_t>(cache.stride), out.data(), out.ld(), 0, s.m);
        std::vector<float> scratch(k->attention_scratch_bytes(args) / 4);
        std::vector<Workspace> workspaces(static_cast<size_t>(pool.size()), Workspace(*k));
        pool.parallel_for(k->attention_items(args), 1, [&](int64_t begin, int64_t end, int thread) {
          k->attention(args, begin, end, scratch.data(), workspaces[static_cast<size_t>(thread)].data());
        });
        pool.parallel_for(
            s.m, 3, [&](int64_t begin, int64_t end, int) { k->attention_merge(args, begin, end, scratch.data()); });
        EXPECT_TRUE(out.guards_intact());
        EXPECT_TRUE(test::same_bits(alone.data(), out.values().data(), static_cast<int64_t>(alone.size())))
            << describe(*k, s);
      }
    }
  }
}

TEST(Attention, ChunksBecomeItemsForOneQueryOnly) {
  const Kernels& k = cpu::kernels(cpu::best_isa());
  const Problem one({16, 2, 64, 4095, 1}), many({64, 32, 64, 4095, 512});
  const AttentionArgs a = one.attend(nullptr, nullptr, 0, nullptr, 0, 0, 1),
                      b = many.attend(nullptr, nullptr, 0, nullptr, 0, 0, 512);
  EXPECT_EQ(k.attention_items(a), 2 * 16);
  EXPECT_GT(k.attention_scratch_bytes(a), 0u);
  EXPECT_EQ(k.attention_scratch_bytes(b), 0u);
  EXPECT_EQ(k.kv_block_bytes(2, 64, 16), 0u) << "other block sizes are refused";
  EXPECT_EQ(k.kv_block_bytes(2, 264, 32), 0u);
}

TEST(Attention, ScratchGrowsWithThePosition) {
  const Kernels& k = cpu::kernels(cpu::best_isa());
  for (const int64_t m : {1, 8, 40, 100, 512}) {
    size_t before = 0;
    const AttentionArgs last = {nullptr, nullptr, nullptr, nullptr,      nullptr, 0, m, 300000,
                                12,      2,       128,     kBlockTokens, 0,       0, 1.0f};
    for (int64_t first = 0; first < 300000; first += 257) {
      const AttentionArgs a = {nullptr, nullptr, nullptr, nullptr,      nullptr, 0, m, first,
                               12,      2,       128,     kBlockTokens, 0,       0, 1.0f};
      ASSERT_GE(k.attention_scratch_bytes(a), before) << m << " queries from position " << first;
      before = k.attention_scratch_bytes(a);
      for (const int64_t window : {1, 256, 4096}) {
        AttentionArgs narrow = a;
        narrow.window = window;
        ASSERT_LE(k.attention_scratch_bytes(narrow), k.attention_scratch_bytes(last)) << "window " << window;
      }
    }
  }
}

TEST(Attention, ExtremeScoresStayFinite) {
  for (const Kernels* k : test::all_tables()) {
    Problem p({2, 1, 32, 500, 9});
    p.scale = 60.0f;  // one key takes nearly everything
    const Cache cache(*k, p);
    EXPECT_LT(test::nmse(run(*k, p, cache, 9, 1), p.exact()), 1e-8) << k->name;
  }
}

TEST(Attention, NegativeControls) {
  for (const Kernels* k : test::all_tables()) {
    const Problem p({4, 2, 64, 290, 5});
    const auto exact = p.exact();
    const Cache cache(*k, p);
    Problem wrong = p;
    wrong.scale *= 1.01f;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "scale";
    wrong = p;
    wrong.s.softcap = 20;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "soft cap";
    wrong = p;
    wrong.s.window = 294;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "one query does not see one key";
    wrong.s.window = 295;
    EXPECT_LT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "the window is as long as the sequence";
    wrong = p;
    wrong.s.sinks = true;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "sinks";
    wrong = p;
    std::swap(wrong.seen[0], wrong.seen[9]);
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "block table";
    wrong = p;
    wrong.s.first_position -= 1;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "the newest key is left out";
    wrong = p;
    wrong.s.first_position += 1;
    EXPECT_GT(test::nmse(run(*k, wrong, cache, 5, 1), exact), kLimit) << "a key that was never written";
    Cache changed = cache;
    const size_t block = changed.v.size() / static_cast<size_t>(p.n_blocks + 1);
    changed.v[static_cast<size_t>(p.table[3]) * block + 5] ^= 0x0200;
    EXPECT_GT(test::nmse(run(*k, p, changed, 5, 1), exact), kLimit) << "one bit of one value";
  }
}

TEST(Half, RoundsAsTheProcessorDoes) {
  // Every FP16 value survives; what lies between two goes to the nearest, ties to even, in every instruction set.
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = float_from_f16(static_cast<uint16_t>(h));
    if (std::isnan(f)) continue;
    ASSERT_EQ(f16_from_float(f), h);
  }
  const auto values = test::random_floats(64 * 512, 11);
  std::vector<float> x = values;
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 48) - 30);
  std::vector<int32_t> table = {0, 1}, positions(64);
  std::iota(positions.begin(), positions.end(), 0);
  std::vector<std::vector<uint16_t>> pools;
  for (const Kernels* k : test::all_tables()) {
    const size_t block = k->kv_block_bytes(2, 256, 32);
    std::vector<uint16_t> kp(block), vp(block);  // two blocks
    k->kv_append({x.data(), x.data(), kp.data(), vp.data(), positions.data(), table.data(), static_cast<int64_t>(block), 64, 2, 256, 32, 512},
                 0, 64);
    kp.insert(kp.end(), vp.begin(), vp.end());
    pools.push_back(kp);
    EXPECT_TRUE(pools.back() == pools.front()) << k->name;
  }
}

}  // namespace
}  // namespace inlay
