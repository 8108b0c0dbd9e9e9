// With which reason tests skip that need a GPU: tests/lint/summarize_ctest.py counts them by it.
#pragma once

#if INLAY_HAS_CUDA
#define INLAY_NEEDS_GPU "needs a GPU"
#else
#define INLAY_NEEDS_GPU "needs a GPU and a build with CUDA"
#endif
