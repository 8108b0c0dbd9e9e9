// Products of 9 to 32 rows and planes (Q4_K, Q5_K, Q6_K) by warp groups: the bits of few_rows.cuh, with x read by the
// tensor cores from shared memory.
//
// A cluster of CTAs has a tile of 64 rows of W at a time: four packed tiles. Two teams a CTA share the tile's columns
// with those of the other CTAs: each has as many of their parts (few_rows.cuh). A team is a warp that copies, through a
// ring of stages of its own, a chunk of the four tiles and of x in each, and four warps that multiply together, a
// packed tile each (wgmma of bytes: A from registers, as mma.m16n8k32 has it, B all rows of x, both planes). Sums over
// a group are integers, which each thread scales and adds up as planes.cuh does it; groups of 16 columns have their
// scales in A instead, with the same integers for a chunk. What comes out of a part goes to the CTA of the cluster that
// has the packed tile: its warps of another kind add the parts in their order and store results, while all others are
// at the next tile.
#pragma once

#include "kernels/cuda/gemm/hopper/tma.cuh"
#include "kernels/cuda/gemm/hopper/wgmma.cuh"
#include "kernels/cuda/linear/few_rows.cuh"

namespace inlay::cuda {

inline constexpr int kTeams = 2, kTeamWarps = 4, kAddThreads = 128;
inline constexpr int kGroupThreads = 128 + kAddThreads + 32 * kTeams * kTeamWarps;
// CTAs of a cluster: 2 to the power of cluster bits. Of the largest each team has one part.
inline constexpr int kMostClusterBits = 2;
static_assert(kTeams << kMostClusterBits == kParts);

// Registers a thread: at the launch, then of those that copy, those that add and the teams. What is left is for CTAs
// that prepare x (activations.cu), so that they are there when this kernel ends: two beside 16 rows, one beside 32.
template <int kRows>
struct GroupRegisters {
  static constexpr int kLaunched = kRows == 16 ? 96 : 112, kCopy = kRows == 16 ? 40 : 48, kAdd = kRows == 16 ? 56 : 64,
                       kTeam = kRows == 16 ? 144 : 168;
  static_assert(128 * kCopy + kAddThreads * kAdd + 32 * kTeams * kTeamWarps * kTeam <= kGroupThreads * kLaunched);
};

// A chunk of x (activations.cuh).
template <int kRows>
struct GroupX {
  static constexpr GroupPlanes kForm{kRows};
  static constexpr int kColumns = kForm.columns(), kSumsAt = kForm.sums_at(), kScalesAt = kForm.scales_at(),
                       kBytes = kForm.bytes();
};

// A kernel: of one product, or of two of the same x that differ in the type of their weights.
template <DType kOf, DType kAndOf, int kN>
struct GroupKernel {
  static constexpr DType kType = kOf, kOther = kAndOf;
  static constexpr int kRows = kN, kProducts = kOf == kAndOf ? 1 : 2;
};

// Its tiles of 64 rows are numbers first_tile to end_tile of those of the task.
struct GroupProduct {
  LinearArgs args;  // x.values: chunks of GroupX
  int64_t tile_bytes;
  int32_t first_tile, end_tile;
};

template <class Kernel>
struct GroupRowsTask {
  GroupProduct products[Kernel::kProducts];
  int32_t n_chunks, n_tiles;
  int32_t cluster_bits, n_stages;  // of a team
  __host__ __device__ int cluster() const { return 1 << cluster_bits; }
};

// A CTA's shared memory: barriers, slots for the sums of tiles, stages.
template <class Kernel>
struct GroupMemory {
  static constexpr int kRows = Kernel::kRows;
  static constexpr int kMostStages = 8, kSlots = 2;
  static constexpr int kPartBytes = kRows * kTileRows * 4;  // a part of a packed tile's sums
  static constexpr int kSumBytes = kParts * kPartBytes;     // all parts
  static constexpr int kXAt =                               // of a stage, after the weights
      kTeamWarps * (Layout<Kernel::kType>::kChunkBytes > Layout<Kernel::kOther>::kChunkBytes
                        ? Layout<Kernel::kType>::kChunkBytes
                        : Layout<Kernel::kOther>::kChunkBytes);
  static constexpr int kStageBytes = (kXAt + GroupX<kRows>::kBytes + 127) / 128 * 128;
  static constexpr int kFull = 0, kEmpty = kFull + 8 * kTeams * kMostStages,
                       kSlotFull = kEmpty + 8 * kTeams * kMostStages, kSlotEmpty = kSlotFull + 8 * kSlots,
                       kBarrierBytes = kSlotEmpty + 8 * kSlots * kTeamWarps,
                       kSlotsAt = (kBarrierBytes + 127) / 128 * 128;
  // Of 227 KB, 3 are left to CTAs that prepare x.
  static constexpr int kRoom = 224 * 1024;

