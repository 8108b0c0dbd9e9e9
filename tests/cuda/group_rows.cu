// Stand-alone check of products of 9 to 32 rows by clusters: the bits of the kernels for few rows, for every type,
// epilogue and number of rows, and of two products at once. Damaged data must be noticed. Then speeds ("speed" as
// argument: alone; "check": none).
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

struct Case {
  DType type;
  int64_t n_rows, n_cols;
  int32_t m;
  Epilogue epilogue;
  bool biased;  // with biases, a factor and rows that go elsewhere
};

// Rows of x in both forms, and one product of each.
class Product {
 public:
  Product(const Case& t, unsigned seed)
      : case_(t), packed_(packed_bytes(t.type, t.n_rows, t.n_cols)), memory_(activation_bytes(32, t.n_cols)) {
    std::mt19937 rng(seed);
    bytes_ = random_rows(t.type, t.n_rows, t.n_cols, 1.0f, rng);
    std::normal_distribution<float> normal;
    x_.resize(static_cast<size_t>(t.m * t.n_cols));
    for (float& v : x_) v = normal(rng);
    before_.resize(static_cast<size_t>((t.m + 1) * ld()));
    for (float& v : before_) v = normal(rng);
    bias_.resize(static_cast<size_t>(t.n_rows));
    for (float& v : bias_) v = normal(rng);
    if (t.epilogue != Epilogue::add) norm_.resize(static_cast<size_t>(t.n_cols));
    for (float& v : norm_) v = normal(rng);
    for (int32_t i = 0; i < t.m; ++i) out_rows_.push_back(i == 3 ? -1 : t.m - i);
    pack();
  }
  void pack() const {
    const bool halves = case_.epilogue == Epilogue::gate_up;
    const Device<uint8_t> file(bytes_);
    CUDA_OK(launch_repack({file.get(), halves ? file.get() + bytes_.size() / 2 : nullptr, packed_.get(), case_.n_rows,
                           case_.n_cols, case_.type, halves ? RowOrder::gate_up : RowOrder::plain},
                          nullptr));
    CUDA_OK(cudaDeviceSynchronize());
  }
  void damage() {
    test::damage_factor(case_.type, bytes_.data());
    pack();
  }
  int64_t n_results() const { return case_.epilogue == Epilogue::gate_up ? case_.n_rows / 2 : case_.n_rows; }
  void take_x_of(const Product& other) { x_ = other.x_, norm_ = other.norm_; }
  std::vector<float> run(bool by_groups) const {
    const Launch launch(*this, by_groups);
    launch.prepare();
    CUDA_OK(launch_linear(launch.args, nullptr));
    return launch.out.host();
  }
  // The results of both, of which `beside` has the same x.
  std::pair<std::vector<float>, std::vector<float>> run_with(const Product& beside) const {
    const Launch launch(*this, true);
    Launch second(beside, true);
    second.args.x = launch.args.x;
    launch.prepare();
    CUDA_OK(launch_linear_pair(launch.args, second.args, nullptr));
    return {launch.out.host(), second.out.host()};
  }

 private:
  // What one launch wants on the device.
  struct Launch {
    Device<float> x, norm, out, bias;
    Device<int32_t> out_rows;
    LinearArgs args{};

    Launch(const Product& p, bool by_groups)
        : x(p.x_), norm(p.norm_), out(p.before_), bias(p.bias_), out_rows(p.out_rows_) {
      const Case& t = p.case_;
      p.memory_.fill(0);
      args.weights = p.packed_.get(), args.x = activations_at(p.memory_.get(), t.m, t.n_cols), args.out = out.get();
      if (by_groups) args.x.group_rows = group_rows(t.type, t.m);
      args.n_rows = t.n_rows, args.n_cols = t.n_cols, args.ld_out = p.ld();
      args.m = t.m, args.dtype = t.type, args.epilogue = t.epilogue;
      if (!p.norm_.empty()) args.norm_weight = norm.get(), args.epsilon = 1e-5f;
      if (!t.biased) return;
      args.bias = bias.get(), args.out_rows = out_rows.get(), args.factor = 0.5f;
      if (t.epilogue == Epilogue::gate_up) args.up_bias = bias.get() + t.n_rows / 2;
    }
    void prepare() const {
      CUDA_OK(launch_activations(
          {x.get(), args.norm_weight, nullptr, args.x, args.m, args.n_cols, args.epsilon, ActivationForm::planes},
          nullptr));
    }
  };
  int64_t ld() const { return n_results() + 3; }
  Case case_;
  std::vector<uint8_t> bytes_;
  std::vector<float> x_, norm_, before_, bias_;  // norm_: empty if there is none
  std::vector<int32_t> out_rows_;
  Device<uint8_t> packed_, memory_;
};

