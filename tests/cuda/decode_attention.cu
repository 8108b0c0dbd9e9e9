// Decode attention in one launch (norm, rotation, append, attention) against computations in double on the host and
// against the two launches that do the same for prompt rows, over caches of every type. Stand-alone: prints `ok` or
// `FAIL` for each case and exits with 1 if one failed. With the argument `speed`: a table of times and nothing else.
//
// All bytes of a cache that no key was put into are 0xff: NaN as a half, as E4M3 and as a scale.
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

namespace inlay::cuda {
void print_decode_attention_speeds();  // decode_attention_speed.cu
}

namespace {

using namespace inlay::cuda;

constexpr float kEpsilon = 1e-6f;
constexpr double kLimit = 1e-5;  // relative L2 error of a row: matrix instructions cut off the low bits of their sums

struct Case {
  int32_t n_heads, n_kv, d_head;
  KvType type = KvType::f16;
  int32_t n_rot = 0;
  bool norm = false;
  float magnitude = 1.0f;
  Variant variant = {};

  int64_t row_floats() const { return (int64_t{n_heads} + 2 * n_kv) * d_head; }
  int64_t out_floats() const { return int64_t{n_heads} * d_head; }
  size_t block_bytes() const { return kv_block_bytes(type, n_kv, d_head, kBlock); }
  std::string name() const {
    return "heads " + std::to_string(n_heads) + "/" + std::to_string(n_kv) + " d " + std::to_string(d_head) + " rot " +
           std::to_string(n_rot) + (norm ? " norm " : " ") + name_of(type) + variant.name();
  }
};

// One pool of a cache on the host.
struct Pool {
  Case c;
  std::vector<uint8_t> bytes;

  size_t head_at(int32_t block, int32_t head, int32_t token) const {
    const size_t in_block = (static_cast<size_t>(head) * kBlock + token) * c.d_head;
    return block * c.block_bytes() + in_block * (c.type == KvType::f16 ? 2 : 1);
  }
  size_t scale_at(int32_t block, int32_t head, int32_t token) const {
    const size_t elements = static_cast<size_t>(c.n_kv) * kBlock * c.d_head;
    return block * c.block_bytes() + elements + (static_cast<size_t>(head) * kBlock + token) * sizeof(float);
  }
  double scale(int32_t block, int32_t head, int32_t token) const {
    if (c.type == KvType::f16) return 1.0;
    float scale;
    std::memcpy(&scale, &bytes[scale_at(block, head, token)], sizeof scale);
    return scale;
  }
  std::vector<double> read(int32_t block, int32_t head, int32_t token) const {
    std::vector<double> x(static_cast<size_t>(c.d_head));
    const uint8_t* from = &bytes[head_at(block, head, token)];
    const double unit = scale(block, head, token);
    for (int32_t i = 0; i < c.d_head; ++i) {
      uint16_t half = 0;
      if (c.type == KvType::f16) std::memcpy(&half, from + 2 * i, sizeof half);
      const double code = c.type == KvType::f16    ? from_bits(half)
                          : c.type == KvType::int8 ? static_cast<int8_t>(from[i])
                                                   : e4m3_value(from[i]);
      x[i] = code * unit;
    }
    return x;
  }
};

// Rows of one token each, every one of a sequence of its own whose earlier keys lie in shuffled blocks.
struct Problem {
  Case c;
  int32_t max_blocks = 1, n_blocks = 1;  // block 0 belongs to nobody
  std::vector<int32_t> positions, tables;
  std::vector<float> qkv, q_norm, k_norm, inv_freq;
  Pool k, v;

