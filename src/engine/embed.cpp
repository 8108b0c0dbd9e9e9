#include "src/engine/embed.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/text_group.h"

namespace inlay {
namespace {

// In the order of the values of pooling_type in GGUF files.
enum class StoredPooling : uint64_t { none, mean, cls, last };

// `first` is the number of the group's first text, for errors. `rules`: of the model's own pooling, else null.
Status write_vectors(const std::vector<Pooler>& poolers, const EmbeddingRules* rules, bool normalize, size_t first, std::span<float> out) {
  const size_t width = out.size() / poolers.size();
  for (size_t i = 0; i < poolers.size(); ++i) {
    const std::span<float> values = out.subspan(i * width, width);
    std::vector<double> vector = poolers[i].finish();
    if (rules) rules->apply(vector);
    if (normalize) scale_to_one(vector);
    std::ranges::transform(vector, values.begin(), [](double v) { return static_cast<float>(v); });
    const auto bad = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
    if (bad == values.end()) continue;
    return error(Code::format, "the model gave %g for value %td of text %zu", static_cast<double>(*bad), bad - values.begin(),
                 first + i);
  }
  return {};
}

// Which of a text's rows in a step its vector is made of.
AskedRows pooled_rows(const TextGroup& group, size_t i, std::span<const Pooling> poolings) {
  const int32_t n = group.n_tokens(i);
  const auto is_only = [&](Pooling pooling) { return poolings.size() == 1 && poolings[0] == pooling; };
  if (is_only(Pooling::first)) return {.first_row = 0, .n_rows = group.first_position() == 0 ? 1 : 0};
  if (is_only(Pooling::last)) return {.first_row = n - 1, .n_rows = group.ends(i) ? 1 : 0};
  return {.first_row = 0, .n_rows = n};
}

// `tell` is told how many tokens each step has run.
Status run_group(Engine& engine, TextGroup& group, std::span<const Pooling> poolings, std::vector<Pooler>& poolers, const std::function<Status(size_t n_tokens)>& tell) {
  const size_t d_model = engine.output_norm().size();
  std::vector<float> rows;
  while (group.next_step()) {
    size_t n_tokens = 0;
    for (size_t i = 0; i < poolers.size(); ++i) {
      group.ask(i, pooled_rows(group, i, poolings));
      n_tokens += static_cast<size_t>(group.n_tokens(i));
    }
    rows.resize(group.n_asked() * d_model);
    INLAY_TRY(group.run(RowValues::hidden, {.rows = rows}));
    const float* next = rows.data();
    for (size_t i = 0; i < poolers.size(); ++i) {
      const int32_t n = pooled_rows(group, i, poolings).n_rows;
      poolers[i].add(next, n);
      next += static_cast<size_t>(n) * d_model;
    }
    INLAY_TRY(tell(n_tokens));
  }
  return {};
}

}  // namespace

Result<std::vector<Pooling>> pooling_of(const Engine& engine) {
  if (const auto several = engine.embedding_rules().poolings(); !several.empty()) return std::vector(several.begin(), several.end());
  const std::string key = engine.spec().arch + ".pooling_type";
  const Metadata& metadata = engine.metadata();
  if (!metadata.find(key)) {
    return error(Code::unsupported,
                 "the model names no pooling: there is no %s in its metadata; say mean, last or first",
                 metadata.key_in_file(key).c_str());
  }
  INLAY_ASSIGN(const uint64_t stored, metadata.get_u64(key));
  switch (static_cast<StoredPooling>(stored)) {
    case StoredPooling::mean:
      return std::vector{Pooling::mean};
    case StoredPooling::cls:
      return std::vector{Pooling::first};
    case StoredPooling::last:
      return std::vector{Pooling::last};
    case StoredPooling::none:
      break;
  }
  return error(Code::unsupported, "%s is %llu, expected 1 (mean), 2 (first) or 3 (last)",
               metadata.key_in_file(key).c_str(), static_cast<unsigned long long>(stored));
}

size_t embedding_width(const Engine& engine, const EmbedOptions& options) {
  return options.pooling ? static_cast<size_t>(engine.spec().d_model) : engine.embedding_rules().width();
}

Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out) {
  INLAY_TRY(check_texts(engine, texts));
  std::vector<Pooling> poolings;
  if (options.pooling) {
    poolings = {*options.pooling};
  } else {
    INLAY_ASSIGN(poolings, pooling_of(engine));
  }
  INLAY_TRY(engine.check_not_in_slices());
  const size_t width = embedding_width(engine, options);
  const EmbeddingRules* rules = options.pooling ? nullptr : &engine.embedding_rules();
  uint64_t n_done = 0, n_total = 0;
  for (const auto& text : texts) n_total += text.size();
  const auto tell = [&](size_t n_tokens) -> Status {
    n_done += n_tokens;
    if (options.progress && !options.progress(n_done, n_total)) return error(Code::cancelled, kEmbeddingStopped);
    return {};
  };
  for (size_t i = 0; i < texts.size();) {
    TextGroup group(engine, engine.prefill_chunk());
    INLAY_TRY(group.take(texts.subspan(i)));
    std::vector<Pooler> poolers(group.size(), Pooler(poolings, engine.output_norm(), engine.spec().norm_epsilon));
    INLAY_TRY(run_group(engine, group, poolings, poolers, tell));
    INLAY_TRY(write_vectors(poolers, rules, options.normalize, i, out.subspan(i * width, group.size() * width)));
    i += group.size();
  }
  return {};
}

}  // namespace inlay
