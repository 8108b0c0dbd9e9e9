// Bulk copies, flags and the sharing out of registers, as compute capability 9.0 has them. Addresses are of shared
// memory, pointers of global memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/device/barriers.cuh"

namespace inlay::cuda {

// Whether a device runs code for sm_90a.
inline bool has_sm_90a(int device) {
  int major = 0, minor = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess && major == 9 &&
         minor == 0;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

// wait_for in one block, around which the compiler unrolls the loops that copy: the form that the GEMM was measured
// with.
__device__ __forceinline__ void await(uint32_t barrier, uint32_t parity) {
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

// A flag that says that what its thread wrote before is there.
__device__ __forceinline__ void store_release(uint32_t* flag, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0],%1;" ::"l"(flag), "r"(value) : "memory");
}
// What does not come is a fault of the program: an error after some seconds is better than a GPU that hangs.
__device__ __forceinline__ void wait_for_flag(const uint32_t* flag) {
  constexpr int kPatience = 1 << 24;
  uint32_t value = 0;
  for (int n_tries = 0; value == 0;) {
    asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(value) : "l"(flag) : "memory");
    if (++n_tries > kPatience) __trap();
  }
}

// By whole warp groups: to n a thread; what some give back others may take.
template <int n>
__device__ __forceinline__ void lower_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n>
__device__ __forceinline__ void raise_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}

#endif

}  // namespace inlay::cuda
