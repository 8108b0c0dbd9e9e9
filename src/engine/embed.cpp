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

// `tell` is told how many tokens each step has run.
Status run_group(Engine& engine, TextGroup& group, std::span<const Pooling> poolings, std::vector<TextVector>& vectors, const std::function<Status(size_t n_tokens)>& tell) {
  const size_t d_model = engine.output_norm().size();
  const auto rows_of = [&](size_t i) { return TextVector::rows_of(poolings, group.first_position(), group.n_tokens(i), group.ends(i)); };
  std::vector<float> rows;
  while (group.next_step()) {
    size_t n_tokens = 0;
    for (size_t i = 0; i < vectors.size(); ++i) {
      group.ask(i, rows_of(i));
      n_tokens += static_cast<size_t>(group.n_tokens(i));
    }
    rows.resize(group.n_asked() * d_model);
    INLAY_TRY(group.run(RowValues::hidden, {.rows = rows}));
    const float* next = rows.data();
    for (size_t i = 0; i < vectors.size(); ++i) {
      const int32_t n = rows_of(i).n_rows;
      vectors[i].add(next, n);
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

Result<std::vector<Pooling>> poolings_of(const Engine& engine, const EmbedOptions& options) {
  if (options.pooling) return std::vector{*options.pooling};
  return pooling_of(engine);
}

Status encode_for_embedding(const Engine& engine, std::string_view text, const EmbedOptions& options, std::vector<int32_t>& out) {
  if (!engine.tokenizer()) return error(Code::unsupported, "the model has no tokenizer");
  return engine.embedding_rules().encode(*engine.tokenizer(), text, options.without_prompt, out);
}

TextVector::TextVector(const Engine& engine, const EmbedOptions& options, std::span<const Pooling> poolings)
    : pooler_(poolings, engine.output_norm(), engine.spec().norm_epsilon), rules_(options.pooling ? nullptr : &engine.embedding_rules()), normalize_(options.normalize) {}

AskedRows TextVector::rows_of(std::span<const Pooling> poolings, int32_t first, int32_t n, bool ends) {
  const auto is_only = [&](Pooling pooling) { return poolings.size() == 1 && poolings[0] == pooling; };
  if (is_only(Pooling::first)) return {.first_row = 0, .n_rows = first == 0 ? 1 : 0};
  if (is_only(Pooling::last)) return {.first_row = n - 1, .n_rows = ends ? 1 : 0};
  return {.first_row = 0, .n_rows = n};
}

Status TextVector::finish(std::span<float> out) const {
  std::vector<double> vector = pooler_.finish();
  if (rules_) rules_->apply(vector);
  if (normalize_) scale_to_one(vector);
  std::ranges::transform(vector, out.begin(), [](double v) { return static_cast<float>(v); });
  const auto bad = std::ranges::find_if_not(out, [](float v) { return std::isfinite(v); });
  if (bad == out.end()) return {};
  return error(Code::format, "the model gave %g for value %td of the text", static_cast<double>(*bad), bad - out.begin());
}

size_t embedding_width(const Engine& engine, const EmbedOptions& options) {
  return options.pooling ? static_cast<size_t>(engine.spec().d_model) : engine.embedding_rules().width();
}

Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out) {
  INLAY_TRY(check_texts(engine, texts));
  INLAY_ASSIGN(const std::vector<Pooling> poolings, poolings_of(engine, options));
  INLAY_TRY(engine.check_not_in_slices());
  const size_t width = embedding_width(engine, options);
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
    std::vector<TextVector> vectors(group.size(), TextVector(engine, options, poolings));
    INLAY_TRY(run_group(engine, group, poolings, vectors, tell));
    for (const TextVector& vector : vectors) {
      INLAY_TRY(of_text(i, vector.finish(out.subspan(i * width, width))));
      ++i;
    }
  }
  return {};
}

}  // namespace inlay
