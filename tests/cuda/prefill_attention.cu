// Attention of prompt rows against computations in double on the host, then a table of speeds. Stand-alone: prints `ok`
// or `FAIL` for each case and exits with 1 if one failed. The cache is filled with NaN wherever no key was put.
#include <cuda_fp16.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda/attention/kv_element.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/attention_reference.h"
#include "tests/cuda/kernel_test.h"

namespace {

using namespace inlay::cuda;
using inlay::kPromptTileRows;
using inlay::PromptTile;

// Relative L2 error of a row, and squared error of all rows over their square: queries and weights are rounded to FP16;
// keys and values of one byte also are, once multiplied by their scale.
struct Limits {
  double row, total;
};
constexpr Limits limits_of(KvType type) { return type == KvType::f16 ? Limits{2e-3, 2e-7} : Limits{4e-3, 3e-7}; }
float rounded_to_half(float x) { return __half2float(__float2half_rn(x)); }

// Rows of one sequence from `position` on.
struct Prompt {
  int32_t n_rows, position;
};

// How large queries and keys are; scores stay the same where the product does.
struct Sizes {
  float query = 2.0f, key = 1.0f;
};

// The prompts of a step one after another, each followed by a row of padding; their sequences' blocks lie shuffled in
// the pools.
struct Problem {
  Shape shape;
  int32_t max_blocks = 1, n_blocks = 1;  // block 0 belongs to nobody
  std::vector<int32_t> positions, sequence, tables;
  std::vector<int32_t> ends;  // of each sequence: behind the position of its last row
  std::vector<float> qkv;
  KvType type = KvType::f16;
  Variant variant = {};
  bool both_ways = false;
  std::vector<float> k, v;  // as halves lie in the cache, NaN where nothing was put; exactly representable in `type`

  int32_t rows() const { return static_cast<int32_t>(positions.size()); }
  int64_t at(int32_t seq, int32_t key, int32_t kv_head) const {
    const int64_t block = tables[static_cast<size_t>(seq) * max_blocks + key / kBlock];
    return block * shape.block_values() + (static_cast<int64_t>(kv_head) * kBlock + key % kBlock) * shape.d_head;
  }
  SeenKeys seen(int32_t row) const {
    const int32_t position = positions[row], end = ends[sequence[row]];
    const int32_t reached = variant.window == 0 ? end : std::min(end, position + variant.window);
    return {variant.first_key(position), both_ways ? reached : position + 1};
  }
  std::string name() const { return shape.name() + variant.name() + (both_ways ? " both ways" : ""); }
};

// A head's values as the cache's type has them; its codes and scale if it has those.
struct StoredHead {
  std::vector<uint8_t> codes;
  float scale = 1.0f;
};
StoredHead store(KvType type, float* x, int32_t n) {
  StoredHead out;
  if (type == KvType::f16) {
    for (int32_t i = 0; i < n; ++i) x[i] = rounded_to_half(x[i]);
    return out;
  }
  float largest = 0.0f;
  for (int32_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  if (largest > 0.0f) out.scale = largest / (type == KvType::int8 ? 127.0f : 448.0f);
  for (int32_t i = 0; i < n; ++i) {
    const float unit = x[i] / out.scale;
    const auto code =
        type == KvType::int8 ? static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(unit))) : e4m3_of(unit);
    out.codes.push_back(code);
    x[i] = out.scale * (type == KvType::int8 ? static_cast<float>(static_cast<int8_t>(code))
                                             : static_cast<float>(e4m3_value(code)));
  }
  return out;
}

