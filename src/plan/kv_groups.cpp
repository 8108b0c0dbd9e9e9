#include "src/plan/kv_groups.h"

namespace inlay {

KvGroups group_kv_layers(const ModelSpec& spec) {
  KvGroups out;
  for (const LayerAttention& layer : spec.layers) {
    const auto same = [&](const KvGroup& group) { return group.window == layer.window; };
    if (std::ranges::none_of(out.groups, same)) out.groups.push_back({.window = layer.window});
  }
  std::ranges::sort(out.groups, {}, &KvGroup::window);
  for (const LayerAttention& layer : spec.layers) {
    const auto group = std::ranges::find(out.groups, layer.window, &KvGroup::window);
    out.layers.push_back({.group = static_cast<int32_t>(group - out.groups.begin()), .index = group->n_layers++});
  }
  return out;
}

}  // namespace inlay
