// What is found again of models with windows: docs/design/requests.md, "What is found again".
#include "src/engine/window_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "src/engine/kv_pools.h"
#include "tests/support/engine_requests.h"
#include "tests/support/random_model.h"

namespace inlay {
namespace {

using test::Collected;
using Tokens = std::vector<int32_t>;

// Random sequences on two pools, one of a window, whose steps come between those of the others: what is found holds what was computed for these
// tokens, all that the next token sees is there, and who holds blocks lacks none. But one whose block slides out of its window while another one uses it leaves it
// to that one, and may have to wait.
TEST(WindowCache, WhatIsFoundIsWhatWasComputed) {
  constexpr int32_t kBlocks = 40, kContext = 12 * kKvBlockTokens;
  for (const int32_t window : {1, 5, kKvBlockTokens, kKvBlockTokens + 2, 3 * kKvBlockTokens, 8 * kKvBlockTokens}) {
    BackendConfig config;
    config.n_context = kContext;
    config.n_kv_blocks = KvBlockCounts({kBlocks, std::min(kBlocks - 6, 2 * kv_blocks_of_window(window, 3 * kKvBlockTokens) + 1)});  // for two and a half
    const KvGroup groups[] = {{.window = 0, .n_layers = 1}, {.window = window, .n_layers = 1}};
    KvPools pools(groups, config);
    ASSERT_TRUE(pools.has_cache());
    std::mt19937 random(static_cast<uint32_t>(window));
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    std::map<std::pair<size_t, int32_t>, Tokens> holds;  // of a group's block: all tokens up to its end
    struct Running {
      Tokens tokens;
      KvHoldings own;
      int32_t at, chunk;
      bool has_left_one = false;
    };
    std::vector<Running> used;
    int32_t n_found = 0, n_parts = 0, n_full = 0, n_waits = 0;
    const auto reserved = [&](KvHoldings& own, int32_t first, int32_t end, int32_t chunk) {
      return pools.reserve(own, {.first = first, .end = end, .most = chunk}, [](int32_t, int32_t, int32_t) { return error(Code::internal, "a block is copied"); });
    };
    const auto release = [&](size_t k) {
      pools.let_go(used[k].own);
      pools.cut(used[k].own, 0);
      used.erase(used.begin() + static_cast<std::ptrdiff_t>(k));
    };
    const auto step = [&](Running& r) {
      const auto n_tokens = static_cast<int32_t>(r.tokens.size()), end = std::min(n_tokens, r.at + r.chunk);
      if (!reserved(r.own, r.at, end, r.chunk).ok()) {
        ASSERT_TRUE(r.has_left_one) << "what it holds suffices for the rest";
        ++n_waits;
        return;
      }
      pools.cover(r.own, end);
      for (size_t g = 0; g < 2; ++g) {
        for (int32_t b = r.at / kKvBlockTokens; b < kv_blocks_for(end); ++b) {
          const auto last = std::min<int32_t>((b + 1) * kKvBlockTokens, n_tokens);
          holds[{g, r.own[g].table[static_cast<size_t>(b)]}] = Tokens(r.tokens.begin(), r.tokens.begin() + last);
        }
      }
      const auto n_of_others = [&] {
        return std::ranges::count_if(r.own[1].table, [&](int32_t block) { return block != kNoKvBlock && !pools.pool(1).frees(block); });
      };
      const auto n_before = n_of_others();
      pools.slide(r.own, end);
      r.has_left_one = r.has_left_one || n_of_others() < n_before;
      pools.settle(r.own);
      pools.keep(std::span(r.tokens).first(static_cast<size_t>(end)), r.own);
      r.at = end;
    };
    for (int i = 0; i < 4'000;) {
      if (!used.empty() && (used.size() > 3 || below(3) > 0)) {
        const auto k = static_cast<size_t>(below(static_cast<int32_t>(used.size())));
        if (used[k].at == static_cast<int32_t>(used[k].tokens.size())) {
          release(k);
        } else {
          ASSERT_NO_FATAL_FAILURE(step(used[k])) << window << " " << i;
        }
        continue;
      }
      ++i;
      Tokens tokens;
      for (int32_t k = 0, n = 1 + below(10); k < n; ++k) tokens.insert(tokens.end(), kKvBlockTokens, k < 3 ? 7 : below(2));
      tokens.resize(tokens.size() - static_cast<size_t>(below(kKvBlockTokens)));
      if (below(3) == 0) std::fill(tokens.end() - 1 - below(std::min(20, static_cast<int32_t>(tokens.size()))), tokens.end(), 5);  // within a block
      const auto n_tokens = static_cast<int32_t>(tokens.size());
      KvHoldings own = pools.no_blocks();
      const int32_t n = pools.take(std::span(tokens).first(tokens.size() - 1), own, [&](int32_t group, int32_t from, int32_t to) {
        holds[{static_cast<size_t>(group), to}] = holds[{static_cast<size_t>(group), from}];
        return Status();
      });
      n_found += n > 0;
      n_parts += n % kKvBlockTokens != 0;
      ASSERT_TRUE(KvPools::can_go_on(groups, own, n)) << i;
      for (size_t g = 0; g < 2; ++g) {
        ASSERT_LE(own[g].first_row, first_key(groups[g].window, n));
        for (int32_t b = own[g].first; b * kKvBlockTokens < n; ++b) {
          const auto end = static_cast<size_t>(std::min(n, (b + 1) * kKvBlockTokens));
          const Tokens& held = holds[{g, own[g].table[static_cast<size_t>(b)]}];
          ASSERT_EQ(held.size(), static_cast<size_t>((b + 1) * kKvBlockTokens)) << "a full block, or its copy";
          ASSERT_EQ(Tokens(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(end)), Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end))) << g << " " << i;
        }
      }
      const int32_t chunk = 1 + below(3 * kKvBlockTokens);
      const Status status = reserved(own, n, n_tokens, chunk);
      if (!status.ok()) {
        ASSERT_EQ(status.code, Code::kv_full) << status.message;
        ++n_full;
        pools.cut(own, 0);
        continue;
      }
      pools.hold(own);
      used.push_back({std::move(tokens), std::move(own), n, chunk});
      for (size_t g = 0; g < 2; ++g) {
        std::set<int32_t> in_use;
        for (const Running& one : used) {
          in_use.insert(one.own[g].spare.begin(), one.own[g].spare.end());
          in_use.insert(one.own[g].table.begin() + one.own[g].first, one.own[g].table.end());
        }
        ASSERT_EQ(static_cast<size_t>(pools.pool(g).n_used()), in_use.size()) << g << " " << i;
      }
    }
    EXPECT_GT(n_found, 500) << window;
    EXPECT_GT(n_parts, 50) << window;
    EXPECT_LT(n_waits, 1'000) << window;
    EXPECT_LT(n_full, 2'000) << window;
    while (!used.empty()) release(0);
    for (size_t g = 0; g < 2; ++g) EXPECT_EQ(pools.pool(g).n_used(), 0) << g;
  }
}

class WindowsFoundAgain : public test::EngineRequests {
 protected:
  static constexpr int32_t kContext = 512, kChunk = 64;