  int32_t rows() const { return static_cast<int32_t>(positions.size()); }
  int32_t max_context() const { return max_blocks * kBlock; }
  int32_t block(int32_t row, int32_t key) const { return tables[static_cast<size_t>(row) * max_blocks + key / kBlock]; }
};

void fill_head(Pool& pool, int32_t block, int32_t head, int32_t token, const std::vector<float>& noise, unsigned from) {
  uint8_t* to = &pool.bytes[pool.head_at(block, head, token)];
  for (int32_t i = 0; i < pool.c.d_head; ++i) {
    const float x = noise[(from + i) & 65535];
    const uint16_t half = to_bits(x);
    if (pool.c.type == KvType::f16) std::memcpy(to + 2 * i, &half, sizeof half);
    if (pool.c.type == KvType::int8) to[i] = static_cast<uint8_t>(std::lround(std::clamp(40 * x, -127.0f, 127.0f)));
    if (pool.c.type == KvType::fp8_e4m3) {  // 32 x, cut off
      const int exponent = (half >> 10 & 31) - 3;
      to[i] = static_cast<uint8_t>((half >> 8 & 0x80) |
                                   (exponent < 1 ? 0 : std::min(exponent << 3 | (half >> 7 & 7), 0x7e)));
    }
  }
  if (pool.c.type == KvType::f16) return;
  const float scale = (pool.c.type == KvType::int8 ? 0.025f : 0.03f) * (0.5f + static_cast<float>(from % 1024) / 1024);
  std::memcpy(&pool.bytes[pool.scale_at(block, head, token)], &scale, sizeof scale);
}

// `room`: positions that every sequence has blocks for beyond its own.
Problem make_problem(const Case& c, const std::vector<int32_t>& positions, unsigned seed, int32_t room = 1) {
  Problem p{.c = c, .positions = positions, .k = {c, {}}, .v = {c, {}}};
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (const int32_t position : positions) {
    p.max_blocks = std::max(p.max_blocks, (position + room + kBlock - 1) / kBlock);
    p.n_blocks += position < 0 ? 0 : (position + room + kBlock - 1) / kBlock;
  }
  std::vector<int32_t> order(static_cast<size_t>(p.n_blocks - 1));
  std::iota(order.begin(), order.end(), 1);
  std::shuffle(order.begin(), order.end(), random);
  p.tables.assign(positions.size() * p.max_blocks, 0);
  p.k.bytes.assign(p.n_blocks * c.block_bytes(), 0xff);
  p.v.bytes = p.k.bytes;
  std::vector<float> noise(65536);  // drawing every value anew would take longer than all else
  for (float& x : noise) x = normal(random);
  size_t next = 0;
  for (int32_t row = 0; row < p.rows(); ++row) {
    const int32_t position = positions[row];
    for (int32_t b = 0; position >= 0 && b * kBlock < position + room; ++b) {
      p.tables[static_cast<size_t>(row) * p.max_blocks + b] = order[next++];
    }
    for (int32_t i = c.variant.first_key(position) * c.n_kv; i < position * c.n_kv; ++i) {
      fill_head(p.k, p.block(row, i / c.n_kv), i % c.n_kv, i / c.n_kv % kBlock, noise, random());
      fill_head(p.v, p.block(row, i / c.n_kv), i % c.n_kv, i / c.n_kv % kBlock, noise, random());
    }
  }
  p.qkv.resize(positions.size() * static_cast<size_t>(c.row_floats()));
  for (float& x : p.qkv) x = 2.0f * normal(random);
  for (int32_t i = 0; i < c.d_head; ++i) {
    p.q_norm.push_back(1.0f + 0.2f * normal(random));
    p.k_norm.push_back(1.0f + 0.2f * normal(random));
  }
  for (int32_t i = 0; i < c.n_rot / 2; ++i) {
    p.inv_freq.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / c.n_rot)));
  }
  return p;
}

