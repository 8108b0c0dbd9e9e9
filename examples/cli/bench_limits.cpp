#include "examples/cli/bench_limits.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

namespace inlay::cli {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGpuCache = 128 * kMiB;
constexpr uint64_t kUnknownCache = 512 * kMiB;

template <class T>
bool read_number(std::string_view text, T& value) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  return std::from_chars(text.data() + begin, text.data() + text.size(), value).ec == std::errc();
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The system tells each cache once for every processor that shares it.
uint64_t processor_cache() {
  int highest = 0;
  uint64_t n_bytes = 0;
  std::set<std::string> counted;
  std::error_code problem;
  for (int cpu = 0;; ++cpu) {
    const std::filesystem::path caches = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
    if (!std::filesystem::exists(caches, problem)) break;
    for (int index = 0; std::filesystem::exists(caches / ("index" + std::to_string(index)), problem); ++index) {
      const std::filesystem::path cache = caches / ("index" + std::to_string(index));
      int level = 0;
      uint64_t kib = 0;
      if (!read_number(first_line(cache / "level"), level) || !read_number(first_line(cache / "size"), kib)) continue;
      if (level < highest || kib == 0) continue;
      if (level > highest) counted.clear(), n_bytes = 0, highest = level;
      if (counted.insert(first_line(cache / "shared_cpu_list")).second) n_bytes += kib * 1024;
    }
  }
  return n_bytes;
}

}  // namespace

bool is_impossible(uint64_t n_bytes, double seconds, const MemoryLimits& limits) {
  if (limits.bytes_per_second <= 0 || n_bytes <= 4 * limits.cache_bytes) return false;
  return static_cast<double>(n_bytes) > seconds * limits.bytes_per_second * limits.tolerance;
}

bool read_step_facts(std::string_view table, StepFacts& facts) {
  constexpr std::string_view kSpeed = "memory read at ", kRow = "\nwhole step ";
  const size_t speed = table.find(kSpeed);
  size_t at = table.find(kRow);
  double gb_per_second = 0;
  if (speed == std::string_view::npos || at == std::string_view::npos ||
      !read_number(table.substr(speed + kSpeed.size()), gb_per_second))
    return false;
  at += kRow.size();
  for (int column = 0; column < 3; ++column) {  // calls, us and % time stand before the bytes
    at = table.find_first_not_of(' ', at);
    at = at == std::string_view::npos ? at : table.find(' ', at);
    if (at == std::string_view::npos) return false;
  }
  facts.bytes_per_second = gb_per_second * 1e9;
  return read_number(table.substr(at), facts.n_bytes);
}

uint64_t last_level_cache(inlay_device_kind device) {
  if (device == INLAY_DEVICE_CUDA) return kGpuCache;
  const uint64_t n_bytes = processor_cache();
  return n_bytes > 0 ? n_bytes : kUnknownCache;
}

}  // namespace inlay::cli
