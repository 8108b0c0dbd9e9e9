// How works become a step: nothing is passed over, no limit is passed, and each row is where the step says.
#include "src/engine/work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace inlay {
namespace {

// Sequences with tokens and tables of their own, and a work of each.
struct Works {
  explicit Works(std::mt19937& random, size_t n) : sequences(n), slots(n) {
    const auto below = [&](uint32_t most) { return static_cast<int32_t>(random() % most); };
    for (size_t i = 0; i < n; ++i) {
      Sequence& s = sequences[i];
      const int32_t n_tokens = 1 + below(200), number = static_cast<int32_t>(i);
      for (int32_t k = 0; k < n_tokens; ++k) s.tokens.push_back(1000 * number + k);
      s.kv.resize(2);
      for (int32_t g = 0; g < 2; ++g) {
        for (int32_t b = 0; b < kv_blocks_for(n_tokens) + 2; ++b) s.kv[static_cast<size_t>(g)].table.push_back(10000 * (g + 1) + 100 * number + b);
      }
      const int32_t first = below(2) ? n_tokens - 1 : below(static_cast<uint32_t>(n_tokens));
      list.push_back(work_of(s, first, n_tokens));
      if (below(3) == 0) list.back().rows = RowClass::decode;
      if (below(2)) list.back().slot = number;
      if (list.back().slot >= 0 || below(3) > 0) continue;
      for (int32_t k = first; k < n_tokens; ++k) slots[i].push_back(1000 * number + k);
      list.back().slots = slots[i];
    }
  }
  std::vector<Sequence> sequences;
  std::vector<std::vector<int32_t>> slots;
  std::vector<Work> list;
};

TEST(PlanStep, TakesWorksInTheirOrderUntilAStepIsFull) {
  std::mt19937 random(5);
  size_t n_cut = 0, n_most = 0;
  for (int round = 0; round < 2000; ++round) {
    Works works(random, 1 + random() % 8);
    const StepLimits limits{.max_tokens = static_cast<int32_t>(1 + random() % 300), .max_sequences = static_cast<int32_t>(1 + random() % 6)};
    const std::vector<Work> before = works.list;
    plan_step(works.list, limits);
    std::vector<Work> again = before;
    plan_step(again, limits);
    int32_t n_tokens = 0, n_sequences = 0;
    bool is_full = false;
    for (size_t i = 0; i < before.size(); ++i) {
      const Work& w = works.list[i];
      EXPECT_EQ(w.end, again[i].end) << "the same works give the same step";
      EXPECT_EQ(w.first, before[i].first);
      EXPECT_GE(w.n_rows(), 0);
      EXPECT_LE(w.end, before[i].end);
      if (is_full) {
        EXPECT_EQ(w.n_rows(), 0) << "overtakes a work before it";
      }
      n_tokens += w.n_rows();
      n_sequences += w.n_rows() > 0 ? 1 : 0;
      const bool is_cut = w.end < before[i].end;
      EXPECT_EQ(w.slot, is_cut ? -1 : before[i].slot);
      EXPECT_LE(w.rows == RowClass::decode ? w.n_rows() : 0, kMostDecodeRows);
      if (is_cut && !is_full) {
        const bool is_most = before[i].rows == RowClass::decode && w.n_rows() == kMostDecodeRows;
        EXPECT_TRUE(n_tokens == limits.max_tokens || n_sequences == limits.max_sequences || is_most) << "there was room";
        n_most += is_most ? 1 : 0;
      }
      is_full = is_full || is_cut;
      n_cut += is_cut ? 1 : 0;
    }
    EXPECT_LE(n_tokens, limits.max_tokens);
    EXPECT_LE(n_sequences, limits.max_sequences);
    EXPECT_GT(n_tokens, 0);
  }
  EXPECT_GT(n_cut, 1000u);
  EXPECT_GT(n_most, 100u);
}

TEST(PlanStep, WhatIsCutIsTakenUpWhereItEnded) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    Works works(random, 1 + random() % 8);
    std::vector<std::vector<int32_t>> seen(works.list.size());
    std::vector<Work> left = works.list;
    for (int step = 0; step < 1000 && std::ranges::any_of(left, [](const Work& w) { return w.n_rows() > 0; }); ++step) {
      std::vector<Work> now = left;
      std::erase_if(now, [](const Work& w) { return w.n_rows() == 0; });
      plan_step(now, {.max_tokens = 37, .max_sequences = 3});
      for (const Work& w : now) {
        const auto i = static_cast<size_t>(w.sequence - works.sequences.data());
        seen[i].insert(seen[i].end(), w.tokens.begin() + w.first, w.tokens.begin() + w.end);
        left[i].first = w.end;
      }
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      const Work& w = works.list[i];
      EXPECT_TRUE(std::ranges::equal(seen[i], w.tokens.subspan(static_cast<size_t>(w.first))));
    }
  }
}

