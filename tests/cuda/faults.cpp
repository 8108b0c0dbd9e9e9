// What CUDA refuses or breaks becomes the documented status, touches no other engine, and leaves nothing taken. The
// failures are injected where the runtime's answers come in.
#include "src/backend/cuda/fault.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/device.h"
#include "src/engine/devices.h"
#include "src/engine/engine.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

Result<std::shared_ptr<Engine>> load(DeviceKind device, LogSink log = {}) {
  return Engine::load(kModel,
                      {.device = device, .n_context = 256, .max_sessions = 2, .n_threads = 2, .log = std::move(log)});
}

bool says(const Status& status, const std::string& text) { return status.message.find(text) != std::string::npos; }

std::vector<int32_t> some_tokens(int32_t n) {
  std::vector<int32_t> out{2043};
  for (int32_t i = 1; i < n; ++i) out.push_back(100 + (i * 37) % 1500);
  return out;
}

Status step(Engine& engine, Session& session) {
  Session* one[] = {&session};
  StepEvent event;
  return engine.decode_step(one, {&event, 1});
}

Status prefill(Session& session, int32_t n = 20) {
  size_t n_done = 0;
  return session.prefill(some_tokens(n), n_done);
}

uint64_t n_held() {
  const BackendCounters c = cuda_counters();
  return c.n_allocations - c.n_frees + c.n_pinned_allocations - c.n_pinned_frees;
}

// ---- no GPU is needed for these

TEST(CudaFaults, cuda_DriverTooOldNamesBothVersions) {
  const InjectedCudaFault fault(
      {.point = CudaPoint::devices, .error = cudaErrorInsufficientDriver, .driver_version = 11040});
  const auto engine = load(DeviceKind::cuda);
  ASSERT_FALSE(engine.ok());
  EXPECT_TRUE(fault.happened());
  EXPECT_EQ(engine.status().code, Code::no_device);
  EXPECT_EQ(engine.status().native_code, cudaErrorInsufficientDriver);
  EXPECT_TRUE(says(engine.status(), "too old")) << engine.status().message;
  EXPECT_TRUE(says(engine.status(), "CUDA 11.4")) << engine.status().message;
  int runtime = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_TRUE(says(engine.status(), "needs CUDA " + std::to_string(runtime / 1000) + ".")) << engine.status().message;
}

TEST(CudaFaults, cuda_DriverWithoutGpuIsSaid) {
  const InjectedCudaFault fault({.point = CudaPoint::devices, .error = cudaErrorNoDevice, .driver_version = 12080});
  const auto engine = load(DeviceKind::cuda);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().code, Code::no_device);
  EXPECT_TRUE(says(engine.status(), "finds no GPU")) << engine.status().message;
  EXPECT_FALSE(says(engine.status(), "too old")) << "negative control: another reason, another message";
}

TEST(CudaFaults, cuda_WithoutDriverTheCpuIsTakenAndTheLogSaysWhy) {
  const InjectedCudaFault fault(
      {.point = CudaPoint::devices, .error = cudaErrorInsufficientDriver, .sticky = true, .driver_version = 11040});
  EXPECT_EQ(n_devices(), 1);
  std::string log;
  const auto engine = load(DeviceKind::automatic, [&](LogLevel, std::string_view text) { log += text; });
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  EXPECT_EQ((*engine)->info().device, DeviceKind::cpu);
  EXPECT_NE(log.find("driver is too old"), std::string::npos) << log;
}

TEST(CudaFaults, cuda_EveryErrorHasItsStatus) {
  const struct {
    cudaError_t error;
    Code code;
  } cases[] = {{cudaSuccess, Code::ok},
               {cudaErrorMemoryAllocation, Code::device_out_of_memory},
               {cudaErrorNoDevice, Code::no_device},
               {cudaErrorInsufficientDriver, Code::no_device},
               {cudaErrorNoKernelImageForDevice, Code::no_device},
               {cudaErrorUnsupportedPtxVersion, Code::no_device},
               {cudaErrorInvalidValue, Code::internal},
               {cudaErrorLaunchOutOfResources, Code::internal},
               {cudaErrorCooperativeLaunchTooLarge, Code::internal},
               {cudaErrorStreamCaptureUnsupported, Code::internal},
               {cudaErrorStreamCaptureWrongThread, Code::internal},
               {cudaErrorTimeout, Code::device_lost},
               {cudaErrorIllegalAddress, Code::device_lost},
               {cudaErrorMisalignedAddress, Code::device_lost},
               {cudaErrorLaunchFailure, Code::device_lost},
               {cudaErrorECCUncorrectable, Code::device_lost},
               {cudaErrorUnknown, Code::device_lost}};
  for (const auto& c : cases) {
    const Status status = cuda_status(c.error, "doing it");
    EXPECT_EQ(status.code, c.code) << status.message;
    EXPECT_EQ(status.native_code, c.error);
    EXPECT_EQ(says(status, "doing it: "), c.error != cudaSuccess);
  }
}

