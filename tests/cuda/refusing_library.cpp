// A shared library in place of cuBLASLt that is older than every device: it has all functions, and refuses.
#define INLAY_EXPORT extern "C" __attribute__((visibility("default")))
#define INLAY_REFUSES(name) \
  INLAY_EXPORT int name() { return 8; } /* CUBLAS_STATUS_ARCH_MISMATCH */

INLAY_EXPORT unsigned long cublasLtGetVersion() { return 110000; }
INLAY_REFUSES(cublasLtCreate)
INLAY_REFUSES(cublasLtDestroy)
INLAY_REFUSES(cublasLtMatmulDescCreate)
INLAY_REFUSES(cublasLtMatmulDescSetAttribute)
INLAY_REFUSES(cublasLtMatmulDescDestroy)
INLAY_REFUSES(cublasLtMatrixLayoutCreate)
INLAY_REFUSES(cublasLtMatrixLayoutSetAttribute)
INLAY_REFUSES(cublasLtMatrixLayoutDestroy)
INLAY_REFUSES(cublasLtMatmulPreferenceCreate)
INLAY_REFUSES(cublasLtMatmulPreferenceSetAttribute)
INLAY_REFUSES(cublasLtMatmulPreferenceDestroy)
INLAY_REFUSES(cublasLtMatmulAlgoGetHeuristic)
INLAY_REFUSES(cublasLtMatmul)
