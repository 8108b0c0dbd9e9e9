// The part of cuBLASLt's C interface that we call, as CUDA 11 to 13 define it: declared here so that building needs
// none of its headers. tests/cuda/gemm.cu compares with them where they are.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace inlay::cublas {

using Handle = struct HandleOfLibrary*;
using Operation = struct OperationOfLibrary*;    // cublasLtMatmulDesc_t
using Layout = struct LayoutOfLibrary*;          // cublasLtMatrixLayout_t
using Preference = struct PreferenceOfLibrary*;  // cublasLtMatmulPreference_t

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

// cudaDataType
inline constexpr int kF32 = 0, kF16 = 2, kBf16 = 14;
inline constexpr int kComputeF32 = 68;  // CUBLAS_COMPUTE_32F
inline constexpr int kTransposed = 1;   // CUBLAS_OP_T
// Attributes of operations, layouts and preferences.
inline constexpr int kTransposeA = 3;
inline constexpr int kCols = 3;
inline constexpr int kMaxWorkspace = 1, kReductionSchemes = 3, kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7,
                     kAlignmentD = 8;
inline constexpr uint32_t kReductionInComputeType = 2;

inline constexpr int kSuccess = 0, kNotInitialized = 1, kAllocationFailed = 3, kInvalidValue = 7, kArchMismatch = 8,
                     kExecutionFailed = 13, kNotSupported = 15;

// Functions return a cublasStatus_t.
struct Api {
  int (*cublasLtCreate)(Handle*);
  int (*cublasLtDestroy)(Handle);
  size_t (*cublasLtGetVersion)();
  int (*cublasLtMatmulDescCreate)(Operation*, int compute_type, int scale_type);
  int (*cublasLtMatmulDescSetAttribute)(Operation, int attribute, const void* value, size_t bytes);
  int (*cublasLtMatmulDescDestroy)(Operation);
  int (*cublasLtMatrixLayoutCreate)(Layout*, int type, uint64_t n_rows, uint64_t n_cols, int64_t ld);  // column-major
  int (*cublasLtMatrixLayoutSetAttribute)(Layout, int attribute, const void* value, size_t bytes);
  int (*cublasLtMatrixLayoutDestroy)(Layout);
  int (*cublasLtMatmulPreferenceCreate)(Preference*);
  int (*cublasLtMatmulPreferenceSetAttribute)(Preference, int attribute, const void* value, size_t bytes);
  int (*cublasLtMatmulPreferenceDestroy)(Preference);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle, Operation, Layout a, Layout b, Layout c, Layout d, Preference,
                                        int n_wanted, Heuristic*, int* n_found);
  int (*cublasLtMatmul)(Handle, Operation, const void* alpha, const void* a, Layout, const void* b, Layout,
                        const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                        size_t workspace_bytes, cudaStream_t);
};

}  // namespace inlay::cublas
