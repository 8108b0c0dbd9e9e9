#include "src/model/hf_pooling.h"

#include "src/model/hf_folder.h"

namespace inlay {

Status add_hf_pooling(const std::string& folder, const std::string& arch, MetadataBuilder& metadata) {
  constexpr struct {
    const char* key;
    uint32_t stored;
  } kModes[] = {{"pooling_mode_mean_tokens", 1},
                {"pooling_mode_cls_token", 2},
                {"pooling_mode_lasttoken", 3},
                {"pooling_mode_max_tokens", 0},
                {"pooling_mode_mean_sqrt_len_tokens", 0},
                {"pooling_mode_weightedmean_tokens", 0}};
  constexpr const char* kFile = "1_Pooling/config.json";
  const std::string path = folder + "/" + kFile;
  if (!file_exists(path)) return {};
  INLAY_ASSIGN(const JsonDocument document, read_json_file(path));
  uint32_t stored = 0;
  int n_modes = 0;
  for (const auto& mode : kModes) {
    INLAY_ASSIGN(const bool is_set, document.root().bool_or(mode.key, false));
    if (is_set) stored = mode.stored, ++n_modes;
  }
  metadata.u32(arch + ".pooling_type", n_modes == 1 ? stored : 0, std::string("the pooling mode in ") + kFile);
  return {};
}

}  // namespace inlay
