// Kept blocks whose room is wanted: they go to the host's memory and come back. docs/design/requests.md, "What is found again"
#include "src/engine/host_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;
using Tokens = std::vector<int32_t>;

// Slots and blocks that hold what they were filled with: all tokens up to their end.
class Store : public BlockStore {
 public:
  explicit Store(int32_t n) : slots(static_cast<size_t>(n)) {
    while (n > 0) free.push_back(--n);
  }
  int32_t n_slots() const override { return static_cast<int32_t>(slots.size()); }
  int32_t take() override {
    if (free.empty()) return PrefixCache::kNone;
    const int32_t slot = free.back();
    free.pop_back();
    return slot;
  }
  void give_back(int32_t slot) override { free.push_back(slot); }
  Status copy_out(int32_t block, int32_t slot) override { return copy(blocks[block], slots[static_cast<size_t>(slot)]); }
  Status copy_in(int32_t slot, int32_t block) override { return copy(slots[static_cast<size_t>(slot)], blocks[block]); }

  std::vector<Tokens> slots;
  std::map<int32_t, Tokens> blocks;
  std::vector<int32_t> free;
  bool fails = false;

 private:
  Status copy(const Tokens& from, Tokens& to) {
    if (fails) return error(Code::internal, "a copy failed");
    to = from;
    return {};
  }
};

Tokens blocks(std::initializer_list<int32_t> values) {
  Tokens out;
  for (const int32_t value : values) out.insert(out.end(), kKvBlockTokens, value);
  return out;
}

struct Cache {
  Cache(int32_t n, int32_t n_slots) : store(n_slots), pool(n), cache(pool, &store) {}
  // As a sequence that computes what is not found, and goes.
  void run(const Tokens& tokens) {
    std::vector<int32_t> own;
    cache.take(tokens, own);
    while ((own.size() + 1) * kKvBlockTokens <= tokens.size()) {
      if (pool.n_free() == 0) {
        ASSERT_EQ(cache.give_back(1), 1);
      }
      own.push_back(pool.take());
      store.blocks[own.back()] = Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(own.size() * kKvBlockTokens));
    }
    cache.keep(tokens, own);
    for (const int32_t block : own) pool.release(block);
  }
  size_t n_in_pool(const Tokens& tokens) {
    std::vector<int32_t> places;
    cache.find_all(tokens, places);
    return static_cast<size_t>(std::ranges::count_if(places, [&](int32_t place) { return !cache.is_stored(place); }));
  }
  Store store;
  KvPool pool;
  PrefixCache cache;
};