// The calls are counted point by point, and a fault that is not sticky happens once.
TEST(CudaFaults, cuda_TheNthCallFails) {
  {
    const InjectedCudaFault fault({.point = CudaPoint::wait, .nth = 2, .error = cudaErrorLaunchFailure});
    EXPECT_TRUE(cuda_status(cudaSuccess, "a launch").ok());
    EXPECT_TRUE(cuda_status(cudaSuccess, "a wait", CudaPoint::wait).ok());
    EXPECT_FALSE(fault.happened());
    EXPECT_EQ(cuda_status(cudaSuccess, "a wait", CudaPoint::wait).code, Code::device_lost);
    EXPECT_TRUE(fault.happened());
    EXPECT_TRUE(cuda_status(cudaSuccess, "a wait", CudaPoint::wait).ok());
  }
  {
    const InjectedCudaFault fault({.point = CudaPoint::launch, .error = cudaErrorLaunchFailure, .sticky = true});
    EXPECT_TRUE(cuda_status(cudaSuccess, "a wait", CudaPoint::wait).ok());
    EXPECT_EQ(cuda_status(cudaSuccess, "a launch").code, Code::device_lost);
    EXPECT_EQ(cuda_status(cudaSuccess, "a wait", CudaPoint::wait).code, Code::device_lost);
  }
  EXPECT_TRUE(cuda_status(cudaSuccess, "a launch").ok()) << "negative control: without a fault nothing fails";
}

// ---- on a GPU

class CudaFaultsOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
    held_before_ = n_held();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(n_held(), held_before_) << "device or page-locked memory was not given back";
  }

  uint64_t held_before_ = 0;
};

TEST_F(CudaFaultsOnDevice, cuda_MissingKernelsNameTheDeviceAndTheBuild) {
  const InjectedCudaFault fault({.point = CudaPoint::image, .error = cudaErrorNoKernelImageForDevice});
  const auto engine = load(DeviceKind::cuda);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().code, Code::no_device);
  EXPECT_EQ(engine.status().native_code, cudaErrorNoKernelImageForDevice);
  EXPECT_TRUE(says(engine.status(), "compute capability ")) << engine.status().message;
  EXPECT_TRUE(says(engine.status(), "sm_ ")) << engine.status().message;
}

// Each allocation of a load in turn: all of them are checked, and each failure gives back what was taken before it.
TEST_F(CudaFaultsOnDevice, cuda_EveryAllocationOfALoadMayFail) {
  for (const CudaPoint point : {CudaPoint::allocation, CudaPoint::pinned_allocation}) {
    int64_t n = 0;
    for (bool failed = true; failed;) {
      const InjectedCudaFault fault({.point = point, .nth = ++n, .error = cudaErrorMemoryAllocation});
      const auto engine = load(DeviceKind::cuda);
      failed = fault.happened();
      ASSERT_EQ(engine.ok(), !failed) << "allocation " << n << ": " << engine.status().message;
      if (!failed) break;
      EXPECT_EQ(engine.status().code,
                point == CudaPoint::allocation ? Code::device_out_of_memory : Code::out_of_memory);
      EXPECT_GT(engine.status().required, 0u) << engine.status().message;
      EXPECT_EQ(engine.status().available > 0, point == CudaPoint::allocation) << engine.status().message;
      EXPECT_EQ(n_held(), held_before_) << engine.status().message;
    }
    EXPECT_GT(n, 2) << "the load has more than one allocation of this kind";
  }
}

// Not every launch, which are some hundred: the first ones, then ever farther ones.
TEST_F(CudaFaultsOnDevice, cuda_LaunchesAndWaitsOfALoadMayFail) {
  for (const CudaPoint point : {CudaPoint::launch, CudaPoint::wait}) {
    bool failed = true;
    for (int64_t n = 1; failed; n += 1 + n / 3) {
      const InjectedCudaFault fault({.point = point, .nth = n, .error = cudaErrorIllegalAddress, .sticky = true});
      const auto engine = load(DeviceKind::cuda);
      failed = fault.happened();
      ASSERT_EQ(engine.ok(), !failed) << "call " << n << ": " << engine.status().message;
      if (!failed) break;
      EXPECT_EQ(engine.status().code, Code::device_lost) << engine.status().message;
      EXPECT_EQ(n_held(), held_before_) << "call " << n;
    }
  }
}

