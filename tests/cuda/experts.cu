// Stand-alone check of the kernels of mixtures of experts (kernels/cuda/moe_kernels.h): routing against the host's
// choice and places, products and their sum against double sums, a row's bits in any company, ties, padding, and which experts'
// weights matter at all; then speeds ("speed" as argument: alone).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/expert_choice.h"
#include "kernels/cuda/moe_kernels.h"
#include "kernels/ref/dequantize.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

struct Sizes {
  DType type;
  int32_t n_experts, n_used;
  int64_t d_model, d_ff;
  bool softmax_over_chosen, shared;
};

std::string name(const Sizes& s) {
  return text("%s %dx%lldx%lld, %d used", traits(s.type).name, s.n_experts, static_cast<long long>(s.d_ff),
              static_cast<long long>(s.d_model), s.n_used);
}

std::vector<float> normal_values(size_t n, float size, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = size * normal(rng);
  return v;
}

// A stack of matrices as a file has them, packed, and their values.
struct Stack {
  DType type;
  int64_t n_rows, n_cols;  // of all
  std::vector<uint8_t> bytes;
  std::vector<float> values;  // empty where only speed is measured

  Stack(DType t, int64_t rows, int64_t cols, bool has_values, std::mt19937& rng)
      : type(t), n_rows(rows), n_cols(cols), bytes(random_rows(t, rows, cols, 1.0f, rng)) {
    if (has_values) read();
  }
  void read() {
    values.resize(n_rows * n_cols);
    for (int64_t r = 0; r < n_rows; ++r) {
      ref::dequantize_row(type, &bytes[r * row_bytes(type, n_cols)], n_cols, &values[r * n_cols]);
    }
  }
  // Other bytes in the first row of an expert, still numbers.
  void damage(int64_t first_row) {
    for (uint64_t i = 0; i < row_bytes(type, n_cols); ++i) {
      bytes[first_row * row_bytes(type, n_cols) + i] = bytes[(first_row + 1) * row_bytes(type, n_cols) + i];
    }
    read();
  }
};

void repack(const Stack& gate, const Stack* up, const Device<uint8_t>& packed) {
  const Device<uint8_t> rows(gate.bytes), more(up != nullptr ? up->bytes : std::vector<uint8_t>(1));
  CUDA_OK(launch_repack({rows.get(), up != nullptr ? more.get() : nullptr, packed.get(), up != nullptr ? 2 * gate.n_rows : gate.n_rows,
                         gate.n_cols, gate.type, up != nullptr ? RowOrder::gate_up : RowOrder::plain},
                        nullptr));
  CUDA_OK(cudaDeviceSynchronize());
}

// A layer of experts in device memory.
struct Layer {
  Sizes s;
  Stack gate, up, down;
  std::vector<float> router, norm, bias, shared_gate, down_bias;
  Device<uint8_t> gate_up_packed, down_packed, router_packed;
  Device<float> norm_at, bias_at, shared_at, down_bias_at;