TEST(HostBlocks, WhatHasNoRoomIsFoundAndComesBack) {
  Cache c(3, 8);
  const Tokens a = blocks({1, 2, 3}), b = blocks({7, 8, 9});
  c.run(a);
  c.run(b);
  EXPECT_EQ(c.cache.n_found(a), 3u);
  EXPECT_EQ(c.n_in_pool(a), 0u);
  EXPECT_EQ(c.cache.n_found(b), 3u);
  std::vector<int32_t> own;
  c.cache.take(a, own);
  ASSERT_EQ(own.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(c.store.blocks[own[i]], Tokens(a.begin(), a.begin() + static_cast<std::ptrdiff_t>((i + 1) * kKvBlockTokens)));
  EXPECT_EQ(c.pool.n_used(), 3);
  EXPECT_EQ(c.n_in_pool(b), 0u) << "those of the other have gone in their turn";
  const auto& counts = c.cache.store_counts();
  EXPECT_EQ(counts.n_stored, 3);
  EXPECT_EQ(counts.n_moved_out, 6u);
  EXPECT_EQ(counts.n_moved_back, 3u);
  EXPECT_EQ(counts.n_given_up, 0u);
  for (const int32_t block : own) c.pool.release(block);
  EXPECT_EQ(c.pool.n_idle(), 3);
}

// A leaf before what it continues, in the store as in the pool; what is used is the newest there, too.
TEST(HostBlocks, TheStoreGivesUpTheOldestLeafFirst) {
  Cache c(3, 4);
  const Tokens a = blocks({1, 2, 3}), b = blocks({4, 5, 6});
  c.run(a);
  c.run(b);
  c.run(blocks({7}));
  EXPECT_EQ(c.cache.store_counts().n_stored, 4);
  EXPECT_EQ(c.cache.n_found(a), 3u);
  c.run(blocks({8}));
  EXPECT_EQ(c.cache.n_found(a), 2u) << "its leaf is the oldest";
  EXPECT_EQ(c.cache.store_counts().n_given_up, 1u);
  c.run(blocks({1, 2}));  // used now
  c.run(blocks({9, 10, 11}));
  EXPECT_EQ(c.cache.n_found(a), 2u);
  EXPECT_LT(c.cache.n_found(b), 3u);
}

// What continues an entry finds it wherever either of them is.
TEST(HostBlocks, ChainsGoOnAcrossBothMemories) {
  Cache c(4, 4);
  c.run(blocks({1, 2}));
  std::vector<int32_t> used;
  c.cache.take(blocks({1, 2}), used);
  c.pool.release(used[0]);  // as if only the second block were used: a sequence that computed the first one itself
  ASSERT_EQ(c.cache.give_back(1), 1);
  EXPECT_EQ(c.n_in_pool(blocks({1, 2})), 1u);
  EXPECT_EQ(c.cache.n_found(blocks({1, 2})), 2u);
  c.run(blocks({1, 2, 3}));
  EXPECT_EQ(c.n_in_pool(blocks({1, 2, 3})), 3u);
  c.pool.release(used[1]);
}

// With all blocks in use nothing comes back: what is in the pool is given, and the rest stays in the store.
TEST(HostBlocks, WhatFindsNoFreeBlockStaysInTheStore) {
  Cache c(3, 8);
  const Tokens a = blocks({1, 2, 3});
  c.run(a);
  c.run(blocks({7, 8}));
  ASSERT_EQ(c.n_in_pool(a), 1u);
  std::vector<int32_t> others, own;
  c.cache.take(blocks({7, 8}), others);
  c.cache.take(a, own);
  EXPECT_EQ(own.size(), 1u);
  EXPECT_EQ(c.cache.n_found(a), 3u);
  EXPECT_EQ(c.cache.store_counts().n_stored, 2);
  for (const int32_t block : others) c.pool.release(block);
  for (const int32_t block : own) c.pool.release(block);
  c.cache.take(a, own);
  EXPECT_EQ(own.size(), 3u);
  for (const int32_t block : own) c.pool.release(block);
}

// A store that is full of what is wanted gives none of it up for the blocks that make room.
TEST(HostBlocks, WhatIsOnItsWayBackIsNotGivenUp) {
  Cache c(3, 3);
  const Tokens a = blocks({1, 2, 3}), b = blocks({4, 5, 6});
  for (int i = 0; i < 5; ++i) {
    c.run(a);
    EXPECT_EQ(c.n_in_pool(a), 3u);
    c.run(b);
    EXPECT_EQ(c.n_in_pool(b), 3u);
    EXPECT_GE(c.cache.n_found(a), 2u) << "the first block to make room may have had no slot yet";
  }
}

TEST(HostBlocks, ACopyThatFailsLosesTheBlockAndNothingElse) {
  Cache c(2, 4);
  c.run(blocks({1}));
  c.run(blocks({2}));
  c.store.fails = true;
  c.run(blocks({3}));
  EXPECT_EQ(c.cache.n_found(blocks({1})), 0u);
  EXPECT_EQ(c.store.free.size(), 4u);
  c.store.fails = false;
  c.run(blocks({4}));
  EXPECT_EQ(c.cache.n_found(blocks({2})), 1u);
  c.store.fails = true;
  std::vector<int32_t> own;
  c.cache.take(blocks({2}), own);
  EXPECT_EQ(own.size(), 0u);
  EXPECT_EQ(c.pool.n_used(), 0);
  c.store.fails = false;
  c.cache.take(blocks({2}), own);
  ASSERT_EQ(own.size(), 1u) << "it is still there";
  EXPECT_EQ(c.store.blocks[own[0]], blocks({2}));
}

// Random sequences: what is found holds what was computed for these tokens, and no block and no slot is lost.
TEST(HostBlocks, WhatIsFoundIsWhatWasKept) {
  for (const int32_t n_slots : {1, 7, 60}) {
    constexpr int32_t kBlocks = 16;
    Cache c(kBlocks, n_slots);
    std::mt19937 random(static_cast<uint32_t>(n_slots));
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    std::vector<std::vector<int32_t>> used;
    for (int i = 0; i < 10'000; ++i) {
      if (!used.empty() && below(2) == 0) {
        const auto k = static_cast<size_t>(below(static_cast<int32_t>(used.size())));
        for (const int32_t block : used[k]) c.pool.release(block);
        used.erase(used.begin() + static_cast<std::ptrdiff_t>(k));
      }
      Tokens tokens;
      for (int32_t k = 0, n = 1 + below(5); k < n; ++k) tokens.insert(tokens.end(), kKvBlockTokens, below(3));
      std::vector<int32_t> own;
      c.cache.take(tokens, own);
      for (size_t k = 0; k < own.size(); ++k)
        ASSERT_EQ(c.store.blocks[own[k]], Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>((k + 1) * kKvBlockTokens))) << i;
      const auto n_all = tokens.size() / static_cast<size_t>(kKvBlockTokens);
      const auto n_lacking = static_cast<int32_t>(n_all - own.size()) - c.pool.n_free();
      if (n_lacking > 0 && c.cache.give_back(n_lacking) < n_lacking) {
        for (const int32_t block : own) c.pool.release(block);
        continue;
      }
      while (own.size() < n_all) {
        own.push_back(c.pool.take());
        c.store.blocks[own.back()] = Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(own.size() * kKvBlockTokens));
      }
      c.cache.keep(tokens, own);
      used.push_back(own);
      const auto& counts = c.cache.store_counts();
      ASSERT_EQ(static_cast<size_t>(counts.n_stored), static_cast<size_t>(n_slots) - c.store.free.size()) << i;
      ASSERT_EQ(static_cast<uint64_t>(counts.n_stored), counts.n_moved_out - counts.n_moved_back - counts.n_given_up) << i;
    }
    EXPECT_GT(c.cache.store_counts().n_moved_back, 100u) << n_slots;
    EXPECT_GT(c.cache.store_counts().n_given_up, 100u) << n_slots;
    for (const auto& chain : used) {
      for (const int32_t block : chain) c.pool.release(block);
    }
    EXPECT_EQ(c.pool.n_used(), 0);
  }
}

