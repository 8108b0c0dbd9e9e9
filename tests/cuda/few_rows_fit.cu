// Products of few rows fit the shared memory of every GPU that the library has code for, whatever the type, the number
// of rows and the width: a launch would fail. Where x is shared among tiles, all parts of a tile have a warp and a
// slot. Needs no GPU.
#include "kernels/cuda/linear/launch.cuh"
#include "tests/cuda/kernel_test.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

struct Gpu {
  const char* name;
  DeviceTraits traits;
};

constexpr int kKiB = 1024;
constexpr Gpu kGpus[] = {
    {"sm_80", {8, 108, 164 * kKiB, 163 * kKiB}},
    {"sm_86 and sm_89", {8, 84, 100 * kKiB, 99 * kKiB}},
    {"sm_90 and sm_100", {9, 132, 228 * kKiB, 227 * kKiB}},
    {"sm_120", {12, 170, 100 * kKiB, 99 * kKiB}},
};

template <DType kType>
bool fits(const LinearArgs& args, const DeviceTraits& gpu) {
  const FewRowsFit fit = fit_few_rows<kType>(args, gpu);
  const bool known_depth = fit.params.depth >= 1 && fit.params.depth <= kMaxDepth && fit.params.depth != 5;
  return known_depth && fit.shared_bytes <= static_cast<size_t>(gpu.block_shared_bytes);
}

// Or does not share.
template <DType kType, int NT, int kRun>
bool shares(const LinearArgs& args, const DeviceTraits& gpu, int& n_shared) {
  const SharedRowsFit fit = fit_shared_rows<kType, NT, kRun>(args, gpu);
  const SharedRowsCut& cut = fit.params.cut;
  const FewRowsParams& few = fit.params.few;
  if (cut.n_stages == 0) return true;
  ++n_shared;
  const int part_warps = kParts >> cut.tile_bits, n_ctas = fit.n_ctas;
  int steps = 0;
  for (int part = 0; part < cut.warp_parts; ++part) steps += (few.n_chunks - part + kParts - 1) / kParts;
  const int slots = cut.group_tiles * cut.n_slots * args.m * kTileRows * static_cast<int>(sizeof(float));
  return cut.n_stages >= 2 && cut.n_stages <= 5 && fit.shared_bytes <= static_cast<size_t>(gpu.block_shared_bytes) &&
         few.parts_at == cut.n_stages * cut.stage_bytes && few.parts_at + slots <= static_cast<int>(fit.shared_bytes) &&
         cut.warp_parts * part_warps >= few.n_parts && cut.n_slots == 1 + few.n_parts - cut.warp_parts &&
         cut.steps == steps && few.cta_tiles * n_ctas + few.n_longer == few.n_tiles;
}

template <DType kType>
bool shares(const LinearArgs& args, const DeviceTraits& gpu, int& n_shared) {
  if constexpr (!Layout<kType>::kScaled) return true;
  if (args.m < 2 || args.m > 32) return true;
  if constexpr (Layout<kType>::kScaled) {
    if (args.m <= 8) return shares<kType, 1, 1>(args, gpu, n_shared);
    if (args.m <= 16) return shares<kType, 2, 1>(args, gpu, n_shared);
    return shares<kType, 4, 1>(args, gpu, n_shared) && shares<kType, 4, 2>(args, gpu, n_shared);
  }
}

template <DType kType>
void check_type(const Gpu& gpu) {
  LinearArgs args{};
  args.dtype = kType;
  int n_bad = 0, n_shared = 0;
  std::string first;
  for (const int64_t n_rows : {1536, 4096, 6144, 17920, 28672, 151936}) {
    for (const int64_t n_cols : {64, 256, 576, 1536, 4096, 14336, 32768}) {
      for (args.m = 1; args.m <= kFewRows; ++args.m) {
        args.n_rows = n_rows, args.n_cols = n_cols;
        if (fits<kType>(args, gpu.traits) && shares<kType>(args, gpu.traits, n_shared)) continue;
        if (n_bad++ == 0)
          first = text("%d rows, matrix of %lld x %lld", args.m, static_cast<long long>(n_rows),
                       static_cast<long long>(n_cols));
      }
    }
  }
  const std::string name = text("type %d on %s, x shared in %d", static_cast<int>(kType), gpu.name, n_shared);
  const bool must_share = Layout<kType>::kScaled && gpu.traits.shared_bytes >= 160 * kKiB;
  report(n_bad == 0 && (n_shared > 0 || !must_share), name,
         n_bad == 0 ? "everything fits" : text("%d do not fit, first ", n_bad) + first);
}

template <int kIndex = 0>
void check_types(const Gpu& gpu) {
  if constexpr (kIndex < static_cast<int>(DType::count)) {
    constexpr DType kType = static_cast<DType>(kIndex);
    if constexpr (packed_form(kType) == kType && kType != DType::f32) check_type<kType>(gpu);
    check_types<kIndex + 1>(gpu);
  }
}

}  // namespace

int main() {
  for (const Gpu& gpu : kGpus) check_types(gpu);
  LinearArgs args{};
  args.n_rows = 4096, args.n_cols = 4096, args.m = kFewRows;
  const DeviceTraits small{8, 1, 48 * kKiB, 48 * kKiB};
  report(!fits<DType::q8_0>(args, small), "control: 48 KiB are too little for 64 rows");
  std::printf("%s: %d failures\n", failures == 0 ? "PASS" : "FAIL", failures);
  return failures == 0 ? 0 : 1;
}
