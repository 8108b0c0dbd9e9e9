// Which kernel a product of one type runs on. Included by the files that linear_type.cu.in becomes, which compile in parallel.
#pragma once

#include "kernels/cuda/linear/many_rows.cuh"
#include "kernels/cuda/linear/plain.cuh"
#include "kernels/cuda/linear/shared_rows.cuh"

namespace inlay::cuda {

// How a product of few rows uses shared memory; depth 0: it does not fit.
struct FewRowsFit {
  FewRowsParams params;
  int ctas_per_sm;
  size_t shared_bytes;
};

// How a product of few rows is cut; where its memory lies is left open.
template <DType kType>
FewRowsParams cut_few_rows(const LinearArgs& args) {
  const auto n_units = static_cast<int32_t>(units_of(args.n_cols));
  FewRowsParams p{};
  p.args = args;
  p.n_tiles = static_cast<int32_t>((args.n_rows + kTileRows - 1) / kTileRows);
  p.n_chunks = (n_units + WarpChunk<kType>::kUnits - 1) / WarpChunk<kType>::kUnits;
  p.n_parts = p.n_chunks < kParts ? p.n_chunks : kParts;
  // A barrier after some 8 chunks of each warp; fewer where the parts of many rows would take the ring's memory.
  p.group_tiles = 1;
  while (p.group_tiles * args.m < 8 && p.group_tiles * p.n_chunks < 64) p.group_tiles *= 2, ++p.group_bits;
  p.step_tiles = kParts / p.n_chunks, p.step_chunks = kParts % p.n_chunks;
  if (args.raw != nullptr) p.args.x.n_chunks = static_cast<int32_t>((args.n_cols + kChunkCols - 1) / kChunkCols);
  return p;
}

inline void share_tiles(FewRowsParams& p, int32_t n_ctas) {
  p.cta_tiles = p.n_tiles / n_ctas, p.n_longer = p.n_tiles % n_ctas;
}

inline int parts_bytes_of(const FewRowsParams& p) {
  return 2 * p.group_tiles * p.n_parts * p.args.m * kTileRows * static_cast<int>(sizeof(float));
}

// Sets where ring and parts lie, behind front_bytes, and how deep the ring is.
template <DType kType>
FewRowsFit fit_ring(FewRowsParams p, int front_bytes, int parts_bytes, int ctas_per_sm, const DeviceTraits& device) {
  constexpr int kReserved = 1024;  // of every CTA, by the system
  constexpr int kRingStep = kParts * WarpChunk<kType>::kBytes;
  int room = device.shared_bytes / ctas_per_sm - kReserved;
  if (room > device.block_shared_bytes) room = device.block_shared_bytes;
  p.ring_at = front_bytes;
  p.depth = (room - front_bytes - parts_bytes) / kRingStep;
  if (p.depth > kMaxDepth) p.depth = kMaxDepth;
  if (p.depth == 5) p.depth = 4;  // wait_for_oldest knows 1, 2, 3, 4, 6
  if (p.depth < 0) p.depth = 0;
  p.parts_at = front_bytes + p.depth * kRingStep;
  return {p, ctas_per_sm, static_cast<size_t>(p.parts_at + parts_bytes)};
}

// Two CTAs an SM, so that the next product's weights are under way while this one ends; one where memory is scarce.
template <DType kType>
FewRowsFit fit_ring(const FewRowsParams& p, int front_bytes, int parts_bytes, const DeviceTraits& device) {
  const FewRowsFit two = fit_ring<kType>(p, front_bytes, parts_bytes, 2, device);
  return two.params.depth >= 2 ? two : fit_ring<kType>(p, front_bytes, parts_bytes, 1, device);
}

template <DType kType>
FewRowsFit fit_few_rows(const LinearArgs& args, const DeviceTraits& device) {
  const FewRowsParams p = cut_few_rows<kType>(args);
  const int front_bytes = args.raw != nullptr ? RawRowPlaces{p.args.x.n_chunks}.bytes() : 0;
  if (args.m > 16) return fit_ring<kType>(p, front_bytes, parts_bytes_of(p), 1, device);
  return fit_ring<kType>(p, front_bytes, parts_bytes_of(p), device);
}

template <DType kType, int NT, bool kRaw>
cudaError_t launch_few_rows(const LinearArgs& args, const DeviceTraits& device, LaunchTarget target) {
  FewRowsFit fit = fit_few_rows<kType>(args, device);
  if (fit.params.depth < 1) return cudaErrorInvalidValue;
  const int most = fit.ctas_per_sm * device.n_multiprocessors;
  const int n = fit.params.n_tiles < most ? fit.params.n_tiles : most;
  share_tiles(fit.params, n);
  return launch_early(linear_few_rows<kType, NT, kRaw>, dim3(static_cast<unsigned>(n)), kLinearThreads, target,
                      fit.params, fit.shared_bytes);
}

// How a product shares x among a CTA's tiles; no stages: it does not, for no CTA has several tiles, or they do not fit.
struct SharedRowsFit {
  SharedRowsParams params;
  int32_t n_ctas;
  size_t shared_bytes;
};

// Tiles of a CTA with which sharing x pays, as measured on an H100.
template <int NT, int kRun>
constexpr bool pays_to_share(int32_t cta_tiles) {
  if (NT == 1) return cta_tiles >= 6;
  if (NT == 2) return cta_tiles >= 4;
  return kRun > 1 ? cta_tiles >= 10 : cta_tiles >= 2 && cta_tiles <= 4;
}

inline int32_t up_to(int32_t n, int32_t step) { return (n + step - 1) / step; }

template <DType kType, int NT, int kRun>
SharedRowsFit fit_tile_warps(const FewRowsParams& few, int tile_bits, int room) {
  constexpr int kMostStages = 5;  // that wait_for_oldest knows
  SharedRowsParams p{few, {}};
  SharedRowsCut& cut = p.cut;
  cut.tile_bits = tile_bits, cut.tile_warps = 1 << tile_bits;
  cut.group_bits = tile_bits + kRun - 1, cut.group_tiles = kRun << tile_bits;
  const int part_warps = kParts >> tile_bits;
  cut.warp_parts = up_to(few.n_parts, part_warps);
  cut.n_slots = 1 + few.n_parts - cut.warp_parts;
  for (int part = 0; part < cut.warp_parts; ++part) cut.steps += up_to(few.n_chunks - part, kParts);
  cut.weights_at = part_warps * SharedX<kType, NT>::kBytes;
  cut.stage_bytes = cut.weights_at + kParts * kRun * Layout<kType>::kChunkBytes;
  const int slots = cut.group_tiles * cut.n_slots * few.args.m * kTileRows * static_cast<int>(sizeof(float));
  cut.n_stages = (room - slots) / cut.stage_bytes;
  if (cut.n_stages > kMostStages) cut.n_stages = kMostStages;
  if (cut.n_stages < 2) cut.n_stages = 0;
  p.few.parts_at = cut.n_stages * cut.stage_bytes;
  return {p, 0, static_cast<size_t>(p.few.parts_at + slots)};
}

template <DType kType, int NT, int kRun>
SharedRowsFit fit_shared_rows(const LinearArgs& args, const DeviceTraits& device) {
  constexpr int kReserved = 1024;  // of every CTA, by the system
  constexpr int kCtasPerSm = NT <= 2 ? 2 : 1;
  FewRowsParams few = cut_few_rows<kType>(args);
  const int32_t most = kCtasPerSm * device.n_multiprocessors, n_ctas = few.n_tiles < most ? few.n_tiles : most;
  share_tiles(few, n_ctas);
  int room = device.shared_bytes / kCtasPerSm - kReserved;
  if (room > device.block_shared_bytes) room = device.block_shared_bytes;
  // A group of tiles takes as long as its weights, read by all that it has warps for, and its x.
  const int32_t cta_tiles = up_to(few.n_tiles, n_ctas);
  const auto cost = [&](int bits) { return up_to(cta_tiles, kRun << bits) * ((kRun << bits) + NT); };
  SharedRowsFit best{};
  for (int bits = 1; bits <= 3 && pays_to_share<NT, kRun>(cta_tiles); ++bits) {
    if (cta_tiles * 2 <= kRun << bits) break;  // half of the warps without a tile
    SharedRowsFit fit = fit_tile_warps<kType, NT, kRun>(few, bits, room);
    fit.n_ctas = n_ctas;
    const SharedRowsCut &cut = fit.params.cut, &before = best.params.cut;
    if (cut.n_stages > 0 && (before.n_stages == 0 || cost(bits) <= cost(before.tile_bits))) best = fit;
  }
  return best;
}

template <DType kType, int NT, int kRun>
cudaError_t launch_shared_rows(const SharedRowsFit& fit, LaunchTarget target) {
  return launch_early(linear_shared_rows<kType, NT, kRun>, dim3(static_cast<unsigned>(fit.n_ctas)), kLinearThreads,
                      target, fit.params, fit.shared_bytes);
}

// 2 to 32 rows of x.
template <DType kType, int NT>
cudaError_t launch_rows(const LinearArgs& args, const DeviceTraits& device, LaunchTarget target) {
  if constexpr (Layout<kType>::kScaled) {
    constexpr int kLeastRows = 5;
    SharedRowsFit fit{};
    if constexpr (NT == 4) fit = fit_shared_rows<kType, NT, 2>(args, device);
    if (fit.params.cut.n_stages > 0) return launch_shared_rows < kType, NT, NT == 4 ? 2 : 1 > (fit, target);
    if (args.m >= kLeastRows) fit = fit_shared_rows<kType, NT, 1>(args, device);
    if (fit.params.cut.n_stages > 0) return launch_shared_rows<kType, NT, 1>(fit, target);
  }
  return launch_few_rows<kType, NT, false>(args, device, target);
}

template <DType kType>
cudaError_t launch_product(const LinearArgs& args, LaunchTarget target) {
  const auto n_tiles = static_cast<unsigned>((args.n_rows + kTileRows - 1) / kTileRows);
  const auto n_chunks = static_cast<unsigned>((args.m + kPlainRows - 1) / kPlainRows);
  if (n_chunks > 65535) return cudaErrorInvalidValue;
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  if (kType == DType::f32 || device.code < 80) {
    if (args.raw != nullptr) return cudaErrorInvalidValue;
    return launch_early(linear_plain<kType>, dim3(n_tiles, n_chunks), kPlainThreads, target, args);
  }
  if constexpr (kType != DType::f32) {
    if (args.raw != nullptr) return launch_few_rows<kType, 1, true>(args, device, target);
    if (args.m <= 8) return launch_rows<kType, 1>(args, device, target);
    if (args.m <= 16) return launch_rows<kType, 2>(args, device, target);
    if (args.m <= 32) return launch_rows<kType, 4>(args, device, target);
    if (args.m <= kFewRows) return launch_few_rows<kType, 8, false>(args, device, target);
    constexpr int kRows = ManyRows<kType>::kRows;
    const uint64_t n_ctas =
        static_cast<uint64_t>((n_tiles + kParts - 1) / kParts) * static_cast<uint64_t>((args.m + kRows - 1) / kRows);
    if (n_ctas > 0x7fffffff) return cudaErrorInvalidValue;
    return launch_early(linear_many_rows<kType>, dim3(static_cast<unsigned>(n_ctas)), kLinearThreads, target, args);
  }
}

template <DType kType>
bool product_takes_raw(int64_t n_cols) {
  DeviceTraits device;
  if (kType == DType::f32 || n_cols % 8 != 0 || current_device(device) != cudaSuccess || device.code < 80) return false;
  LinearArgs args{};
  const float any = 0;
  args.raw = &any, args.n_rows = kTileRows, args.n_cols = n_cols, args.m = 1;
  if constexpr (kType == DType::f32) return false;
  return fit_few_rows<kType>(args, device).params.depth >= 1;
}

}  // namespace inlay::cuda