// The failure of a step is that of the engine for good; an engine on the processor and a later one on the GPU do not
// notice.
TEST_F(CudaFaultsOnDevice, cuda_ALostDeviceIsLostForItsEngineOnly) {
  for (const CudaPoint point : {CudaPoint::launch, CudaPoint::wait}) {
    const auto host = *load(DeviceKind::cpu), gpu = *load(DeviceKind::cuda);
    const auto on_host = *host->create_session({}), on_gpu = *gpu->create_session({.ignore_end_of_generation = true});
    ASSERT_TRUE(prefill(*on_host).ok());
    ASSERT_TRUE(prefill(*on_gpu).ok());
    ASSERT_TRUE(step(*gpu, *on_gpu).ok());
    {
      const InjectedCudaFault fault({.point = point, .error = cudaErrorIllegalAddress, .sticky = true});
      const Status lost = step(*gpu, *on_gpu);
      EXPECT_TRUE(fault.happened());
      EXPECT_EQ(lost.code, Code::device_lost) << lost.message;
      EXPECT_EQ(lost.native_code, cudaErrorIllegalAddress);
      EXPECT_TRUE(step(*host, *on_host).ok());
    }
    // The fault is over: what answers now is the engine's memory of it.
    std::vector<float> logits(static_cast<size_t>(gpu->spec().n_vocab));
    EXPECT_EQ(step(*gpu, *on_gpu).code, Code::device_lost);
    EXPECT_EQ(prefill(*on_gpu).code, Code::device_lost);
    EXPECT_EQ(on_gpu->copy_logits(logits).code, Code::device_lost);
    EXPECT_EQ(on_gpu->fork().status().code, Code::device_lost);
    EXPECT_EQ(gpu->create_session({}).status().code, Code::device_lost);
    EXPECT_TRUE(step(*host, *on_host).ok());
    const auto next = load(DeviceKind::cuda);
    ASSERT_TRUE(next.ok()) << next.status().message;
    const auto session = *(*next)->create_session({});
    EXPECT_TRUE(prefill(*session).ok());
    EXPECT_TRUE(step(**next, *session).ok());
  }
}

// A fork copies logits, and its first write a block of the cache.
TEST_F(CudaFaultsOnDevice, cuda_CopiesForAForkMayFail) {
  {
    const auto engine = *load(DeviceKind::cuda);
    const auto session = *engine->create_session({});
    ASSERT_TRUE(prefill(*session).ok());
    const InjectedCudaFault fault({.point = CudaPoint::launch, .error = cudaErrorLaunchFailure, .sticky = true});
    EXPECT_EQ(session->fork().status().code, Code::device_lost);
    EXPECT_TRUE(fault.happened());
  }
  const auto engine = *load(DeviceKind::cuda);
  const auto session = *engine->create_session({.ignore_end_of_generation = true});
  ASSERT_TRUE(prefill(*session).ok());
  const auto child = session->fork();
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(step(*engine, **child).ok());  // draws from the copied logits
  const InjectedCudaFault fault({.point = CudaPoint::launch, .error = cudaErrorLaunchFailure, .sticky = true});
  const Status lost = step(*engine, **child);  // would copy the block that it writes to
  EXPECT_EQ(lost.code, Code::device_lost) << lost.message;
  EXPECT_TRUE(says(lost, "KV cache")) << lost.message;
  EXPECT_EQ(step(*engine, *session).code, Code::device_lost);
}

TEST_F(CudaFaultsOnDevice, cuda_ASliceThatFailsEndsItsStep) {
  for (const CudaPoint point : {CudaPoint::launch, CudaPoint::wait}) {
    const auto engine = *load(DeviceKind::cuda);
    const auto session = *engine->create_session({.ignore_end_of_generation = true});
    ASSERT_TRUE(prefill(*session).ok());
    ASSERT_TRUE(step(*engine, *session).ok());
    const auto twin = *session->fork();
    Session* one[] = {session.get()};
    StepEvent event, expected;
    int32_t left = 0;
    ASSERT_TRUE(engine->decode_slice(one, 2, {&event, 1}, left).ok());
    ASSERT_GT(left, 0);
    {
      const InjectedCudaFault fault({.point = point, .error = cudaErrorInvalidValue});
      EXPECT_EQ(engine->decode_slice(one, 1, {&event, 1}, left).code, Code::internal);
      EXPECT_TRUE(fault.happened());
      EXPECT_EQ(left, 0);
    }
    EXPECT_EQ(session->info().n_tokens, 21);
    ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok()) << "nothing is pending";
    Session* other[] = {twin.get()};
    ASSERT_TRUE(engine->decode_step(other, {&expected, 1}).ok());
    EXPECT_EQ(event.sample.token, expected.sample.token);

    ASSERT_TRUE(engine->decode_slice(one, 2, {&event, 1}, left).ok());
    {
      const InjectedCudaFault fault({.point = point, .error = cudaErrorIllegalAddress, .sticky = true});
      EXPECT_EQ(engine->decode_slice(one, 1, {&event, 1}, left).code, Code::device_lost);
    }
    EXPECT_EQ(left, 0);
    EXPECT_EQ(engine->decode_slice(one, 1, {&event, 1}, left).code, Code::device_lost);
  }
}

