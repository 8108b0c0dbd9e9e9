// Attention, head shaping and the copies of the CUDA backend against computations in double on the host. Stand-alone:
// prints `ok` or `FAIL` for each case and exits with 1 if one failed. The cache is filled with NaN wherever no key was
// put.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/attention_reference.h"
#include "tests/cuda/kernel_test.h"

namespace {

using namespace inlay::cuda;

constexpr double kLimit = 1e-5;  // relative L2 error of a row: matrix instructions cut off the low bits of their sums

// ---- attention

// Rows over sequences of given lengths, whose blocks lie shuffled in the pools; the input of one attention.
struct Problem {
  Shape shape;
  int32_t max_blocks = 1, n_blocks = 1;  // block 0 belongs to nobody
  std::vector<int32_t> positions, sequence, tables;
  std::vector<float> qkv;
  std::vector<uint16_t> k, v;
  Variant variant = {};

  int32_t rows() const { return static_cast<int32_t>(positions.size()); }
  int32_t max_context() const { return max_blocks * kBlock; }
  int64_t at(int32_t seq, int32_t key, int32_t kv_head) const {
    const int64_t block = tables[static_cast<size_t>(seq) * max_blocks + key / kBlock];
    return block * shape.block_values() + (static_cast<int64_t>(kv_head) * kBlock + key % kBlock) * shape.d_head;
  }
};

Problem make_problem(Shape shape, const std::vector<int32_t>& lengths, std::vector<int32_t> positions,
                     std::vector<int32_t> sequence, unsigned seed) {
  Problem p{shape};
  p.positions = std::move(positions);
  p.sequence = std::move(sequence);
  for (const int32_t n : lengths) {
    p.max_blocks = std::max(p.max_blocks, (n + kBlock - 1) / kBlock);
    p.n_blocks += (n + kBlock - 1) / kBlock;
  }
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<int32_t> order(static_cast<size_t>(p.n_blocks - 1));
  std::iota(order.begin(), order.end(), 1);
  std::shuffle(order.begin(), order.end(), random);
  p.tables.assign(lengths.size() * p.max_blocks, 0);
  p.k.assign(static_cast<size_t>(p.n_blocks) * shape.block_values(), kNanHalf);
  p.v = p.k;
  size_t next = 0;
  std::vector<uint16_t> noise(65536);  // drawing every value anew would take longer than all else
  for (uint16_t& x : noise) x = to_bits(normal(random));
  for (size_t s = 0; s < lengths.size(); ++s) {
    for (int32_t b = 0; b * kBlock < lengths[s]; ++b) p.tables[s * p.max_blocks + b] = order[next++];
    for (int32_t key = 0; key < lengths[s]; ++key) {
      for (int32_t h = 0; h < shape.n_kv; ++h) {
        const int64_t to = p.at(static_cast<int32_t>(s), key, h);
        const unsigned k_from = random(), v_from = random();
        for (int32_t i = 0; i < shape.d_head; ++i) {
          p.k[to + i] = noise[(k_from + i) & 65535];
          p.v[to + i] = noise[(v_from + i) & 65535];
        }
      }
    }
  }
  p.qkv.resize(static_cast<size_t>(p.rows()) * shape.row_floats());
  for (float& x : p.qkv) x = 2.0f * normal(random);
  return p;
}

// The problem on the device. The scratch is shared by every launch, so a ticket that is not reset shows in the next
// one.
class Attention {
 public:
  explicit Attention(const Problem& p)
      : p_(p),
        qkv_(p.qkv),
        k_(p.k),
        v_(p.v),
        tables_(p.tables),
        sequence_(p.sequence),
        positions_(p.positions),
        sinks_(p.variant.sinks),
        out_(static_cast<size_t>(p.rows()) * p.shape.out_floats()),
        scratch_(attention_scratch_bytes(p.rows(), p.shape.n_heads, p.shape.n_kv, p.shape.d_head, p.max_context())) {
    scratch_.fill(0);
  }