  // Where the stages are. A slot has the sums of those packed tiles that the CTA adds.
  static __host__ __device__ constexpr int stages_at(int cluster_bits) {
    return kSlotsAt + kSlots * (kTeamWarps >> cluster_bits) * kSumBytes;
  }
  // Of a team.
  static constexpr int stages(int cluster_bits) {
    const int n = (kRoom - stages_at(cluster_bits)) / (kTeams * kStageBytes);
    return n < kMostStages ? n : kMostStages;
  }
  static constexpr int bytes(int cluster_bits) {
    return stages_at(cluster_bits) + kTeams * stages(cluster_bits) * kStageBytes;
  }
  static_assert(stages(1) >= 2 && stages(2) >= 2);
};

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Where the first 32 columns of x lie, of a chunk at `x`: cores of 8 columns of B by 16 bytes, those of the same bytes
// after one another.
template <int kRows>
__device__ __forceinline__ uint64_t group_operand(uint32_t x) {
  constexpr uint64_t kBetweenColumns = 128 / 16, kBetweenBytes = GroupX<kRows>::kColumns;
  return kBetweenColumns << 32 | kBetweenBytes << 16 | (x & 0x3ffff) / 16;
}

// What finish_planes asks of x: a chunk in shared memory.
template <int kRows>
struct GroupColumns {
  const uint8_t* part;       // of row g / 2: the sums' high or low half
  const float* chunk_scale;  // of row t

  __device__ __forceinline__ GroupColumns(const uint8_t* x, int lane)
      : part(x + GroupX<kRows>::kSumsAt + lane / 8 * 64 + lane % 4 * 16 + lane / 4 % 2 * 8),
        chunk_scale(reinterpret_cast<const float*>(x + GroupX<kRows>::kScalesAt) + lane % 4) {}
  __device__ __forceinline__ uint2 sums(int quad) const {
    return *reinterpret_cast<const uint2*>(part + quad * 4 * 64);
  }
  __device__ __forceinline__ float scale(int quad) const { return chunk_scale[4 * quad]; }
};

// A of 32 columns, codes times the scales of their groups: products of 16 bits, 256 * upper + lower, of which the upper
// bytes have the sign.
struct ScaledCodes {
  uint32_t lower[4], upper[4];