// The bytes of a pool with these values; all ones, which is a NaN as a half and as a scale, where there are none.
std::vector<uint8_t> pool_of(const Problem& p, std::vector<float> values) {
  const Shape& s = p.shape;
  const size_t block_bytes = kv_block_bytes(p.type, s.n_kv, s.d_head, kBlock);
  std::vector<uint8_t> pool(block_bytes * static_cast<size_t>(p.n_blocks), 0xff);
  for (int32_t block = 0; block < p.n_blocks; ++block) {
    for (int32_t head = 0; head < s.n_kv * kBlock; ++head) {  // KV heads and tokens
      float* x = values.data() + block * s.block_values() + static_cast<int64_t>(head) * s.d_head;
      if (std::isnan(x[0])) continue;
      uint8_t* to = pool.data() + static_cast<size_t>(block) * block_bytes;
      const StoredHead stored = store(p.type, x, s.d_head);
      if (p.type == KvType::f16) {
        for (int32_t i = 0; i < s.d_head; ++i) {
          const unsigned short bits = static_cast<__half_raw>(__float2half_rn(x[i])).x;
          std::memcpy(to + 2 * (static_cast<size_t>(head) * s.d_head + i), &bits, 2);
        }
      } else {
        std::copy(stored.codes.begin(), stored.codes.end(), to + static_cast<size_t>(head) * s.d_head);
        std::memcpy(to + s.block_values() + static_cast<size_t>(head) * 4, &stored.scale, 4);
      }
    }
  }
  return pool;
}

void fill_cache(Problem& p, const std::vector<Prompt>& prompts, float key_size, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<int32_t> order(static_cast<size_t>(p.n_blocks - 1));
  std::iota(order.begin(), order.end(), 1);
  std::shuffle(order.begin(), order.end(), random);
  p.tables.assign(prompts.size() * p.max_blocks, 0);
  p.k.assign(static_cast<size_t>(p.n_blocks) * p.shape.block_values(), NAN);
  p.v = p.k;
  std::vector<float> noise(65536);  // drawing every value anew would take longer than all else
  for (float& x : noise) x = normal(random);
  size_t next = 0;
  for (size_t s = 0; s < prompts.size(); ++s) {
    const int32_t n_keys = prompts[s].position + prompts[s].n_rows;
    for (int32_t b = 0; b * kBlock < n_keys; ++b) p.tables[s * p.max_blocks + b] = order[next++];
    for (int32_t key = 0; key < n_keys; ++key) {
      for (int32_t h = 0; h < p.shape.n_kv; ++h) {
        const int64_t to = p.at(static_cast<int32_t>(s), key, h);
        const unsigned k_from = random(), v_from = random();
        for (int32_t i = 0; i < p.shape.d_head; ++i) {
          p.k[to + i] = key_size * noise[(k_from + i) & 65535];
          p.v[to + i] = 0.5f + noise[(v_from + i) & 65535];  // a mean shows weights that do not add up
        }
        (void)store(p.type, p.k.data() + to, p.shape.d_head);
        (void)store(p.type, p.v.data() + to, p.shape.d_head);
      }
    }
  }
}

Problem make_problem(const Shape& shape, const std::vector<Prompt>& prompts, unsigned seed, Sizes sizes = {},
                     KvType type = KvType::f16) {
  Problem p{shape};
  p.type = type;
  for (size_t s = 0; s < prompts.size(); ++s) {
    const int32_t n_blocks = (prompts[s].position + prompts[s].n_rows + kBlock - 1) / kBlock;
    p.max_blocks = std::max(p.max_blocks, n_blocks);
    p.n_blocks += n_blocks;
    for (int32_t i = 0; i < prompts[s].n_rows; ++i) p.positions.push_back(prompts[s].position + i);
    p.positions.push_back(-1);
    p.sequence.resize(p.positions.size(), static_cast<int32_t>(s));
    p.ends.push_back(prompts[s].position + prompts[s].n_rows);
  }
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  fill_cache(p, prompts, sizes.key, random);
  p.qkv.resize(static_cast<size_t>(p.rows()) * shape.row_floats());
  for (float& x : p.qkv) x = sizes.query * normal(random);
  return p;
}

