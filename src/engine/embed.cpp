#include "src/engine/embed.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/long_run.h"
#include "src/engine/step_arrays.h"
#include "src/engine/turn.h"

namespace inlay {
namespace {

// In the order of the values of pooling_type in GGUF files.
enum class StoredPooling : uint64_t { none, mean, cls, last };

// Texts that run together, each with its session.
class Group {
 public:
  Group(Engine& engine, const EmbedOptions& options, Pooling pooling)
      : engine_(engine), options_(options), pooling_(pooling) {}

  // Takes texts from the front while they have room in one step; the first always.
  Status take(std::span<const std::span<const int32_t>> texts) {
    size_t n_tokens = 0;
    for (const std::span<const int32_t> text : texts) {
      n_tokens += text.size();
      if (!sessions_.empty() && n_tokens > static_cast<size_t>(engine_.prefill_chunk())) break;
      Result<std::shared_ptr<Session>> session = engine_.create_session({});
      if (!session.ok() && session.status().code == Code::session_limit && !sessions_.empty()) break;
      if (!session.ok()) return std::move(session).status();
      Status placed = engine_.place_tokens(**session, text);
      if (placed.code == Code::kv_full && !sessions_.empty()) break;
      INLAY_TRY(std::move(placed));
      sessions_.push_back(*std::move(session));
      poolers_.emplace_back(pooling_, engine_.output_norm(), engine_.spec().norm_epsilon);
    }
    return {};
  }

  // All texts but a single long one in one step.
  Status run() {
    std::vector<Session*> sessions;
    std::vector<int32_t> n_tokens;
    for (const auto& s : sessions_) {
      sessions.push_back(s.get());
      n_tokens.push_back(static_cast<int32_t>(s->tokens().size()));
    }
    for (int32_t n_left = n_tokens[0]; n_left > 0; n_left -= n_tokens[0]) {
      n_tokens[0] = std::min(n_left, engine_.prefill_chunk());
      size_t next = 0;
      INLAY_TRY(engine_.run_hidden(sessions, n_tokens,
                                   [&](const float* values, int64_t n_rows) { poolers_[next++].add(values, n_rows); }));
    }
    return {};
  }

  // `first` is the number of the group's first text, for errors.
  Status write(size_t first, std::span<float> out) const {
    const size_t d_model = engine_.output_norm().size();
    for (size_t i = 0; i < poolers_.size(); ++i) {
      const std::span<float> values = out.subspan(i * d_model, d_model);
      poolers_[i].finish(options_.normalise, values);
      const auto bad = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
      if (bad == values.end()) continue;
      return error(Code::format, "the model gave %g for value %td of text %zu", static_cast<double>(*bad),
                   bad - values.begin(), first + i);
    }
    return {};
  }

  size_t size() const { return sessions_.size(); }

 private:
  Engine& engine_;
  const EmbedOptions& options_;
  const Pooling pooling_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Pooler> poolers_;
};

Status check(const Engine& engine, std::span<const std::span<const int32_t>> texts) {
  const auto n_context = static_cast<size_t>(engine.info().n_context);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return error(Code::invalid_argument, "text %zu has no tokens", i);
    if (Status status = engine.check_tokens(texts[i]); !status.ok()) {
      status.message = "text " + std::to_string(i) + ": " + status.message;
      return status;
    }
    if (texts[i].size() <= n_context) continue;
    Status full = error(Code::context_full, "text %zu has %zu tokens, too many for the context of %zu", i, texts[i].size(), n_context);
    full.required = texts[i].size();
    full.available = n_context;
    return full;
  }
  return {};
}

}  // namespace

Result<Pooling> pooling_of(const Engine& engine) {
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
      return Pooling::mean;
    case StoredPooling::cls:
      return Pooling::first;
    case StoredPooling::last:
      return Pooling::last;
    case StoredPooling::none:
      break;
  }
  return error(Code::unsupported, "%s is %llu, expected 1 (mean), 2 (first) or 3 (last)",
               metadata.key_in_file(key).c_str(), static_cast<unsigned long long>(stored));
}

Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out) {
  INLAY_TRY(check(engine, texts));
  Pooling pooling = Pooling::mean;
  if (options.pooling) {
    pooling = *options.pooling;
  } else {
    INLAY_ASSIGN(pooling, pooling_of(engine));
  }
  const Engine::LongRun run(engine);
  INLAY_TRY(run.status());
  const size_t d_model = engine.output_norm().size();
  for (size_t i = 0; i < texts.size();) {
    Group group(engine, options, pooling);
    INLAY_TRY(group.take(texts.subspan(i)));
    INLAY_TRY(group.run());
    INLAY_TRY(group.write(i, out.subspan(i * d_model, group.size() * d_model)));
    i += group.size();
  }
  return {};
}

Status Engine::place_tokens(Session& session, std::span<const int32_t> tokens) {
  INLAY_TRY(session.check_room(tokens.size()));
  const Turn turn(*this);
  INLAY_TRY(reserve_blocks(session, static_cast<int32_t>(tokens.size()), prefill_chunk_));
  session.tokens_.assign(tokens.begin(), tokens.end());
  return {};
}

Status Engine::run_hidden(std::span<Session* const> sessions, std::span<const int32_t> n_tokens,
                          const HiddenRows& rows) {
  const Turn turn(*this);
  INLAY_TRY(check_idle());
  arrays_->clear();
  for (size_t i = 0; i < sessions.size(); ++i) {
    Session& s = *sessions[i];
    kv_.cover(s.kv_, s.n_computed_ + n_tokens[i]);
    arrays_->add_slice(s.tokens_, s.n_computed_, n_tokens[i], s.kv_);
  }
  const auto head = std::ranges::find(plan().ops, OpKind::head, &Op::kind);
  const auto last = static_cast<int32_t>(head - plan().ops.begin()) - 1;
  Inspection inspection{.stop_after = last, .tap_op = last};
  inspection.tap = [&](const Tap& tap) {
    const float* values = tap.values;
    for (const int32_t n : n_tokens) {
      rows(values, n);
      values += n * tap.n_cols;
    }
  };
  const InspectionScope scope(*backend_, std::move(inspection));
  INLAY_TRY(execute({}));
  for (size_t i = 0; i < sessions.size(); ++i) {
    sessions[i]->n_computed_ += n_tokens[i];
    kv_.slide(sessions[i]->kv_, sessions[i]->n_computed_);
    stats_.n_prefill_tokens += static_cast<uint64_t>(n_tokens[i]);
  }
  return {};
}

}  // namespace inlay
