// Small models of random weights of the families that do more than the plainest decoder, as GGUF files in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/random_tensors.h"

namespace inlay::test {

// What a family's model may have another way: numbers of its metadata, or tensors that not every model has.
struct FamilyTraits {
  const char* arch;
  std::vector<const char*> traits;
};
const std::vector<FamilyTraits>& family_traits();

inline constexpr int32_t kFamilyVocab = 512;

// Four layers of width 128 with four heads of 64, two of keys. altered: the trait that is another, or none. both_ways: attention.causal is false,
// which is a trait then, and families whose windows do not reach to both sides have none.
std::vector<std::byte> random_family(std::string_view arch, GgufType type, std::string_view altered = "", bool both_ways = false);

}  // namespace inlay::test