// Tiles of up to `most` rows, longest first.
std::vector<PromptTile> cut(const Problem& p, int32_t most) {
  std::vector<PromptTile> tiles;
  for (int32_t row = 0; row < p.rows();) {
    if (p.positions[row] < 0) {
      ++row;
      continue;
    }
    int32_t end = row + 1;
    while (end - row < most && p.positions[end] >= 0) ++end;
    tiles.push_back({row, end - row, p.ends[p.sequence[row]]});
    row = end;
  }
  std::stable_sort(tiles.begin(), tiles.end(), [&](const PromptTile& a, const PromptTile& b) {
    return p.positions[a.first_row] > p.positions[b.first_row];
  });
  return tiles;
}

void expected_row(const Problem& p, int32_t row, double* out) {
  const Shape& s = p.shape;
  for (int32_t h = 0; h < s.n_heads; ++h) {
    const int32_t kv_head = h / (s.n_heads / s.n_kv);
    const auto key = [&](int32_t t) { return &p.k[p.at(p.sequence[row], t, kv_head)]; };
    const auto value = [&](int32_t t) { return &p.v[p.at(p.sequence[row], t, kv_head)]; };
    const int64_t head = static_cast<int64_t>(h) * s.d_head;
    attend(p.qkv.data() + row * s.row_floats() + head, s, p.seen(row), {p.variant, h}, key, value, out + head);
  }
}