class HostBlocksOfRequests : public test::EngineRequests {
 protected:
  // Of a pool and a budget of so many blocks; the memory is there.
  void open(int32_t n_blocks, int32_t n_on_host, EngineOptions options = {.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32}) {
    const uint64_t block = with_blocks(1).kv_budget_bytes;
    options.kv_budget_bytes = block * static_cast<uint64_t>(n_blocks);
    options.prefix_cache_host_bytes = block * static_cast<uint64_t>(n_on_host);
    load_with(options);
    if (HostBlocks* host = engine_->host_blocks()) host->wait_until_taken();
    collected_.clear();
  }
  PrefixCache::StoreCounts stored() const { return engine_->stats().stored; }

  // Turns of conversations, one request after the other; the second ones send all of the first ones.
  std::vector<Collected> two_turns(int32_t n_conversations) {
    std::vector<Tokens> tokens;
    std::vector<Collected> out;
    for (int32_t i = 0; i < n_conversations; ++i) tokens.push_back(prompt(70, 41 * i));
    for (int turn = 0; turn < 2; ++turn) {
      for (Tokens& own : tokens) {
        const uint64_t id = submit(own, plain(4));
        run_all();
        out.push_back(collected_[id]);
        own.insert(own.end(), out.back().tokens.begin(), out.back().tokens.end());
        for (int32_t k = 0; k < 3; ++k) own.push_back(211 + k);
      }
    }
    return out;
  }
};
INLAY_ON_CPU_AND_CUDA(HostBlocksOfRequests);

