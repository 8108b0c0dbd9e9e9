#include "src/engine/tuning.h"

#include <algorithm>
#include <array>

#include "src/backend/cpu/cpu_backend.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

template <bool EngineOptions::*kOption>
bool take_bool(std::string_view value, EngineOptions& out) {
  if (value != "0" && value != "1") return false;
  out.*kOption = value == "1";
  return true;
}

constexpr std::array<std::string_view, static_cast<size_t>(cpu::Isa::count)> kIsaNames = {"generic", "avx2", "avx512"};

bool take_isa(std::string_view value, EngineOptions& out) {
  const auto found = std::ranges::find(kIsaNames, value);
  if (found == kIsaNames.end()) return false;
  out.isa = static_cast<cpu::Isa>(found - kIsaNames.begin());
  return true;
}

struct Key {
  std::string_view name, values;
  DeviceKind device;
  bool (*take)(std::string_view value, EngineOptions& out);  // false: it is none of the values
};

constexpr Key kKeys[] = {
    {"token_kernel", "0 or 1", DeviceKind::cuda, take_bool<&EngineOptions::allow_token_kernel>},
    {"cublas", "0 or 1", DeviceKind::cuda, take_bool<&EngineOptions::allow_cublas>},
    {"mixed_gemm", "0 or 1", DeviceKind::cuda, take_bool<&EngineOptions::allow_mixed_gemm>},
    {"group_rows", "0 or 1", DeviceKind::cuda, take_bool<&EngineOptions::always_group_rows>},
    {"isa", "generic, avx2 or avx512", DeviceKind::cpu, take_isa},
};

std::string all_keys() {
  std::string out;
  for (const Key& key : kKeys) out += (out.empty() ? "" : ", ") + std::string(key.name);
  return out;
}

Status apply(std::string_view pair, EngineOptions& out) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos)
    return error(Code::invalid_argument, "tuning has %s, expected key=value", quote(pair).c_str());
  const std::string_view name = pair.substr(0, equals), value = pair.substr(equals + 1);
  const auto key = std::ranges::find(kKeys, name, &Key::name);
  if (key == std::end(kKeys)) {
    return error(Code::invalid_argument, "tuning has no key %s; there are %s", quote(name).c_str(), all_keys().c_str());
  }
  if (std::ranges::find(out.tuned, name) != out.tuned.end())
    return error(Code::invalid_argument, "tuning names %s twice", std::string(name).c_str());
  if (!key->take(value, out)) {
    return error(Code::invalid_argument, "tuning has %s for %s, expected %s", quote(value).c_str(), std::string(name).c_str(),
                 std::string(key->values).c_str());
  }
  out.tuned.emplace_back(name);
  return {};
}

}  // namespace

Status apply_tuning(std::string_view text, EngineOptions& out) {
  constexpr std::string_view kBetween = " \t\r\n,";
  for (size_t begin = 0; (begin = text.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    INLAY_TRY(apply(text.substr(begin, end - begin), out));
    begin = end;
  }
  return {};
}

std::string_view isa_name(cpu::Isa isa) { return kIsaNames[static_cast<size_t>(isa)]; }

std::vector<std::string> unused_tuning(const EngineOptions& options, DeviceKind device) {
  std::vector<std::string> out;
  for (const std::string& name : options.tuned) {
    const auto key = std::ranges::find(kKeys, name, &Key::name);
    if (key->device == device) continue;
    out.push_back("tuning: " + name + " changes nothing: it is of " + (key->device == DeviceKind::cuda ? "CUDA" : "the CPU"));
  }
  return out;
}

}  // namespace inlay