std::vector<double> expected_rows(const Problem& p) {
  std::vector<double> out(static_cast<size_t>(p.rows()) * p.shape.out_floats());
  std::atomic<int32_t> next{0};
  const auto work = [&] {
    for (int32_t row = next++; row < p.rows(); row = next++) {
      if (p.positions[row] >= 0) expected_row(p, row, out.data() + row * p.shape.out_floats());
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return out;
}

// The problem on the device.
class Attention {
 public:
  explicit Attention(const Problem& p)
      : p_(p),
        qkv_(p.qkv),
        k_(pool_of(p, p.k)),
        v_(pool_of(p, p.v)),
        tables_(p.tables),
        sequence_(p.sequence),
        positions_(p.positions),
        sinks_(p.variant.sinks),
        out_(static_cast<size_t>(p.rows()) * p.shape.out_floats()),
        scratch_(scratch_bytes()) {
    scratch_.fill(0);
  }

  // Results of rows without a tile are NaN.
  std::vector<float> run(const std::vector<PromptTile>& tiles) {
    out_.put(std::vector<float>(static_cast<size_t>(p_.rows()) * p_.shape.out_floats(), NAN));
    const Device<PromptTile> device_tiles(tiles);
    launch(device_tiles.get(), static_cast<int32_t>(tiles.size()), nullptr);
    return out_.host();
  }
  // Keys may be split from now on.
  void split_keys() { max_keys_ = *std::max_element(p_.ends.begin(), p_.ends.end()); }
  int32_t n_splits(size_t n_tiles) const { return prefill_attention_splits(args(nullptr, static_cast<int32_t>(n_tiles))); }
  void launch(const PromptTile* tiles, int32_t n_tiles, cudaStream_t stream) { CUDA_OK(launch_prefill_attention(args(tiles, n_tiles), stream)); }
  PrefillAttentionArgs args(const PromptTile* tiles, int32_t n_tiles) const {
    PrefillAttentionArgs a{};
    a.qkv = qkv_.get();
    a.out = out_.get();
    a.cache = cache();
    a.tiles = tiles;
    a.scratch = scratch_.get();
    a.n_tiles = n_tiles;
    a.m = p_.rows();
    a.n_heads = p_.shape.n_heads;
    a.max_context = p_.max_blocks * kBlock;
    a.scale = p_.shape.scale();
    a.max_keys = max_keys_;
    a.both_ways = p_.both_ways;
    a.variant = p_.variant.on_device(sinks_);
    return a;
  }
  void launch_by_rows(cudaStream_t stream) {
    AttentionArgs a{};
    a.qkv = qkv_.get();
    a.out = out_.get();
    a.cache = cache();
    a.scratch = scratch_.get();
    a.m = p_.rows();
    a.n_heads = p_.shape.n_heads;
    a.max_context = p_.max_blocks * kBlock;
    a.scale = p_.shape.scale();
    a.variant = p_.variant.on_device(sinks_);
    CUDA_OK(launch_attention(a, stream));
  }
  void set_keys(const std::vector<float>& k) { k_.put(pool_of(p_, k)); }

 private:
  size_t scratch_bytes() const {
    return attention_scratch_bytes(p_.rows(), p_.shape.n_heads, p_.shape.n_kv, p_.shape.d_head, p_.max_blocks * kBlock);
  }
  CacheView cache() const {
    CacheView c{};
    c.k_pool = k_.get();
    c.v_pool = v_.get();
    c.block_tables = tables_.get();
    c.row_sequence = sequence_.get();
    c.positions = positions_.get();
    c.max_blocks = p_.max_blocks;
    c.block_tokens = kBlock;
    c.n_kv_heads = p_.shape.n_kv;
    c.d_head = p_.shape.d_head;
    c.kv_type = p_.type;
    return c;
  }

  const Problem& p_;
  int32_t max_keys_ = 0;
  Device<float> qkv_;
  Device<uint8_t> k_, v_;
  Device<int32_t> tables_, sequence_, positions_;
  Device<float> sinks_;
  Device<float> out_;
  Device<char> scratch_;
};

void check_errors(const std::string& name, const Problem& p, const Errors& e) {
  const bool good = e.row < limits_of(p.type).row && e.total < limits_of(p.type).total && e.padding_written == 0;
  std::string where;
  if (e.at_row >= 0)
    where = " (row " + std::to_string(e.at_row) + ", position " + std::to_string(p.positions[e.at_row]) + ")";
  report(good, name,
         text("NMSE %.2e", e.total) + text(", worst row %.2e", e.row) + where + ", padding values written " +
             std::to_string(e.padding_written));
}

std::string differing_rows(const Problem& p, const std::vector<float>& a, const std::vector<float>& b) {
  const int64_t n = p.shape.out_floats();
  std::string rows;
  int32_t count = 0;
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (p.positions[row] < 0 || std::memcmp(a.data() + row * n, b.data() + row * n, static_cast<size_t>(n) * 4) == 0)
      continue;
    if (++count <= 8) rows += " " + std::to_string(row);
  }
  return count == 0 ? "none" : std::to_string(count) + ":" + rows;
}

// Against the host, and that a row's bits do not depend on how the rows are cut into tiles.
void check_prompts(const std::string& what, const Problem& p) {
  const std::string name = what + " " + p.name();
  Attention attention(p);
  const std::vector<float> got = attention.run(cut(p, kPromptTileRows));
  check_errors(name, p, compare(p.positions, p.shape.out_floats(), got, expected_rows(p)));
  for (const int32_t most : {1, 23, 48}) {
    const std::string differ = differing_rows(p, got, attention.run(cut(p, most)));
    report(differ == "none", name + " in tiles of " + std::to_string(most), "rows that differ: " + differ);
  }
}

constexpr int32_t kStarts[] = {0, 1, 31, 64, 1000};
constexpr int32_t kLengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 200};

// Every length once, every start about twice, in another pairing for each turn.
std::vector<Prompt> some_prompts(int32_t turn) {
  std::vector<Prompt> prompts;
  for (const int32_t length : kLengths) prompts.push_back({length, kStarts[turn++ % 5]});
  return prompts;
}

std::vector<Prompt> all_prompts() {
  std::vector<Prompt> prompts;
  for (const int32_t start : kStarts) {
    for (const int32_t length : kLengths) prompts.push_back({length, start});
    prompts.push_back({1000, start});
  }
  return prompts;
}

void check_shapes() {
  int32_t turn = 0;
  for (const int32_t d : {16, 64, 80, 96, 128, 256}) {
    for (const int32_t group : {1, 2, 4, 7, 8}) {
      check_prompts("prompts", make_problem({2 * group, 2, d}, some_prompts(turn), 100 + turn));
      ++turn;
    }
  }
  check_prompts("prompts", make_problem({3, 1, 24}, some_prompts(0), 1));
  check_prompts("prompts", make_problem({5, 5, 200}, some_prompts(1), 2));
  check_prompts("all prompts", make_problem({2, 1, 128}, all_prompts(), 3));
  check_prompts("all prompts", make_problem({3, 1, 64}, all_prompts(), 4));
}