  __device__ __forceinline__ void set(int i, uint32_t codes, int32_t scale) {
    constexpr uint32_t kNotNegative = 0x80008000u;  // so that neighbours do not borrow
    const auto factor = static_cast<uint32_t>(scale);
    const uint32_t even = __byte_perm(codes, 0, 0x4240) * factor + kNotNegative,
                   odd = __byte_perm(codes, 0, 0x4341) * factor + kNotNegative;
    lower[i] = __byte_perm(even, odd, 0x6240), upper[i] = __byte_perm(even, odd, 0x7351) ^ 0x80808080u;
  }
};

// ---- clusters

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0,%%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// In two halves. Only barriers that a thread set up before are there for those that have waited
// (make_barriers_visible): all else would have to wait for the device's memory.
__device__ __forceinline__ void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void wait_for_cluster() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// The same place in another CTA's shared memory.
__device__ __forceinline__ uint32_t of_cta(uint32_t address, int rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0,%1,%2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
// After reads only: of what this CTA wrote others need not see anything yet.
__device__ __forceinline__ void arrive_there(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _,[%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void send(uint32_t to, float a, float b, float c, float d, uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0],{%1,%2,%3,%4},[%5];" ::"r"(to),
               "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier)
               : "memory");
}
// For what other CTAs did.
__device__ __forceinline__ void wait_for_others(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  do {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p,[%1],%2; selp.u32 %0,1,0,p;}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

// ---- the work

// A place in a ring.
struct RingPlace {
  int at = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance(int n) {
    if (++at == n) at = 0, parity ^= 1;
  }
};

// What a CTA has to do, and where.
template <class Kernel>
struct GroupWork {
  using Memory = GroupMemory<Kernel>;
  const GroupRowsTask<Kernel>& a;
  uint32_t shared;
  int rank, cluster, n_clusters;

  __device__ __forceinline__ GroupWork(const GroupRowsTask<Kernel>& task, uint32_t at)
      : a(task),
        shared(at),
        rank(static_cast<int>(cluster_rank())),
        cluster(static_cast<int>(blockIdx.x >> task.cluster_bits)),
        n_clusters(static_cast<int>(gridDim.x >> task.cluster_bits)) {}
  __device__ __forceinline__ uint32_t barrier(int kind, int i = 0) const {
    return shared + static_cast<uint32_t>(kind + 8 * i);
  }
  __device__ __forceinline__ uint32_t stage(int i) const {  // of both teams, one after the other
    return shared + static_cast<uint32_t>(Memory::stages_at(a.cluster_bits) + i * Memory::kStageBytes);
  }
  // The sums of the CTA's packed tile `own`.
  __device__ __forceinline__ uint32_t slot(int i, int own) const {
    return shared +
           static_cast<uint32_t>(Memory::kSlotsAt + (i * (kTeamWarps >> a.cluster_bits) + own) * Memory::kSumBytes);
  }
  __device__ __forceinline__ uint32_t slot_bytes() const {
    return static_cast<uint32_t>((kTeamWarps >> a.cluster_bits) * Memory::kSumBytes);
  }
};

// A team's share: its parts of the columns, its ring.
template <class Kernel>
struct TeamWork {
  using Memory = GroupMemory<Kernel>;
  const GroupWork<Kernel>& work;
  int team, first_part, n_teams;  // first_part: and every n_teams-th from there

  __device__ __forceinline__ TeamWork(const GroupWork<Kernel>& of, int which)
      : work(of),
        team(which),
        first_part(of.rank + (which << of.a.cluster_bits)),
        n_teams(kTeams << of.a.cluster_bits) {}
  __device__ __forceinline__ uint32_t barrier(int kind, int stage) const {
    return work.barrier(kind, team * Memory::kMostStages + stage);
  }
  __device__ __forceinline__ uint32_t stage(int i) const { return work.stage(team * work.a.n_stages + i); }
};

// By a whole warp: lane i the chunks of packed tile i. The weights of the first stages are under way before x is there.
template <class Kernel>
struct StageCopier {
  using Memory = GroupMemory<Kernel>;
  static constexpr int kXBytes = GroupX<Kernel::kRows>::kBytes;
  const TeamWork<Kernel>& team;
  int lane, tile;
  RingPlace to;
  int n_copied = 0, x_of_stage = -1;  // lane i: the chunk whose x stage i waits for

  __device__ __forceinline__ StageCopier(const TeamWork<Kernel>& of, int lane)
      : team(of), lane(lane), tile(of.work.cluster) {}

  __device__ __forceinline__ void copy_x(int stage, int chunk) const {
    const auto* x = static_cast<const uint8_t*>(team.work.a.products[0].args.x.values);
    copy_bulk_shared(team.stage(stage) + Memory::kXAt, x + static_cast<int64_t>(chunk) * kXBytes, kXBytes,
                     team.barrier(Memory::kFull, stage));
  }
  __device__ __forceinline__ void copy_first_x() const {
    wait_for_previous_kernel();
    if (x_of_stage >= 0) copy_x(lane, x_of_stage);
  }
  // Stages whose weights are asked for before x is there: behind them waits what prepares x on the same multiprocessor.
  __device__ __forceinline__ int n_ahead() const { return min(3, team.work.a.n_stages); }
  // The next chunk of x and of `n` packed tiles; weights: of lane i's.
  __device__ __forceinline__ void copy(const uint8_t* weights, int chunk_bytes, int chunk, int n) {
    if (n_copied == n_ahead()) copy_first_x();
    wait_for(team.barrier(Memory::kEmpty, to.at), to.parity ^ 1);
    const uint32_t full = team.barrier(Memory::kFull, to.at);
    if (lane == 0) arrive_and_expect(full, static_cast<uint32_t>(n * chunk_bytes + kXBytes));
    __syncwarp();
    if (lane < n) {
      copy_bulk_shared(team.stage(to.at) + static_cast<uint32_t>(lane * chunk_bytes),
                       weights + static_cast<int64_t>(chunk) * chunk_bytes, static_cast<uint32_t>(chunk_bytes), full);
    }
    if (n_copied >= n_ahead()) {
      if (lane == kTeamWarps) copy_x(to.at, chunk);
    } else if (lane == n_copied) {
      x_of_stage = chunk;
    }
    to.advance(team.work.a.n_stages), ++n_copied;
  }
  template <DType kType>
  __device__ __forceinline__ void copy_tiles(const GroupProduct& product) {
    const auto n_packed = static_cast<int>((product.args.n_rows + kTileRows - 1) / kTileRows);
    for (; tile < product.end_tile; tile += team.work.n_clusters) {
      const int first = (tile - product.first_tile) * kTeamWarps, n = min(kTeamWarps, n_packed - first);
      const auto* weights = static_cast<const uint8_t*>(product.args.weights) + (first + lane) * product.tile_bytes;
      for (int part = team.first_part; part < kParts; part += team.n_teams) {
        for (int chunk = part; chunk < team.work.a.n_chunks; chunk += kParts)
          copy(weights, Layout<kType>::kChunkBytes, chunk, n);
      }
    }
  }
  __device__ __forceinline__ void copy_all() {
    const auto& products = team.work.a.products;
    copy_tiles<Kernel::kType>(products[0]);
    if constexpr (Kernel::kProducts == 2) copy_tiles<Kernel::kOther>(products[1]);
    if (n_copied <= n_ahead()) copy_first_x();
  }
};

// The integers of a chunk of a packed tile times x: products of 32 columns follow one another, with two under way.
template <DType kType, int kRows>
struct GroupProducts {
  using L = Layout<kType>;
  static constexpr int kQuads = kRows / 4, kProducts = kChunkCols / 32;
  const uint8_t* weights;
  const uint32_t* scales;
  uint64_t x;  // operand of the first 32 columns
  int lane;
  UnitCodes<kType> codes[2];

  __device__ __forceinline__ GroupProducts(const uint8_t* chunk, const ChunkScales<kType>& of, uint32_t x_at, int lane)
      : weights(chunk), scales(of.scale), x(group_operand<kRows>(__shfl_sync(0xffffffffu, x_at, 0))), lane(lane) {
    load(0);
  }
  __device__ __forceinline__ void load(int u) { codes[u % 2].load(weights + L::kCodesAt + u * L::kUnitBytes, lane); }
  // Ahead of its unit: what is under way keeps the compiler from doing so.
  __device__ __forceinline__ void load_ahead(int i) {
    if (i % 2 == 0 && i / 2 + 1 < kChunkUnits) load(i / 2 + 1);
  }
  __device__ __forceinline__ uint32_t bytes(int i, int reg) const {
    return code_bytes<kType>(codes[i / 2 % 2], i % 2 * 2 + reg / 2, reg % 2);
  }
  __device__ __forceinline__ uint64_t operand(int i) const { return x + i * (32 * GroupX<kRows>::kColumns / 16); }

  // Groups of 32 columns: one is multiplied while the one before it is scaled.
  __device__ __forceinline__ void add_up_groups(int32_t (&acc)[kQuads][4]) {
    int32_t c[2][4 * kQuads];
    uint32_t a[2][4];
#pragma unroll
    for (int i = 0; i <= kProducts; ++i) {
      if (i < kProducts) {
        load_ahead(i);
#pragma unroll
        for (int reg = 0; reg < 4; ++reg) a[i % 2][reg] = bytes(i, reg);
        wgmma_fence();
        wgmma_bytes<false>(c[i % 2], a[i % 2], operand(i), 0);
        wgmma_commit();
        wgmma_wait<1>();
      } else {
        wgmma_wait<0>();
      }
      if (i == 0) continue;
#pragma unroll
      for (int j = 0; j < 4 * kQuads; ++j) {
        int32_t& sum = c[(i - 1) % 2][j];
        asm volatile("" : "+r"(sum)::"memory");  // not read before
        const int32_t scaled = integer_scale<kType>(scales, i - 1, j % 4 / 2) * sum;
        acc[j / 4][j % 4] = i == 1 ? scaled : acc[j / 4][j % 4] + scaled;
      }
    }
  }

  // Groups of 16 columns: their scales go into A, so that sums need none.
  __device__ __forceinline__ void add_up_scaled(int32_t (&acc)[kQuads][4]) {
    int32_t lower[4 * kQuads], upper[4 * kQuads];
    ScaledCodes a[2];
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      load_ahead(i);
#pragma unroll
      for (int reg = 0; reg < 4; ++reg)
        a[i % 2].set(reg, bytes(i, reg), integer_scale<kType>(scales, 2 * i + reg / 2, reg % 2));
      wgmma_fence();
      wgmma_bytes<false>(lower, a[i % 2].lower, operand(i), i > 0);
      wgmma_bytes<true>(upper, a[i % 2].upper, operand(i), i > 0);
      wgmma_commit();
      if (i + 1 < kProducts) {
        wgmma_wait<1>();
      } else {
        wgmma_wait<0>();
      }
    }
#pragma unroll
    for (int i = 0; i < 4 * kQuads; ++i) {
      asm volatile("" : "+r"(lower[i]), "+r"(upper[i])::"memory");  // not read before
      acc[i / 4][i % 4] = lower[i] + 256 * upper[i];
    }
  }
};

// total += a chunk of the warp's packed tile times x.
template <DType kType, int kRows>
__device__ __forceinline__ void multiply_group_chunk(const uint8_t* weights, uint32_t x_at, int lane,
                                                     float (&total)[kRows / 8][4]) {
  ChunkScales<kType> scales;
  scales.load(weights, lane);
  GroupProducts<kType, kRows> products(weights, scales, x_at, lane);
  int32_t acc[kRows / 4][4];
  if constexpr (Layout<kType>::kFormat.group_cols == 32) {
    products.add_up_groups(acc);
  } else {
    products.add_up_scaled(acc);
  }
  const auto* x = static_cast<const uint8_t*>(__cvta_shared_to_generic(x_at));
  finish_planes<kType, kRows / 8>(scales, GroupColumns<kRows>(x, lane), acc, total);
}

// By the warps of a team: its parts, each of which goes to the CTA that adds those of the warp's tile.
template <class Kernel>
struct TileMultiplier {
  using Memory = GroupMemory<Kernel>;
  static constexpr int kRows = Kernel::kRows;
  const TeamWork<Kernel>& team;
  int warp, lane, tile;
  RingPlace stage, slot;

  __device__ __forceinline__ TileMultiplier(const TeamWork<Kernel>& of, int warp, int lane)
      : team(of), warp(warp), lane(lane), tile(of.work.cluster) {}
  __device__ __forceinline__ void send_part(int part, const float (&total)[kRows / 8][4]) const {
    const GroupWork<Kernel>& work = team.work;
    const int to = warp & (work.a.cluster() - 1);
    if (part == team.first_part)
      wait_for_others(work.barrier(Memory::kSlotEmpty, slot.at * kTeamWarps + to), slot.parity ^ 1);
    const uint32_t full = of_cta(work.barrier(Memory::kSlotFull, slot.at), to),
                   there = of_cta(work.slot(slot.at, warp >> work.a.cluster_bits) +
                                      static_cast<uint32_t>(part * Memory::kPartBytes + lane * 16),
                                  to);
#pragma unroll
    for (int i = 0; i < kRows / 8; ++i) {
      send(there + static_cast<uint32_t>(i * 512), total[i][0], total[i][1], total[i][2], total[i][3], full);
    }
  }
  template <DType kType>
  __device__ __forceinline__ void multiply_tiles(const GroupProduct& product) {
    const GroupWork<Kernel>& work = team.work;
    const GroupRowsTask<Kernel>& a = work.a;
    for (; tile < product.end_tile; tile += work.n_clusters, slot.advance(Memory::kSlots)) {
      for (int part = team.first_part; part < kParts; part += team.n_teams) {
        float total[kRows / 8][4] = {};
        for (int chunk = part; chunk < a.n_chunks; chunk += kParts, stage.advance(a.n_stages)) {
          wait_for(team.barrier(Memory::kFull, stage.at), stage.parity);
          const auto* weights = static_cast<const uint8_t*>(__cvta_shared_to_generic(team.stage(stage.at)));
          multiply_group_chunk<kType, kRows>(weights + warp * Layout<kType>::kChunkBytes,
                                             team.stage(stage.at) + Memory::kXAt, lane, total);
          __syncwarp();
          if (lane == 0) arrive(team.barrier(Memory::kEmpty, stage.at));
        }
        send_part(part, total);
      }
    }
  }
  __device__ __forceinline__ void multiply_all() {
    const auto& products = team.work.a.products;
    multiply_tiles<Kernel::kType>(products[0]);
    if constexpr (Kernel::kProducts == 2) multiply_tiles<Kernel::kOther>(products[1]);
  }
};

// Where the sum of row `row` of a packed tile and row `col` of x lies among a warp's sums.
__device__ __forceinline__ int sum_place(int row, int col) {
  const int quad = col / 4, lane = row % 8 * 4 + col % 4;
  return (quad / 2 * 32 + lane) * 4 + row / 8 * 2 + quad % 2;
}

// The sum of a place over all parts.
template <int kRows>
__device__ __forceinline__ float sum_of_parts(const float* from) {
  float sum = from[0];
#pragma unroll
  for (int part = 1; part < kParts; ++part) sum = __fadd_rn(sum, from[part * kRows * kTileRows]);
  return sum;
}

// What becomes of a packed tile's sums; a thread of kAddThreads has every so many of them.
template <int kRows>
__device__ __noinline__ void store_group_results(const LinearArgs& a, int64_t packed_tile, const float* sums,
                                                 int thread) {
#pragma unroll 1
  for (int e = thread; e < results_of_tile(a) * kRows; e += kAddThreads) {
    ResultPlace place = result_place(a, packed_tile, 0, e);
    place.load_before();
    store_result(
        a, FinishedValues{}, 0, place,
        [&](int row, int col) { return sum_of_parts<kRows>(sums + sum_place(row, col)); },
        [&](int32_t row) { return a.x.row_scale[row]; });
  }
}

// The same where results are just stored, added or activated by silu: what most products want. Every thread has a row
// of the packed tile, g or g + 8 by its parity, and pairs of rows of x, as they lie among the sums. Of gate and up a
// thread and its neighbour have a half each: of the first row of x of a pair one stores the result, of the second the
// other.
template <int kRows>
struct PlainResults {
  static constexpr int kPairs = kRows / 16;
  float* to[kPairs][2];  // of packed tile 0; null: there is none
  float scales[kPairs][2], before[kPairs][2];
  int row, rows_of_tile, n_rows;  // row: of the tile's results
  Epilogue epilogue;

  static __device__ __forceinline__ bool suit(const LinearArgs& a) {
    const bool known = a.epilogue == Epilogue::store || a.epilogue == Epilogue::add ||
                       (a.epilogue == Epilogue::gate_up && a.activation == Activation::silu);
    return known && a.bias == nullptr && a.up_bias == nullptr && a.out_rows == nullptr && a.mirrors == nullptr &&
           a.factor == 1.0f && a.soft_cap == 0.0f;
  }
  __device__ __forceinline__ PlainResults(const LinearArgs& a, int thread) : epilogue(a.epilogue) {
    const bool gate_up = epilogue == Epilogue::gate_up;
    const int g = thread / 8 % 8, t = thread / 2 % 4, upper = thread % 2;
    row = gate_up ? g : g + 8 * upper;
    rows_of_tile = results_of_tile(a), n_rows = static_cast<int>(gate_up ? a.n_rows / 2 : a.n_rows);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int col = (2 * i + thread / 64) * 8 + 4 * j + t;
        const bool is_there = col < a.m && (!gate_up || j == upper);
        to[i][j] = is_there ? a.out + col * a.ld_out + row : nullptr;
        scales[i][j] = col < a.m ? a.x.row_scale[col] : 0.0f;
      }
    }
  }
  __device__ __forceinline__ int64_t first_row(int64_t packed_tile) const { return packed_tile * rows_of_tile; }
  // Ahead of the sums.
  __device__ __forceinline__ void load_before(int64_t packed_tile) {
    const int64_t first = first_row(packed_tile);
    if (epilogue != Epilogue::add || first + row >= n_rows) return;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) before[i][j] = to[i][j] == nullptr ? 0.0f : __ldcg(to[i][j] + first);
    }
  }
  // sums: of a packed tile, from this thread's on.
  __device__ __forceinline__ void store(int64_t packed_tile, const float2* sums) const {
    const int64_t first = first_row(packed_tile);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      float2 sum = sums[i * kAddThreads];
#pragma unroll
      for (int part = 1; part < kParts; ++part) {
        const float2 more = sums[part * (kRows * kTileRows / 2) + i * kAddThreads];
        sum = {__fadd_rn(sum.x, more.x), __fadd_rn(sum.y, more.y)};
      }
      float values[2] = {fmaf(sum.x, scales[i][0], 0.0f), fmaf(sum.y, scales[i][1], 0.0f)};  // a product of -0 is 0
      if (epilogue == Epilogue::gate_up) {
        const float others[2] = {__shfl_xor_sync(0xffffffffu, values[0], 1),
                                 __shfl_xor_sync(0xffffffffu, values[1], 1)};
        values[0] = __fmul_rn(times_sigmoid(values[0], values[0]), others[0]);
        values[1] = __fmul_rn(times_sigmoid(others[1], others[1]), values[1]);
      }
      if (first + row >= n_rows) continue;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        if (to[i][j] == nullptr) continue;
        to[i][j][first] = epilogue == Epilogue::add ? __fadd_rn(cleared(before[i][j]), values[j]) : values[j];
      }
    }
  }
};

