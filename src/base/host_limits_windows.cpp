#include <algorithm>
#include <bit>
#include <thread>

#include "src/base/host_limits.h"
#include "src/base/thread_pool.h"
#include "src/base/windows_api.h"
// after windows.h
#include <psapi.h>

namespace inlay {
namespace {

// Processors of the thread's group, as far as its affinity permits; of all groups where nobody has narrowed it, since
// Windows 11 spreads a process's threads over them.
int32_t processors_of_mask() {
  GROUP_AFFINITY own{};
  if (!GetThreadGroupAffinity(GetCurrentThread(), &own) || own.Mask == 0) return 0;
  const auto n_own = static_cast<DWORD>(std::popcount(own.Mask));
  if (n_own < GetActiveProcessorCount(own.Group)) return static_cast<int32_t>(n_own);
  USHORT groups[64], n_groups = std::size(groups);
  if (!GetProcessGroupAffinity(GetCurrentProcess(), &n_groups, groups)) return static_cast<int32_t>(n_own);
  DWORD n = 0;
  for (USHORT i = 0; i < n_groups; ++i) n += GetActiveProcessorCount(groups[i]);
  return static_cast<int32_t>(std::max(n, n_own));
}

// Of the job that the process is in, if it is in one; in hundredths of a percent of the whole machine.
int32_t processors_of_job(int32_t n) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
  if (!QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &rate, sizeof rate, nullptr)) return n;
  constexpr DWORD kCapped = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if ((rate.ControlFlags & kCapped) != kCapped) return n;
  const uint64_t n_all = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  const uint64_t whole = (n_all * rate.CpuRate + 9999) / 10000;
  return static_cast<int32_t>(std::clamp<uint64_t>(whole, 1, static_cast<uint64_t>(n)));
}

void limit(HostMemory& memory, uint64_t most, uint64_t used) {
  memory.total = std::min(memory.total, most);
  memory.available = std::min(memory.available, most - std::min(most, used));
}

void limit_by_job(HostMemory& memory) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (!QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr)) return;
  PROCESS_MEMORY_COUNTERS_EX own{};
  own.cb = sizeof own;
  if (!K32GetProcessMemoryInfo(GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&own), sizeof own)) return;
  const DWORD flags = job.BasicLimitInformation.LimitFlags;
  if (flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) limit(memory, job.ProcessMemoryLimit, own.PrivateUsage);
  // What the job's other processes use, Windows does not tell.
  if (flags & JOB_OBJECT_LIMIT_JOB_MEMORY) limit(memory, job.JobMemoryLimit, own.PrivateUsage);
}

}  // namespace

int32_t usable_processors(const std::string&) {
  int32_t n = processors_of_mask();
  if (n == 0) n = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  return processors_of_job(n);
}

int32_t default_threads() { return std::min<int32_t>(usable_processors(), ThreadPool::kMaxThreads); }

HostMemory host_memory(const std::string&) {
  HostMemory memory;
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status)) {
    memory.total = status.ullTotalPhys;
    memory.available = status.ullAvailPageFile;  // what may still be committed: memory and page file
  }
  limit_by_job(memory);
  return memory;
}

}  // namespace inlay