// Keys that no row sees become NaN.
void forget_unseen(Problem& p) {
  std::vector<char> seen(p.k.size() / static_cast<size_t>(p.shape.d_head), 0);
  for (int32_t row = 0; row < p.rows(); ++row) {
    for (int32_t key = p.seen(row).first; p.positions[row] >= 0 && key < p.seen(row).end; ++key) {
      for (int32_t h = 0; h < p.shape.n_kv; ++h) {
        seen[static_cast<size_t>(p.at(p.sequence[row], key, h) / p.shape.d_head)] = 1;
      }
    }
  }
  for (size_t i = 0; i < p.k.size(); ++i) {
    if (seen[i / static_cast<size_t>(p.shape.d_head)] == 0) p.k[i] = p.v[i] = NAN;
  }
}

Problem variant_problem(const Shape& shape, const Variant& variant, int32_t turn, KvType type) {
  std::vector<Prompt> prompts = some_prompts(turn);
  prompts.push_back({130, 4000});
  Problem p = make_problem(shape, prompts, 200u + static_cast<unsigned>(turn), {}, type);
  p.variant = variant;
  return p;
}

// What is a little wrong must differ from what is right.
void check_wrong_variants(const Shape& shape, const Variant& variant) {
  Problem p = variant_problem(shape, variant, 3, KvType::f16);
  const std::vector<float> got = Attention(p).run(cut(p, kPromptTileRows));
  for (const Variant& wrong : wrong_variants(variant)) {
    p.variant = wrong;
    const Errors errors = compare(p.positions, shape.out_floats(), got, expected_rows(p));
    report(errors.row > 5 * limits_of(p.type).row, "control" + variant.name() + " is not" + wrong.name(),
           text("worst row %.2e", errors.row));
  }
}

void check_variants() {
  int32_t turn = 0;
  for (const KvType type : {KvType::f16, KvType::fp8_e4m3, KvType::int8}) {
    const std::vector<Shape> shapes = type == KvType::f16 ? std::vector<Shape>{{8, 2, 64}, {4, 4, 128}, {14, 2, 96}}
                                                          : std::vector<Shape>{{4, 2, 128}};
    for (const Shape& shape : shapes) {
      for (const Variant& variant : some_variants(shape.n_heads)) {
        Problem p = variant_problem(shape, variant, ++turn, type);
        forget_unseen(p);
        check_prompts(std::string("variant ") + name_of(type), p);
      }
    }
  }
  for (const Shape& shape : {Shape{4, 1, 256}, Shape{8, 2, 128}, Shape{3, 3, 80}, Shape{2, 2, 64}}) {
    Problem p = variant_problem(shape, {.window = 77, .soft_cap = 10.0f, .sinks = some_sinks(shape.n_heads)}, ++turn,
                                KvType::f16);
    forget_unseen(p);
    check_prompts("variant", p);
  }
  for (const int32_t window : {16, 33, 64}) check_wrong_variants({8, 2, 64}, {.window = window});
  check_wrong_variants({8, 2, 64}, {.soft_cap = 10.0f});
  check_wrong_variants({8, 2, 64}, {.sinks = some_sinks(8)});
}

