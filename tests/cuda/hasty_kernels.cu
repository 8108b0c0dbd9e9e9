// The kernels of Q8_0 products of one row with a fault: a launch that does not wait for the one before it, and a token
// kernel whose ops with tag_in = kUntagged take values as they find them. They are the project's own sources, compiled
// in a namespace of their own, where two things mean something else.
#include <cuda_runtime.h>

namespace inlay::cuda {
cudaError_t code_version(int device, int& version);
}
static cudaError_t code_of_the_kernels(int device, int& version) { return inlay::cuda::code_version(device, version); }

#define inlay inlay_hasty

#include <cstring>

#include "kernels/cuda/device/loads.cuh"
#define wait_for_previous_kernel() static_cast<void>(0)

#define TaggedValues WaitingValues
#include "kernels/cuda/device/exchange.cuh"
#undef TaggedValues

namespace inlay::cuda {

cudaError_t code_version(int device, int& version) { return code_of_the_kernels(device, version); }

struct TaggedValues {
  static constexpr bool kTagged = true;
  uint32_t in, out;

  __device__ __forceinline__ TaggedValues written() const { return {out, out}; }
  template <int n, class Offset>
  __device__ __forceinline__ void ask4(const float* from, const bool (&there)[n], const Offset& offset,
                                       uint4 (&v)[n]) const {
    if (in > 3) {
      FinishedValues{}.ask4(from, there, offset, v);
    } else {
      WaitingValues{in, out}.ask4(from, there, offset, v);
    }
  }
  template <int n, class Offset, int kAsked>
  __device__ __forceinline__ void take4(const float* from, const bool (&there)[n], const Offset& offset,
                                        uint4 (&v)[kAsked], float4 (&to)[n]) const {
    if (in > 3) {
      FinishedValues{}.take4(from, there, offset, v, to);
    } else {
      WaitingValues{in, out}.take4(from, there, offset, v, to);
    }
  }
  __device__ __forceinline__ void wait_for_any(const float* at, uint32_t seen, bool is_there, bool asks) const {
    if (in <= 3) WaitingValues{in, out}.wait_for_any(at, seen, is_there, asks);
  }
  __device__ __forceinline__ void store(float* p, float v) const { WaitingValues{in, out}.store(p, v); }
  __device__ __forceinline__ void store4(float* p, float4 v) const { WaitingValues{in, out}.store4(p, v); }
};

}  // namespace inlay::cuda

#include "kernels/cuda/linear/launch.cuh"
#include "kernels/cuda/token/token_kernel.cuh"
#include "tests/cuda/hasty_kernels.h"

cudaError_t launch_hasty_product(const void* args, cudaStream_t stream) {
  using namespace inlay::cuda;
  LinearArgs same{};
  std::memcpy(&same, args, sizeof same);  // the type of the other namespace
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  return launch_few_rows<inlay::DType::q8_0, 1, true>(same, device, stream);
}

const void* hasty_token_kernel(int n_rows) {
  using namespace inlay::cuda;
  constexpr inlay::DType kType = inlay::DType::q8_0;
  if (n_rows == 1) return reinterpret_cast<const void*>(token_kernel<kType, kType, 1, KvType::f16, false>);
  return reinterpret_cast<const void*>(token_kernel<kType, kType, 1, KvType::f16, true>);
}
