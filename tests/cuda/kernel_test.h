// What the programs that test kernels share: a line for every case, memory of the device, times, halves on the host.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/needs_gpu.h"

namespace inlay::cuda {

inline int failures = 0;

inline void report(bool good, const std::string& what) {
  std::printf("%s %s\n", good ? "ok  " : "FAIL", what.c_str());
  std::fflush(stdout);
  if (!good) ++failures;
}
inline void report(bool good, const std::string& name, const std::string& detail) {
  report(good, name + ": " + detail);
}

template <class... Args>
std::string text(const char* format, Args... args) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

// A CUDA error ends the program: nothing after it means anything.
#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {                                \
      std::printf("FAIL %s:%d %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_), \
                  cudaGetErrorString(error_));                                                     \
      std::exit(2);                                                                                \
    }                                                                                              \
  } while (0)

// The exit status of a program that has nothing to run on, and of one that has run.
inline constexpr int kSkipped = 77;
inline bool has_device() {
  int n = 0;
  const bool has = cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
  if (!has) std::puts("skipped: " INLAY_NEEDS_GPU);
  return has;
}
inline int finish() {
  std::printf("%s: %d failures\n", failures == 0 ? "PASS" : "FAIL", failures);
  return failures == 0 ? 0 : 1;
}

// An array in device memory, whose values are undefined until they are put there.
template <class T>
class Device {
 public:
  explicit Device(size_t n) : n_(n) {
    void* data = nullptr;
    CUDA_OK(cudaMalloc(&data, std::max<size_t>(n, 1) * sizeof(T)));
    data_ = static_cast<T*>(data);
  }
  explicit Device(const std::vector<T>& host) : Device(host.size()) { put(host); }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  T* get() const { return data_; }
  size_t size() const { return n_; }
  void put(const std::vector<T>& host) {
    CUDA_OK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  void fill(int byte) const { CUDA_OK(cudaMemset(data_, byte, n_ * sizeof(T))); }
  std::vector<T> host() const {  // once all launches have ended
    std::vector<T> out(n_);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(out.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t n_;
};

// Microseconds of one of n launches, launch(i, stream), where `run` has the stream do them all; the fastest of some
// repetitions after the first.
template <class Run>
double fastest_us(int n, cudaStream_t stream, const Run& run) {
  cudaEvent_t begin, end;
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  float best = 1e30f;
  for (int repetition = 0; repetition < 6; ++repetition) {
    CUDA_OK(cudaEventRecord(begin, stream));
    run();
    CUDA_OK(cudaEventRecord(end, stream));
    CUDA_OK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CUDA_OK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (repetition > 0) best = std::min(best, milliseconds);
  }
  CUDA_OK(cudaEventDestroy(begin));
  CUDA_OK(cudaEventDestroy(end));
  return best * 1e3 / n;
}

template <class Launch>
double stream_us(int n, const Launch& launch) {
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  const double us = fastest_us(n, stream, [&] {
    for (int i = 0; i < n; ++i) launch(i, stream);
  });
  CUDA_OK(cudaStreamDestroy(stream));
  return us;
}

// Without the host's part: the launches are a graph.
template <class Launch>
double graph_us(int n, const Launch& launch) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamCreate(&stream));
  launch(0, stream);  // loads the kernel, which a capture should not do
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < n; ++i) launch(i, stream);
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  const double us = fastest_us(n, stream, [&] { CUDA_OK(cudaGraphLaunch(exec, stream)); });
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
  return us;
}

inline constexpr uint16_t kNanHalf = 0x7e00;

inline float from_bits(uint16_t bits) {
  static const std::vector<float> table = [] {
    std::vector<float> all(65536);
    for (unsigned i = 0; i < 65536; ++i) all[i] = __half2float(__half(__half_raw{static_cast<unsigned short>(i)}));
    return all;
  }();
  return table[bits];
}
inline uint16_t to_bits(float x) { return static_cast<__half_raw>(__float2half_rn(x)).x; }

}  // namespace inlay::cuda
