// Barriers, bulk copies, clusters and the sharing out of registers, as compute capability 9.0 has them. Addresses are
// of shared memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ void init_barrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0],%1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Those of this thread, to the copies that complete at them.
__device__ __forceinline__ void make_barriers_visible() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _,[%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_and_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait_for(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p,[%0],%1; @p bra done; bra again; done:}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

// Multiples of 16 bytes.
__device__ __forceinline__ void copy_bulk_shared(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// The box of a matrix whose first element is at (row, column).
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap& map, int column, int row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1,{%2,%3}],[%4];" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store_shared(uint32_t to, float value) {
  asm volatile("st.shared.f32 [%0],%1;" ::"r"(to), "f"(value) : "memory");
}
// The same place in the memory of CTA `rank` of the cluster.
__device__ __forceinline__ float load_of_cluster(uint32_t from, uint32_t rank) {
  float value;
  asm volatile("{.reg .b32 at; mapa.shared::cluster.u32 at,%1,%2; ld.shared::cluster.f32 %0,[at];}"
               : "=f"(value)
               : "r"(from), "r"(rank)
               : "memory");
  return value;
}
// All threads of the cluster that have not ended.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// By whole warp groups: of 384 threads, 128 that copy leave their registers to the 256 that multiply.
__device__ __forceinline__ void give_registers_back() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
__device__ __forceinline__ void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); }

#endif

}  // namespace inlay::cuda
