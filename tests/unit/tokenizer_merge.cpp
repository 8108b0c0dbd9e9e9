// The merging loop: its two implementations against the definition, on random rules.
#include "src/tokenizer/merge.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace inlay {
namespace {

using Pairs = std::map<std::pair<int32_t, int32_t>, Merge>;

std::vector<int32_t> merged_by_definition(const Pairs& pairs, std::vector<int32_t> ids) {
  while (true) {
    size_t best = ids.size();
    uint32_t priority = kNoMerge;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto at = pairs.find({ids[i], ids[i + 1]});
      if (at == pairs.end() || at->second.priority >= priority) continue;
      best = i;
      priority = at->second.priority;
    }
    if (best == ids.size()) return ids;
    ids[best] = pairs.at({ids[best], ids[best + 1]}).id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<int32_t> ids_left(const MergeScratch& scratch, size_t n_bytes) {
  std::vector<int32_t> out;
  uint32_t at = 0;
  for (const Symbol& symbol : scratch.symbols) {
    EXPECT_EQ(symbol.begin, at) << "symbols must cover the word";
    at = symbol.end;
    out.push_back(symbol.id);
  }
  EXPECT_EQ(at, n_bytes);
  return out;
}

void load(const std::vector<int32_t>& ids, MergeScratch& scratch) {
  scratch.symbols.clear();
  for (uint32_t i = 0; i < ids.size(); ++i) scratch.symbols.push_back({i, i + 1, ids[i]});
}

TEST(Merge, BothLoopsFollowTheDefinition) {
  std::mt19937 random(3);
  MergeScratch scratch;
  size_t n_merged = 0;
  for (int round = 0; round < 400; ++round) {
    const int32_t n_letters = 2 + static_cast<int32_t>(random() % 4);
    Pairs pairs;
    int32_t n_ids = n_letters;
    for (uint32_t rank = 0; rank < 30; ++rank) {
      const auto left = static_cast<int32_t>(random() % n_ids), right = static_cast<int32_t>(random() % n_ids);
      // some pairs share a priority, as tokens of one score do: then the leftmost goes first
      pairs.insert({{left, right}, {round % 2 ? rank : rank / 4, n_ids++}});
    }
    const auto rule = [&](const Symbol& left, const Symbol& right) {
      const auto at = pairs.find({left.id, right.id});
      return at == pairs.end() ? Merge{} : at->second;
    };
    for (int word = 0; word < 10; ++word) {
      std::vector<int32_t> ids(random() % 80);
      for (int32_t& id : ids) id = static_cast<int32_t>(random() % n_letters);
      const std::vector<int32_t> expected = merged_by_definition(pairs, ids);
      load(ids, scratch);
      merge_short(rule, scratch);
      EXPECT_EQ(ids_left(scratch, ids.size()), expected);
      load(ids, scratch);
      LongWordMerger(rule, scratch).run();
      EXPECT_EQ(ids_left(scratch, ids.size()), expected);
      n_merged += ids.size() - expected.size();
    }
  }
  EXPECT_GT(n_merged, 10000u);
}

}  // namespace
}  // namespace inlay