// A head after norm and rotation; head counts q, then k, then v.
std::vector<double> shaped(const Problem& p, int32_t row, int32_t head) {
  const Case& c = p.c;
  const float* from = p.qkv.data() + row * c.row_floats() + static_cast<int64_t>(head) * c.d_head;
  std::vector<double> x(from, from + c.d_head);
  if (head >= c.n_heads + c.n_kv) return x;
  if (c.norm) {
    const std::vector<float>& weight = head < c.n_heads ? p.q_norm : p.k_norm;
    const double mean = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / c.d_head;
    for (int32_t i = 0; i < c.d_head; ++i) x[i] *= weight[i] / std::sqrt(mean + kEpsilon);
  }
  for (int32_t i = 0; i < c.n_rot / 2; ++i) {
    const double angle = static_cast<double>(p.positions[row]) * p.inv_freq[i];
    const double cosine = std::cos(angle) * c.magnitude, sine = std::sin(angle) * c.magnitude;
    const double x0 = x[i], x1 = x[i + c.n_rot / 2];
    x[i] = x0 * cosine - x1 * sine;
    x[i + c.n_rot / 2] = x0 * sine + x1 * cosine;
  }
  return x;
}

// The problem on the device. The scratch is shared by every launch, so a ticket that is not reset shows in the next.
class OnDevice {
 public:
  explicit OnDevice(const Problem& p)
      : p_(p),
        qkv_(p.qkv),
        q_norm_(p.q_norm),
        k_norm_(p.k_norm),
        inv_freq_(p.inv_freq),
        k_(p.k.bytes),
        v_(p.v.bytes),
        tables_(p.tables),
        sequence_(p.positions.size()),
        positions_(p.positions),
        sinks_(p.c.variant.sinks),
        turns_(p.positions.size() * std::max<size_t>(p.inv_freq.size(), 1)),
        out_(p.positions.size() * static_cast<size_t>(p.c.out_floats())),
        scratch_(attention_scratch_bytes(p.rows(), p.c.n_heads, p.c.n_kv, p.c.d_head, p.max_context())) {
    std::vector<int32_t> lines(p.positions.size());
    std::iota(lines.begin(), lines.end(), 0);
    sequence_.put(lines);
    scratch_.fill(0);
  }

  void set_positions(const std::vector<int32_t>& positions) { positions_.put(positions); }
  void set_qkv(const std::vector<float>& qkv) { qkv_.put(qkv); }
  void set_pools(const Pool& k, const Pool& v) { k_.put(k.bytes), v_.put(v.bytes); }
  Pool keys() const { return {p_.c, k_.host()}; }
  Pool values() const { return {p_.c, v_.host()}; }
  std::vector<float> qkv() const { return qkv_.host(); }

  // Rows first .. first + n - 1 in one launch; results elsewhere are NaN.
  std::vector<float> run(int32_t first, int32_t n) {
    clear_out();
    RopeTableArgs r{positions_.get() + first,
                    inv_freq_.get(),
                    turns_.get() + first * (p_.c.n_rot / 2),
                    n,
                    p_.c.n_rot,
                    p_.c.magnitude};
    CUDA_OK(launch_rope_table(r, nullptr));
    DecodeAttentionArgs a{};
    a.qkv = qkv_.get() + first * p_.c.row_floats();
    a.q_norm = p_.c.norm ? q_norm_.get() : nullptr;
    a.k_norm = p_.c.norm ? k_norm_.get() : nullptr;
    a.rope = turns_.get() + first * (p_.c.n_rot / 2);
    a.out = out_.get() + first * p_.c.out_floats();
    a.cache = cache(first);
    a.scratch = scratch_.get();
    a.m = n;
    a.n_heads = p_.c.n_heads;
    a.n_rot = p_.c.n_rot;
    a.max_context = p_.max_context();
    a.scale = softmax_scale();
    a.epsilon = kEpsilon;
    a.variant = p_.c.variant.on_device(sinks_);
    CUDA_OK(launch_decode_attention(a, nullptr));
    return out_.host();
  }
  std::vector<float> run() { return run(0, p_.rows()); }

