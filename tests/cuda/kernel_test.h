// What the programs that test kernels share: a line for every case, memory of the device, halves on the host.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace inlay::cuda {

inline constexpr uint16_t kNanHalf = 0x7e00;
inline int failures = 0;

inline void report(bool good, const std::string& name, const std::string& detail) {
  std::printf("%s %s: %s\n", good ? "ok  " : "FAIL", name.c_str(), detail.c_str());
  std::fflush(stdout);
  if (!good) ++failures;
}

inline std::string text(const char* format, double value) {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// A CUDA error ends the program: nothing after it means anything.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("FAIL %s: %s (%s)\n", what, cudaGetErrorName(status), cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
class Device {
 public:
  explicit Device(size_t n) : n_(n) { check(cudaMalloc(&data_, std::max<size_t>(n, 1) * sizeof(T)), "cudaMalloc"); }
  explicit Device(const std::vector<T>& host) : Device(host.size()) { put(host); }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  T* get() const { return data_; }
  size_t size() const { return n_; }
  void put(const std::vector<T>& host) {
    check(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  std::vector<T> host() const {
    std::vector<T> out(n_);
    check(cudaMemcpy(out.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t n_;
};

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