  // Rows first .. first + n - 1; results elsewhere are NaN.
  std::vector<float> run(int32_t first, int32_t n) {
    out_.put(std::vector<float>(static_cast<size_t>(p_.rows()) * p_.shape.out_floats(), NAN));
    AttentionArgs a{};
    a.qkv = qkv_.get() + first * p_.shape.row_floats();
    a.out = out_.get() + first * p_.shape.out_floats();
    a.cache = {k_.get(),      v_.get(), tables_.get(), sequence_.get() + first, positions_.get() + first,
               p_.max_blocks, kBlock,   p_.shape.n_kv, p_.shape.d_head};
    a.scratch = scratch_.get();
    a.m = n;
    a.n_heads = p_.shape.n_heads;
    a.max_context = p_.max_context();
    a.scale = p_.shape.scale();
    a.variant = p_.variant.on_device(sinks_);
    CUDA_OK(launch_attention(a, nullptr));
    return out_.host();
  }
  std::vector<float> run() { return run(0, p_.rows()); }
  void set_tables(const std::vector<int32_t>& tables) { tables_.put(tables); }

 private:
  const Problem& p_;
  Device<float> qkv_;
  Device<uint16_t> k_, v_;
  Device<int32_t> tables_, sequence_, positions_;
  Device<float> sinks_;
  Device<float> out_;
  Device<char> scratch_;
};

SeenKeys seen_keys(const Problem& p, int32_t row) { return {p.variant.first_key(p.positions[row]), p.positions[row] + 1}; }

// Keys that no row sees become NaN.
void forget_unseen(Problem& p) {
  const Problem all = p;
  std::fill(p.k.begin(), p.k.end(), kNanHalf);
  p.v = p.k;
  for (int32_t row = 0; row < p.rows(); ++row) {
    for (int32_t key = p.variant.first_key(p.positions[row]); key <= p.positions[row]; ++key) {
      for (int32_t h = 0; h < p.shape.n_kv; ++h) {
        const int64_t at = p.at(p.sequence[row], key, h);
        std::copy_n(all.k.begin() + at, p.shape.d_head, p.k.begin() + at);
        std::copy_n(all.v.begin() + at, p.shape.d_head, p.v.begin() + at);
      }
    }
  }
}

std::vector<double> expected_rows(const Problem& p) {
  const Shape& s = p.shape;
  std::vector<double> out(static_cast<size_t>(p.rows()) * p.shape.out_floats());
  for (int32_t row = 0; row < p.rows(); ++row) {
    for (int32_t h = 0; h < s.n_heads && p.positions[row] >= 0; ++h) {
      const int32_t kv_head = h / (s.n_heads / s.n_kv);
      const auto key = [&](int32_t t) { return &p.k[p.at(p.sequence[row], t, kv_head)]; };
      const auto value = [&](int32_t t) { return &p.v[p.at(p.sequence[row], t, kv_head)]; };
      const int64_t head = static_cast<int64_t>(h) * s.d_head;
      attend(p.qkv.data() + row * s.row_floats() + head, s, seen_keys(p, row), {p.variant, h}, key, value,
             out.data() + row * s.out_floats() + head);
    }
  }
  return out;
}

bool same_row(const Problem& p, int32_t row, const std::vector<float>& a, const std::vector<float>& b) {
  const int64_t n = p.shape.out_floats();
  return std::memcmp(a.data() + row * n, b.data() + row * n, static_cast<size_t>(n) * sizeof(float)) == 0;
}

void check_attention(const char* what, const Problem& p) {
  const std::string name = std::string(what) + " " + p.shape.name() + p.variant.name();
  Attention attention(p);
  const std::vector<double> expected = expected_rows(p);
  const std::vector<float> got = attention.run();
  const Errors worst = compare(p.positions, p.shape.out_floats(), got, expected);
  report(worst.row < kLimit && worst.padding_written == 0, name,
         text("largest relative error %.2e at row %d, padding values written %ld", worst.row, worst.at_row,
              static_cast<long>(worst.padding_written)));
  const std::vector<float> again = attention.run();
  report(std::memcmp(got.data(), again.data(), got.size() * sizeof(float)) == 0, name + " again", "same bits wanted");
  std::string differ;
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (p.positions[row] >= 0 && !same_row(p, row, got, attention.run(row, 1)))
      differ += " " + std::to_string(p.positions[row]);
  }
  report(differ.empty(), name + " rows alone", "positions that differ:" + (differ.empty() ? " none" : differ));
}