int64_t differing(const std::vector<float>& a, const std::vector<float>& b) {
  int64_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += std::memcmp(&a[i], &b[i], sizeof(float)) != 0;
  return n;
}

void check(const Case& t) {
  Product product(t, static_cast<unsigned>(t.n_rows + 7 * t.n_cols + t.m));
  const auto want = product.run(false), got = product.run(true), again = product.run(true);
  product.damage();
  const int64_t wrong = differing(want, got), other = differing(got, again),
                damaged = differing(want, product.run(true));
  report(wrong == 0 && other == 0 && damaged > 0,
         text("%s %ldx%ld, %d rows, epilogue %d%s", traits(t.type).name, static_cast<long>(t.n_rows),
              static_cast<long>(t.n_cols), t.m, static_cast<int>(t.epilogue), t.biased ? ", biased" : ""),
         text("%ld differ, %ld the second time, %ld of damaged data", static_cast<long>(wrong),
              static_cast<long>(other), static_cast<long>(damaged)));
}

// Two products at once: each as it is alone, and each its own weights.
void check_pair(const Case& t, DType second, int64_t second_rows, bool second_biased) {
  Product product(t, static_cast<unsigned>(t.n_rows + t.m)),
      beside({second, second_rows, t.n_cols, t.m, Epilogue::store, second_biased},
             static_cast<unsigned>(second_rows + t.m));
  beside.take_x_of(product);
  const auto want = product.run(false), want_beside = beside.run(false);
  const auto got = product.run_with(beside);
  beside.damage();
  const auto damaged = product.run_with(beside);
  const int64_t wrong = differing(want, got.first) + differing(want, damaged.first),
                wrong_beside = differing(want_beside, got.second), noticed = differing(want_beside, damaged.second);
  report(wrong == 0 && wrong_beside == 0 && noticed > 0,
         text("%s %ldx%ld%s and %s of %ld rows%s, %d rows", traits(t.type).name, static_cast<long>(t.n_rows),
              static_cast<long>(t.n_cols), t.biased ? ", biased" : "", traits(second).name,
              static_cast<long>(second_rows), second_biased ? ", biased" : "", t.m),
         text("%ld and %ld differ, %ld of damaged data", static_cast<long>(wrong), static_cast<long>(wrong_beside),
              static_cast<long>(noticed)));
}

void check_pairs() {
  for (const DType type : {DType::q4_k, DType::q5_k, DType::q6_k}) {
    const DType second = type == DType::q6_k ? DType::q4_k : DType::q6_k;  // of these there is no kernel for both
    for (const int32_t m : {9, 16, 17, 32}) {
      check_pair({type, 40, 256, m, Epilogue::store, false}, second, 16, true);
      check_pair({type, 1792, 1536, m, Epilogue::store, true}, second, 256, false);
      check_pair({type, 5120, 4096, m, Epilogue::store, false}, second, 1024, false);
      check_pair({type, 272, 2304, m, Epilogue::add, true}, second, 9000, true);
    }
  }
}

void checks() {
  for (const DType type : {DType::q4_k, DType::q5_k, DType::q6_k}) {
    for (const int32_t m : {9, 16, 17, 32}) {
      check({type, 40, 256, m, Epilogue::store, false});
      check({type, 144, 1536, m, Epilogue::add, false});
      check({type, 272, 2304, m, Epilogue::gate_up, true});
      check({type, 144, 2560, m, Epilogue::add, true});
      check({type, 1000, 4096, m, Epilogue::gate_up, false});
      check({type, 4096, 8960, m, Epilogue::add, false});
      check({type, 6144, 4096, m, Epilogue::store, true});
      check({type, 28672, 4096, m, Epilogue::gate_up, false});
    }
  }
}