// More conversations than the pool holds. Bit for bit, on a GPU, too, what comes back is what a larger pool would have kept.
TEST_P(HostBlocksOfRequests, ConversationsThatComeBackAreNotComputedAgain) {
  open(16, 0);
  EXPECT_EQ(engine_->host_blocks(), nullptr);
  const std::vector<Collected> wanted = two_turns(6);
  EXPECT_EQ(stored().n_moved_out, 0u);
  for (const int32_t n_on_host : {64, 3, 0}) {
    open(5, n_on_host);
    const std::vector<Collected> own = two_turns(6);
    const auto counts = stored();
    for (size_t i = 0; i < own.size(); ++i) {
      const std::string what = std::to_string(n_on_host) + " on the host, request " + std::to_string(i);
      EXPECT_EQ(wanted[i].end.n_cached, i < 6 ? 0 : 64) << what;
      if (n_on_host == 64) {
        EXPECT_EQ(own[i].end.n_cached, wanted[i].end.n_cached) << what;
      }
      if (n_on_host == 0 && i != 6) {
        EXPECT_EQ(own[i].end.n_cached, 0) << what;
      }
      if (own[i].end.n_cached != wanted[i].end.n_cached && GetParam() == DeviceKind::cuda) continue;  // its prompt was cut elsewhere
      EXPECT_EQ(own[i].tokens, wanted[i].tokens) << what;
      EXPECT_EQ(own[i].logprobs, wanted[i].logprobs) << what;
    }
    EXPECT_EQ(static_cast<uint64_t>(counts.n_stored), counts.n_moved_out - counts.n_moved_back - counts.n_given_up);
    EXPECT_LE(counts.n_stored, n_on_host);
    EXPECT_EQ(counts.n_given_up > 0, n_on_host == 3);
    if (n_on_host == 64) {
      EXPECT_GE(counts.n_moved_back, 10u);
    }
    if (n_on_host == 0) {
      EXPECT_EQ(counts.n_moved_out, 0u);
    }
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.n_kv_blocks_used, 0) << "what is only kept is not used";
    EXPECT_EQ(stats.n_kv_blocks, 5);
    EXPECT_EQ(stats.prefix_cache_host_bytes_taken, engine_->info().prefix_cache_host_bytes) << "less than a chunk is taken as a whole";
  }
}

// Of a block that is on the host a part is copied, and the block stays there.
TEST_P(HostBlocksOfRequests, APartOfABlockComesFromTheHost) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  open(3, 16);
  const Tokens first = prompt(70);
  submit(first, plain(2));
  run_all();
  submit(prompt(80, 131), plain(2));
  run_all();
  ASSERT_EQ(stored().n_moved_out, 2u);
  Tokens tokens(first.begin(), first.begin() + 50);
  tokens.push_back(299);
  const uint64_t id = submit(tokens, plain(4));
  run_all();
  EXPECT_EQ(collected_[id].end.n_cached, 50);
  EXPECT_EQ(stored().n_moved_back, 1u) << "the first block; of the second one a copy";
  expect_near_alone(collected_[id], alone(*other, tokens, plain(4).session), "behind a part");
  const uint64_t again = submit(first, plain(2));
  run_all();
  EXPECT_EQ(collected_[again].end.n_cached, 64);
  EXPECT_EQ(stored().n_moved_back, 2u);
  expect_near_alone(collected_[again], alone(*other, first, plain(2).session), "again");
}

// A session's call takes the room of kept blocks, which go to the host all the same.
TEST_P(HostBlocksOfRequests, SessionsMakeBlocksGo) {
  open(4, 16);
  const Tokens tokens = prompt(100);
  const uint64_t first = submit(tokens, plain(2));
  run_all();
  {
    const auto own = session();
    ASSERT_TRUE(prefill(*own, prompt(110, 77)).ok());
    EXPECT_EQ(stored().n_stored, 3);
  }
  const uint64_t again = submit(tokens, plain(2));
  run_all();
  EXPECT_EQ(collected_[again].end.n_cached, 96);
  EXPECT_EQ(collected_[again].tokens, collected_[first].tokens);
}