  void SetUp() override { INLAY_SKIP_WITHOUT(GetParam()); }
  std::shared_ptr<Engine> open(uint32_t window, bool cached, int32_t max_sessions = 4, uint64_t kv_budget = 0) {
    bytes_.push_back(std::make_unique<std::vector<std::byte>>(test::random_model({}, test::Windows::first_layer, window)));
    const auto engine = Engine::load(borrow_memory(*bytes_.back(), "model"), {.device = GetParam(),
                                                                             .n_context = kContext,
                                                                             .max_sessions = max_sessions,
                                                                             .kv_budget_bytes = kv_budget,
                                                                             .n_threads = 2,
                                                                             .prefill_chunk = kChunk,
                                                                             .no_prefix_cache = !cached});
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return *engine;
  }
  void use(std::shared_ptr<Engine> engine) {
    queue_.reset();
    engine_ = std::move(engine);
    queue_ = engine_->requests().add_queue(engine_, {});
    n_events_ = 0;
    collected_.clear();
  }
  static Tokens prompt(int32_t n, int32_t start) {
    Tokens out;
    for (int32_t i = 0; i < n; ++i) out.push_back((start + 37 * i) % 900);
    return out;
  }

  std::vector<std::unique_ptr<std::vector<std::byte>>> bytes_;
};
INLAY_ON_CPU_AND_CUDA(WindowsFoundAgain);

// Several requests that begin alike, all at once and one more: what they have in common is computed once, as far as the window's blocks are there.
TEST_P(WindowsFoundAgain, ACommonBeginningIsComputedOnce) {
  for (const uint32_t window : {5u, 40u, 100u, 300u}) {
    const auto other = open(window, false, 1);
    for (const bool cached : {true, false}) {
      use(open(window, cached));
      std::vector<Tokens> prompts;
      std::vector<uint64_t> ids;
      for (int32_t i = 0; i < 5; ++i) {
        prompts.push_back(prompt(256, 3));
        const Tokens rest = prompt(11, 100 * i + 50);
        prompts.back().insert(prompts.back().end(), rest.begin(), rest.end());
        if (i < 4) ids.push_back(submit(prompts.back()));
      }
      run_all();
      ids.push_back(submit(prompts[4]));
      run_all();
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(collected_[ids[i]].end.n_cached, cached && i > 0 ? 256 : 0) << window << " " << i;
        expect_near_alone(collected_[ids[i]], alone(*other, prompts[i], plain(12).session), std::to_string(window));
      }
      EXPECT_EQ(engine_->stats().n_prefill_tokens, cached ? 256u + 5 * 11 : 5u * 267) << window;
      EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << window;
    }
  }
  expect_few_differ();
}

// Random prompts that begin alike, a small pool, steps whole and in units, some put out: each comes to what it comes to alone.
TEST_P(WindowsFoundAgain, EachComesToWhatItComesToAlone) {
  const test::Seeds seeds(12);
  uint64_t n_found = 0, n_put_out = 0;
  std::map<uint32_t, std::shared_ptr<Engine>> others;
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    const uint32_t window = std::array{5u, 40u, 150u}[seed % 3];
    auto& other = others[window];
    if (!other) other = open(window, false, 1);
    const uint64_t one = other->info().memory.kv;  // of a session with the whole context
    use(open(window, true, 4, seed % 2 == 0 ? one * 5 / 4 : 0));
    use_own_clock();
    std::mt19937 random(seed);
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    std::vector<std::pair<uint64_t, Tokens>> jobs;
    std::vector<RequestOptions> options;
    const int64_t budget = seed % 4 == 3 ? 300 : 0;
    int n_rounds = 0;
    for (int32_t n_left = 1; jobs.size() < 14 || n_left > 0; ++n_rounds) {
      ASSERT_LT(n_rounds, 20'000) << seed;
      if (jobs.size() < 14 && below(4) == 0) {
        Tokens tokens = prompt(32 * below(9), 3);
        const Tokens rest = prompt(1 + below(80), below(3) * 100);
        tokens.insert(tokens.end(), rest.begin(), rest.end());
        options.push_back(plain(1 + below(40)));
        options.back().priority = below(kTopLevel + 1);
        jobs.emplace_back(submit(tokens, options.back()), tokens);
      }
      const auto result = engine_->requests().run({.us = budget, .one_step = budget == 0});
      ASSERT_TRUE(result.ok()) << result.status().message;
      n_left = result->n_requests;
      poll();
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      const Collected& own = collected_[jobs[i].first];
      n_found += static_cast<uint64_t>(own.end.n_cached);
      expect_near_alone(own, alone(*other, jobs[i].second, options[i].session), "seed " + std::to_string(seed));
    }
    n_put_out += engine_->requests().counts().n_put_out;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << seed;
  }
  if (!seeds.are_many) return;
  EXPECT_GT(n_found, 2'000u);
  EXPECT_GT(n_put_out, 5u);
  expect_few_differ();
}

}  // namespace
}  // namespace inlay
