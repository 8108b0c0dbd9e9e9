// Marks functions that nvcc shall compile for both sides; nothing to other compilers.
#pragma once

#ifdef __CUDACC__
#define INLAY_HOST_DEVICE __host__ __device__
#else
#define INLAY_HOST_DEVICE
#endif