// A session for requests that rests gives its blocks to others, and finds them on the host.
TEST_P(HostBlocksOfRequests, ARestingSessionFindsItsBlocksOnTheHost) {
  for (const int32_t n_on_host : {16, 0}) {
    open(4, n_on_host);
    const auto session = this->session({.ignore_end_of_generation = true, .for_requests = true});
    const auto turn = [&](int32_t n_tokens, int32_t start) {
      RequestOptions options = plain(4);
      options.continues = session;
      const uint64_t id = submit(prompt(n_tokens, start), options);
      run_all();
      return collected_[id].end.n_cached;
    };
    EXPECT_EQ(turn(70, 9), 0);
    submit(prompt(100, 131), plain(2));
    run_all();
    EXPECT_EQ(session->info().n_kv_blocks, 0);
    EXPECT_EQ(turn(5, 77), n_on_host > 0 ? 64 : 0);
    EXPECT_EQ(stored().n_moved_back, n_on_host > 0 ? 2u : 0u);
    const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
    const auto stepped = *other->create_session({.ignore_end_of_generation = true});
    for (const auto& [n_tokens, start] : {std::pair{70, 9}, {5, 77}}) {
      ASSERT_TRUE(prefill(*stepped, prompt(n_tokens, start)).ok());
      for (int i = 0; i < 4; ++i) {
        Session* one[] = {stepped.get()};
        StepEvent event;
        ASSERT_TRUE(other->decode_step(one, {&event, 1}).ok());
      }
    }
    if (GetParam() == DeviceKind::cpu) {
      EXPECT_EQ(Tokens(session->tokens().begin(), session->tokens().end()), Tokens(stepped->tokens().begin(), stepped->tokens().end()));
    }
  }
}

// All of the budget, chunk by chunk, whether anything wants to go there or not; a block more than whole chunks have room for.
TEST_P(HostBlocksOfRequests, MemoryIsTakenFromTheLoadOn) {
  const uint64_t block = with_blocks(1).kv_budget_bytes;
  const auto n_of_chunk = static_cast<int32_t>(std::max<uint64_t>(1, HostBlocks::kChunkBytes / block));
  for (const int32_t n : {3, n_of_chunk + 1}) {
    open(5, n);
    EXPECT_EQ(engine_->info().prefix_cache_host_bytes, block * static_cast<uint64_t>(n));
    EXPECT_EQ(engine_->stats().prefix_cache_host_bytes_taken, block * static_cast<uint64_t>(n));
    EXPECT_EQ(stored().n_stored, 0);
  }
}

