// A host's current CUDA context and device are, after every call, what they were before it.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

#include "src/backend/cuda/context.h"
#include "src/backend/cuda/cuda_backend.h"
#include "src/engine/devices.h"
#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/engine/inspect.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

// The driver as a host finds it.
template <class Function>
Function driver_function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

CUcontext current_context() {
  CUcontext context = nullptr;
  EXPECT_EQ(driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent")(&context), CUDA_SUCCESS);
  return context;
}

// All that an engine does on device 0; `check` follows each call.
void use_engine(const std::function<void(const char*)>& check) {
  EXPECT_TRUE(find_device(DeviceKind::cuda, 0).ok());
  check("describing the device");
  const EngineOptions options{.device = DeviceKind::cuda, .n_context = 256, .max_sessions = 4, .n_threads = 4};
  EXPECT_TRUE(Engine::plan_memory(kModel, options).ok());
  check("planning");
  auto loaded = Engine::load(kModel, options);
  check("loading");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message;
  std::shared_ptr<Engine> engine = *std::move(loaded);
  std::shared_ptr<Session> session = *engine->create_session({.ignore_end_of_generation = true});
  size_t n_done = 0;
  const std::vector<int32_t> prompt(40, 100);
  EXPECT_TRUE(session->prefill(prompt, n_done).ok());
  check("prefill");
  Session* const one[] = {session.get()};
  StepEvent event;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(engine->decode_step(one, {&event, 1}).ok());
  check("decoding");
  const auto child = session->fork();
  EXPECT_TRUE(child.ok() && (*child)->prefill(prompt, n_done).ok());
  check("a fork that writes");
  std::vector<float> logits(static_cast<size_t>(engine->spec().n_vocab));
  EXPECT_TRUE(session->copy_logits(logits).ok());
  check("reading logits");
  std::vector<float> vector(static_cast<size_t>(engine->spec().d_model));
  const std::span<const int32_t> texts[] = {prompt};
  EXPECT_TRUE(embed(*engine, texts, {.pooling = Pooling::mean}, vector).ok());
  check("embedding");
  EXPECT_TRUE(profile_step(*engine, {.n_repetitions = 1}).ok());
  check("profiling");
  EXPECT_EQ(
      Engine::load(kModel,
                   {.device = DeviceKind::cuda, .n_threads = 1, .progress = [](uint64_t, uint64_t) { return false; }})
          .status()
          .code,
      Code::cancelled);
  check("a load that fails");
  session.reset();
  engine.reset();
  check("freeing a session");
}

class CudaHostContext : public testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
    ASSERT_NE(driver_function<void*>("cuInit"), nullptr);
  }

  // On a thread of its own, which has no context before.
  static void on_new_thread(const std::function<void()>& run) { std::thread(run).join(); }
};

TEST_F(CudaHostContext, AThreadWithoutOneHasNoneAfterwards) {
  on_new_thread([] {
    ASSERT_EQ(current_context(), nullptr);
    use_engine([](const char* what) { EXPECT_EQ(current_context(), nullptr) << what; });
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_NE(current_context(), nullptr) << "negative control: what this test would notice";
  });
}

TEST_F(CudaHostContext, OneThatTheHostMadeStays) {
  on_new_thread([] {
    CUcontext own = nullptr;
#if CUDA_VERSION >= 13000
    const auto create =
        driver_function<CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned, CUdevice)>("cuCtxCreate_v4");
    ASSERT_EQ(create(&own, nullptr, 0, 0), CUDA_SUCCESS);
#else
    const auto create = driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
    ASSERT_EQ(create(&own, 0, 0), CUDA_SUCCESS);
#endif
    CUdeviceptr memory = 0;
    ASSERT_EQ(driver_function<decltype(&cuMemAlloc)>("cuMemAlloc_v2")(&memory, 4), CUDA_SUCCESS);
    const uint32_t written = 0x12345678;
    ASSERT_EQ(driver_function<decltype(&cuMemcpyHtoD)>("cuMemcpyHtoD_v2")(memory, &written, 4), CUDA_SUCCESS);
    use_engine([&](const char* what) { EXPECT_EQ(current_context(), own) << what; });
    uint32_t read = 0;
    EXPECT_EQ(driver_function<decltype(&cuMemcpyDtoH)>("cuMemcpyDtoH_v2")(&read, memory, 4), CUDA_SUCCESS);
    EXPECT_EQ(read, written);
    EXPECT_EQ(driver_function<decltype(&cuCtxDestroy)>("cuCtxDestroy_v2")(own), CUDA_SUCCESS);
  });
}

TEST_F(CudaHostContext, TheDeviceOfTheRuntimeStays) {
  on_new_thread([] {
    const int of_host = n_cuda_devices() > 1 ? 1 : 0;
    ASSERT_EQ(cudaSetDevice(of_host), cudaSuccess);
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
    const CUcontext before = current_context();
    use_engine([&](const char* what) {
      int device = -1;
      EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
      EXPECT_EQ(device, of_host) << what;
      EXPECT_EQ(current_context(), before) << what;
    });
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    EXPECT_EQ(attributes.device, of_host);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  });
}

TEST_F(CudaHostContext, ADeviceThatIsNotThereIsNamedSo) {
  EXPECT_EQ(PrimaryContext::of(n_cuda_devices()).status().code, Code::no_device);
}

TEST_F(CudaHostContext, ItCostsNoTimeThatMatters) {
  const auto context = PrimaryContext::of(0);
  ASSERT_TRUE(context.ok()) << context.status().message;
  constexpr int kTimes = 10000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) {
    const ContextScope scope(*context);
    ASSERT_TRUE(scope.status().ok());
  }
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  std::printf("a call's context: %.2f us\n", spent.count() / kTimes);
  EXPECT_LT(spent.count() / kTimes, 5.0);  // a decode step takes hundreds
}

}  // namespace
}  // namespace inlay