  // What prompt rows take: two launches, which change qkv.
  std::vector<float> run_pair() {
    clear_out();
    ShapeHeadsArgs s{};
    s.qkv = qkv_.get();
    s.q_norm = p_.c.norm ? q_norm_.get() : nullptr;
    s.k_norm = p_.c.norm ? k_norm_.get() : nullptr;
    s.inv_freq = inv_freq_.get();
    s.cache = cache(0);
    s.m = p_.rows();
    s.n_heads = p_.c.n_heads;
    s.n_rot = p_.c.n_rot;
    s.magnitude = p_.c.magnitude;
    s.epsilon = kEpsilon;
    CUDA_OK(launch_shape_heads(s, nullptr));
    AttentionArgs a{};
    a.qkv = qkv_.get();
    a.out = out_.get();
    a.cache = cache(0);
    a.scratch = scratch_.get();
    a.m = p_.rows();
    a.n_heads = p_.c.n_heads;
    a.max_context = p_.max_context();
    a.scale = softmax_scale();
    a.variant = p_.c.variant.on_device(sinks_);
    CUDA_OK(launch_attention(a, nullptr));
    return out_.host();
  }

  float softmax_scale() const { return 1.0f / std::sqrt(static_cast<float>(p_.c.d_head)); }

 private:
  void clear_out() { out_.put(std::vector<float>(p_.positions.size() * static_cast<size_t>(p_.c.out_floats()), NAN)); }
  CacheView cache(int32_t first) {
    return {
        k_.get(),  v_.get(),    tables_.get(), sequence_.get() + first, positions_.get() + first, p_.max_blocks, kBlock,
        p_.c.n_kv, p_.c.d_head, p_.c.type};
  }

  const Problem& p_;
  Device<float> qkv_, q_norm_, k_norm_, inv_freq_;
  Device<uint8_t> k_, v_;
  Device<int32_t> tables_, sequence_, positions_;
  Device<float> sinks_;
  Device<float2> turns_;
  Device<float> out_;
  Device<char> scratch_;
};

// Attention of a row in double over what the cache holds after the launch.
std::vector<double> expected_row(const Problem& p, const Pool& k, const Pool& v, int32_t row) {
  const Case& c = p.c;
  const int32_t n_keys = p.positions[row] + 1, first = c.variant.first_key(p.positions[row]),
                group = c.n_heads / c.n_kv;
  const auto scale = static_cast<double>(1.0f / std::sqrt(static_cast<float>(c.d_head)));
  std::vector<double> out(static_cast<size_t>(c.out_floats()), 0.0);
  for (int32_t kv_head = 0; kv_head < c.n_kv; ++kv_head) {
    std::vector<std::vector<double>> queries, score(static_cast<size_t>(group), std::vector<double>(n_keys));
    for (int32_t g = 0; g < group; ++g) queries.push_back(shaped(p, row, kv_head * group + g));
    for (int32_t t = first; t < n_keys; ++t) {
      const std::vector<double> key = k.read(p.block(row, t), kv_head, t % kBlock);
      for (int32_t g = 0; g < group; ++g) {
        score[g][t] = c.variant.capped(scale * std::inner_product(key.begin(), key.end(), queries[g].begin(), 0.0));
      }
    }
    std::vector<double> sum(static_cast<size_t>(group), 0.0);
    for (int32_t g = 0; g < group; ++g) {
      const double top = *std::max_element(score[g].begin() + first, score[g].end());
      sum[g] = c.variant.sink_weight(kv_head * group + g, top);
      for (int32_t t = first; t < n_keys; ++t) sum[g] += score[g][t] = std::exp(score[g][t] - top);
    }
    for (int32_t t = first; t < n_keys; ++t) {
      const std::vector<double> value = v.read(p.block(row, t), kv_head, t % kBlock);
      for (int32_t g = 0; g < group; ++g) {
        double* to = out.data() + static_cast<size_t>(kv_head * group + g) * c.d_head;
        for (int32_t i = 0; i < c.d_head; ++i) to[i] += score[g][t] / sum[g] * value[i];
      }
    }
  }
  return out;
}