void check_positions(const Shape& shape) {
  const std::vector<int32_t> positions = {0, 1, 31, 32, 33, 63, 64, 255, 256, 1023, 1024, 1025, 8191, 16383};
  std::vector<int32_t> lengths, sequence;
  for (size_t i = 0; i < positions.size(); ++i) {
    lengths.push_back(positions[i] + 1);
    sequence.push_back(static_cast<int32_t>(i));
  }
  check_attention("positions", make_problem(shape, lengths, positions, sequence, 7u * shape.d_head + shape.n_heads));
}

// Ragged: sequences of several rows (a piece of a prompt) and of one, padding between and after.
Problem ragged(const Shape& shape) {
  const std::vector<int32_t> lengths = {300, 41, 5000, 1};
  const std::vector<int32_t> positions = {4990, 4991, 4992, -1, 0, 299, 38, 39, 40, -1, -1};
  const std::vector<int32_t> sequence = {2, 2, 2, 0, 3, 0, 1, 1, 1, 0, 0};
  return make_problem(shape, lengths, positions, sequence, 11);
}

Problem prefill(const Shape& shape) {
  std::vector<int32_t> positions(130);
  std::iota(positions.begin(), positions.end(), 70);
  return make_problem(shape, {900, 200}, positions, std::vector<int32_t>(130, 1), 12);
}

// More rows than one launch takes, and so many that a CTA does several of a row's splits.
Problem many_rows(const Shape& shape) {
  std::vector<int32_t> positions, sequence;
  for (int32_t row = 0; row < 70; ++row) {
    positions.push_back(row % 7 == 3 ? -1 : 2900 + 3 * row);
    sequence.push_back(row % 2);
  }
  return make_problem(shape, {3200, 3200}, positions, sequence, 13);
}

// Rows right before, at and after the ends of windows and blocks, each of a sequence of its own, which has all its
// keys.
Problem windowed_rows(const Shape& shape, const Variant& variant) {
  std::vector<int32_t> positions = {0, 14, 15, 16, 31, 32, 33, 47, 48, 63, 64, 255, 256, 299, 300, 1100, 5000};
  for (const int32_t near : {-1, 0, 1}) {
    if (variant.window > 1 && variant.window < 5000) positions.push_back(variant.window + near);
  }
  std::vector<int32_t> lengths, sequence(positions.size());
  for (const int32_t position : positions) lengths.push_back(position + 1);
  std::iota(sequence.begin(), sequence.end(), 0);
  Problem p = make_problem(shape, lengths, positions, sequence, 17u + static_cast<unsigned>(variant.window));
  p.variant = variant;
  return p;
}

Problem windowed(const Shape& shape, const Variant& variant) {
  Problem p = windowed_rows(shape, variant);
  forget_unseen(p);
  return p;
}

// What is a little wrong must differ from what is right.
void check_wrong_variants(const Shape& shape, const Variant& variant) {
  const Problem p = windowed(shape, variant);
  const std::vector<float> got = Attention(p).run();
  for (const Variant& wrong : wrong_variants(variant)) {
    Problem other = windowed_rows(shape, variant);
    other.variant = wrong;
    const double error = compare(p.positions, shape.out_floats(), got, expected_rows(other)).row;
    report(error > 100 * kLimit, "control" + variant.name() + " is not" + wrong.name(),
           text("largest relative error %.2e", error));
  }
}