// Rows see what is behind them up to the end of their prompt, or of a window.
void check_both_ways() {
  int32_t turn = 0;
  const auto check = [&](const Shape& shape, const Variant& variant, KvType type) {
    Problem p = variant_problem(shape, variant, ++turn, type);
    p.both_ways = true;
    forget_unseen(p);
    check_prompts(name_of(type), p);
  };
  for (const int32_t d : {16, 64, 80, 96, 128, 256}) {
    for (const int32_t group : {1, 2, 7}) check({2 * group, 2, d}, {}, KvType::f16);
  }
  for (const Variant& variant : some_variants(8)) check({8, 2, 64}, variant, KvType::f16);
  for (const Shape& shape : {Shape{4, 4, 128}, Shape{14, 2, 96}, Shape{4, 1, 256}})
    check(shape, {.window = 77, .soft_cap = 10.0f, .sinks = some_sinks(shape.n_heads)}, KvType::f16);
  for (const KvType type : {KvType::fp8_e4m3, KvType::int8}) {
    for (const Variant& variant : {Variant{}, Variant{.window = 33}, Variant{.window = 300, .soft_cap = 10.0f, .sinks = some_sinks(4)}})
      check({4, 2, 128}, variant, type);
  }
}

// Causal attention, the end of a prompt elsewhere and other windows must differ.
void check_wrong_both_ways() {
  const Shape shape{8, 2, 64};
  for (const Variant& variant : {Variant{}, Variant{.window = 16}, Variant{.window = 64}}) {
    Problem p = variant_problem(shape, variant, 3, KvType::f16);
    p.both_ways = true;
    const std::vector<float> got = Attention(p).run(cut(p, kPromptTileRows));
    const auto differs = [&](const Problem& wrong, const std::string& what) {
      const Errors errors = compare(p.positions, shape.out_floats(), got, expected_rows(wrong));
      report(errors.row > 5 * limits_of(p.type).row, "control both ways" + variant.name() + ": " + what, text("worst row %.2e", errors.row));
    };
    Problem wrong = p;
    wrong.both_ways = false;
    differs(wrong, "is not causal");
    wrong = p;
    for (int32_t& end : wrong.ends) end = std::max(end - 1, 1);
    differs(wrong, "sees the last row");
    for (const Variant& other : wrong_variants(variant)) {
      wrong = p;
      wrong.variant = other;
      differs(wrong, "is not" + other.name());
    }
  }
}

// Codes times their scale are rounded to FP16 once more.
void check_types() {
  unsigned seed = 61;
  for (const KvType type : {KvType::fp8_e4m3, KvType::int8}) {
    for (const int32_t d : {16, 64, 80, 96, 128, 256})
      check_prompts(name_of(type), make_problem({4, 2, d}, some_prompts(d), ++seed, {}, type));
    check_prompts(name_of(type), make_problem({7, 7, 24}, some_prompts(2), ++seed, {}, type));
  }
}

// Queries beyond FP16's range and far below it, with keys that keep the scores as they are.
void check_magnitudes() {
  const std::vector<Prompt> prompts = {{70, 5}, {40, 300}};
  check_prompts("large queries", make_problem({4, 2, 128}, prompts, 21, {0x1p21f, 0x1p-20f}));
  check_prompts("small queries", make_problem({4, 2, 128}, prompts, 22, {0x1p-12f, 0x1p13f}));
  Problem zeros = make_problem({4, 2, 64}, prompts, 23);
  std::fill(zeros.qkv.begin(), zeros.qkv.begin() + 30 * zeros.shape.row_floats(), 0.0f);
  check_prompts("queries of zeros", zeros);
}

