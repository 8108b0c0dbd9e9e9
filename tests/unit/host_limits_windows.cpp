// What a process may use on Windows: its processors, and the memory that the machine and its job leave it.
#include <gtest/gtest.h>

#include <bit>

#include "src/base/host_limits.h"
#include "src/base/windows_api.h"

namespace inlay {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(HostLimits, TheMachineAlone) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  ASSERT_TRUE(GlobalMemoryStatusEx(&status));
  const HostMemory memory = host_memory();
  EXPECT_GT(memory.total, 16 * kMiB);
  EXPECT_LE(memory.total, status.ullTotalPhys);
  EXPECT_GT(memory.available, 16 * kMiB);
  EXPECT_LE(memory.available, status.ullTotalPageFile);
}

TEST(HostLimits, TheMaskOfTheProcess) {
  DWORD_PTR before = 0, of_system = 0;
  ASSERT_TRUE(GetProcessAffinityMask(GetCurrentProcess(), &before, &of_system));
  EXPECT_EQ(usable_processors(), std::popcount(before));
  ASSERT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), before & (~before + 1)));
  EXPECT_EQ(usable_processors(), 1);
  EXPECT_EQ(default_threads(), 1);
  ASSERT_TRUE(SetProcessAffinityMask(GetCurrentProcess(), before));
  EXPECT_EQ(usable_processors(), std::popcount(before));
}

// A job that this process is in, whose limits go with the object.
class Job {
 public:
  Job() : job_(CreateJobObjectW(nullptr, nullptr)) {}
  ~Job() { set_limits(0, 0); }
  bool take_this_process() { return AssignProcessToJobObject(job_.get(), GetCurrentProcess()); }
  bool set_limits(DWORD flags, uint64_t bytes) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = flags;
    limits.ProcessMemoryLimit = limits.JobMemoryLimit = bytes;
    return SetInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  }
  bool keeps(uint64_t bytes) const {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    return QueryInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits, nullptr) &&
           limits.ProcessMemoryLimit == bytes;
  }
  bool set_rate(DWORD flags, DWORD hundredths_of_percent) {
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
    rate.ControlFlags = flags;
    rate.CpuRate = hundredths_of_percent;
    return SetInformationJobObject(job_.get(), JobObjectCpuRateControlInformation, &rate, sizeof rate);
  }

 private:
  Handle job_;
};

TEST(HostLimits, TheMemoryOfTheJob) {
  Job job;
  ASSERT_TRUE(job.take_this_process());
  const HostMemory before = host_memory();
  for (const DWORD flag : {JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_LIMIT_JOB_MEMORY}) {
    ASSERT_TRUE(job.set_limits(flag, 1000 * kMiB));
    if (!job.keeps(1000 * kMiB)) GTEST_SKIP() << "needs the system itself: Wine keeps no limit of a job's memory";
    const HostMemory memory = host_memory();
    EXPECT_EQ(memory.total, 1000 * kMiB);
    EXPECT_LT(memory.available, 1000 * kMiB);
    EXPECT_GT(memory.available, 100 * kMiB);
    ASSERT_TRUE(job.set_limits(flag, 1 * kMiB));
    EXPECT_EQ(host_memory().available, 0u);
    ASSERT_TRUE(job.set_limits(0, 0));
    EXPECT_EQ(host_memory().total, before.total);
  }
}

TEST(HostLimits, TheProcessorTimeOfTheJob) {
  Job job;
  ASSERT_TRUE(job.take_this_process());
  const int32_t all = usable_processors();
  constexpr DWORD kCapped = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if (!job.set_rate(kCapped, 1)) GTEST_SKIP() << "needs the system itself: Wine limits no job's processor time";
  EXPECT_EQ(usable_processors(), 1) << "a part of one is rounded up";
  ASSERT_TRUE(job.set_rate(kCapped, 10000));
  EXPECT_EQ(usable_processors(), all);
  ASSERT_TRUE(job.set_rate(0, 0));
}

}  // namespace
}  // namespace inlay
