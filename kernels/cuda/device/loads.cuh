// Loads and the edges between kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

// Weights pass through once: they leave L1 to the activations.
__device__ __forceinline__ uint4 load_once(const uint4* p) {
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

// kWords consecutive words of constant memory at an address aligned to all of them.
template <int kWords>
__device__ __forceinline__ void load_words(const void* p, uint32_t* out) {
  if constexpr (kWords == 1) {
    out[0] = __ldg(static_cast<const uint32_t*>(p));
  } else if constexpr (kWords == 2) {
    const uint2 v = __ldg(static_cast<const uint2*>(p));
    out[0] = v.x, out[1] = v.y;
  } else {
    static_assert(kWords == 4);
    const uint4 v = __ldg(static_cast<const uint4*>(p));
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  }
}

// The next kernel of the stream may start; it waits before it touches what this one writes.
__device__ __forceinline__ void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// All that earlier kernels wrote is visible afterwards. Every thread of a kernel that was launched early calls it.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// 16 bytes from global to shared memory, zeros where !valid; asynchronous.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global, bool valid) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(global), "r"(valid ? 16 : 0) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#endif

// Launches a kernel of one struct so that it may start while its predecessor ends, where the device can.
template <class Args>
cudaError_t launch_early(void (*kernel)(const Args), dim3 grid, int threads, cudaStream_t stream, const Args& args) {
  int device = 0, major = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  if (const cudaError_t e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      e != cudaSuccess) {
    return e;
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args);
}

}  // namespace inlay::cuda