double row_error(int32_t row, const std::vector<float>& got, const std::vector<double>& want) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = got[row * want.size() + i] - want[i];
    difference += d * d;
    size += want[i] * want[i];
  }
  return std::isfinite(difference) ? std::sqrt(difference / size) : INFINITY;
}

// What the launch has put into the cache: the shaped key and the value, within the rounding of their type, and nothing
// anywhere else.
std::string wrong_append(const Problem& p, Pool got, const Pool& before, int32_t first_head) {
  const Case& c = p.c;
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (p.positions[row] < 0) continue;
    const int32_t block = p.block(row, p.positions[row]), token = p.positions[row] % kBlock;
    for (int32_t head = 0; head < c.n_kv; ++head) {
      const std::vector<double> want = shaped(p, row, first_head + head), have = got.read(block, head, token);
      double largest = 0;
      for (const double x : want) largest = std::max(largest, std::fabs(x));
      const double unit = got.scale(block, head, token), codes = c.type == KvType::int8 ? 127 : 448;
      if (c.type != KvType::f16 && !(std::fabs(unit * codes / largest - 1) < 1e-5)) {
        return text("scale %.7g", unit) + " of row " + std::to_string(row);
      }
      for (int32_t i = 0; i < c.d_head; ++i) {
        const double bound = 2e-6 * largest + (c.type == KvType::f16    ? 0x1p-11 * std::fabs(want[i]) + 0x1p-25
                                               : c.type == KvType::int8 ? 0.5 * unit
                                                                        : 0x1p-4 * std::fabs(want[i]) + 0x1p-10 * unit);
        if (!(std::fabs(have[i] - want[i]) <= bound)) {
          return "row " + std::to_string(row) + " head " + std::to_string(head) + " component " + std::to_string(i) +
                 text(": %.7g", have[i]) + text(", exact %.7g", want[i]);
        }
      }
      const size_t bytes = static_cast<size_t>(c.d_head) * (c.type == KvType::f16 ? 2 : 1);
      const size_t at = got.head_at(block, head, token);
      std::copy_n(before.bytes.begin() + at, bytes, got.bytes.begin() + at);
      if (c.type == KvType::f16) continue;
      const size_t scale_at = got.scale_at(block, head, token);
      std::copy_n(before.bytes.begin() + scale_at, sizeof(float), got.bytes.begin() + scale_at);
    }
  }
  return got.bytes == before.bytes ? "" : "bytes of other positions changed";
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::string rows_that_differ_alone(const Problem& p, OnDevice& device, const std::vector<float>& together) {
  std::string differ;
  const int64_t n = p.c.out_floats();
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (p.positions[row] < 0) continue;
    const std::vector<float> alone = device.run(row, 1);
    if (std::memcmp(alone.data() + row * n, together.data() + row * n, static_cast<size_t>(n) * sizeof(float)) != 0) {
      differ += " " + std::to_string(p.positions[row]);
    }
  }
  return differ;
}

