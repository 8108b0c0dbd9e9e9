// What a process may use, read from made-up /proc and /sys trees.
#include "src/base/host_limits.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace inlay {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class HostLimits : public testing::Test {
 protected:
  void SetUp() override {
    write("/proc/meminfo", "MemTotal:  8388608 kB\nMemFree: 1 kB\nMemAvailable:  4194304 kB\nSwapFree:  1024 kB\n");
  }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void version_2(const std::string& group, const std::string& mount_root = "/") {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo", "22 1 0:5 / /proc rw - proc proc rw\n31 23 0:28 " + mount_root +
                                      " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void version_1(const std::string& group, const std::string& mount_root = "/") {
    write("/proc/self/cgroup", "5:cpuset:/\n4:memory:" + group + "\n2:cpuacct,cpu:" + group + "\n0::/\n");
    write("/proc/self/mountinfo", "35 31 0:32 " + mount_root + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
                                      "32 31 0:29 " + mount_root + " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  HostMemory memory() const { return host_memory(root_); }

  const test::TemporaryFolder folder_;
  const std::string root_ = folder_.path();
};

TEST_F(HostLimits, TheMachineAlone) {
  EXPECT_EQ(memory().total, 8192 * kMiB);
  EXPECT_EQ(memory().available, 4097 * kMiB);
}

TEST_F(HostLimits, WithoutProcTheSystemIsAsked) {
  std::filesystem::remove_all(root_);
  EXPECT_GT(memory().total, 16 * kMiB);
  EXPECT_LT(memory().total, UINT64_MAX);
  EXPECT_GT(memory().available, 16 * kMiB);
  EXPECT_GE(usable_processors(root_), 1);
}

TEST_F(HostLimits, AGroupOfVersion2AndThoseAboveIt) {
  version_2("/a/b");
  const std::string tree = "/sys/fs/cgroup";
  write(tree + "/a/b/memory.max", "max\n");
  EXPECT_EQ(memory().available, 4097 * kMiB);
  write(tree + "/a/b/memory.max", std::to_string(300 * kMiB) + "\n");
  write(tree + "/a/b/memory.current", std::to_string(200 * kMiB) + "\n");
  write(tree + "/a/b/memory.stat", "anon 5\ninactive_file " + std::to_string(80 * kMiB) + "\nactive_file 7\n");
  EXPECT_EQ(memory().total, 300 * kMiB);
  EXPECT_EQ(memory().available, 180 * kMiB) << "cached files go when they must";
  write(tree + "/a/memory.high", std::to_string(150 * kMiB) + "\n");
  write(tree + "/a/memory.current", std::to_string(160 * kMiB) + "\n");
  EXPECT_EQ(memory().total, 150 * kMiB);
  EXPECT_EQ(memory().available, 0u);
}

TEST_F(HostLimits, AGroupOfVersion1) {
  version_1("/docker/1");
  const std::string folder = "/sys/fs/cgroup/memory/docker/1";
  write(folder + "/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory().total, 8192 * kMiB);
  write(folder + "/memory.limit_in_bytes", std::to_string(150 * kMiB) + "\n");
  write(folder + "/memory.usage_in_bytes", std::to_string(100 * kMiB) + "\n");
  write(folder + "/memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(10 * kMiB) + "\n");
  EXPECT_EQ(memory().total, 150 * kMiB);
  EXPECT_EQ(memory().available, 60 * kMiB);
}

// A container sees its own part of the tree at the mount point, under the path that the whole machine has.
TEST_F(HostLimits, TheMountBeginsAtTheGroup) {
  for (const char* group : {"/docker/1", "/../other"}) {
    version_1(group, "/docker/1");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(99 * kMiB) + "\n");
    EXPECT_EQ(memory().total, 99 * kMiB) << group;
  }
}

TEST_F(HostLimits, QuotasOfProcessorsAreRoundedUp) {
  const int32_t all = usable_processors(root_);
  version_2("/a");
  const std::string file = "/sys/fs/cgroup/a/cpu.max";
  for (const auto& [text, n] : {std::pair{"max 100000\n", all}, {"50000 100000\n", 1}, {"100000 100000\n", 1},
                                {"150000 100000\n", std::min(2, all)}, {"99999999 100000\n", all}, {"junk\n", all}}) {
    write(file, text);
    EXPECT_EQ(usable_processors(root_), n) << text;
  }
  version_1("/a");
  EXPECT_EQ(usable_processors(root_), all);
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(usable_processors(root_), all);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(usable_processors(root_), 1) << "of the group above";
}

TEST_F(HostLimits, TheMaskOfTheProcess) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  EXPECT_EQ(usable_processors(root_), CPU_COUNT(&before));
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(root_), 1);
  EXPECT_EQ(default_threads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(HostLimits, LimitsOfResources) {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // size resident shared text lib data dt
  write("/proc/self/statm", std::to_string(100 * kMiB / pages) + " 1 1 1 0 " + std::to_string(40 * kMiB / pages) + " 0\n");
  for (const auto& [resource, used] : {std::pair{RLIMIT_AS, 100 * kMiB}, {RLIMIT_DATA, 40 * kMiB}}) {
    rlimit before{};
    ASSERT_EQ(getrlimit(resource, &before), 0);
    const rlimit tight{2000 * kMiB, before.rlim_max};
    if (setrlimit(resource, &tight) != 0) GTEST_SKIP() << "needs limits that can be set: setrlimit refuses";
    const HostMemory found = memory();
    ASSERT_EQ(setrlimit(resource, &before), 0);
    EXPECT_EQ(found.total, 2000 * kMiB) << resource;
    EXPECT_EQ(found.available, 2000 * kMiB - used) << resource;
  }
}

}  // namespace
}  // namespace inlay