// By the warp group that adds: this CTA's packed tiles of every tile.
template <class Kernel>
struct PartAdder {
  using Memory = GroupMemory<Kernel>;
  static constexpr int kRows = Kernel::kRows;
  const GroupWork<Kernel>& work;
  int thread, tile;
  RingPlace slot;

  __device__ __forceinline__ PartAdder(const GroupWork<Kernel>& of, int thread)
      : work(of), thread(thread), tile(of.cluster) {}

  // What nobody waits for is left out: whom it is for may have ended.
  __device__ __forceinline__ void free_slot() const {
    __syncwarp();
    if (tile + Memory::kSlots * work.n_clusters >= work.a.n_tiles) return;
    if (thread == 0) arrive_and_expect(work.barrier(Memory::kSlotFull, slot.at), work.slot_bytes());
    __syncwarp();
    if (const int to = thread % 32; to < work.a.cluster())
      arrive_there(of_cta(work.barrier(Memory::kSlotEmpty, slot.at * kTeamWarps + work.rank), to));
  }
  __device__ __forceinline__ void add_tiles(const GroupProduct& product) {
    const LinearArgs& a = product.args;
    const bool is_plain = PlainResults<kRows>::suit(a);
    PlainResults<kRows> plain(a, thread);
    for (; tile < product.end_tile; tile += work.n_clusters, slot.advance(Memory::kSlots)) {
      for (int packed = work.rank; packed < kTeamWarps; packed += work.a.cluster()) {
        const int64_t packed_tile = static_cast<int64_t>(tile - product.first_tile) * kTeamWarps + packed;
        const auto* sums =
            static_cast<const float*>(__cvta_shared_to_generic(work.slot(slot.at, packed >> work.a.cluster_bits)));
        if (is_plain) plain.load_before(packed_tile);
        if (packed == work.rank) wait_for_others(work.barrier(Memory::kSlotFull, slot.at), slot.parity);
        if (is_plain) {
          plain.store(packed_tile, reinterpret_cast<const float2*>(sums) + thread);
        } else {
          store_group_results<kRows>(a, packed_tile, sums, thread);
        }
      }
      free_slot();
    }
  }
  __device__ __forceinline__ void add_all() {
    wait_for_previous_kernel();
#pragma unroll 1
    for (int i = 0; i < Kernel::kProducts; ++i) add_tiles(work.a.products[i]);
  }
};

