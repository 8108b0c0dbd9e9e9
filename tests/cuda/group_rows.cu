// Stand-alone check of products of 9 to 32 rows by clusters: the bits of the kernels for few rows, for every type,
// epilogue and number of rows. Damaged data must be noticed. Then speeds ("speed" as argument: alone; "check": none).
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
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
  std::vector<float> run(bool by_groups) const {
    const Device<float> x(x_), out(before_), bias(bias_);
    const Device<int32_t> out_rows(out_rows_);
    memory_.fill(0);
    LinearArgs args{};
    args.weights = packed_.get(), args.x = activations_at(memory_.get(), case_.m, case_.n_cols), args.out = out.get();
    if (by_groups) args.x.group_rows = group_rows(case_.type, case_.m);
    args.n_rows = case_.n_rows, args.n_cols = case_.n_cols, args.ld_out = ld();
    args.m = case_.m, args.dtype = case_.type, args.epilogue = case_.epilogue;
    if (case_.biased) {
      args.bias = bias.get(), args.out_rows = out_rows.get(), args.factor = 0.5f;
      if (case_.epilogue == Epilogue::gate_up) args.up_bias = bias.get() + case_.n_rows / 2;
    }
    CUDA_OK(launch_activations({x.get(), nullptr, nullptr, args.x, case_.m, case_.n_cols, 0, ActivationForm::planes},
                               nullptr));
    CUDA_OK(launch_linear(args, nullptr));
    return out.host();
  }

 private:
  int64_t ld() const { return n_results() + 3; }
  Case case_;
  std::vector<uint8_t> bytes_;
  std::vector<float> x_, before_, bias_;
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

}  // namespace

int main(int argc, char** argv) {
  if (!has_device()) return kSkipped;
  if (group_rows(DType::q4_k, 16) == 0) {
    std::puts("skipped: the device or the build has no products by clusters");
    return kSkipped;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string only = argc > 1 ? argv[1] : "";
  if (only != "speed") checks();
  if (only != "check") speeds();
  return finish();
}
