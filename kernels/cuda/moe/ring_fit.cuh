// How the products of experts use shared memory: what comes first, the ring of weights, the parts of sums.
#pragma once

#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

// Sets where ring and parts lie and how deep the ring is; 0: it does not fit.
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

// Two CTAs an SM; one where memory is scarce.
template <DType kType>
FewRowsFit fit_ring(const FewRowsParams& p, int front_bytes, int parts_bytes, const DeviceTraits& device) {
  const FewRowsFit two = fit_ring<kType>(p, front_bytes, parts_bytes, 2, device);
  return two.params.depth >= 2 ? two : fit_ring<kType>(p, front_bytes, parts_bytes, 1, device);
}

// Products of the rows of blocks. Most blocks have far fewer rows than they may have, so more tiles than elsewhere lie
// between two barriers, or the warps would wait for one another after a few chunks.
template <DType kType>
FewRowsFit fit_blocks(const LinearArgs& args, const DeviceTraits& device) {
  if (args.raw != nullptr) return fit_few_rows<kType>(args, device);
  constexpr int kMostPartsBytes = 32 * 1024;
  FewRowsParams p = cut_few_rows<kType>(args);
  while (p.group_tiles < 8 && p.group_tiles * p.n_chunks < 64 && 2 * parts_bytes_of(p) <= kMostPartsBytes) {
    p.group_tiles *= 2, ++p.group_bits;
  }
  return fit_ring<kType>(p, 0, parts_bytes_of(p), device);
}

}  // namespace inlay::cuda