// By one thread of every warp: what sets a barrier up takes one at a time of a warp.
template <class Kernel>
__device__ __forceinline__ void init_group_barriers(const GroupWork<Kernel>& work, int warp) {
  using Memory = GroupMemory<Kernel>;
#pragma unroll
  for (int at = 0; at < Memory::kBarrierBytes; at += 8 * kGroupThreads / 32) {
    const int mine = at + 8 * warp;
    if (mine >= Memory::kBarrierBytes) break;
    const bool is_slot_full = mine >= Memory::kSlotFull && mine < Memory::kSlotEmpty;
    init_barrier(work.barrier(mine), mine < Memory::kEmpty || is_slot_full ? 1
                                     : mine < Memory::kSlotFull            ? kTeamWarps
                                                                           : kAddThreads / 32);
    if (is_slot_full) arrive_and_expect(work.barrier(mine), work.slot_bytes());
  }
  make_barriers_visible();
}

// By a CTA without work: it stays until the launch that prepares x for the next product has its places. That launch
// prefers multiprocessors that have nothing to do, and all its CTAs on a few of them would take twice as long.
__device__ __forceinline__ void hold_place() {
  constexpr int64_t kCycles = 4000;  // 2 us: products take 5 and more
  wait_for_previous_kernel();
  for (const int64_t begin = clock64(); clock64() - begin < kCycles;) __nanosleep(100);
}

