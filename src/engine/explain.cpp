#include "src/engine/explain.h"

#include <algorithm>

#include "src/base/held_folder.h"
#include "src/engine/chat.h"
#include "src/engine/devices.h"
#include "src/engine/load.h"
#include "src/model/hf_folder.h"

namespace inlay {
namespace {

std::vector<Explanation::Types> count_types(const Checkpoint& checkpoint) {
  std::vector<Explanation::Types> types;
  for (const TensorEntry& tensor : checkpoint.tensors()) {
    auto found = std::ranges::find(types, tensor.dtype, &Explanation::Types::dtype);
    if (found == types.end()) found = types.insert(found, {.dtype = tensor.dtype});
    ++found->n_tensors;
    found->n_bytes += tensor.n_bytes;
    found->n_elements += static_cast<uint64_t>(tensor.shape[0] * tensor.shape[1] * tensor.shape[2] * tensor.shape[3]);
  }
  std::ranges::sort(types, std::greater<>(), &Explanation::Types::n_bytes);
  return types;
}

class Explainer {
 public:
  Explainer(const Checkpoint& checkpoint, const EngineOptions& options) : checkpoint_(checkpoint), options_(options) {}

  Explanation run() {
    out_.path = checkpoint_.model_path();
    out_.types = count_types(checkpoint_);
    const Result<Model> model = settle_model(checkpoint_, options_);
    out_.model = model.status();
    if (!model.ok()) return std::move(out_);
    model_ = &*model;
    out_.spec = model->spec();
    out_.n_params = model->n_params();
    explain_texts();
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::reference}) add_devices(kind);
    explain_contexts();
    return std::move(out_);
  }

 private:
  void explain_texts() {
    const auto tokenizer = load_tokenizer(checkpoint_, out_.spec, options_);
    out_.tokenizer = tokenizer.status();
    if (tokenizer.ok() && *tokenizer) out_.n_tokens = (*tokenizer)->n_tokens();
    out_.chat_template = ChatTemplates(checkpoint_.metadata()).pick(false).status();
  }

  Result<Placement> place_with(DeviceKind kind, int32_t index, int32_t n_context, int32_t max_sessions) const {
    EngineOptions options = options_;
    options.device = kind;
    options.device_index = index;
    options.n_context = n_context;
    options.max_sessions = max_sessions;
    INLAY_ASSIGN(const Plan plan, build_plan(*model_, context_length(options, out_.spec)));
    return place(plan, options);
  }

  // All of the kind, or why there is none.
  void add_devices(DeviceKind kind) {
    const char* name = kind == DeviceKind::cpu ? "CPU" : kind == DeviceKind::cuda ? "CUDA" : "reference interpreter";
    Result<DeviceInfo> device = find_device(kind, 0);
    if (!device.ok()) out_.devices.push_back({.name = name, .status = device.status()});
    for (int32_t index = 0; device.ok(); device = find_device(kind, ++index)) {
      Explanation::Device found = {.name = kind == DeviceKind::cuda ? name + (" " + std::to_string(index)) : name,
                                   .free_bytes = device->free_bytes};
      if (kind != DeviceKind::reference) found.name += ", " + device->name;
      const Result<Placement> placed = place_with(kind, index, options_.n_context, options_.max_sessions);
      found.status = placed.ok() ? check_memory(*placed) : placed.status();
      if (placed.ok()) found.needs = placed->needs, found.prefix_cache_host_bytes = placed->prefix_cache_host_bytes;
      out_.devices.push_back(std::move(found));
      if (kind != DeviceKind::cuda) break;  // there is one processor
    }
  }

  void explain_contexts() {
    const Result<Placement> usual =
        place_with(options_.device, options_.device_index, options_.n_context, options_.max_sessions);
    if (!usual.ok()) return;
    const Result<DeviceInfo> device = find_device(usual->device, usual->device_index);
    if (!device.ok()) return;
    out_.context_device = usual->device == DeviceKind::reference ? "the reference interpreter" : device->name;
    const auto needs = [&](int32_t n_context) -> Result<MemoryNeeds> {
      INLAY_ASSIGN(const Placement placed, place_with(usual->device, usual->device_index, n_context, 1));
      return placed.needs;
    };
    const int32_t trained = out_.spec.n_context_train;
    for (int32_t n = 1024; n < trained && n <= INT32_MAX / 4; n *= 4) add_context(n, needs(n));
    add_context(trained, needs(trained));
    const auto fits = [&](int32_t n_context) {
      const auto needed = needs(n_context);
      return needed.ok() && needed->total() <= device->free_bytes;
    };
    int32_t low = 0, high = (trained + kContextStep - 1) / kContextStep;  // low fits, or is none
    while (low < high) {
      const int32_t middle = low + (high - low + 1) / 2;
      if (fits(std::min(middle * kContextStep, trained)))
        low = middle;
      else
        high = middle - 1;
    }
    out_.longest_context = std::min(low * kContextStep, trained);
  }

  void add_context(int32_t n_context, const Result<MemoryNeeds>& needs) {
    if (needs.ok()) out_.contexts.push_back({n_context, *needs});
  }

  const Checkpoint& checkpoint_;
  const EngineOptions& options_;
  const Model* model_ = nullptr;
  Explanation out_;
};

}  // namespace

int32_t Explanation::n_runs() const {
  return static_cast<int32_t>(std::ranges::count_if(devices, [](const Device& d) { return d.status.ok(); }));
}

Result<Explanation> explain(const std::string& path, const EngineOptions& options) {
  const HeldFolder folder(path);
  const HeldFolder::Use use(&folder);
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path));
  return Explainer(checkpoint, options).run();
}

}  // namespace inlay
