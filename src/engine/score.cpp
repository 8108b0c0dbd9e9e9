#include "src/engine/score.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "src/base/thread_pool.h"
#include "src/engine/engine.h"
#include "src/engine/text_group.h"

namespace inlay {
namespace {

constexpr uint64_t kMostLogitBytes = 128u << 20;  // of one engine's rows, where two are compared

// A text that has something to score, and where its results go.
struct Job {
  std::span<const int32_t> text;
  size_t first = 0;  // its first token's place in the results
};

// The other engine's failure is none of the engine's that was asked.
Status of_other(Status status) {
  if (status.code == Code::device_lost || status.code == Code::internal) status.code = Code::invalid_state;
  if (!status.ok()) status.message = "the engine that is compared with: " + status.message;
  return status;
}

class Scoring {
 public:
  Scoring(Engine& engine, const ScoreOptions& options, std::span<ScoredToken> scores, std::span<TokenLogprob> top)
      : engine_(engine), options_(options), scores_(scores), top_(top), n_vocab_(static_cast<size_t>(engine.spec().n_vocab)) {
    if (options.against) pool_.emplace(engine.info().n_threads);
    if (options.against != &engine) other_ = options.against;
  }

  Status run(std::span<const Job> jobs) {
    std::vector<std::span<const int32_t>> run;  // without the last token: nothing is asked of what comes behind it
    for (const Job& job : jobs) {
      run.push_back(job.text.first(job.text.size() - 1));
      n_total_ += run.back().size();
    }
    for (size_t i = 0; i < run.size();) {
      TextGroup group(engine_, most_tokens());
      INLAY_TRY(group.take(std::span(run).subspan(i)));
      INLAY_TRY(run_group(group, std::span(run).subspan(i), jobs.subspan(i)));
      i += group.size();
    }
    return {};
  }

 private:
  int32_t most_tokens() const {
    if (!options_.against) return engine_.prefill_chunk();
    const auto rows = static_cast<int32_t>(std::max<uint64_t>(1, kMostLogitBytes / (n_vocab_ * sizeof(float))));
    return std::min({engine_.prefill_chunk(), options_.against->prefill_chunk(), rows});
  }

  // Another engine runs the same texts in the same steps.
  Status run_group(TextGroup& group, std::span<const std::span<const int32_t>> texts, std::span<const Job> jobs) {
    std::optional<TextGroup> other;
    if (other_) {
      other.emplace(*other_, most_tokens());
      INLAY_TRY(of_other(other->take(texts.first(group.size()))));
      group.keep(other->size());
    }
    while (group.next_step()) {
      if (other) (void)other->next_step();
      gather(group, other ? &*other : nullptr, jobs);
      INLAY_TRY(options_.against ? compare(group, other) : score(group));
      for (size_t i = 0; i < group.size(); ++i) n_done_ += static_cast<uint64_t>(group.n_tokens(i));
      if (options_.progress && !options_.progress(n_done_, n_total_)) return error(Code::cancelled, "the scoring was stopped");
    }
    return {};
  }

  // Row i of a text's part is asked for token first + i + 1 of it, unless that is given.
  void gather(TextGroup& group, TextGroup* other, std::span<const Job> jobs) {
    tokens_.clear();
    places_.clear();
    for (size_t i = 0; i < group.size(); ++i) {
      const int32_t n = group.n_tokens(i), first = group.first_position();
      const int32_t given = std::clamp(options_.n_given - 1 - first, 0, n);  // rows behind which the token is given
      const auto begin = static_cast<size_t>(first + given) + 1, n_rows = static_cast<size_t>(n - given);
      const AskedRows rows{.first_row = given, .n_rows = n - given, .next = jobs[i].text.subspan(begin, n_rows)};
      group.ask(i, rows);
      if (other != nullptr) other->ask(i, rows);
      tokens_.insert(tokens_.end(), rows.next.begin(), rows.next.end());
      for (size_t k = 0; k < n_rows; ++k) places_.push_back(jobs[i].first + begin + k);
    }
  }