// Arrivals, cancels, priorities, prompts that begin alike, a quarter of the pool and a small budget, so that blocks go and come back all the time; whole steps
// and units; those that are put out are computed again or copied.
TEST_P(HostBlocksOfRequests, EachComesToWhatItComesToAlone) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  const test::Seeds seeds(80);
  PrefixCache::StoreCounts all;
  uint64_t n_put_out = 0, n_parts = 0;
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    open(4, std::array{3, 8, 40}[seed % 3]);
    if (seed % 4 == 3) engine_->requests().live().store_put_outs(64);
    n_events_ = 0;
    std::mt19937 random(seed);
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    struct Job {
      uint64_t id;
      Tokens prompt;
      SessionOptions options;
      bool cancelled = false;
    };
    std::vector<Job> jobs;
    const int64_t budget = seed % 5 == 4 ? 300 : 0;
    const size_t n_jobs = 20;
    int n_rounds = 0;
    for (int32_t n_left = 1; jobs.size() < n_jobs || n_left > 0; ++n_rounds) {
      ASSERT_LT(n_rounds, 20'000) << seed;
      if (jobs.size() < n_jobs && below(4) == 0) {
        Job job{.id = 0, .prompt = prompt(1 + below(90), 50 * below(4)), .options = plain(1 + below(20)).session};
        const Tokens rest = prompt(below(8), below(200));
        job.prompt.insert(job.prompt.end(), rest.begin(), rest.end());
        job.options.sampler = {.temperature = 0.8f, .top_k = 20, .seed = random()};
        job.id = submit(job.prompt, {.session = job.options, .priority = below(kTopLevel + 1)});
        jobs.push_back(std::move(job));
      }
      if (!jobs.empty() && below(60) == 0) {
        Job& job = jobs[static_cast<size_t>(below(static_cast<int32_t>(jobs.size())))];
        if (const auto request = queue_->cancel(job.id)) engine_->requests().cancel(*request), job.cancelled = true;
      }
      const auto result = engine_->requests().run({.us = budget, .one_step = budget == 0});
      ASSERT_TRUE(result.ok()) << result.status().message;
      n_left = result->n_requests;
      poll();
    }
    for (const Job& job : jobs) {
      if (job.cancelled) continue;
      n_parts += collected_[job.id].end.n_cached % kKvBlockTokens != 0;
      expect_near_alone(collected_[job.id], alone(*other, job.prompt, job.options), "seed " + std::to_string(seed) + ", request " + std::to_string(job.id));
    }
    const auto counts = stored();
    EXPECT_EQ(static_cast<uint64_t>(counts.n_stored), counts.n_moved_out - counts.n_moved_back - counts.n_given_up) << seed;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << seed;
    all.n_moved_out += counts.n_moved_out;
    all.n_moved_back += counts.n_moved_back;
    all.n_given_up += counts.n_given_up;
    n_put_out += engine_->requests().counts().n_put_out;
  }
  if (!seeds.are_many) return;
  std::printf("%llu blocks went, %llu came back, %llu were given up; %llu parts, %llu put out\n", static_cast<unsigned long long>(all.n_moved_out),
              static_cast<unsigned long long>(all.n_moved_back), static_cast<unsigned long long>(all.n_given_up), static_cast<unsigned long long>(n_parts),
              static_cast<unsigned long long>(n_put_out));
  EXPECT_GT(all.n_moved_back, 100u);
  EXPECT_GT(all.n_given_up, 50u);
  EXPECT_GT(n_parts, 50u);
  EXPECT_GT(n_put_out, 10u);
  expect_few_differ();
}

// The engine's own thread, several hosts, and one that only looks; the memory is taken meanwhile.
TEST_P(HostBlocksOfRequests, TheEnginesThreadServesAll) {
  const uint64_t block = with_blocks(1).kv_budget_bytes;
  EngineOptions options = with_blocks(6);
  options.prefix_cache_host_bytes = 300 * block;
  load_with(options);
  std::vector<Collected> wanted;
  for (int32_t i = 0; i < 4; ++i) wanted.push_back(alone(*engine_, prompt(80, 41 * i), plain(3).session));
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  std::atomic<int> n_right{0};
  std::atomic<bool> ends{false};
  std::thread looks([&] {
    while (!ends) EXPECT_LE(engine_->stats().prefix_cache_host_bytes_taken, 300 * block);
  });
  for (const bool is_taken : {false, true}) {  // while the host's memory is taken, and afterwards
    if (is_taken) engine_->host_blocks()->wait_until_taken();
    std::vector<std::thread> hosts;
    for (int32_t t = 0; t < 3; ++t) {
      hosts.emplace_back([&, t] {
        const auto queue = engine_->requests().add_queue(engine_, {});
        for (int32_t i = 0; i < 24; ++i) {
          uint64_t id = 0;
          const int32_t which = (i + t) % 4;
          if (!engine_->requests().submit(queue, i % 2 == 0 ? prompt(80, 41 * which) : prompt(70, 7 * i + 90 * t), plain(3), id).ok()) return;
          const auto got = read_to_end(*queue);
          if (!got) return;
          const Tokens& own = wanted[static_cast<size_t>(which)].tokens;
          n_right += i % 2 == 1 || (GetParam() == DeviceKind::cuda ? got->size() == own.size() : *got == own);
        }
      });
    }
    for (std::thread& host : hosts) host.join();
  }
  ends = true;
  looks.join();
  EXPECT_EQ(n_right, 2 * 3 * 24);
  EXPECT_GT(stored().n_moved_back, 5u);
}

