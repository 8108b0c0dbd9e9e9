#include "src/backend/cuda/fault.h"

#include <atomic>

namespace inlay {
namespace {

struct Active {
  CudaFault fault;
  std::atomic<int64_t> n_calls{0};
  std::atomic<bool> happened{false};
};

Active active;
std::atomic<bool> is_active{false};

}  // namespace

InjectedCudaFault::InjectedCudaFault(const CudaFault& fault) {
  active.fault = fault;
  active.n_calls.store(0);
  active.happened.store(false);
  is_active.store(true);
}

InjectedCudaFault::~InjectedCudaFault() { is_active.store(false); }

bool InjectedCudaFault::happened() const { return active.happened.load(); }

int32_t injected_cuda_error(CudaPoint point) {
  if (!is_active.load(std::memory_order_acquire)) return 0;
  const CudaFault& fault = active.fault;
  if (fault.sticky && active.happened.load()) return fault.error;
  if (point != fault.point || active.n_calls.fetch_add(1) + 1 != fault.nth) return 0;
  active.happened.store(true);
  return fault.error;
}

int32_t injected_driver_version() {
  return is_active.load(std::memory_order_acquire) ? active.fault.driver_version : 0;
}

}  // namespace inlay
