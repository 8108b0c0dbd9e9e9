// As many bytes of a thread's variables, and on as large a boundary, as CUDA's runtime brings.
_Thread_local char inlay_large_variable[8192] __attribute__((aligned(4096), used)) = {0};
