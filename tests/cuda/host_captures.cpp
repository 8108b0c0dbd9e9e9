// Every function of the library beside a host that uses the GPU itself: that captures graphs without end, waits for the
// whole device, allocates, or profiles. Neither may disturb the other.
// Usage: host_captures HOST LIBRARY MODEL, where HOST is a name of kHosts, or `control`: what this test would notice.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/needs_gpu.h"
#ifdef INLAY_TEST_CUPTI
#include <cupti.h>
#endif

extern "C" int abi_calls(int argc, char** argv);  // abi_calls.c: calls every function, most of them with success, too

namespace {

constexpr size_t kBytes = 1 << 16;

// What a host does on the GPU, and how often that failed.
class Host {
 public:
  explicit Host(unsigned stream_flags = cudaStreamNonBlocking) {
    note(cudaStreamCreateWithFlags(&stream_, stream_flags));
    note(cudaMalloc(&memory_, kBytes));
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    (void)cudaFree(memory_);
    (void)cudaStreamDestroy(stream_);
  }

  void begin_capture() { note(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal)); }
  void end_capture() {
    note(cudaMemsetAsync(memory_, 1, kBytes, stream_));
    cudaGraph_t graph = nullptr;
    note(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable = nullptr;
    if (note(cudaGraphInstantiate(&executable, graph, 0))) {
      note(cudaGraphLaunch(executable, stream_));
      note(cudaStreamSynchronize(stream_));
      (void)cudaGraphExecDestroy(executable);
    }
    if (graph) (void)cudaGraphDestroy(graph);
  }
  void wait() { note(cudaDeviceSynchronize()); }
  void allocate() {
    void* more = nullptr;
    if (!note(cudaMalloc(&more, kBytes))) return;
    note(cudaMemset(more, 1, kBytes));
    note(cudaFree(more));
  }
  bool note(cudaError_t code) {
    ++n_calls_;
    if (code == cudaSuccess) return true;
    if (n_failures_++ == 0) std::printf("the host's call %d: %s\n", n_calls_, cudaGetErrorString(code));
    (void)cudaGetLastError();
    return false;
  }
  int n_calls() const { return n_calls_; }
  int n_failures() const { return n_failures_; }

 private:
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
  int n_calls_ = 0, n_failures_ = 0;
};

using Work = std::function<int()>;

// Runs the work while another thread acts as a host without end; the sum of failures.
int beside(unsigned stream_flags, void (*act)(Host&), const Work& work) {
  std::atomic<bool> ready{false}, stop{false};
  int n_calls = 0, n_failures = 0;
  std::thread thread([&] {
    Host host(stream_flags);
    while (!stop) {
      act(host);
      ready = true;
    }
    n_calls = host.n_calls(), n_failures = host.n_failures();
  });
  while (!ready) std::this_thread::yield();
  const int failed = work();
  stop = true;
  thread.join();
  std::printf("%d calls of the host, %d failures\n", n_calls, n_failures);
  return failed + n_failures + (n_calls == 0);
}

void capture(Host& host) {
  host.begin_capture();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  host.end_capture();
}

int on_a_stream(const Work& work) { return beside(cudaStreamNonBlocking, capture, work); }
int on_a_blocking_stream(const Work& work) { return beside(cudaStreamDefault, capture, work); }
int wait_without_end(const Work& work) {
  return beside(cudaStreamNonBlocking, [](Host& host) { host.wait(); }, work);
}
int allocate_without_end(const Work& work) {
  return beside(cudaStreamNonBlocking, [](Host& host) { host.allocate(); }, work);
}

// The thread that calls the library has a capture of its own under way.
int on_this_thread(const Work& work) {
  Host host;
  host.begin_capture();
  const int failed = work();
  host.end_capture();
  std::printf("%d calls of the host, %d failures\n", host.n_calls(), host.n_failures());
  return failed + host.n_failures();
}

#ifdef INLAY_TEST_CUPTI
std::atomic<uint64_t> n_profiled_bytes{0};

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *size = size_t{1} << 20;
  *buffer = static_cast<uint8_t*>(std::malloc(*size));
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  n_profiled_bytes += valid;
  std::free(buffer);
}

// As a profiler that is loaded into the host: records of kernels, graphs and calls.
int with_a_profiler(const Work& work) {
  const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
                                      CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMCPY};
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) return 1;
  for (const CUpti_ActivityKind kind : kinds) {
    if (cuptiActivityEnable(kind) == CUPTI_SUCCESS) continue;
    std::printf("skipped: needs CUPTI: it refuses to record\n");
    return 77;
  }
  const int failed = work();
  (void)cuptiActivityFlushAll(1);
  std::printf("%llu bytes of records\n", static_cast<unsigned long long>(n_profiled_bytes.load()));
  return failed + (n_profiled_bytes == 0);
}
#endif

struct NamedHost {
  const char* name;
  int (*run)(const Work& work);
};
constexpr NamedHost kHosts[] = {
    {"plain", [](const Work& work) { return work(); }},
    {"captures", on_a_stream},         {"captures_on_a_blocking_stream", on_a_blocking_stream},
    {"captures_itself", on_this_thread}, {"waits", wait_without_end},
    {"allocates", allocate_without_end},
#ifdef INLAY_TEST_CUPTI
    {"profiles", with_a_profiler},
#endif
};

// A library that takes no heed: its calls end the host's captures.
int control() {
  const int failed = on_a_stream([] {
    for (int i = 0; i < 50; ++i) {
      void* memory = nullptr;
      (void)cudaMalloc(&memory, kBytes);
      (void)cudaFree(memory);
      (void)cudaGetLastError();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 0;
  });
  std::printf(failed > 0 ? "ok noticed\n" : "FAIL not noticed\n");
  return failed == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int n_devices = 0;
  if (cudaGetDeviceCount(&n_devices) != cudaSuccess || n_devices == 0) {
    std::printf("skipped: " INLAY_NEEDS_GPU "\n");
    return 77;
  }
  if (argc == 2 && std::strcmp(argv[1], "control") == 0) return control();
  if (argc != 4) return 2;
  std::string cuda = "cuda";
  char* arguments[] = {argv[0], argv[2], argv[3], cuda.data(), nullptr};
  for (const NamedHost& host : kHosts) {
    if (std::strcmp(argv[1], host.name) != 0) continue;
    const int failed = host.run([&] { return abi_calls(4, arguments); });
    if (failed == 77) return 77;
    std::printf("%s %s\n", failed == 0 ? "ok" : "FAIL", host.name);
    return failed != 0;
  }
  std::printf("skipped: needs CUPTI: this build has no host that %s\n", argv[1]);
  return 77;
}