void speeds() {
  std::mt19937 rng(3);
  for (const DType type : {DType::q4_k, DType::q5_k, DType::q6_k}) {
    for (const auto& [r, c] : {std::pair<int64_t, int64_t>{28672, 4096},
                               {4096, 14336},
                               {6144, 4096},
                               {4096, 4096},
                               {1024, 4096},
                               {17920, 1536},
                               {1536, 8960}}) {
      const size_t bytes = packed_bytes(type, r, c);
      const int copies = static_cast<int>(200'000'000 / bytes + 1);
      const Device<uint8_t> weights(bytes * copies), file(random_rows(type, r, c, 1.0f, rng));
      for (int i = 0; i < copies; ++i) {
        CUDA_OK(launch_repack({file.get(), nullptr, weights.get() + i * bytes, r, c, type, RowOrder::plain}, nullptr));
      }
      const Device<float> x(std::vector<float>(static_cast<size_t>(32 * c), 0.25f)), out(static_cast<size_t>(32 * r));
      const Device<uint8_t> memory(activation_bytes(32, c));
      std::printf("%-5s %5ldx%-5ld us (%% of 3.09 TB/s), with preparing x", traits(type).name, static_cast<long>(r),
                  static_cast<long>(c));
      for (const int32_t m : {16, 32}) {
        for (const bool by_groups : {false, true}) {
          LinearArgs args{};
          args.x = activations_at(memory.get(), m, c), args.out = out.get();
          if (by_groups && (args.x.group_rows = group_rows(type, m)) == 0) continue;
          args.n_rows = r, args.n_cols = c, args.ld_out = r, args.m = m, args.dtype = type;
          args.epilogue = Epilogue::store;
          const auto prepare = [&](cudaStream_t stream) {
            CUDA_OK(launch_activations({x.get(), nullptr, nullptr, args.x, m, c, 0, ActivationForm::planes}, stream));
          };
          prepare(nullptr);
          const auto multiply = [&](int i, cudaStream_t stream) {
            args.weights = weights.get() + i % copies * bytes;
            CUDA_OK(launch_linear(args, stream));
          };
          const double alone = graph_us(2 * copies, multiply);
          const double with_x = graph_us(2 * copies, [&](int i, cudaStream_t stream) {
            prepare(stream);
            multiply(i, stream);
          });
          std::printf("  %d%s: %.1f (%.0f), %.1f", m, by_groups ? " groups" : "", alone,
                      static_cast<double>(bytes) / alone / 3.09e4, with_x);
        }
      }
      std::printf("\n");
    }
  }
}

// Queries and keys with values of a wider type, one launch after the other and at once.
void pair_speeds() {
  constexpr int64_t kCols = 4096, kRowsOf[2] = {5120, 1024};
  constexpr DType kTypes[2] = {DType::q4_k, DType::q6_k};
  constexpr int kCopies = 12;
  std::mt19937 rng(5);
  const Device<float> x(std::vector<float>(32 * kCols, 0.25f)), out(32 * (kRowsOf[0] + kRowsOf[1]));
  const Device<uint8_t> memory(activation_bytes(32, kCols));
  const size_t bytes[2] = {packed_bytes(kTypes[0], kRowsOf[0], kCols), packed_bytes(kTypes[1], kRowsOf[1], kCols)};
  const Device<uint8_t> weights[2] = {Device<uint8_t>(bytes[0] * kCopies), Device<uint8_t>(bytes[1] * kCopies)};
  for (int i = 0; i < 2; ++i) {
    const Device<uint8_t> file(random_rows(kTypes[i], kRowsOf[i], kCols, 1.0f, rng));
    for (int copy = 0; copy < kCopies; ++copy) {
      CUDA_OK(launch_repack(
          {file.get(), nullptr, weights[i].get() + copy * bytes[i], kRowsOf[i], kCols, kTypes[i], RowOrder::plain},
          nullptr));
    }
    CUDA_OK(cudaDeviceSynchronize());
  }
  for (const int32_t m : {16, 32}) {
    LinearArgs args[2]{};
    for (int i = 0; i < 2; ++i) {
      args[i].x = activations_at(memory.get(), m, kCols), args[i].x.group_rows = m;
      args[i].out = out.get() + i * kRowsOf[0], args[i].ld_out = kRowsOf[0] + kRowsOf[1];
      args[i].n_rows = kRowsOf[i], args[i].n_cols = kCols, args[i].m = m, args[i].dtype = kTypes[i];
    }
    CUDA_OK(launch_activations({x.get(), nullptr, nullptr, args[0].x, m, kCols, 0, ActivationForm::planes}, nullptr));
    const auto place = [&](int copy) {
      for (int i = 0; i < 2; ++i) args[i].weights = weights[i].get() + copy % kCopies * bytes[i];
    };
    const double one_by_one = graph_us(2 * kCopies, [&](int copy, cudaStream_t stream) {
      place(copy);
      for (const LinearArgs& each : args) CUDA_OK(launch_linear(each, stream));
    });
    const double at_once = graph_us(2 * kCopies, [&](int copy, cudaStream_t stream) {
      place(copy);
      CUDA_OK(launch_linear_pair(args[0], args[1], stream));
    });
    std::printf("Q4_K 5120x4096 and Q6_K 1024x4096, %d rows: %.1f us, at once %.1f us\n", m, one_by_one, at_once);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  if (group_rows(DType::q4_k, 16) == 0) {
    std::puts("skipped: needs a GPU of compute capability 9.0: the device or the build has no products by clusters");
    return kSkipped;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string only = argc > 1 ? argv[1] : "";
  if (only != "speed") checks(), check_pairs();
  if (only != "check") speeds(), pair_speeds();
  return finish();
}
