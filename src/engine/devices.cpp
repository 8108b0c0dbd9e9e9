#include "src/engine/devices.h"

#if defined(_WIN32) && defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdio>
#include <cstring>

#include "src/backend/cpu/cpu_backend.h"
#include "src/base/host_limits.h"
#if INLAY_HAS_CUDA
#include "src/backend/cuda/cuda_backend.h"
#endif

namespace inlay {
namespace {

// Product name as the system, or the processor, reports it; "CPU" where it does not.
#if defined(_WIN32) && defined(__x86_64__)
std::string cpu_name() {
  unsigned text[12] = {};  // 48 bytes, with a zero at their end
  if (__get_cpuid_max(0x80000000, nullptr) < 0x80000004) return "CPU";
  for (unsigned i = 0; i < 3; ++i) __get_cpuid(0x80000002 + i, &text[4 * i], &text[4 * i + 1], &text[4 * i + 2], &text[4 * i + 3]);
  std::string name(reinterpret_cast<const char*>(text), strnlen(reinterpret_cast<const char*>(text), sizeof text));
  name.erase(0, name.find_first_not_of(' '));
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name.empty() ? "CPU" : name;
}
#else
std::string cpu_name() {
  std::string name = "CPU";
  std::FILE* file = std::fopen("/proc/cpuinfo", "re");
  if (!file) return name;
  char line[512];
  while (std::fgets(line, sizeof line, file)) {
    const char* colon = std::strchr(line, ':');
    if (std::strncmp(line, "model name", 10) != 0 || !colon) continue;
    name.assign(colon + 1 + std::strspn(colon + 1, " \t"));
    while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
    break;
  }
  std::fclose(file);
  return name;
}
#endif

DeviceInfo describe_cpu() {
  const HostMemory memory = host_memory();
  return {.kind = DeviceKind::cpu,
          .index = 0,
          .n_units = usable_processors(),
          .total_bytes = memory.total,
          .free_bytes = memory.available,
          .name = cpu_name(),
          .features = cpu::kernels(cpu::best_isa()).name};
}

#if INLAY_HAS_CUDA
int32_t n_gpus() { return n_cuda_devices(); }

Result<int32_t> count_gpus() { return count_cuda_devices(); }

Status check_gpu(int32_t index) { return check_cuda_kernels(index); }

Result<DeviceInfo> describe_gpu(int32_t index) {
  INLAY_ASSIGN(const CudaDevice gpu, describe_cuda_device(index));
  return DeviceInfo{.kind = DeviceKind::cuda,
                    .index = index,
                    .n_units = gpu.n_multiprocessors,
                    .total_bytes = gpu.total_bytes,
                    .free_bytes = gpu.free_bytes,
                    .name = gpu.name,
                    .features = gpu.features};
}
#else
int32_t n_gpus() { return 0; }

Status no_backend() { return error(Code::no_device, "this build has no CUDA backend"); }

Result<int32_t> count_gpus() { return no_backend(); }

Status check_gpu(int32_t) { return no_backend(); }

Result<DeviceInfo> describe_gpu(int32_t) { return no_backend(); }
#endif

Result<DeviceInfo> find_gpu(int32_t index) {
  INLAY_ASSIGN(const int32_t n, count_gpus());
  if (index >= n) return error(Code::no_device, "there is no CUDA device of index %d: this machine has %d that can be used", index, n);
  INLAY_TRY(check_gpu(index));
  return describe_gpu(index);
}

}  // namespace

// The processor comes first, then the GPUs.
int32_t n_devices() { return 1 + n_gpus(); }

Result<DeviceInfo> describe_device(int32_t i) {
  if (i == 0) return describe_cpu();
  if (i > 0 && i < n_devices()) return describe_gpu(i - 1);
  return error(Code::not_found, "there is no device %d: this machine and build have %d, counted from 0", i, n_devices());
}

Result<DeviceInfo> find_device(DeviceKind kind, int32_t index) {
  if (kind == DeviceKind::cuda) return find_gpu(index);
  if (index != 0) return error(Code::no_device, "there is one processor device, not one of index %d", index);
  return describe_cpu();
}

}  // namespace inlay
