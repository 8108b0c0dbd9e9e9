// How ops of a decode step take values from one another.
//
// In launches of their own they find finished rows in memory. Within the token kernel a value says by itself when it is
// there: its two lowest mantissa bits are a tag, and whoever needs it reads until the tag is the one of this
// generation. No counter, no fence. So that both give the same bits, every reader clears the two bits (2^-22 of a
// value), tagged or not.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

__device__ __forceinline__ float cleared(float v) { return __uint_as_float(__float_as_uint(v) & ~3u); }
__device__ __forceinline__ float4 cleared(float4 v) {
  return make_float4(cleared(v.x), cleared(v.y), cleared(v.z), cleared(v.w));
}

__device__ __forceinline__ float4 floats_of(uint4 v) {
  return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
}

// Past L1: the launch that reads a value may have written its predecessor too.
struct FinishedValues {
  static constexpr bool kTagged = false;
  __device__ __forceinline__ float load(const float* from) const { return cleared(__ldcg(from)); }
  // Asks for v[i]: the four values from[offset(i)] and on, if they are there; else zeros.
  template <int n, class Offset>
  __device__ __forceinline__ void ask4(const float* from, const bool (&there)[n], const Offset& offset,
                                       uint4 (&v)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      v[i] = make_uint4(0, 0, 0, 0);
      if (there[i]) v[i] = __ldcg(reinterpret_cast<const uint4*>(from + offset(i)));
    }
  }
  // Waits for n of those that were asked for.
  template <int n, class Offset, int kAsked>
  __device__ __forceinline__ void take4(const float*, const bool (&)[n], const Offset&, uint4 (&v)[kAsked],
                                        float4 (&to)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) to[i] = cleared(floats_of(v[i]));
  }
  __device__ __forceinline__ void wait_for_any(const float*, uint32_t, bool, bool) const {}
  __device__ __forceinline__ void store(float* to, float v) const { *to = v; }
  __device__ __forceinline__ void store4(float* to, float4 v) const { *reinterpret_cast<float4*>(to) = v; }
};

struct TaggedValues {
  static constexpr bool kTagged = true;
  uint32_t in, out;  // out above 3: values are stored as they are

  // For those that the op itself writes.
  __device__ __forceinline__ TaggedValues written() const { return {out, out}; }

  template <int n, class Offset>
  __device__ __forceinline__ void ask4(const float* from, const bool (&there)[n], const Offset& offset,
                                       uint4 (&v)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      v[i] = make_uint4(in, in, in, in);  // zeros with the right tag
      if (there[i]) read(from + offset(i), v[i]);
    }
  }
  // All are asked for again and again until all are there.
  template <int n, class Offset, int kAsked>
  __device__ __forceinline__ void take4(const float* from, const bool (&there)[n], const Offset& offset,
                                        uint4 (&v)[kAsked], float4 (&to)[n]) const {
    for (int n_tries = 0;;) {
      uint32_t wrong = 0;
#pragma unroll
      for (int i = 0; i < n; ++i) wrong |= (v[i].x ^ in) | (v[i].y ^ in) | (v[i].z ^ in) | (v[i].w ^ in);
      if ((wrong & 3u) == 0) break;
      if (++n_tries > kPatience) __trap();
#pragma unroll
      for (int i = 0; i < n; ++i) {
        if (there[i]) read(from + offset(i), v[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < n; ++i) to[i] = cleared(floats_of(v[i]));
  }
  // By a whole warp that has asked for values: until one of them has come. asks: the lanes that look, at *at; seen:
  // what a lane got for that one, if it is there. While nothing can have come, few should ask for little: what all CTAs
  // ask for takes as much of the L2's time as the weights.
  __device__ __forceinline__ void wait_for_any(const float* at, uint32_t seen, bool is_there, bool asks) const {
    bool came = is_there && ((seen ^ in) & 3u) == 0;
    for (int n_tries = 0; !__any_sync(0xffffffffu, came);) {
      if (asks) {
        asm volatile("ld.relaxed.gpu.global.u32 %0,[%1];" : "=r"(seen) : "l"(at) : "memory");
        came = ((seen ^ in) & 3u) == 0;
      }
      if (++n_tries > kPatience) __trap();
    }
  }
  __device__ __forceinline__ void store(float* to, float v) const {
    asm volatile("st.relaxed.gpu.global.f32 [%0],%1;" ::"l"(to), "f"(tagged(v)) : "memory");
  }
  __device__ __forceinline__ void store4(float* to, float4 v) const {
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0],{%1,%2,%3,%4};" ::"l"(to), "f"(tagged(v.x)), "f"(tagged(v.y)),
                 "f"(tagged(v.z)), "f"(tagged(v.w))
                 : "memory");
  }

 private:
  // A value that does not come is a fault of the program: an error after some seconds is better than a GPU that hangs.
  static constexpr int kPatience = 1 << 24;

  __device__ static __forceinline__ void read(const float* from, uint4& v) {
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3},[%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
  }
  __device__ __forceinline__ float tagged(float v) const {
    return out > 3 ? v : __uint_as_float((__float_as_uint(v) & ~3u) | out);
  }
};

// Asks and takes. beside(): loads that do not depend on the op before; the values would wait for what is asked earlier.
template <int n, class Values, class Offset, class Beside>
__device__ __forceinline__ void load4(const Values& values, const float* from, const bool (&there)[n],
                                      const Offset& offset, float4 (&to)[n], const Beside& beside) {
  uint4 v[n];
  values.ask4(from, there, offset, v);
  beside();
  values.take4(from, there, offset, v, to);
}

}  // namespace inlay::cuda