// Keys in splits, of a few rows behind many keys, beside ones that see few: as by the host, twice with the same bits.
void check_splits() {
  struct Case {
    Shape shape;
    KvType type;
  };
  const std::vector<Case> cases = {{{32, 8, 128}, KvType::f16}, {{8, 2, 64}, KvType::f16},  {{4, 4, 128}, KvType::f16}, {{14, 2, 96}, KvType::f16},
                                   {{4, 1, 256}, KvType::f16},  {{3, 3, 80}, KvType::f16},  {{2, 1, 16}, KvType::f16},  {{4, 2, 128}, KvType::fp8_e4m3},
                                   {{4, 2, 128}, KvType::int8}};
  unsigned seed = 300;
  for (const Case& c : cases) {
    const std::vector<float> sinks = some_sinks(c.shape.n_heads);
    for (const Variant& variant : {Variant{}, Variant{.window = 1500}, Variant{.soft_cap = 10.0f}, Variant{.sinks = sinks}, Variant{.window = 1111, .soft_cap = 10.0f, .sinks = sinks}}) {
      for (const std::vector<Prompt>& prompts : {std::vector<Prompt>{{40, 2000}, {1, 500}, {15, 1100}, {2, 0}}, std::vector<Prompt>{{130, 3000}}}) {
        Problem p = make_problem(c.shape, prompts, ++seed, {}, c.type);
        p.variant = variant;
        forget_unseen(p);
        Attention attention(p);
        attention.split_keys();
        const std::vector<PromptTile> tiles = cut(p, kPromptTileRows);
        const int32_t n = attention.n_splits(tiles.size());
        const std::string name = std::string("splits ") + name_of(c.type) + " " + p.name() + " of " + std::to_string(prompts[0].n_rows) + " rows";
        report(n > 1, name, std::to_string(n) + " splits");
        const std::vector<float> got = attention.run(tiles);
        check_errors(name, p, compare(p.positions, c.shape.out_floats(), got, expected_rows(p)));
        report(differing_rows(p, got, attention.run(tiles)) == "none", name + " again", "");
        if (variant.window != 0 || prompts.size() > 1) continue;
        p.variant.window = 2800;  // as if the first split had been left out
        const Errors errors = compare(p.positions, c.shape.out_floats(), got, expected_rows(p));
        report(errors.row > 2 * limits_of(p.type).row, "control: " + name + ", all splits count", text("worst row %.2e", errors.row));
      }
    }
  }
  // Where they would not pay there are none.
  for (const Prompt& prompt : {Prompt{64, 400}, Prompt{2048, 4000}}) {
    const Problem p = make_problem({32, 8, 128}, {prompt}, ++seed);
    Attention attention(p);
    attention.split_keys();
    const int32_t n = attention.n_splits(cut(p, kPromptTileRows).size());
    report(n == 1, "no splits of " + std::to_string(prompt.n_rows) + " rows from " + std::to_string(prompt.position), std::to_string(n) + " splits");
  }
}

// Most weights are far below the largest one, but there are many of them.
void check_faint_keys() {
  Problem p = make_problem({2, 1, 64}, {{3, 20000}}, 31, {0.0f, 1.0f});
  for (int32_t row = 0; row < 3; ++row) {
    for (int32_t h = 0; h < 2; ++h) p.qkv[row * p.shape.row_floats() + h * 64] = 8.0f;
  }
  for (int32_t key = 0; key < 20003; ++key) p.k[p.at(0, key, 0)] = key == 77 ? 16.0f : 0.0f;
  check_prompts("one key of weight 1, 20000 of 1e-7", p);
}

// One damaged key must show in the rows that read it and in no other.
void check_damaged_key(bool both_ways) {
  Problem p = make_problem({8, 2, 128}, {{100, 0}, {130, 40}}, 41);
  p.both_ways = both_ways;
  const int32_t sequence = 1, key = 101;
  Attention attention(p);
  const std::vector<PromptTile> tiles = cut(p, kPromptTileRows);
  const std::vector<float> whole = attention.run(tiles);
  std::vector<float> keys = p.k;
  const int64_t at = p.at(sequence, key, 1);
  for (int32_t i = 0; i < p.shape.d_head; ++i) keys[at + i] = -keys[at + i];
  attention.set_keys(keys);
  const std::vector<float> damaged = attention.run(tiles);
  const Errors errors = compare(p.positions, p.shape.out_floats(), damaged, expected_rows(p));
  report(errors.row > 10 * limits_of(p.type).row, "a damaged key is noticed", text("worst row %.2e", errors.row));
  int32_t wrong = 0;
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (p.positions[row] < 0) continue;
    const int64_t n = p.shape.out_floats();
    const bool same = std::memcmp(whole.data() + row * n, damaged.data() + row * n, static_cast<size_t>(n) * 4) == 0;
    wrong += same == (p.sequence[row] == sequence && key < p.seen(row).end);
  }
  report(wrong == 0, "a damaged key changes the rows that read it alone", std::to_string(wrong) + " rows are wrong");
}