TEST_F(CudaFaultsOnDevice, cuda_ATransientErrorIsNoLostDevice) {
  const auto engine = *load(DeviceKind::cuda);
  const auto session = *engine->create_session({.ignore_end_of_generation = true});
  ASSERT_TRUE(prefill(*session).ok());
  {
    const InjectedCudaFault fault({.point = CudaPoint::launch, .error = cudaErrorInvalidValue});
    EXPECT_EQ(step(*engine, *session).code, Code::internal);
  }
  EXPECT_TRUE(step(*engine, *session).ok()) << "negative control: only errors of the device are for good";
}

// A launch that is refused in the middle of a step leaves the device at work on what came before it. The next step must
// not change what that reads.
TEST_F(CudaFaultsOnDevice, cuda_AStepAfterAFailedOneIsRight) {
  const auto engine = *load(DeviceKind::cuda);
  const auto draws = [&](int64_t nth) {
    const auto session = *engine->create_session({.ignore_end_of_generation = true});
    EXPECT_TRUE(prefill(*session).ok());
    std::vector<int32_t> tokens;
    for (int i = 0; i < 10; ++i) {
      if (nth > 0) {
        const auto broken = *engine->create_session({});
        const InjectedCudaFault fault({.point = CudaPoint::launch, .nth = nth, .error = cudaErrorInvalidValue});
        EXPECT_EQ(prefill(*broken, 200).code, Code::internal);
      }
      Session* one[] = {session.get()};
      StepEvent event;
      EXPECT_TRUE(engine->decode_step(one, {&event, 1}).ok());
      tokens.push_back(event.sample.token);
    }
    return tokens;
  };
  const std::vector<int32_t> undisturbed = draws(0);
  for (const int64_t nth : {3, 10}) EXPECT_EQ(draws(nth), undisturbed) << "launch " << nth << " refused";
}

// ---- what a decode step asks of the device

struct StepCosts {
  uint64_t n_allocations, n_waits, n_graphs;
};

// Of 100 steps of all sessions, after two that are not counted: the first draws from the prompt's logits alone.
StepCosts costs_of_steps(Engine& engine, std::span<Session* const> sessions, bool reads_logits) {
  std::vector<StepEvent> events(sessions.size());
  std::vector<float> logits(static_cast<size_t>(engine.spec().n_vocab));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(engine.decode_step(sessions, events).ok());
  const BackendCounters before = engine.backend().counters();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(engine.decode_step(sessions, events).ok());
    EXPECT_TRUE(!reads_logits || sessions[0]->copy_logits(logits).ok());
  }
  const BackendCounters after = engine.backend().counters();
  return {after.n_allocations - before.n_allocations + after.n_pinned_allocations - before.n_pinned_allocations,
          after.n_host_waits - before.n_host_waits, after.n_graph_launches - before.n_graph_launches};
}

TEST_F(CudaFaultsOnDevice, cuda_ADecodeStepAllocatesNothingAndWaitsOnce) {
  const auto engine =
      *Engine::load(kModel, {.device = DeviceKind::cuda, .n_context = 256, .max_sessions = 8, .n_threads = 2});
  EXPECT_GT(engine->backend().counters().n_allocations, 0u) << "negative control: a load allocates";
  for (const size_t n : {1, 2, 5, 8}) {
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> sessions;
    for (size_t i = 0; i < n; ++i) {
      owned.push_back(*engine->create_session({.ignore_end_of_generation = true}));
      ASSERT_TRUE(prefill(*owned.back(), 5 + static_cast<int32_t>(i)).ok());
      sessions.push_back(owned.back().get());
    }
    const StepCosts costs = costs_of_steps(*engine, sessions, false);
    EXPECT_EQ(costs.n_allocations, 0u) << n << " sessions";
    EXPECT_EQ(costs.n_waits, 100u) << n << " sessions";
    EXPECT_EQ(costs.n_graphs, 100u) << n << " sessions";
    if (n > 1) continue;
    const StepCosts reading = costs_of_steps(*engine, sessions, true);
    EXPECT_EQ(reading.n_waits, 101u) << "negative control: the first reading waits; then logits come with their step";
  }
}

}  // namespace
}  // namespace inlay
