#include "src/backend/prompt_tiles.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace inlay {
namespace {

struct Slice {
  int32_t n_tokens, first_position;
};

// A step of these slices, one after another, and its tiles.
struct Step {
  std::vector<SequenceSlice> slices;
  std::vector<int32_t> positions, sequence;
  std::vector<PromptTile> tiles;
  std::vector<RowRun> singles;

  explicit Step(const std::vector<Slice>& wanted) {
    for (const Slice& w : wanted) {
      slices.push_back({.first_token = static_cast<int32_t>(positions.size()), .n_tokens = w.n_tokens, .first_position = w.first_position});
      for (int32_t i = 0; i < w.n_tokens; ++i) {
        positions.push_back(w.first_position + i);
        sequence.push_back(static_cast<int32_t>(slices.size()));
      }
    }
    const auto most = static_cast<size_t>(max_prompt_tiles(static_cast<int32_t>(positions.size()), static_cast<int32_t>(slices.size())));
    tiles.assign(most + 1, {-7, -7, -7});
    const int32_t n = cut_prompt_tiles({.positions = positions, .sequences = slices}, tiles.data());
    EXPECT_LE(n, static_cast<int32_t>(most));
    EXPECT_EQ(tiles[static_cast<size_t>(n)].first_row, -7) << "written past the end";
    tiles.resize(static_cast<size_t>(n));
    find_single_rows({.positions = positions, .sequences = slices}, singles);
    EXPECT_LE(singles.size(), slices.size());
  }
};

// Every row is in one tile or one run of single rows, tiles are of one sequence, and the longest come first.
void check(const Step& step) {
  std::vector<int> seen(step.positions.size(), 0);
  int32_t last_keys = INT32_MAX;
  for (const PromptTile& tile : step.tiles) {
    ASSERT_GE(tile.n_rows, 1);
    ASSERT_LE(tile.n_rows, kPromptTileRows);
    const auto first = static_cast<size_t>(tile.first_row), end = first + static_cast<size_t>(tile.n_rows);
    ASSERT_LE(end, step.positions.size());
    const SequenceSlice& slice = step.slices[static_cast<size_t>(step.sequence[first] - 1)];
    EXPECT_EQ(tile.end, slice.first_position + slice.n_tokens);
    for (size_t row = first; row < end; ++row) {
      ++seen[row];
      EXPECT_EQ(step.sequence[row], step.sequence[first]);
      EXPECT_EQ(step.positions[row] - step.positions[first], static_cast<int32_t>(row - first));
    }
    const int32_t n_keys = step.positions[end - 1] + 1;
    EXPECT_LE(n_keys, last_keys);
    last_keys = n_keys;
  }
  for (const RowRun& run : step.singles) {
    for (int32_t i = 0; i < run.n_rows; ++i) {
      const auto row = static_cast<size_t>(run.first_row + i);
      ASSERT_LT(row, seen.size());
      ++seen[row];
      EXPECT_EQ(step.slices[static_cast<size_t>(step.sequence[row] - 1)].n_tokens, 1);
    }
  }
  for (size_t row = 0; row < seen.size(); ++row) EXPECT_EQ(seen[row], 1) << "row " << row;
}

TEST(PromptTiles, AStepWithoutRowsHasNone) { EXPECT_TRUE(Step({}).tiles.empty()); }

TEST(PromptTiles, ASliceIsCutAfterEveryFullTileAndTheLastComesFirst) {
  const Step step({{150, 10}});
  ASSERT_EQ(step.tiles.size(), 3u);
  EXPECT_EQ(step.tiles[0].first_row, 128);
  EXPECT_EQ(step.tiles[0].n_rows, 22);
  EXPECT_EQ(step.tiles[1].first_row, 64);
  EXPECT_EQ(step.tiles[2].first_row, 0);
  EXPECT_EQ(step.tiles[2].n_rows, 64);
  for (const PromptTile& tile : step.tiles) EXPECT_EQ(tile.end, 160);
}

TEST(PromptTiles, TilesOfAllSequencesAreOrderedByTheKeysTheyRead) {
  const Step step({{64, 0}, {2, 5000}, {70, 100}});
  ASSERT_EQ(step.tiles.size(), 4u);
  EXPECT_EQ(step.tiles[0].first_row, 64);
  EXPECT_EQ(step.tiles[1].first_row, 130);
  EXPECT_EQ(step.tiles[2].first_row, 66);
  EXPECT_EQ(step.tiles[3].first_row, 0);
}

TEST(PromptTiles, SingleRowsAreNoTilesAndNeighboursAreOneRun) {
  const Step step({{1, 7}, {1, 900}, {3, 0}, {1, 64}, {2, 5}, {1, 0}});
  EXPECT_EQ(step.tiles.size(), 2u);
  ASSERT_EQ(step.singles.size(), 3u);
  EXPECT_EQ(step.singles[0].first_row, 0);
  EXPECT_EQ(step.singles[0].n_rows, 2);
  EXPECT_EQ(step.singles[1].first_row, 5);
  EXPECT_EQ(step.singles[2].first_row, 8);
  EXPECT_EQ(step.singles[2].n_rows, 1);
}

TEST(PromptTiles, CoverEveryRowOnceAtEveryLength) {
  for (const int32_t n : {1, 2, 63, 64, 65, 127, 128, 129, 1000}) {
    for (const int32_t position : {0, 1, 63, 64, 100000}) check(Step({{n, position}}));
  }
  std::mt19937 random(3);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<Slice> slices(random() % 9);
    for (Slice& slice : slices) slice = {static_cast<int32_t>(1 + random() % (turn % 2 == 0 ? 200 : 2)), static_cast<int32_t>(random() % 300)};
    check(Step(slices));
  }
}

}  // namespace
}  // namespace inlay