void check_case(const Case& c, const std::vector<int32_t>& positions) {
  const Problem p = make_problem(c, positions, 7u * c.d_head + c.n_heads);
  OnDevice device(p);
  const std::vector<float> got = device.run();
  const Pool k = device.keys(), v = device.values();
  const std::string wrong_key = wrong_append(p, k, p.k, c.n_heads);
  const std::string wrong_value = wrong_append(p, v, p.v, c.n_heads + c.n_kv);
  report(
      wrong_key.empty() && wrong_value.empty(), c.name() + " append",
      wrong_key + wrong_value + (wrong_key.empty() && wrong_value.empty() ? "every byte of the cache compared" : ""));
  double worst = 0;
  int32_t where = -1;
  size_t padding_written = 0;
  for (int32_t row = 0; row < p.rows(); ++row) {
    if (positions[row] < 0) {
      const auto begin = got.begin() + row * c.out_floats();
      padding_written += std::count_if(begin, begin + c.out_floats(), [](float x) { return !std::isnan(x); });
      continue;
    }
    const double error = row_error(row, got, expected_row(p, k, v, row));
    if (!(error <= worst)) worst = error, where = positions[row];
  }
  report(worst < kLimit && padding_written == 0, c.name(),
         text("largest relative error %.2e", worst) + " at position " + std::to_string(where) +
             ", padding values written " + std::to_string(padding_written));
  report(same_bits(device.qkv(), p.qkv), c.name() + " input", "qkv is as it was");
  const std::string differ = rows_that_differ_alone(p, device, got);
  report(differ.empty(), c.name() + " rows alone", "positions that differ:" + (differ.empty() ? " none" : differ));
  device.set_pools(p.k, p.v);
  const std::vector<float> pair = device.run_pair();
  report(same_bits(pair, got), c.name() + " as two launches", "same bits wanted");
  report(device.keys().bytes == k.bytes && device.values().bytes == v.bytes, c.name() + " cache of two launches",
         "same bits wanted");
}

// A second step finds what the first appended; without it, or with a damaged key, its result is another.
void check_two_steps(KvType type) {
  const Case c{8, 2, 128, type, 128, true};
  const std::vector<int32_t> positions = {40, 300, 1023};
  Problem p = make_problem(c, positions, 3, 2);
  OnDevice device(p);
  device.run();
  const Pool k = device.keys(), v = device.values();
  const Problem first = p;
  for (int32_t& position : p.positions) ++position;
  std::rotate(p.qkv.begin(), p.qkv.begin() + 1, p.qkv.end());
  device.set_positions(p.positions);
  device.set_qkv(p.qkv);
  const std::vector<float> good = device.run();
  const Pool k2 = device.keys(), v2 = device.values();
  const auto worst = [&](const std::vector<float>& got) {
    double error = 0;
    for (int32_t row = 0; row < p.rows(); ++row) {
      error = std::max(error, row_error(row, got, expected_row(p, k2, v2, row)));
    }
    return error;
  };
  report(worst(good) < kLimit, c.name() + " second step", text("relative error %.2e", worst(good)));
  device.set_pools(first.k, v);
  const double without = worst(device.run());
  report(!(without < 1e-3), c.name() + " a key that was not appended is noticed", text("relative error %.2e", without));
  Pool damaged = k;
  for (int32_t i = 0; i < c.d_head; ++i) damaged.bytes[damaged.head_at(p.block(0, 7), 1, 7) + i] = 0x3b;
  device.set_pools(damaged, v);
  const double with_damage = worst(device.run());
  report(!(with_damage < 1e-4), c.name() + " a damaged key is noticed", text("relative error %.2e", with_damage));
  device.set_pools(k, v);
  report(same_bits(device.run(), good), c.name() + " the right keys again", "same bits wanted");
}

// Heads of zeros have scale 0; queries near the ends of F32 neither overflow nor vanish.
void check_extremes(KvType type) {
  const Case c{4, 2, 64, type, 0, false};
  Problem p = make_problem(c, {37, 290}, 4);
  const int64_t n = c.row_floats();
  for (int64_t i = 0; i < c.out_floats(); ++i) p.qkv[i] *= 1e-30f, p.qkv[n + i] *= 1e5f;
  for (int64_t i = c.out_floats(); i < n; ++i) p.qkv[i] = 0;
  OnDevice device(p);
  const std::vector<float> got = device.run();
  const Pool k = device.keys(), v = device.values();
  double worst = 0;
  for (int32_t row = 0; row < 2; ++row) worst = std::max(worst, row_error(row, got, expected_row(p, k, v, row)));
  const bool zeros = type == KvType::f16 || v.scale(p.block(0, 37), 0, 37 % kBlock) == 0;
  // Scores of 10^6 have an error of 0.1 in F32, but the largest of them alone decides.
  report(worst < kLimit && zeros, c.name() + " extremes", text("largest relative error %.2e", worst));
}

