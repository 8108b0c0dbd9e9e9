// Fragments of mma.sync out of shared memory: four 8 x 8 matrices of 16-bit values at once. Lane l gives the address of
// row l % 8 of matrix l / 8 (16 bytes, aligned); lane 4 g + t gets elements 2 t and 2 t + 1 of row g of matrix i in
// out[i], or, transposed, of column g.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

template <bool kTransposed>
__device__ __forceinline__ void load_matrices(uint32_t (&out)[4], uint32_t shared_address) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address)
                 : "memory");
  }
}

}  // namespace inlay::cuda
