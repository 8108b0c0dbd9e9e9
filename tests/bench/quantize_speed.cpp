// How many weights a second one thread quantizes to each type, and with which error: normally distributed F32 values.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "kernels/ref/dequantize.h"
#include "src/model/quantize.h"

int main() {
  using namespace inlay;
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kValues = 1 << 20;
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  std::vector<float> values(kValues), back(kValues);
  for (float& v : values) v = normal(random);
  for (int t = 0; t < static_cast<int>(DType::count); ++t) {
    const auto type = static_cast<DType>(t);
    if (!can_quantize_to(type)) continue;
    std::vector<std::byte> blocks(row_bytes(type, kValues));
    double best = 1e9;
    for (int run = 0; run < 5; ++run) {
      const auto begin = Clock::now();
      quantize(type, values.data(), kValues, blocks.data());
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    ref::dequantize_row(type, blocks.data(), kValues, back.data());
    double off = 0, all = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      off += (double{back[i]} - values[i]) * (double{back[i]} - values[i]);
      all += double{values[i]} * values[i];
    }
    std::printf("%-8s %8.1f million weights/s   relative error %.6f\n", traits(type).name, kValues / best * 1e-6,
                std::sqrt(off / all));
  }
  return 0;
}