void check_variants() {
  for (const Shape& s : {Shape{8, 2, 64}, Shape{10, 2, 128}, Shape{4, 4, 256}}) {
    for (const Variant& v : some_variants(s.n_heads)) check_attention("variant", windowed(s, v));
  }
  for (const Shape& s : {Shape{12, 1, 80}, Shape{32, 8, 128}}) {
    for (const Problem& whole : {ragged(s), prefill(s), many_rows(s)}) {
      Problem p = whole;
      p.variant = {.window = 70, .soft_cap = 20.0f, .sinks = some_sinks(s.n_heads)};
      forget_unseen(p);
      check_attention("variant of many", p);
    }
  }
  for (const int32_t window : {16, 33, 300}) check_wrong_variants({8, 2, 64}, {.window = window});
  check_wrong_variants({8, 2, 64}, {.soft_cap = 10.0f});
  check_wrong_variants({8, 2, 64}, {.sinks = some_sinks(8)});
}

void check_wrong_table() {
  Problem p = ragged({8, 2, 128});
  Attention attention(p);
  const std::vector<double> expected = expected_rows(p);
  std::vector<int32_t> tables = p.tables;
  std::swap(tables[2 * static_cast<size_t>(p.max_blocks) + 3],
            tables[0]);  // a block of sequence 2 against one of sequence 0
  attention.set_tables(tables);
  const double error = compare(p.positions, p.shape.out_floats(), attention.run(), expected).row;
  report(error > 1e-3, "exchanged blocks are noticed", text("relative error %.2e", error));
  attention.set_tables(p.tables);
  report(compare(p.positions, p.shape.out_floats(), attention.run(), expected).row < kLimit, "right blocks again");
}

void check_all_attention() {
  for (const int32_t d : {16, 64, 80, 96, 128, 256}) {
    for (const int32_t group : {1, 2, 4, 6, 8}) check_positions({2 * group, 2, d});
  }
  check_positions({40, 8, 128});  // 5 heads in a kernel for 6; 8 KV heads: the other limit of splits
  check_positions({12, 1, 64});   // two passes of 6
  check_positions({9, 1, 24});    // two passes of 5 and 4
  for (const Shape& s : {Shape{8, 2, 128}, Shape{14, 2, 64}, Shape{16, 1, 80}, Shape{32, 8, 128}}) {
    check_attention("ragged", ragged(s));
    check_attention("prefill", prefill(s));
  }
  check_attention("many rows", many_rows({8, 8, 64}));
  check_variants();
  check_wrong_table();
}

// ---- head shaping

struct ShapeCase {
  Shape shape;
  int32_t n_rot;
  bool norm;
  std::vector<int32_t> positions;
  float magnitude;
};

struct Shaped {
  std::vector<float> qkv;
  std::vector<uint16_t> k, v;
};

// Row r is a sequence of its own; its block is blocks[r] wherever its position is.
struct ShapeInput {
  std::vector<float> qkv, q_norm, k_norm, inv_freq;
  std::vector<int32_t> blocks;
  int32_t max_blocks = 1;
};

ShapeInput shape_input(const ShapeCase& c) {
  ShapeInput in;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  in.qkv.resize(c.positions.size() * static_cast<size_t>(c.shape.row_floats()));
  for (float& x : in.qkv) x = uniform(random);
  for (int32_t i = 0; i < c.shape.d_head; ++i) {
    in.q_norm.push_back(0.75f + 0.25f * uniform(random));
    in.k_norm.push_back(0.75f + 0.25f * uniform(random));
  }
  for (int32_t i = 0; i < c.n_rot / 2; ++i)
    in.inv_freq.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / c.n_rot)));
  for (size_t r = 0; r < c.positions.size(); ++r) {
    in.blocks.push_back(static_cast<int32_t>(c.positions.size() - r));  // block 0 is nobody's
    in.max_blocks = std::max(in.max_blocks, c.positions[r] / kBlock + 1);
  }
  return in;
}