  Layer(const Sizes& sizes, std::mt19937& rng, bool has_values = true)
      : s(sizes),
        gate(s.type, s.n_experts * s.d_ff, s.d_model, has_values, rng),
        up(s.type, s.n_experts * s.d_ff, s.d_model, has_values, rng),
        down(s.type, s.n_experts * s.d_model, s.d_ff, has_values, rng),
        router(normal_values(s.n_experts * s.d_model, 0.1f, rng)),
        norm(normal_values(s.d_model, 0.1f, rng)),
        bias(normal_values(s.n_experts, 0.3f, rng)),
        shared_gate(normal_values(s.d_model, 0.1f, rng)),
        down_bias(normal_values(s.n_experts * s.d_model, 1.0f, rng)),
        gate_up_packed(packed_bytes(s.type, 2 * gate.n_rows, s.d_model)),
        down_packed(packed_bytes(s.type, down.n_rows, s.d_ff)),
        router_packed(packed_bytes(DType::f32, s.n_experts, s.d_model)),
        norm_at(s.d_model),
        bias_at(bias),
        shared_at(shared_gate),
        down_bias_at(down_bias) {
    for (float& v : norm) v += 1.0f;
    norm_at.put(norm);
    for (float& v : router) v /= std::sqrt(static_cast<float>(s.d_model)) * 0.05f;
    put();
  }
  void put() {
    repack(gate, &up, gate_up_packed);
    repack(down, nullptr, down_packed);
    const Device<float> rows(router);
    CUDA_OK(launch_repack({rows.get(), nullptr, router_packed.get(), s.n_experts, s.d_model, DType::f32, RowOrder::plain}, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
  }
};

// The launches of a step of m rows.
struct Step {
  const Layer& layer;
  MoeShape shape;
  Device<uint8_t> routing_memory, prepared;
  Device<float> x, ffn, out, shared_out;
  Device<int32_t> positions;
  MoeRouting routing;
  bool raw;

  Step(const Layer& l, const std::vector<float>& rows, const std::vector<int32_t>& at, bool raw_row = true)
      : layer(l),
        shape(moe_shape_for(static_cast<int32_t>(at.size()), l.s.n_experts, l.s.n_used)),
        routing_memory(moe_routing_bytes(shape)),
        prepared(std::vector<uint8_t>(activation_bytes(shape.n_places(), std::max(l.s.d_model, l.s.d_ff)))),
        x(rows),
        ffn(std::vector<float>(shape.n_places() * l.s.d_ff)),
        out(std::vector<float>(shape.n_places() * l.s.d_model)),
        shared_out(std::vector<float>(at.size() * l.s.d_model, 0.25f)),
        positions(at),
        routing(moe_routing_at(routing_memory.get(), shape)),
        raw(raw_row && at.size() == 1 && linear_takes_raw(l.s.type, l.s.d_model)) {
    routing_memory.fill(0x5a);
  }

  void route(cudaStream_t stream) const {
    CUDA_OK(launch_moe_route({x.get(), layer.norm_at.get(), reinterpret_cast<const float*>(layer.router_packed.get()),
                              layer.bias_at.get(), layer.s.shared ? layer.shared_at.get() : nullptr, positions.get(), routing,
                              shape, layer.s.d_model, 1e-6f, 1.5f, layer.s.softmax_over_chosen},
                             stream));
  }
  void prepare(const float* rows, const float* norm, const int32_t* map, const Activations& to, int64_t n_cols, cudaStream_t stream) const {
    CUDA_OK(launch_activations({rows, norm, map, to, shape.n_places(), n_cols, 1e-6f, activation_form(layer.s.type)}, stream));
  }
  void multiply(LinearArgs a, bool routing_is_older, cudaStream_t stream) const {
    a.m = a.raw != nullptr ? 1 : std::min(shape.m, shape.block_rows);
    a.dtype = layer.s.type, a.epsilon = 1e-6f;
    CUDA_OK(launch_expert_linear({a, routing.blocks, routing.n_blocks, shape.most_blocks(), routing_is_older}, stream));
  }
  void in(cudaStream_t stream) const {
    LinearArgs a{};
    a.weights = layer.gate_up_packed.get(), a.norm_weight = layer.norm_at.get();
    a.n_rows = 2 * layer.s.d_ff, a.n_cols = layer.s.d_model, a.ld_out = layer.s.d_ff, a.out = ffn.get();
    a.epilogue = Epilogue::gate_up;
    if (raw) {
      a.raw = x.get();
    } else {
      a.x = activations_at(prepared.get(), shape.n_places(), layer.s.d_model);
      prepare(x.get(), layer.norm_at.get(), routing.place_row, a.x, layer.s.d_model, stream);
    }
    multiply(a, false, stream);
  }
  // What adds up a single row that goes to the products as it is.
  ExpertRowArgs row_args() const {
    LinearArgs a{};
    a.weights = layer.down_packed.get(), a.bias = layer.down_bias_at.get();
    a.n_rows = layer.s.d_model, a.n_cols = layer.s.d_ff, a.ld_out = layer.s.d_model, a.out = out.get();
    a.m = 1, a.dtype = layer.s.type;
    return {a, ffn.get(), sum_args()};
  }
  MoeCombineArgs sum_args() const {
    return {x.get(), out.get(), layer.s.shared ? shared_out.get() : nullptr, routing, shape, layer.s.d_model};
  }
  void add(cudaStream_t stream) const {
    const ExpertRowArgs row = row_args();
    if (raw && expert_row_runs(row)) {
      CUDA_OK(launch_expert_row(row, stream));
      return;
    }
    LinearArgs a = row.linear;
    a.x = activations_at(prepared.get(), shape.n_places(), layer.s.d_ff);
    prepare(ffn.get(), nullptr, nullptr, a.x, layer.s.d_ff, stream);
    multiply(a, true, stream);
    CUDA_OK(launch_moe_combine(sum_args(), stream));
  }
  void run(cudaStream_t stream = nullptr) const { route(stream), in(stream), add(stream); }
  std::vector<float> results() const { return x.host(); }
  template <class T>
  std::vector<T> read(const T* from, size_t n) const {
    std::vector<T> v(n);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(v.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// One row in doubles.
struct Expected {
  std::vector<int32_t> experts;
  std::vector<float> weights;
  std::vector<double> x;
  double margin;  // between the last that was chosen and the next

  Expected(const Layer& l, const float* row) : experts(l.s.n_used), weights(l.s.n_used), x(row, row + l.s.d_model) {
    double squares = 0;
    for (const double v : x) squares += v * v;
    std::vector<double> y = x;
    for (int64_t i = 0; i < l.s.d_model; ++i) y[i] *= l.norm[i] / std::sqrt(squares / l.s.d_model + 1e-6);
    std::vector<float> logits;
    for (int32_t e = 0; e < l.s.n_experts; ++e) logits.push_back(dot(&l.router[e * l.s.d_model], y) + l.bias[e]);
    choose_experts({logits.data(), experts.data(), weights.data(), l.s.n_experts, l.s.n_used, 1.5f, l.s.softmax_over_chosen});
    std::vector<float> sorted = logits;
    std::sort(sorted.rbegin(), sorted.rend());
    margin = l.s.n_used < l.s.n_experts ? sorted[l.s.n_used - 1] - sorted[l.s.n_used] : 1;
    for (int32_t i = 0; i < l.s.n_used; ++i) margin = std::min<double>(margin, i > 0 ? sorted[i - 1] - sorted[i] : margin);
    for (int32_t i = 0; i < l.s.n_used; ++i) add_expert(l, experts[i], weights[i], y);
    const double shared = 1 / (1 + std::exp(-dot(l.shared_gate.data(), y)));
    if (l.s.shared) for (double& v : x) v += 0.25 * shared;
  }
  static double dot(const float* w, const std::vector<double>& v) {
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i) sum += w[i] * v[i];
    return sum;
  }
  void add_expert(const Layer& l, int64_t e, double weight, const std::vector<double>& y) {
    std::vector<double> ffn;
    for (int64_t r = e * l.s.d_ff; r < (e + 1) * l.s.d_ff; ++r) {
      const double g = dot(&l.gate.values[r * l.s.d_model], y), u = dot(&l.up.values[r * l.s.d_model], y);
      ffn.push_back(g / (1 + std::exp(-g)) * u);
    }
    for (int64_t r = 0; r < l.s.d_model; ++r) {
      const int64_t at = e * l.s.d_model + r;
      x[r] += weight * (dot(&l.down.values[at * l.s.d_ff], ffn) + l.down_bias[at]);
    }
  }
};

std::vector<int32_t> positions_of(int32_t m) {
  std::vector<int32_t> v(m);
  for (int32_t i = 0; i < m; ++i) v[i] = i;
  return v;
}

double limit_of(DType type) { return type == DType::f32 ? 1e-9 : type == DType::bf16 ? 1e-4 : 2e-6; }

// The first rows against doubles; where a choice is close, either is right.
void check_values(const Layer& l, const std::vector<float>& rows, int32_t m) {
  const Step step(l, rows, positions_of(m));
  step.run();
  const std::vector<float> got = step.results();
  const auto experts = step.read(step.routing.experts, m * l.s.n_used);
  double worst = 0, unchanged = 1e300;
  int wrong = 0, checked = 0;
  for (int32_t row = 0; row < m; row += std::max(1, m / 5)) {
    const Expected want(l, &rows[row * l.s.d_model]);
    if (want.margin < 1e-5) continue;
    ++checked;
    wrong += std::memcmp(want.experts.data(), &experts[row * l.s.n_used], 4 * l.s.n_used) != 0;
    double error = 0, power = 0, change = 0;
    for (int64_t c = 0; c < l.s.d_model; ++c) {
      const double x = rows[row * l.s.d_model + c], g = got[row * l.s.d_model + c];
      error += (g - want.x[c]) * (g - want.x[c]), power += (want.x[c] - x) * (want.x[c] - x);
      change += (g - x) * (g - x);
    }
    worst = std::max(worst, error / power);
    unchanged = std::min(unchanged, change / power);
  }
  report(wrong == 0 && checked > 0 && worst < limit_of(l.s.type) && unchanged > 0.5,
         text("%s m %d: %d rows, %d routed otherwise, NMSE %.1e", name(l.s).c_str(), m, checked, wrong, worst));
}

// Every pair has a place of its own among those of its expert, in the pairs' order, and the blocks are just these places. Some
// rows are padding.
void check_places(const Layer& l, const std::vector<float>& rows, int32_t m) {
  std::vector<int32_t> positions = positions_of(m);
  for (int32_t row = 5; row < m; row += 7) positions[row] = -1;
  const Step step(l, rows, positions);
  step.route(nullptr);
  const MoeShape& shape = step.shape;
  const auto experts = step.read(step.routing.experts, shape.n_pairs()), places = step.read(step.routing.pair_place, shape.n_pairs()),
             place_rows = step.read(step.routing.place_row, shape.n_places());
  const auto blocks = step.read(step.routing.blocks, std::min(shape.most_blocks(), step.read(step.routing.n_blocks, 1)[0]));
  std::vector<int32_t> want_places(shape.n_pairs(), -1), want_rows(shape.n_places(), -1);
  size_t n_blocks = 0;
  bool good = true;
  for (int32_t expert = 0, place = 0; expert < shape.n_experts; ++expert) {
    const int32_t first = place;
    for (int32_t pair = 0; pair < shape.n_pairs(); ++pair) {
      if (positions[pair / shape.n_used] >= 0 && experts[pair] == expert)
        want_rows[place] = pair / shape.n_used, want_places[pair] = place++;
    }
    for (int32_t at = first; at < place; at += shape.block_rows, ++n_blocks) {
      good &= n_blocks < blocks.size() && blocks[n_blocks].expert == expert && blocks[n_blocks].first_place == at &&
              blocks[n_blocks].n_rows == std::min(shape.block_rows, place - at);
    }
    place += place % 2;
  }
  good &= n_blocks == blocks.size();
  report(good && places == want_places && place_rows == want_rows, text("%s m %d", name(l.s).c_str(), m), "places and blocks");
}

// Every row alone, prepared by the product or by a launch of its own, and in company.
void check_bits(const Layer& l, const std::vector<float>& rows, int32_t m) {
  const int64_t d = l.s.d_model;
  const auto part = [&](int32_t first, int32_t n) { return std::vector<float>(&rows[first * d], &rows[first * d] + n * d); };
  const Step all(l, part(0, m), positions_of(m));
  all.run();
  const std::vector<float> want = all.results();
  int differ = 0, same_as_next = 0, n = 0;
  for (int32_t row = 0; row < m; row += std::max(1, m / 7), ++n) {
    for (const bool raw : {true, false}) {
      const Step one(l, part(row, 1), {0}, raw);
      one.run();
      const auto got = one.results();
      differ += std::memcmp(got.data(), &want[row * d], d * 4) != 0;
      same_as_next += row + 1 < m && std::memcmp(got.data(), &want[(row + 1) * d], d * 4) == 0;
    }
  }
  report(differ == 0 && same_as_next == 0, text("%s m %d: bits of %d rows alone, %d differ", name(l.s).c_str(), m, n, differ));
}

// Equal logits: the lower experts first. Padding: nothing, and no place. A NaN: n_used different experts.
void check_choice(Layer& l, std::vector<float> rows) {
  const std::vector<float> kept = l.router, kept_bias = l.bias;
  std::fill(l.router.begin(), l.router.end(), 0.0f);
  std::fill(l.bias.begin(), l.bias.end(), 0.0f);
  l.bias_at.put(l.bias), l.put();
  const int32_t m = 3;
  rows.resize(m * l.s.d_model);
  const std::vector<float> before = rows;
  const Step step(l, rows, {0, -1, 1});
  step.run();
  const auto experts = step.read(step.routing.experts, m * l.s.n_used), places = step.read(step.routing.pair_place, m * l.s.n_used);
  bool ties = true, padding = true;
  for (int32_t i = 0; i < l.s.n_used; ++i) {
    ties &= experts[i] == i && experts[2 * l.s.n_used + i] == i;
    padding &= experts[l.s.n_used + i] == -1 && places[l.s.n_used + i] == -1;
  }
  const auto got = step.results();
  padding &= std::memcmp(&got[l.s.d_model], &before[l.s.d_model], l.s.d_model * 4) == 0;
  const std::vector<float> row(before.begin(), before.begin() + l.s.d_model);
  const Step alone(l, row, {-1});
  alone.run();
  padding &= alone.results() == row && alone.read(alone.routing.n_blocks, 1)[0] == 0;
  report(ties && padding, name(l.s), "ties and padding");
  l.router = kept, l.bias = kept_bias, l.bias_at.put(l.bias), l.put();

  rows[0] = std::numeric_limits<float>::quiet_NaN();
  const Step broken(l, rows, positions_of(m));
  broken.run();
  const auto chosen = broken.read(broken.routing.experts, l.s.n_used);
  bool different = true;
  for (int32_t i = 0; i < l.s.n_used; ++i) {
    different &= chosen[i] >= 0 && chosen[i] < l.s.n_experts;
    for (int32_t j = 0; j < i; ++j) different &= chosen[i] != chosen[j];
  }
  report(different, name(l.s), "a choice among numbers that are none");
}

// Negative control: a weight of an expert that was chosen shows, one of another does not.
void check_damage(Layer& l, const std::vector<float>& row) {
  const Step before(l, row, {0});
  before.run();
  const auto want = before.results();
  const auto chosen = before.read(before.routing.experts, l.s.n_used);
  int32_t other = 0;
  while (std::find(chosen.begin(), chosen.end(), other) != chosen.end()) ++other;
  const auto differs = [&](int32_t expert) {
    l.down.damage(int64_t{expert} * l.s.d_model);
    l.put();
    const Step after(l, row, {0});
    after.run();
    const auto got = after.results();
    return std::memcmp(got.data(), want.data(), want.size() * 4) != 0;
  };
  const bool shows_not = other < l.s.n_experts && !differs(other), shows = differs(chosen[0]);
  report(shows && (shows_not || other == l.s.n_experts), name(l.s), "only the chosen experts' weights matter");
}

void check(const Sizes& s, std::mt19937& rng) {
  Layer l(s, rng);
  constexpr int32_t kMost = 300;
  const std::vector<float> rows = normal_values(kMost * s.d_model, 1.0f, rng);
  for (const int32_t m : {1, 2, 8, 9, 33, 64, 65, kMost}) check_values(l, {rows.begin(), rows.begin() + m * s.d_model}, m);
  for (const int32_t m : {2, 7, 8, 16, 64}) check_bits(l, rows, m);
  for (const int32_t m : {1, 2, 6, 64, 65, kMost}) check_places(l, {rows.begin(), rows.begin() + m * s.d_model}, m);
  check_choice(l, rows);
  check_damage(l, {rows.begin(), rows.begin() + s.d_model});
}

// Microseconds of the parts of a step; several layers in turn, so that the weights come from memory.
void measure(const char* what, const Sizes& s, std::mt19937& rng) {
  constexpr int kLayers = 4;
  std::vector<std::unique_ptr<Layer>> layers;
  for (int i = 0; i < kLayers; ++i) layers.push_back(std::make_unique<Layer>(s, rng, false));
  for (const int32_t m : {1, 2, 4, 8, 16, 32, 64, 512}) {
    const std::vector<float> rows = normal_values(m * s.d_model, 1.0f, rng);
    std::vector<std::unique_ptr<Step>> steps;
    for (const auto& l : layers) steps.push_back(std::make_unique<Step>(*l, rows, positions_of(m)));
    const auto us = [&](auto&& part) {
      return graph_us(5 * kLayers, [&](int i, cudaStream_t stream) { part(*steps[i % kLayers], stream); });
    };
    steps[0]->route(nullptr);
    const auto blocks = steps[0]->read(steps[0]->routing.blocks, steps[0]->read(steps[0]->routing.n_blocks, 1)[0]);
    const int64_t bytes = static_cast<int64_t>(blocks.size()) * 3 * s.d_ff * row_bytes(s.type, s.d_model);
    const double all = us([](const Step& step, cudaStream_t stream) { step.run(stream); });
    const double route = us([](const Step& step, cudaStream_t stream) { step.route(stream); });
    const double in = us([](const Step& step, cudaStream_t stream) { step.in(stream); });
    const double add = us([](const Step& step, cudaStream_t stream) { step.add(stream); });
    std::printf("%s m %3d: %6.1f us (route %5.1f, in %6.1f, out %6.1f), %3zu blocks, %5.2f TB/s, %6.1f TFLOP/s\n", what, m, all,
                route, in, add, blocks.size(), bytes / all * 1e-6, 6e-6 * m * s.n_used * s.d_ff * s.d_model / all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  std::mt19937 rng(1);
  const bool speed_only = argc > 1 && std::string(argv[1]) == "speed";
  if (!speed_only) {
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::q4_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q6_k}) {
      check({type, 8, 2, 256, 256, true, false}, rng);
    }
    check({DType::q8_0, 60, 4, 352, 96, false, true}, rng);
    check({DType::q4_k, 32, 8, 1024, 512, true, false}, rng);
    check({DType::f32, 5, 3, 48, 16, false, true}, rng);
    check({DType::bf16, 512, 10, 80, 16, true, false}, rng);
    check({DType::f16, 3, 3, 64, 32, true, true}, rng);
  }
  if (speed_only || argc == 1) {
    measure("qwen3-30b-a3b Q4_K", {DType::q4_k, 128, 8, 2048, 768, true, false}, rng);
  }
  return finish();
}
