// Blocks found again by their tokens, beside a list of all that was kept.
#include "src/engine/prefix_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "src/plan/kv_groups.h"

namespace inlay {
namespace {

using Tokens = std::vector<int32_t>;

Tokens block(int32_t value) { return Tokens(static_cast<size_t>(kKvBlockTokens), value); }
Tokens blocks(std::initializer_list<int32_t> values) {
  Tokens out;
  for (const int32_t value : values) {
    const Tokens one = block(value);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

struct Cache {
  explicit Cache(int32_t n) : pool(n), cache(pool) {}
  std::vector<int32_t> fill(const Tokens& tokens) {  // as a sequence that computes all of them
    std::vector<int32_t> out;
    for (size_t i = 0; (i + 1) * static_cast<size_t>(kKvBlockTokens) <= tokens.size(); ++i) out.push_back(pool.take());
    cache.keep(tokens, out);
    return out;
  }
  void release(const std::vector<int32_t>& given) {
    for (const int32_t one : given) pool.release(one);
  }
  std::vector<int32_t> take(const Tokens& tokens) {
    std::vector<int32_t> out;
    cache.take(tokens, out);
    return out;
  }
  KvPool pool;
  PrefixCache cache;
};

TEST(PrefixCache, FindsFullBlocksByAllThatComesBefore) {
  Cache c(16);
  const auto own = c.fill(blocks({1, 2, 3}));
  EXPECT_EQ(c.take(blocks({1, 2, 3, 4})), own);
  EXPECT_EQ(c.take(blocks({1, 2, 9})), std::vector<int32_t>(own.begin(), own.begin() + 2));
  EXPECT_EQ(c.take(blocks({2, 3})), std::vector<int32_t>()) << "the same tokens behind others";
  Tokens cut = blocks({1, 2});
  cut.pop_back();
  EXPECT_EQ(c.take(cut).size(), 1u) << "a part of a block is none";
  EXPECT_EQ(c.cache.n_found(blocks({1, 2, 3})), 3u);
}

TEST(PrefixCache, BlocksStayUntilTheirRoomIsWantedTheOldestLeafFirst) {
  Cache c(4);
  const auto a = c.fill(blocks({1, 2}));
  const auto b = c.fill(blocks({7, 8}));
  c.release(a);
  EXPECT_EQ(c.pool.n_idle(), 2);
  EXPECT_EQ(c.cache.give_back(9), 2) << "those of the other are in use";
  EXPECT_EQ(c.pool.n_free(), 2);
  c.release(c.fill(blocks({1, 2})));
  c.release(b);
  EXPECT_EQ(c.pool.n_idle(), 4);
  EXPECT_EQ(c.cache.give_back(1), 1);
  EXPECT_EQ(c.cache.n_found(blocks({7, 8})), 1u) << "the end of what was used longest ago";
  EXPECT_EQ(c.cache.n_found(blocks({1, 2})), 2u);
  c.release(c.take(blocks({7, 8})));
  EXPECT_EQ(c.cache.give_back(1), 1);
  EXPECT_EQ(c.cache.n_found(blocks({1, 2})), 1u) << "now it is the other";
}

// A parent that was given back and taken for something else is no parent any more.
TEST(PrefixCache, ABlockThatWasUsedAgainContinuesNothing) {
  Cache c(4);
  const auto first = c.fill(blocks({1}));
  std::vector<int32_t> second{c.pool.take(), c.pool.take()};  // computed the same beside it, and one block more
  c.cache.keep(blocks({1, 2}), second);
  ASSERT_EQ(c.cache.n_found(blocks({1, 2})), 2u);
  c.release(first);
  ASSERT_EQ(c.cache.give_back(1), 1) << "the first block of the chain, which the second sequence does not use";
  const auto other = c.fill(blocks({5}));
  EXPECT_EQ(other, first) << "the same block";
  EXPECT_EQ(c.cache.n_found(blocks({5, 2})), 1u);
  EXPECT_EQ(c.cache.n_found(blocks({1, 2})), 0u);
}

// Two blocks of other tokens with one hash: some first ones of 2^18 lead to the same upper half, behind a second one that is the same; the third makes up for the lower half.
struct Twins {
  Tokens one, two;
  Twins() : one(block(3)), two(block(3)) {
    std::vector<std::pair<uint32_t, int32_t>> upper;
    for (int32_t token = 0; token < 1 << 18; ++token) upper.push_back({static_cast<uint32_t>(hash_behind(token) >> 32), token});
    std::ranges::sort(upper);
    const auto same = std::ranges::adjacent_find(upper, {}, &std::pair<uint32_t, int32_t>::first);
    if (same == upper.end()) return;
    one[0] = same->second;
    two[0] = (same + 1)->second;
    two[2] = one[2] ^ static_cast<int32_t>(static_cast<uint32_t>(hash_behind(one[0]) ^ hash_behind(two[0])));
  }
  static uint64_t hash_behind(int32_t token) {
    const int32_t both[] = {token, 3};
    return PrefixCache::hash_of(PrefixCache::kHashOfNothing, both);
  }
};

TEST(PrefixCache, EqualHashesAreToldApart) {
  const Twins twins;
  ASSERT_NE(twins.one, twins.two);
  ASSERT_EQ(PrefixCache::hash_of(PrefixCache::kHashOfNothing, twins.one), PrefixCache::hash_of(PrefixCache::kHashOfNothing, twins.two));
  Tokens one = twins.one, two = twins.two;
  for (Tokens* tokens : {&one, &two}) tokens->insert(tokens->end(), static_cast<size_t>(kKvBlockTokens), 4);
  Cache c(8);
  const auto own = c.fill(one);
  EXPECT_EQ(c.cache.n_found(one), 2u);
  EXPECT_EQ(c.cache.n_found(two), 0u);
  const auto other = c.fill(twins.two);
  EXPECT_EQ(c.take(twins.two), other);
  EXPECT_EQ(c.cache.n_found(two), 1u) << "what stands behind it stands behind the other";
  EXPECT_EQ(c.take(one), own);
  // Who does not know what the hashes begin with cannot make them equal.
  EXPECT_NE(PrefixCache::hash_of(1, twins.one), PrefixCache::hash_of(1, twins.two));
  KvPool pool(2);
  PrefixCache cache(pool, nullptr, 1);
  cache.keep(twins.one, std::vector<int32_t>{pool.take()});
  EXPECT_EQ(cache.n_found(twins.one), 1u);
  EXPECT_EQ(cache.n_found(twins.two), 0u);
}

// The very blocks of before, by their numbers: one that was computed again is another one, though its tokens are the same.
TEST(PrefixCache, ABlockThatWasFilledAgainIsNotTheFormer) {
  Cache c(4);
  const Tokens tokens = blocks({1, 2, 3});
  const auto own = c.fill(tokens);
  std::vector<uint64_t> numbers;
  for (const int32_t one : own) numbers.push_back(c.cache.number_of(one));
  std::vector<int32_t> found;
  c.cache.take_same(tokens, numbers, found);
  EXPECT_EQ(found, own);
  c.release(own);
  c.release(found);
  ASSERT_EQ(c.cache.give_back(1), 1);
  const auto same = c.take(blocks({1, 2}));
  std::vector<int32_t> again = same;
  again.push_back(c.pool.take());
  EXPECT_EQ(again, own) << "the same block";
  c.cache.keep(tokens, again);
  ASSERT_EQ(c.cache.n_found(tokens), 3u);
  c.cache.take_same(tokens, numbers, found);
  EXPECT_EQ(found, same) << "with other bytes";
}

// Of blocks behind the same ones, the one that goes on the same for longest; and none of which fewer tokens than the least are the same.
TEST(PrefixCache, ABlockOfWhichTheFirstTokensAreTheSame) {
  Cache c(16);
  Tokens one = blocks({1, 2}), two = blocks({1, 2});
  one[kKvBlockTokens + 20] = two[kKvBlockTokens + 12] = 9;
  const auto first = c.fill(one), second = c.fill(two), elsewhere = c.fill(blocks({7, 2}));
  const std::vector<int32_t> chain(first.begin(), first.begin() + 1);
  struct Row {
    const char* what;
    size_t n_same;  // 2, behind the chain; then others
    int32_t then, block, n;
  };
  const int32_t least = static_cast<int32_t>(PrefixCache::kLeastPart);
  const Row rows[] = {{"fewer than the least", PrefixCache::kLeastPart - 1, 4, PrefixCache::kNone, 0},
                      {"the least", PrefixCache::kLeastPart, 4, second[1], least},
                      {"ends within both", 11, 2, second[1], 11},
                      {"as the one", 20, 9, first[1], 21},
                      {"as the other", 12, 9, second[1], 13},
                      {"longer than the other", 16, 5, first[1], 16}};
  for (const Row& row : rows) {
    Tokens tokens = block(1);
    tokens.insert(tokens.end(), row.n_same, 2);
    if (row.then != 2) tokens.push_back(row.then);
    const PrefixCache::Part part = c.cache.find_part(tokens, chain);
    EXPECT_EQ(part.n, row.n) << row.what;
    EXPECT_EQ(part.place, row.block) << row.what;
  }
  EXPECT_EQ(c.cache.find_part(block(2), {}).n, 0) << "at the beginning nothing is 2";
  EXPECT_EQ(c.cache.find_part(Tokens(9, 7), {}).place, elsewhere[0]);
  EXPECT_EQ(c.cache.find_part(blocks({1, 2, 2}), std::vector{first[0], second[1]}).n, 0) << "nothing is behind it";
  for (const auto* own : {&first, &second, &elsewhere}) c.release(*own);
  EXPECT_EQ(c.cache.give_back(9), 5);
  EXPECT_EQ(c.cache.find_part(Tokens(9, 7), {}).n, 0) << "its room was wanted";
}

// Blocks and parts of blocks of one salt are found with that salt alone, also behind the same tokens of another one.
TEST(PrefixCache, OthersSaltFindsNothing) {
  Cache c(16);
  const Tokens tokens = blocks({1, 2, 3});
  const auto plain = c.fill(tokens);
  std::vector<int32_t> salted;
  for (int i = 0; i < 3; ++i) salted.push_back(c.pool.take());
  c.cache.keep({tokens, 5}, salted);
  std::vector<int32_t> places;
  for (const auto& [salt, own] : {std::pair(uint64_t{0}, plain), std::pair(uint64_t{5}, salted)}) {
    EXPECT_EQ(c.cache.n_found({tokens, salt}), 3u);
    c.cache.find_all({tokens, salt}, places);
    EXPECT_EQ(places, own);
    EXPECT_EQ(c.cache.find_part({Tokens(9, 1), salt}, {}).place, own[0]);
    EXPECT_EQ(c.cache.find_part({Tokens(40, 1), salt}, std::vector{own[0]}).n, 0) << "behind it nothing is 1";
  }
  EXPECT_EQ(c.cache.n_found({tokens, 6}), 0u);
  EXPECT_EQ(c.cache.find_part({Tokens(9, 1), 6}, {}).n, 0);
  c.release(plain);
  c.release(salted);
  EXPECT_EQ(c.cache.give_back(9), 6);
  EXPECT_EQ(c.cache.n_found({tokens, 5}), 0u) << "their room was wanted";
}

// Random sequences beside a map from tokens to what a block was filled with: what is found was filled with these tokens.
TEST(PrefixCache, WhatIsFoundIsWhatWasKept) {
  constexpr int32_t kBlocks = 24;
  Cache c(kBlocks);
  std::mt19937 random(5);
  const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
  std::map<int32_t, Tokens> holds;  // of each block: the tokens up to its end
  std::vector<std::vector<int32_t>> used;
  int n_found = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (!used.empty() && below(3) == 0) {
      c.release(used.back());
      used.pop_back();
    }
    Tokens tokens;
    for (int32_t k = 0, n = 1 + below(5); k < n; ++k) {
      const Tokens one = block(below(3));
      tokens.insert(tokens.end(), one.begin(), one.end());
    }
    auto own = c.take(tokens);
    n_found += static_cast<int>(own.size());
    const auto n_all = tokens.size() / static_cast<size_t>(kKvBlockTokens);
    for (size_t k = 0; k < own.size(); ++k) {
      const auto end = tokens.begin() + static_cast<std::ptrdiff_t>((k + 1) * static_cast<size_t>(kKvBlockTokens));
      ASSERT_EQ(holds[own[k]], Tokens(tokens.begin(), end)) << i;
    }
    const auto n_lacking = static_cast<int32_t>(n_all - own.size()) - c.pool.n_free();
    if (n_lacking > 0 && c.cache.give_back(n_lacking) < n_lacking) {
      c.release(own);
      continue;
    }
    while (own.size() < n_all) {
      own.push_back(c.pool.take());
      const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(own.size() * static_cast<size_t>(kKvBlockTokens));
      holds[own.back()] = Tokens(tokens.begin(), end);
    }
    c.cache.keep(tokens, own);
    used.push_back(own);
    std::set<int32_t> in_use;
    for (const auto& chain : used) in_use.insert(chain.begin(), chain.end());
    ASSERT_EQ(static_cast<size_t>(c.pool.n_used()), in_use.size());
  }
  EXPECT_GT(n_found, 10'000);
  for (const auto& chain : used) c.release(chain);
  EXPECT_EQ(c.pool.n_used(), 0);
  (void)c.cache.give_back(kBlocks);
  EXPECT_EQ(c.pool.n_free(), kBlocks);
  EXPECT_EQ(c.cache.n_kept(), 0);
}

}  // namespace
}  // namespace inlay