// Windows, caps and sinks; what is a little wrong must differ from what is right.
void check_variants(KvType type) {
  const std::vector<int32_t> positions = {0,  15, -1,  16,  31,  32,  47,   63,   64,
                                          65, 99, 100, 299, 300, 999, 1000, 1001, 7000};
  for (const Variant& v : some_variants(8)) {
    check_case({8, 2, 128, type, 128, true, 1.0f, v}, positions);
    if (v.window > 64) check_case({8, 8, 80, type, 0, false, 1.0f, v}, positions);
    if (v.window == 33 || v.soft_cap == 10.0f) check_case({8, 1, 256, type, 64, false, 1.0f, v}, positions);
  }
  const Case c{8, 2, 64, type, 64, false, 1.0f, {.window = 33, .soft_cap = 10.0f, .sinks = some_sinks(8)}};
  Problem p = make_problem(c, positions, 9);
  OnDevice device(p);
  const std::vector<float> got = device.run();
  const Pool k = device.keys(), v = device.values();
  for (const Variant& wrong : wrong_variants(c.variant)) {
    if (wrong.window > c.variant.window) continue;  // keys that are not there
    p.c.variant = wrong;
    double worst = 0;
    for (int32_t row = 0; row < p.rows(); ++row) {
      if (positions[row] >= 0) worst = std::max(worst, row_error(row, got, expected_row(p, k, v, row)));
    }
    report(worst > 100 * kLimit, "control" + c.variant.name() + " is not" + wrong.name(),
           text("largest relative error %.2e", worst));
  }
}

void check_all() {
  const std::vector<int32_t> contexts = {1,   2,   31,  32,   33,   63,   64,   65,   255,
                                         256, 257, 513, 1023, 1024, 1025, 8192, 16384};
  std::vector<int32_t> positions;
  for (const int32_t n : contexts) positions.push_back(n - 1);
  positions.insert(positions.begin() + 4, -1);
  positions.push_back(-1);
  for (const int32_t d : {16, 32, 64, 80, 96, 128, 256}) {
    for (int32_t group = 1; group <= 8; ++group) {
      const int32_t n_rot = group % 3 == 0 ? d / 2 : group % 3 == 1 ? d : 8;
      check_case({2 * group, 2, d, KvType::f16, n_rot, group % 2 == 0, group == 3 ? 0.7f : 1.0f}, positions);
    }
  }
  check_case({4, 2, 32, KvType::f16, 32, true}, positions);
  check_case({12, 1, 64, KvType::f16, 64, true}, positions);  // two passes of 6; 64 splits
  check_case({9, 1, 24, KvType::f16, 0, false}, positions);   // two passes of 5 and 4, nothing to rotate
  check_case({40, 8, 128, KvType::f16, 128, true}, positions);
  for (const KvType type : {KvType::int8, KvType::fp8_e4m3}) {
    for (const int32_t d : {16, 64, 80, 96, 128, 256}) check_case({10, 2, d, type, d, d != 80}, positions);
    check_case({12, 1, 64, type, 64, true}, positions);
  }
  for (const KvType type : {KvType::f16, KvType::int8, KvType::fp8_e4m3}) {
    std::vector<int32_t> many;  // more rows than one launch takes; CTAs that do several splits
    for (int32_t row = 0; row < 70; ++row) many.push_back(row % 7 == 3 ? -1 : 1500 + 31 * row);
    check_case({8, 8, 64, type, 64, false}, many);
    check_variants(type);
    check_two_steps(type);
    check_extremes(type);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  if (argc > 1 && std::string(argv[1]) == "speed") {
    print_decode_attention_speeds();
    return 0;
  }
  check_all();
  return finish();
}
