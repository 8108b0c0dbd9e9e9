// Marks functions that nvcc shall compile for both sides; nothing to other compilers.
#pragma once

#ifdef __CUDACC__
#define INLAY_HOST_DEVICE __host__ __device__
#else
#define INLAY_HOST_DEVICE
#endif

// Functions and tables that nvcc shall compile for the GPU alone; ordinary ones to other compilers.
#ifdef __CUDACC__
#define INLAY_DEVICE_FUNCTION static inline __device__
#define INLAY_DEVICE_TABLE static constexpr __device__
#else
#define INLAY_DEVICE_FUNCTION static inline
#define INLAY_DEVICE_TABLE inline constexpr
#endif
