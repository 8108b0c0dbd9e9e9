#include "src/base/host_limits.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#endif

#include "src/base/thread_pool.h"

namespace inlay {
namespace {

#if defined(__linux__)

// Empty where the file cannot be read.
std::string content(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return text;
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  std::fclose(file);
  return text;
}

// The next piece of the text up to the separator, which goes.
std::string_view next(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

// A number with which the text begins; none for "max" and for -1, which mean no limit.
std::optional<uint64_t> number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<uint64_t> number_in(const std::string& path) { return number(content(path)); }

// The number behind `key` at the beginning of a line.
std::optional<uint64_t> number_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    if (line.substr(0, key.size()) == key) return number(line.substr(key.size()));
  }
  return std::nullopt;
}

bool lists(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    if (next(words, ',') == word) return true;
  }
  return false;
}

// The folders of the process's control group and of those above it, for a controller (version 1), or for all (empty:
// version 2).
std::vector<std::string> group_folders(const std::string& root, std::string_view controller) {
  std::string group;
  const std::string groups = content(root + "/proc/self/cgroup");
  for (std::string_view lines = groups; !lines.empty();) {  // number:controllers:path
    std::string_view line = next(lines, '\n');
    next(line, ':');
    const std::string_view controllers = next(line, ':');
    if (controller.empty() ? controllers.empty() : lists(controllers, controller)) group = line;
  }
  if (group.empty()) return {};

  // number parent device root point options [more] - type source options
  std::string mount, mount_root;
  const std::string mounts = content(root + "/proc/self/mountinfo");
  for (std::string_view lines = mounts; !lines.empty();) {
    const std::string_view line = next(lines, '\n');
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view left = line.substr(0, dash), right = line.substr(dash + 3);
    const std::string_view type = next(right, ' ');
    next(right, ' ');
    if (controller.empty() ? type != "cgroup2" : type != "cgroup" || !lists(right, controller)) continue;
    for (int i = 0; i < 3; ++i) next(left, ' ');
    mount_root = next(left, ' ');
    mount = next(left, ' ');
    break;
  }
  if (mount.empty()) return {};

  // Of a container that sees only its own part of the tree, the group's path begins with the mount's root, or leads
  // out of what is mounted.
  if (mount_root != "/" && group.rfind(mount_root, 0) == 0) group.erase(0, mount_root.size());
  if (group.find("..") != std::string::npos) group.clear();
  std::vector<std::string> folders;
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    folders.push_back(root + mount + group);
    if (group.empty()) return folders;
    group.erase(group.rfind('/'));
  }
}

// `quota` of every `period`, both in microseconds.
int32_t processors_of(std::optional<uint64_t> quota, std::optional<uint64_t> period, int32_t n) {
  if (!quota || !period || *period == 0) return n;
  const uint64_t whole = (*quota + *period - 1) / *period;
  return static_cast<int32_t>(std::clamp<uint64_t>(whole, 1, static_cast<uint64_t>(n)));
}

int32_t processors_of_mask() {
  for (int most = 1024; most <= (1 << 20); most *= 4) {  // the kernel refuses a mask that is shorter than its own
    cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(most));
    if (!mask) return 0;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(most));
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    const int n = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known) return n;
  }
  return 0;
}

void limit(HostMemory& memory, std::optional<uint64_t> most, uint64_t used) {
  if (!most) return;
  memory.total = std::min(memory.total, *most);
  memory.available = std::min(memory.available, *most - std::min(*most, used));
}

// `free_if_needed`: cached files, which the kernel drops before it kills anyone.
void limit_by_group(HostMemory& memory, std::optional<uint64_t> most, const std::string& used_file,
                    std::optional<uint64_t> free_if_needed) {
  const uint64_t used = number_in(used_file).value_or(0);
  limit(memory, most, used - std::min(used, free_if_needed.value_or(0)));
}

// All memory and swap of the machine, where /proc does not tell how much is available: what sysinfo calls free is
// without cached files.
HostMemory machine_memory(const std::string& root) {
  HostMemory memory;
  const std::string text = content(root + "/proc/meminfo");
  if (const auto kib = number_of(text, "MemAvailable:")) {
    memory.available = (*kib + number_of(text, "SwapFree:").value_or(0)) * 1024;
  }
  if (const auto kib = number_of(text, "MemTotal:")) memory.total = *kib * 1024;
  struct sysinfo info;
  if (memory.total != UINT64_MAX && memory.available != UINT64_MAX) return memory;
  if (sysinfo(&info) != 0) return memory;
  memory.total = std::min(memory.total, uint64_t{info.totalram} * info.mem_unit);
  memory.available = std::min(memory.available, (uint64_t{info.totalram} + info.totalswap) * info.mem_unit);
  return memory;
}

void limit_by_resource(HostMemory& memory, const std::string& root) {
  const std::string pages = content(root + "/proc/self/statm");  // size resident shared text lib data dt
  std::string_view text = pages;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t size = number(next(text, ' ')).value_or(0) * page;
  for (int i = 0; i < 4; ++i) next(text, ' ');
  const uint64_t data = number(next(text, ' ')).value_or(0) * page;
  rlimit most{};
  if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) limit(memory, most.rlim_cur, size);
  if (getrlimit(RLIMIT_DATA, &most) == 0 && most.rlim_cur != RLIM_INFINITY) limit(memory, most.rlim_cur, data);
}

#endif

}  // namespace

int32_t usable_processors([[maybe_unused]] const std::string& root) {
  int32_t n = 0;
#if defined(__linux__)
  n = processors_of_mask();
#endif
  if (n == 0) n = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
  for (const std::string& folder : group_folders(root, "")) {
    const std::string text = content(folder + "/cpu.max");  // quota or max, period
    std::string_view fields = text;
    const std::string_view quota = next(fields, ' ');
    n = processors_of(number(quota), number(fields), n);
  }
  for (const std::string& folder : group_folders(root, "cpu")) {
    n = processors_of(number_in(folder + "/cpu.cfs_quota_us"), number_in(folder + "/cpu.cfs_period_us"), n);
  }
#endif
  return n;
}

int32_t default_threads() { return std::min<int32_t>(usable_processors(), ThreadPool::kMaxThreads); }

HostMemory host_memory([[maybe_unused]] const std::string& root) {
  HostMemory memory;
#if defined(__linux__)
  memory = machine_memory(root);
  for (const std::string& folder : group_folders(root, "")) {
    const auto cached = number_of(content(folder + "/memory.stat"), "inactive_file ");
    for (const char* file : {"/memory.max", "/memory.high"}) {
      limit_by_group(memory, number_in(folder + file), folder + "/memory.current", cached);
    }
  }
  for (const std::string& folder : group_folders(root, "memory")) {
    const auto cached = number_of(content(folder + "/memory.stat"), "total_inactive_file ");
    limit_by_group(memory, number_in(folder + "/memory.limit_in_bytes"), folder + "/memory.usage_in_bytes", cached);
  }
  limit_by_resource(memory, root);
#endif
  return memory;
}

}  // namespace inlay