// A decode step that needs the room of kept blocks takes no memory for it.
TEST_P(HostBlocksOfRequests, StepsThatMakeBlocksGoAllocateNothing) {
  open(20, 32, {.n_context = 512, .max_sessions = 2, .n_threads = 1, .prefill_chunk = 32});
  for (int32_t i = 0; i < 6; ++i) submit(prompt(66, 31 * i), plain(1));
  run_all();
  submit(prompt(20, 7), plain(480));
  while (stored().n_moved_out < 2) run_rounds(1);
  const uint64_t n_before = stored().n_moved_out;
  const int64_t before = test::allocation_count();
  run_rounds(150);
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_GT(stored().n_moved_out, n_before) << "a step of these has made room";
}

TEST_P(HostBlocksOfRequests, WhatCannotBeIsRefused) {
  const uint64_t block = with_blocks(1).kv_budget_bytes;
  struct Row {
    EngineOptions options;
    Code code;
    const char* words;
  };
  const Row rows[] = {{{.n_context = 128, .prefix_cache_host_bytes = block - 1}, Code::invalid_argument, "but one block of 32 tokens takes"},
                      {{.n_context = 128, .prefix_cache_host_bytes = block, .no_prefix_cache = true}, Code::invalid_argument, "with NO_PREFIX_CACHE no block is kept"},
                      {{.n_context = 128, .prefix_cache_host_bytes = uint64_t{1} << 60}, Code::out_of_memory, "of the host's memory"}};
  for (Row row : rows) {
    row.options.device = GetParam();
    const auto engine = Engine::load(test::model_file("chat-bpe-qwen3-f32"), row.options);
    EXPECT_EQ(engine.status().code, row.code) << row.words;
    EXPECT_NE(engine.status().message.find(row.words), std::string::npos) << engine.status().message;
  }
  open(16, 2);
  EXPECT_EQ(engine_->info().prefix_cache_host_bytes, 2 * block);
  EngineOptions more{.n_context = 128, .prefix_cache_host_bytes = 3 * block - 1};
  EXPECT_EQ(load(more)->info().prefix_cache_host_bytes, 2 * block) << "whole blocks";
}

// Their blocks would have to come back together with those of the windows: none goes, and the log says so.
TEST_P(HostBlocksOfRequests, ModelsWithWindowsKeepTheirBlocksOnTheDeviceAlone) {
  for (const char* model : {"gemma3-f32", "gpt-oss-f32"}) {
    std::string log;
    const auto loaded = Engine::load(test::model_file(model), {.device = GetParam(),
                                                               .n_context = 128,
                                                               .max_sessions = 1,
                                                               .kv_budget_bytes = 1,
                                                               .n_threads = 1});
    const uint64_t block = loaded.status().required;
    const auto engine = Engine::load(test::model_file(model), {.device = GetParam(),
                                                               .n_context = 128,
                                                               .max_sessions = 1,
                                                               .kv_budget_bytes = 4 * block,
                                                               .prefix_cache_host_bytes = uint64_t{1} << 24,
                                                               .n_threads = 1,
                                                               .log = [&](LogLevel, std::string_view text) { log += std::string(text) + "\n"; }});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    EXPECT_NE(log.find("prefix_cache_host_bytes changes nothing: the model has sliding windows"), std::string::npos) << log;
    EXPECT_EQ((*engine)->info().prefix_cache_host_bytes, 0u);
    queue_.reset();
    engine_ = *engine;
    queue_ = engine_->requests().add_queue(engine_, {});
    n_events_ = 0;
    for (int32_t i = 0; i < 6; ++i) {
      Tokens tokens;
      for (int32_t k = 0; k < 90; ++k) tokens.push_back((7 * i + 13 * k) % 50 + 5);
      submit(tokens, plain(2));
    }
    run_all();
    EXPECT_EQ(stored().n_moved_out, 0u);
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  }
}

}  // namespace
}  // namespace inlay
