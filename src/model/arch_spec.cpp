#include "src/model/arch_spec.h"

namespace inlay {

std::span<const ArchSpec* const> all_archs() {
  static constexpr const ArchSpec* kAll[] = {&kGemma2, &kGemma3, &kGptOss, &kGranite, &kLlama,    &kOlmo2,    &kPhi3,
                                             &kQwen2,  &kQwen3,  &kQwen2Moe, &kQwen3Moe, &kSmollm3};
  return kAll;
}

const ArchSpec* find_arch(std::string_view name) {
  for (const ArchSpec* arch : all_archs()) {
    if (name == arch->name) return arch;
  }
  return nullptr;
}

}  // namespace inlay