Shaped run_shape(const ShapeCase& c, const ShapeInput& in, int32_t first, int32_t n) {
  const size_t rows = c.positions.size();
  std::vector<int32_t> tables(rows * in.max_blocks, 0), sequence(rows);
  std::iota(sequence.begin(), sequence.end(), 0);
  for (size_t r = 0; r < rows; ++r) {
    if (c.positions[r] >= 0) tables[r * in.max_blocks + c.positions[r] / kBlock] = in.blocks[r];
  }
  const std::vector<uint16_t> empty((rows + 1) * c.shape.block_values(), kNanHalf);
  Device<float> qkv(in.qkv), q_norm(in.q_norm), k_norm(in.k_norm), inv_freq(in.inv_freq);
  Device<uint16_t> k(empty), v(empty);
  Device<int32_t> device_tables(tables), device_sequence(sequence), positions(c.positions);
  ShapeHeadsArgs a{};
  a.qkv = qkv.get() + first * c.shape.row_floats();
  a.q_norm = c.norm ? q_norm.get() : nullptr;
  a.k_norm = c.norm ? k_norm.get() : nullptr;
  a.inv_freq = inv_freq.get();
  a.cache = {
      k.get(), v.get(),      device_tables.get(), device_sequence.get() + first, positions.get() + first, in.max_blocks,
      kBlock,  c.shape.n_kv, c.shape.d_head};
  a.m = n;
  a.n_heads = c.shape.n_heads;
  a.n_rot = c.n_rot;
  a.magnitude = c.magnitude;
  a.epsilon = 1e-6f;
  CUDA_OK(launch_shape_heads(a, nullptr));
  return {qkv.host(), k.host(), v.host()};
}

std::vector<double> expected_shape(const ShapeCase& c, const ShapeInput& in, int32_t row, int32_t head) {
  const int32_t d = c.shape.d_head, half = c.n_rot / 2;
  const float* from = in.qkv.data() + row * c.shape.row_floats() + static_cast<int64_t>(head) * d;
  std::vector<double> x(from, from + d);
  if (head >= c.shape.n_heads + c.shape.n_kv || c.positions[row] < 0) return x;
  if (c.norm) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    const std::vector<float>& weight = head < c.shape.n_heads ? in.q_norm : in.k_norm;
    for (int32_t i = 0; i < d; ++i) x[i] = x[i] * weight[i] / std::sqrt(sum / d + 1e-6);
  }
  for (int32_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(c.positions[row]) * in.inv_freq[i];
    const double cosine = std::cos(angle) * c.magnitude, sine = std::sin(angle) * c.magnitude, x0 = x[i],
                 x1 = x[i + half];
    x[i] = x0 * cosine - x1 * sine;
    x[i + half] = x0 * sine + x1 * cosine;
  }
  return x;
}

// The cache as it has to be, from the floats that the kernel left (v: from the input).
void expected_cache(const ShapeCase& c, const ShapeInput& in, const Shaped& got, Shaped& want) {
  const Shape& s = c.shape;
  want.k.assign((c.positions.size() + 1) * s.block_values(), kNanHalf);
  want.v = want.k;
  for (size_t r = 0; r < c.positions.size(); ++r) {
    if (c.positions[r] < 0) continue;
    for (int32_t h = 0; h < s.n_kv; ++h) {
      const int64_t to =
          in.blocks[r] * s.block_values() + (static_cast<int64_t>(h) * kBlock + c.positions[r] % kBlock) * s.d_head;
      const float* k = got.qkv.data() + r * s.row_floats() + static_cast<int64_t>(s.n_heads + h) * s.d_head;
      const float* v = in.qkv.data() + r * s.row_floats() + static_cast<int64_t>(s.n_heads + s.n_kv + h) * s.d_head;
      for (int32_t i = 0; i < s.d_head; ++i) {
        want.k[to + i] = to_bits(k[i]);
        want.v[to + i] = to_bits(v[i]);
      }
    }
  }
}

