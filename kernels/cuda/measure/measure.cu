// What a profile is measured with: reads of a whole buffer, random bytes for it, and a kernel that holds the stream. And
// what code the device runs.
//
//   fill: to[i] = hash(i)     read: sums of all words, one store a CTA     delay: spins until a time has passed
//
// Tiling of read and fill: a grid of a few CTAs a multiprocessor, 16 bytes a thread and step, four loads in flight.
// Bound: memory.
#include <atomic>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kInFlight = 4;
constexpr unsigned kCtas = 4096;

__device__ __forceinline__ uint32_t hash(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  return static_cast<uint32_t>(z >> 29);
}

__global__ __launch_bounds__(kThreads) void fill_kernel(uint32_t* to, size_t n) {
  const size_t step = static_cast<size_t>(gridDim.x) * kThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += step) to[i] = hash(i);
}

// Each CTA reads one stretch of the buffer.
__global__ __launch_bounds__(kThreads) void read_kernel(const uint4* from, size_t n, uint32_t* sums) {
  const size_t per_cta = (n + gridDim.x - 1) / gridDim.x;
  const size_t begin = blockIdx.x * per_cta, end = begin + per_cta < n ? begin + per_cta : n;
  uint32_t sum = 0;
  size_t i = begin + threadIdx.x;
  for (; i + (kInFlight - 1) * kThreads < end; i += kInFlight * kThreads) {
    uint4 v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) v[k] = __ldcs(from + i + k * kThreads);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < end; i += kThreads) {
    const uint4 v = __ldcs(from + i);
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  // The sum is stored only where it has this value, which the compiler cannot rule out: the loads stay, the stores cost
  // nothing.
  if (sum == 0x12345678u) sums[blockIdx.x] = sum;
}

__global__ void delay_kernel(uint64_t nanoseconds) {
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

}  // namespace

size_t read_sums_bytes() { return kCtas * sizeof(uint32_t); }

cudaError_t launch_fill_random(void* to, size_t bytes, cudaStream_t stream) {
  fill_kernel<<<kCtas, kThreads, 0, stream>>>(static_cast<uint32_t*>(to), bytes / sizeof(uint32_t));
  return cudaGetLastError();
}

cudaError_t launch_read(const void* from, size_t bytes, void* sums, cudaStream_t stream) {
  read_kernel<<<kCtas, kThreads, 0, stream>>>(static_cast<const uint4*>(from), bytes / sizeof(uint4),
                                              static_cast<uint32_t*>(sums));
  return cudaGetLastError();
}

cudaError_t launch_delay(uint64_t nanoseconds, cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

cudaError_t find_kernel_image() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, delay_kernel);
}

// All files but those for sm_90a are compiled for the same list of architectures, of which the driver takes the same for
// every kernel. The question takes a microsecond, so the answer is kept.
cudaError_t code_version(int device, int& version) {
  constexpr int kMostDevices = 16;
  static std::atomic<int> known[kMostDevices];
  if (device < kMostDevices && (version = known[device].load(std::memory_order_relaxed)) > 0) return cudaSuccess;
  cudaFuncAttributes attributes;
  if (const cudaError_t e = cudaFuncGetAttributes(&attributes, delay_kernel); e != cudaSuccess) return e;
  version = attributes.ptxVersion;
  if (device < kMostDevices) known[device].store(version, std::memory_order_relaxed);
  return cudaSuccess;
}

}  // namespace inlay::cuda