template <class Kernel>
__global__ void __maxnreg__(GroupRegisters<Kernel::kRows>::kLaunched)
    linear_group_rows(const __grid_constant__ GroupRowsTask<Kernel> a) {
  extern __shared__ __align__(128) uint8_t group_memory[];
  using Registers = GroupRegisters<Kernel::kRows>;
  const GroupWork<Kernel> work(a, static_cast<uint32_t>(__cvta_generic_to_shared(group_memory)));
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  if (lane == 0) init_group_barriers(work, warp);
  __syncthreads();
  arrive_at_cluster();
  let_next_kernel_start();
  if (work.cluster >= a.n_tiles) return hold_place();
  if (warp < 4) {
    lower_registers<Registers::kCopy>();
    if (warp < kTeams) StageCopier<Kernel>(TeamWork<Kernel>(work, warp), lane).copy_all();
    wait_for_cluster();
  } else if (warp < 8) {
    lower_registers<Registers::kAdd>();
    wait_for_cluster();
    PartAdder<Kernel>(work, static_cast<int>(threadIdx.x) - 128).add_all();
  } else {
    raise_registers<Registers::kTeam>();
    wait_for_cluster();
    TileMultiplier<Kernel>(TeamWork<Kernel>(work, warp / kTeamWarps - 2), warp % kTeamWarps, lane).multiply_all();
  }
}

#endif

}  // namespace inlay::cuda