void check_shape(const ShapeCase& c) {
  const std::string name =
      std::string("shape_heads ") + c.shape.name() + " rot " + std::to_string(c.n_rot) + (c.norm ? " norm" : "");
  const ShapeInput in = shape_input(c);
  const int32_t rows = static_cast<int32_t>(c.positions.size());
  const Shaped got = run_shape(c, in, 0, rows);
  double worst = 0;
  int32_t where = -1;
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t head = 0; head < c.shape.n_heads + 2 * c.shape.n_kv; ++head) {
      const std::vector<double> want = expected_shape(c, in, row, head);
      for (int32_t i = 0; i < c.shape.d_head; ++i) {
        const double error =
            std::fabs(got.qkv[row * c.shape.row_floats() + static_cast<int64_t>(head) * c.shape.d_head + i] - want[i]);
        if (!(error <= worst)) worst = error, where = c.positions[row];
      }
    }
  }
  const double limit = c.norm ? 2e-6 : 1e-6;  // normed values are about 3 times as large
  report(worst < limit, name, text("largest error %.2e", worst) + " at position " + std::to_string(where));
  Shaped want;
  expected_cache(c, in, got, want);
  report(got.k == want.k && got.v == want.v, name + " cache", "every half of both pools compared");
  bool same = true;
  for (int32_t row = 0; row < rows; ++row) {
    const Shaped alone = run_shape(c, in, row, 1);
    same &= std::memcmp(alone.qkv.data() + row * c.shape.row_floats(), got.qkv.data() + row * c.shape.row_floats(),
                        static_cast<size_t>(c.shape.row_floats()) * sizeof(float)) == 0;
  }
  report(same, name + " rows alone", "same bits wanted");
}

void check_all_shapes() {
  const std::vector<int32_t> positions = {0, 1, 31, -1, 32, 33, 1023, 16383, -1};
  for (const int32_t d : {16, 64, 80, 96, 128, 256}) check_shape({{12, 2, d}, d, d % 64 == 0, positions, 1.0f});
  check_shape({{6, 3, 80}, 32, true, positions, 1.0f});
  check_shape({{6, 3, 64}, 48, false, positions, 0.7f});
  check_shape({{4, 1, 128}, 128, false, {1000000, 1048575}, 1.0f});
}

// ---- copies

void check_copies() {
  for (const int64_t n : {int64_t{4096}, int64_t{1023}}) {
    std::vector<float> from(5 * n), blank(5 * n, -1.0f), want_gather = blank, want_scatter = blank;
    std::iota(from.begin(), from.end(), 0.0f);
    const std::vector<int32_t> rows = {4, -1, 0};
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      std::copy_n(from.begin() + rows[i] * n, n, want_gather.begin() + i * n);
      std::copy_n(from.begin() + i * n, n, want_scatter.begin() + rows[i] * n);
    }
    Device<float> source(from), gathered(blank), scattered(blank);
    Device<int32_t> device_rows(rows);
    CUDA_OK(launch_gather({source.get(), device_rows.get(), gathered.get(), n, 3}, nullptr));
    CUDA_OK(launch_scatter({source.get(), device_rows.get(), scattered.get(), n, 3}, nullptr));
    report(gathered.host() == want_gather, "gather", std::to_string(n) + " columns");
    report(scattered.host() == want_scatter, "scatter", std::to_string(n) + " columns");
  }
  const size_t block = 32 * 80 * 3, n_blocks = 4, n_pools = 5;
  std::vector<uint16_t> pools(n_pools * n_blocks * block);
  for (size_t i = 0; i < pools.size(); ++i) pools[i] = static_cast<uint16_t>(i * 2654435761u >> 13);
  Device<uint16_t> device(pools);
  CUDA_OK(
      launch_copy_block({device.get(), n_blocks * block * 2, block * 2, static_cast<int32_t>(n_pools), 1, 3}, nullptr));
  for (size_t p = 0; p < n_pools; ++p) {
    std::copy_n(pools.begin() + (p * n_blocks + 1) * block, block, pools.begin() + (p * n_blocks + 3) * block);
  }
  report(device.host() == pools, "copy_block", "every half of all pools compared");
}

}  // namespace

int main() {
  if (!has_device()) return kSkipped;
  check_copies();
  check_all_shapes();
  check_all_attention();
  return finish();
}