// ---- speed

// A few rows behind many keys: whole, and in splits.
void measure_splits(const Shape& shape, int32_t n_rows, int32_t position, KvType type = KvType::f16) {
  const Problem p = make_problem(shape, {{n_rows, position}}, 52, {}, type);
  Attention attention(p);
  const std::vector<PromptTile> tiles = cut(p, kPromptTileRows);
  const Device<PromptTile> device_tiles(tiles);
  const auto n_tiles = static_cast<int32_t>(tiles.size());
  const auto us = [&] { return stream_us(20, [&](int, cudaStream_t stream) { attention.launch(device_tiles.get(), n_tiles, stream); }); };
  const double whole = us();
  attention.split_keys();
  std::printf("%-9s %-4s %4d rows from %5d: whole %8.1f us, in %2d splits %7.1f us\n", shape.name().c_str(), name_of(type), n_rows, position, whole,
              attention.n_splits(tiles.size()), us());
}

void measure(const Shape& shape, int32_t n_rows, int32_t position, KvType type = KvType::f16, bool both_ways = false) {
  Problem p = make_problem(shape, {{n_rows, position}}, 51, {}, type);
  p.both_ways = both_ways;
  Attention attention(p);
  const std::vector<PromptTile> tiles = cut(p, kPromptTileRows);
  const Device<PromptTile> device_tiles(tiles);
  const auto n_tiles = static_cast<int32_t>(tiles.size());
  double keys = 0;
  for (int32_t row = 0; row < n_rows; ++row) keys += p.seen(row).end;
  const double flops = 4.0 * shape.d_head * shape.n_heads * keys;
  const double tiled =
      stream_us(20, [&](int, cudaStream_t stream) { attention.launch(device_tiles.get(), n_tiles, stream); });
  if (both_ways) {
    std::printf("%-9s %-4s %4d rows, both ways: %8.1f us, %6.1f TFLOP/s\n", shape.name().c_str(), name_of(type), n_rows, tiled, flops / tiled * 1e-6);
    return;
  }
  const double by_rows = stream_us(2, [&](int, cudaStream_t stream) { attention.launch_by_rows(stream); });
  std::printf("%-9s %-4s %4d rows from %4d: %8.1f us, %6.1f TFLOP/s; row by row %9.1f us, %6.1f TFLOP/s\n",
              shape.name().c_str(), name_of(type), n_rows, position, tiled, flops / tiled * 1e-6, by_rows,
              flops / by_rows * 1e-6);
}

}  // namespace

int main() {
  if (!has_device()) return kSkipped;
  check_shapes();
  check_types();
  check_variants();
  check_magnitudes();
  check_faint_keys();
  check_splits();
  check_both_ways();
  check_wrong_both_ways();
  for (const bool both_ways : {false, true}) check_damaged_key(both_ways);
  for (const Shape& shape :
       {Shape{32, 8, 128}, Shape{12, 2, 128}, Shape{32, 8, 64}, Shape{32, 32, 128}, Shape{8, 4, 256}}) {
    for (const int32_t n_rows : {512, 2048}) measure(shape, n_rows, 0);
  }
  measure({32, 8, 128}, 512, 8192);
  measure({32, 8, 128}, 8192, 0);
  measure({32, 8, 128}, 2048, 0, KvType::fp8_e4m3);
  measure({32, 8, 128}, 2048, 0, KvType::int8);
  measure({32, 8, 128}, 2048, 0, KvType::f16, true);
  for (const Shape& shape : {Shape{32, 8, 128}, Shape{12, 2, 128}, Shape{32, 32, 128}, Shape{8, 4, 256}}) {
    for (const int32_t n_rows : {8, 40, 128, 512}) {
      for (const int32_t position : {1000, 2000, 16000}) measure_splits(shape, n_rows, position);
    }
  }
  measure_splits({32, 8, 128}, 40, 16000, KvType::fp8_e4m3);
  return finish();
}
