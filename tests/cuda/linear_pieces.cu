// Stand-alone check that a product of some of a matrix's tiles gives the bits of the whole one, whichever kernels their
// numbers of rows choose: the head of a step that is run in slices. A piece that begins a tile too late must be
// noticed.
#include <cstring>
#include <random>

#include "kernels/cuda/cuda_kernels.h"
#include "src/plan/step_units.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

constexpr int32_t kMostRows = 64;

std::vector<float> random_values(size_t n, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(rng);
  return v;
}

class Head {
 public:
  Head(DType type, int64_t n_rows, int64_t n_cols, std::mt19937& rng)
      : type_(type),
        n_rows_(n_rows),
        n_cols_(n_cols),
        packed_(packed_bytes(type, n_rows, n_cols)),
        x_(random_values(static_cast<size_t>(kMostRows * n_cols), rng)),
        norm_(random_values(static_cast<size_t>(n_cols), rng)),
        prepared_(std::vector<uint8_t>(activation_bytes(kMostRows, n_cols))),
        out_(static_cast<size_t>(kMostRows * n_rows)) {
    const Device<uint8_t> file(random_rows(type, n_rows, n_cols, 1.0f, rng));
    packed_.fill(0xa5);
    CUDA_OK(launch_repack({file.get(), nullptr, packed_.get(), n_rows, n_cols, type, RowOrder::plain}, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
  }

  // late: by how many tiles each piece but the first begins after its place.
  std::vector<float> multiply(int32_t m, int32_t n_pieces, int64_t late = 0) {
    LinearArgs args{
        .norm_weight = norm_.get(), .epsilon = 1e-6f, .n_cols = n_cols_, .ld_out = n_rows_, .m = m, .dtype = type_};
    args.factor = 1;
    args.x = activations_at(prepared_.get(), m, n_cols_);
    if (m == 1 && linear_takes_raw(type_, n_cols_)) {
      args.raw = x_.get();
    } else {
      CUDA_OK(launch_activations({x_.get(), norm_.get(), nullptr, args.x, m, n_cols_, 1e-6f, activation_form(type_)},
                                 nullptr));
    }
    out_.fill(0xff);
    const int64_t n_tiles = (n_rows_ + kTileRows - 1) / kTileRows;
    for (int32_t i = 0; i < n_pieces; ++i) {
      const WorkPiece piece{i, n_pieces};
      const int64_t tile = piece.begin(n_tiles), first = tile * kTileRows, end = piece.end(n_tiles) * kTileRows;
      const int64_t from = i == 0 ? tile : std::min(tile + late, n_tiles - 1);
      args.weights = packed_.get() + static_cast<size_t>(from) * packed_bytes(type_, kTileRows, n_cols_);
      args.out = out_.get() + first;
      args.n_rows = std::min(end, n_rows_) - first;
      CUDA_OK(launch_linear(args, nullptr));
    }
    std::vector<float> all = out_.host();
    all.resize(static_cast<size_t>(m * n_rows_));
    return all;
  }

 private:
  DType type_;
  int64_t n_rows_, n_cols_;
  Device<uint8_t> packed_;
  Device<float> x_, norm_;
  Device<uint8_t> prepared_;
  Device<float> out_;
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check(DType type, int64_t n_rows, int64_t n_cols, std::mt19937& rng) {
  Head head(type, n_rows, n_cols, rng);
  for (const int32_t m : {1, 2, 4, 8, 16, 32, 64}) {
    const std::vector<float> whole = head.multiply(m, 1);
    bool good = true;
    for (const int32_t n_pieces : {2, 7, 33}) good = good && same(head.multiply(m, n_pieces), whole);
    const bool noticed = !same(head.multiply(m, 7, 1), whole);
    report(good && noticed,
           text("%s %ldx%ld, %d rows%s%s", traits(type).name, static_cast<long>(n_rows), static_cast<long>(n_cols), m,
                good ? "" : ": pieces differ", noticed ? "" : ": a wrong piece is not noticed"));
  }
}

}  // namespace

int main() {
  if (!has_device()) return kSkipped;
  std::mt19937 rng(20240229);
  for (int t = 0; t < static_cast<int>(DType::count); ++t) {
    const auto type = static_cast<DType>(t);
    if (!has_kernels(type)) continue;
    check(type, 40003, 512, rng);  // whole, 9 tiles and more for a CTA of two an SM; in pieces one or none
    check(type, 5000, 1536, rng);
  }
  return finish();
}
