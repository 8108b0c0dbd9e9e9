#include "src/model/hf_pooling.h"

#include <algorithm>
#include <iterator>

#include "src/formats/text.h"
#include "src/model/hf_folder.h"

namespace inlay {
namespace {

constexpr HfPoolingMode kModes[] = {{"cls", "pooling_mode_cls_token", 2},
                                    {"lasttoken", "pooling_mode_lasttoken", 3},
                                    {"max", "pooling_mode_max_tokens", 0},
                                    {"mean", "pooling_mode_mean_tokens", 1},
                                    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", 0},
                                    {"weightedmean", "pooling_mode_weightedmean_tokens", 0}};

Result<uint32_t> stored_mode(const JsonValue& named) {
  INLAY_ASSIGN(const std::string_view text, named.as_string());
  std::string name(text);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes), [&](const HfPoolingMode& m) { return name == m.name; });
  if (mode != std::end(kModes)) return mode->stored;
  std::string known;
  for (const HfPoolingMode& m : kModes) known += (known.empty() ? "" : ", ") + std::string(m.name);
  return error(Code::unsupported, "%s is %s, expected %s", named.where().c_str(), quote(text).c_str(), known.c_str());
}

// "pooling_mode", where it is given, is a name or several, whose vectors would stand one behind the other.
Result<uint32_t> read_mode(const JsonValue& config) {
  if (const auto named = config.find("pooling_mode"); named && !named->is_null()) {
    if (!named->is_array()) return stored_mode(*named);
    uint32_t stored = 0;
    for (const JsonValue& element : named->elements()) {
      INLAY_ASSIGN(stored, stored_mode(element));
    }
    return named->size() == 1 ? stored : 0;
  }
  uint32_t stored = 0;
  int n_modes = 0;
  for (const HfPoolingMode& mode : kModes) {
    INLAY_ASSIGN(const bool is_set, config.bool_or(mode.flag, false));
    if (is_set) stored = mode.stored, ++n_modes;
  }
  return n_modes == 1 ? stored : 0;
}

// The file in the folder that modules.json names, or without that file in the usual one; and the modules that would change a vector and are
// not computed here.
struct PoolingFile {
  std::string name = "1_Pooling/config.json", not_computed;
};
Result<PoolingFile> pooling_file(const std::string& folder) {
  const std::string list = folder + "/modules.json";
  PoolingFile out;
  if (!file_exists(list)) return out;
  INLAY_ASSIGN(const JsonDocument document, read_json_file(list));
  INLAY_ASSIGN(const JsonElements modules, document.root().as_array());
  for (const JsonValue& module : modules) {
    INLAY_ASSIGN(const std::string_view type, module.string_or("type", ""));
    const std::string_view kind = type.substr(type.rfind('.') + 1);  // npos + 1 is 0
    if (kind != "Pooling") {
      // Vectors have length 1 anyhow, and nothing is dropped out but in training.
      const bool is_known = kind == "Transformer" || kind == "Normalize" || kind == "Dropout";
      if (!is_known) out.not_computed += (out.not_computed.empty() ? "" : ", ") + quote(type);
      continue;
    }
    INLAY_ASSIGN(const JsonValue path, module.get("path"));
    INLAY_ASSIGN(const std::string_view name, path.as_string());
    if (name.empty() || name.find_first_of(std::string_view("/\\:\0", 4)) != name.npos || name == "..") {
      return error(Code::format, "%s is %s, expected the name of a folder beside modules.json", path.where().c_str(),
                   quote(name).c_str());
    }
    out.name = std::string(name) + "/config.json";
  }
  return out;
}

}  // namespace

std::span<const HfPoolingMode> hf_pooling_modes() { return kModes; }

Status add_hf_pooling(const std::string& folder, const std::string& arch, MetadataBuilder& metadata) {
  INLAY_ASSIGN(const PoolingFile file, pooling_file(folder));
  if (!file.not_computed.empty()) {
    metadata.u32(arch + ".pooling_type", 0, "the pooling mode of modules.json, whose module " + file.not_computed + " is not supported,");
    return {};
  }
  const std::string path = folder + "/" + file.name;
  if (!file_exists(path)) return {};
  INLAY_ASSIGN(const JsonDocument document, read_json_file(path));
  INLAY_ASSIGN(const uint32_t stored, read_mode(document.root()));
  metadata.u32(arch + ".pooling_type", stored, "the pooling mode in " + file.name);
  return {};
}

}  // namespace inlay
