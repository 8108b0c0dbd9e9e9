// Keys, values and logits from the device to the host and back: in the stream, through page-locked memory, so that the host waits for none.
#include <climits>

#include "src/backend/cuda/executor.h"

namespace inlay {
namespace {

constexpr const char* kOut = "copying keys and values to the host";
constexpr const char* kIn = "copying keys and values to the device";

// A block's pools lie this far apart on the device, and behind one another on the host.
struct Pools {
  uint64_t between, width;
  int32_t n;
};

// Rows at larger distances than the runtime takes are copied one by one.
Status copy_out(const Pools& pools, const std::byte* device, std::byte* host, cudaStream_t stream) {
  if (pools.between <= INT_MAX)
    return cuda_status(cudaMemcpy2DAsync(host, pools.width, device, pools.between, pools.width, static_cast<size_t>(pools.n), cudaMemcpyDeviceToHost, stream), kOut);
  for (int32_t i = 0; i < pools.n; ++i, host += pools.width, device += pools.between)
    INLAY_CUDA_TRY(cudaMemcpyAsync(host, device, pools.width, cudaMemcpyDeviceToHost, stream), kOut);
  return {};
}

Status copy_in(const Pools& pools, const std::byte* host, std::byte* device, cudaStream_t stream) {
  if (pools.between <= INT_MAX)
    return cuda_status(cudaMemcpy2DAsync(device, pools.between, host, pools.width, pools.width, static_cast<size_t>(pools.n), cudaMemcpyHostToDevice, stream), kIn);
  for (int32_t i = 0; i < pools.n; ++i, host += pools.width, device += pools.between)
    INLAY_CUDA_TRY(cudaMemcpyAsync(device, host, pools.width, cudaMemcpyHostToDevice, stream), kIn);
  return {};
}

}  // namespace

// As kernels/cuda/attention/kv_element.cuh has it.
KvForm CudaExecutor::kv_form() const {
  const bool is_scaled = config_.kv_dtype == KvDType::fp8 || config_.kv_dtype == KvDType::int8;
  KvForm form = kv_form_of_heads(plan_.spec, is_scaled ? 1 : 2);
  form.has_scales = is_scaled;
  return form;
}

Status CudaExecutor::copy_kv_to_host(const KvBlocks& blocks, std::byte* to) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const Pools pools{kv_memory_.between_pools(blocks.kv_group), kv_memory_.block_bytes(), kv_memory_.n_pools(blocks.kv_group)};
  const std::byte* const first = b_.kv.data() + kv_memory_.pools_at(blocks.kv_group);
  for (const int32_t block : blocks.blocks) {
    INLAY_TRY(copy_out(pools, first + static_cast<uint64_t>(block) * pools.width, to, stream_.get()));
    to += kv_memory_.block_bytes_of(blocks.kv_group);
  }
  return {};
}

Status CudaExecutor::copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const Pools pools{kv_memory_.between_pools(blocks.kv_group), kv_memory_.block_bytes(), kv_memory_.n_pools(blocks.kv_group)};
  std::byte* const first = b_.kv.data() + kv_memory_.pools_at(blocks.kv_group);
  for (const int32_t block : blocks.blocks) {
    INLAY_TRY(copy_in(pools, from, first + static_cast<uint64_t>(block) * pools.width, stream_.get()));
    from += kv_memory_.block_bytes_of(blocks.kv_group);
  }
  return {};
}

Status CudaExecutor::copy_logits_to_host(int32_t slot, std::byte* to) {
  const auto n = static_cast<uint64_t>(plan_.spec.n_vocab);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return cuda_status(cudaMemcpyAsync(to, b_.slots.as<float>() + static_cast<uint64_t>(slot) * n, n * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()),
                     "copying logits to the host");
}

Status CudaExecutor::copy_logits_from_host(int32_t slot, const std::byte* from) {
  const auto n = static_cast<uint64_t>(plan_.spec.n_vocab);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  logit_reader_.forget(slot);
  return cuda_status(cudaMemcpyAsync(b_.slots.as<float>() + static_cast<uint64_t>(slot) * n, from, n * sizeof(float), cudaMemcpyHostToDevice, stream_.get()),
                     "copying logits to the device");
}

// By an event of its own, so that several threads may wait.
Status CudaExecutor::wait_for_copies() {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_ASSIGN(const Event event, make_event());
  INLAY_CUDA_TRY(cudaEventRecord(event.get(), stream_.get()), "waiting for copies");
  return wait_for(event.get(), "waiting for copies");
}

Result<std::span<std::byte>> CudaExecutor::take_host_memory(uint64_t bytes) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  host_memory_.reserve(host_memory_.size() + 1);
  INLAY_ASSIGN(PinnedBuffer buffer, PinnedBuffer::allocate(bytes, "copies of keys and values"));
  host_memory_.push_back(std::move(buffer));
  return std::span(host_memory_.back().data(), bytes);
}

}  // namespace inlay
