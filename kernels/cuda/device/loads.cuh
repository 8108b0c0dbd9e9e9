// Loads, the edges between kernels, and launches that may start early.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/launch_target.h"

namespace inlay::cuda {

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

// Barrier of the first kThreads threads of a CTA; the warps behind them do something else.
template <int kThreads>
__device__ __forceinline__ void sync_threads() {
  asm volatile("bar.sync %0,%1;" ::"n"(kThreads == 256 ? 1 : 2), "n"(kThreads) : "memory");
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// 16 bytes from global to shared memory, zeros where !valid; asynchronous.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global, bool valid) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(global), "r"(valid ? 16 : 0) : "memory");
}
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(global) : "memory");
}
__device__ __forceinline__ void copy_async_4(void* shared, const void* global) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0],[%1],4;" ::"r"(to), "l"(global) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#endif

// The body of a kernel that is compiled for older devices, too, but never launched there. Without it a mistake in the choice of
// kernels would be a launch that succeeds and computes nothing.
__device__ __forceinline__ void refuse_to_run() { __trap(); }

// What the library's kernels were compiled for that the device runs: __CUDA_ARCH__ / 10, so 90 for compute capability
// 9.0. Less than the device's own where the library was built for older ones.
cudaError_t code_version(int device, int& version);

// What launches depend on, of the current device.
struct DeviceTraits {
  int code = 0;  // code_version
  int n_multiprocessors = 0;
  int shared_bytes = 0;        // of a multiprocessor
  int block_shared_bytes = 0;  // that one block may ask for
};

inline cudaError_t current_device(DeviceTraits& traits) {
  int device = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  const struct {
    int* value;
    cudaDeviceAttr attribute;
  } wanted[] = {{&traits.n_multiprocessors, cudaDevAttrMultiProcessorCount},
                {&traits.shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
                {&traits.block_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin}};
  for (const auto& w : wanted) {
    if (const cudaError_t e = cudaDeviceGetAttribute(w.value, w.attribute, device); e != cudaSuccess) return e;
  }
  return code_version(device, traits.code);
}

// Lets a kernel take `bytes` of shared memory. The limit belongs to the kernel on the device, whoever launches it: it
// is raised to the most that there is, so that a smaller launch on another thread never takes it back.
inline cudaError_t allow_shared_memory(const void* kernel, size_t bytes, int device) {
  if (bytes <= 48 * 1024) return cudaSuccess;
  cudaFuncAttributes attributes{};
  if (const cudaError_t e = cudaFuncGetAttributes(&attributes, kernel); e != cudaSuccess) return e;
  if (static_cast<size_t>(attributes.maxDynamicSharedSizeBytes) >= bytes) return cudaSuccess;
  int most = 0;
  const cudaError_t e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (e != cudaSuccess) return e;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most - static_cast<int>(attributes.sharedSizeBytes));
}

// Launches a kernel of one struct so that it may start while its predecessor ends, where its code can wait for that.
// cluster: CTAs of one (compute capability 9.0).
template <class Args>
cudaError_t launch_early(void (*kernel)(const Args), dim3 grid, int threads, LaunchTarget target, const Args& args,
                         size_t shared_bytes = 0, unsigned cluster = 1) {
  int device = 0, code = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  if (const cudaError_t e = code_version(device, code); e != cudaSuccess) return e;
  if (const cudaError_t e = allow_shared_memory(reinterpret_cast<const void*>(kernel), shared_bytes, device);
      e != cudaSuccess) {
    return e;
  }
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = attributes;
  config.numAttrs = code < 90 ? 0 : cluster > 1 ? 2 : 1;
  return launch_kernel(target, config, kernel, args);
}

}  // namespace inlay::cuda