TEST(DescribeStep, EachRowHasItsTokenItsPositionAndItsTables) {
  std::mt19937 random(7);
  StepLists lists;
  for (int round = 0; round < 500; ++round) {
    Works works(random, 1 + random() % 8);
    std::vector<std::vector<AskedRows>> asked(works.list.size());
    for (size_t i = 0; i < works.list.size(); ++i) {
      const int32_t n = works.list[i].n_rows();
      if (random() % 2) asked[i] = {{.first_row = n - 1, .n_rows = 1}};
      works.list[i].asked = asked[i];
    }
    for (Work& w : works.list) {
      if (w.rows == RowClass::decode && w.n_rows() > kMostDecodeRows) w.rows = RowClass::prompt;  // plan_step() has not cut these
    }
    describe(works.list, lists);
    const StepBatch batch = lists.batch();
    size_t n_rows = 0, n_logits = 0, n_asked = 0;
    bool was_prompt = false;
    for (const SequenceSlice& slice : batch.sequences) {
      const size_t number = static_cast<size_t>(batch.tokens[static_cast<size_t>(slice.first_token)] / 1000);
      const Work& w = works.list[number];
      EXPECT_FALSE(was_prompt && slice.decodes()) << "rows that decode come first";
      was_prompt = !slice.decodes();
      EXPECT_EQ(slice.decodes(), w.rows == RowClass::decode || w.n_rows() == 1);
      EXPECT_EQ(slice.first_token, static_cast<int32_t>(n_rows));
      EXPECT_EQ(slice.n_tokens, w.n_rows());
      EXPECT_EQ(slice.first_position, w.first);
      for (int32_t k = 0; k < slice.n_tokens; ++k, ++n_rows) {
        if (!w.slots.empty()) {
          EXPECT_EQ(batch.logit_rows[n_logits].slot, w.slots[static_cast<size_t>(k)]);
          EXPECT_EQ(batch.logit_rows[n_logits++].token, static_cast<int32_t>(n_rows));
        }
        EXPECT_EQ(batch.tokens[n_rows], w.tokens[static_cast<size_t>(w.first + k)]);
        EXPECT_EQ(batch.positions[n_rows], w.first + k);
      }
      for (int32_t g = 0; g < 2; ++g) {
        for (int32_t b = 0; b < slice.n_blocks(); ++b)
          EXPECT_EQ(batch.block_table(slice, g)[b], w.sequence->kv[static_cast<size_t>(g)].table[static_cast<size_t>(b)]);
      }
      if (w.slot < 0) continue;
      EXPECT_EQ(batch.logit_rows[n_logits].slot, w.slot);
      EXPECT_EQ(batch.logit_rows[n_logits].token, static_cast<int32_t>(n_rows) - 1);
      ++n_logits;
    }
    EXPECT_EQ(n_rows, batch.tokens.size());
    EXPECT_EQ(n_logits, batch.logit_rows.size());
    for (size_t i = 0; i < works.list.size(); ++i) {
      if (asked[i].empty()) continue;
      const auto row = static_cast<size_t>(batch.asked_rows[n_asked++].first_row);
      EXPECT_EQ(batch.tokens[row], works.list[i].tokens.back()) << "what is asked for is in the order of the works";
    }
    EXPECT_EQ(n_asked, batch.asked_rows.size());
  }
}

TEST(DescribeStep, ATokenThatIsNotDrawnYetHasItsPlace) {
  Sequence sequence;
  sequence.tokens = {5, 6, 7};
  sequence.kv.resize(1);
  sequence.kv[0].table = {3, 4};
  Work work = work_of(sequence, 3, 4);
  work.is_drawn = true;
  StepLists lists;
  describe({&work, 1}, lists);
  EXPECT_TRUE(lists.batch().takes_drawn);
  EXPECT_EQ(lists.positions, std::vector<int32_t>{3});
  EXPECT_EQ(lists.tokens.size(), 1u);
  work.is_drawn = false;
  work.first = 2, work.end = 3;
  describe({&work, 1}, lists);
  EXPECT_FALSE(lists.batch().takes_drawn) << "negative control";
}

}  // namespace
}  // namespace inlay