  Status score(TextGroup& group) {
    const auto n_top = static_cast<size_t>(options_.n_top);
    of_rows_.resize(tokens_.size());
    top_of_rows_.resize(tokens_.size() * n_top);
    INLAY_TRY(group.run(RowValues::scores, {.scores = of_rows_, .top = top_of_rows_, .n_top = options_.n_top}));
    for (size_t i = 0; i < of_rows_.size(); ++i) {
      scores_[places_[i]].own = of_rows_[i];
      std::ranges::copy(std::span(top_of_rows_).subspan(i * n_top, n_top), top_.begin() + static_cast<ptrdiff_t>(places_[i] * n_top));
    }
    return {};
  }

  Status read_logits(TextGroup& group, std::vector<float>& logits) {
    logits.resize(tokens_.size() * n_vocab_);
    return group.run(RowValues::logits, {.rows = logits});
  }

  Status compare(TextGroup& group, std::optional<TextGroup>& other) {
    if (other) INLAY_TRY(of_other(read_logits(*other, exact_)));
    INLAY_TRY(read_logits(group, logits_));
    std::vector<Status> statuses(tokens_.size());
    pool_->parallel_for(static_cast<int64_t>(statuses.size()), 1, [&](int64_t begin, int64_t end, int) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) statuses[i] = compare_row(i);
    });
    for (Status& status : statuses) INLAY_TRY(std::move(status));
    return {};
  }

  Status compare_row(size_t i) {
    const auto n_top = static_cast<size_t>(options_.n_top);
    const std::span<const float> own = std::span(logits_).subspan(i * n_vocab_, n_vocab_);
    const std::span<const float> exact = std::span(other_ ? exact_ : logits_).subspan(i * n_vocab_, n_vocab_);
    ScoredToken& out = scores_[places_[i]];
    INLAY_ASSIGN(const RowComparison row, compare_rows(own, exact, tokens_[i], top_.subspan(places_[i] * n_top, n_top)));
    out.own = row.own;
    out.against = row.exact;
    out.divergence = static_cast<float>(row.divergence);
    out.same_best = row.same_best ? 1 : 0;
    return {};
  }

  Engine& engine_;
  const ScoreOptions& options_;
  const std::span<ScoredToken> scores_;
  const std::span<TokenLogprob> top_;
  const size_t n_vocab_;
  Engine* other_ = nullptr;  // an engine that is compared with its own self runs once
  std::optional<ThreadPool> pool_;
  uint64_t n_done_ = 0, n_total_ = 0;
  std::vector<int32_t> tokens_;  // of the step: whose probabilities are wanted
  std::vector<size_t> places_;   // in the results
  std::vector<TokenScore> of_rows_;
  std::vector<TokenLogprob> top_of_rows_;
  std::vector<float> logits_, exact_;  // of the rows of a step
};

Status check_other(const Engine& engine, const Engine& other, std::span<const std::span<const int32_t>> texts) {
  const int32_t own = engine.spec().n_vocab, others = other.spec().n_vocab;
  if (own != others) return error(Code::invalid_argument, "the model has %d logits, the one it is compared with %d", own, others);
  return of_other(check_texts(other, texts));
}

}  // namespace

Status score(Engine& engine, std::span<const std::span<const int32_t>> texts, const ScoreOptions& options,
             std::span<ScoredToken> scores, std::span<TokenLogprob> top) {
  INLAY_TRY(engine.check_writes());
  INLAY_TRY(check_texts(engine, texts));
  if (options.against) INLAY_TRY(of_other(options.against->check_writes()));
  if (options.against) INLAY_TRY(check_other(engine, *options.against, texts));
  std::ranges::fill(scores, ScoredToken{});
  std::ranges::fill(top, TokenLogprob{-1, 0});
  std::vector<Job> jobs;
  size_t first = 0;
  for (const std::span<const int32_t> text : texts) {
    if (text.size() > static_cast<size_t>(options.n_given)) jobs.push_back({text, first});
    first += text.size();
  }
  INLAY_TRY(engine.check_not_in_slices());
  if (options.against) INLAY_TRY(of_other(options.against->check_not_in_slices()));
  return Scoring(engine, options, scores, top).run(jobs);
}

}  // namespace inlay
