#include <algorithm>
#include <cmath>

#include "src/base/format.h"
#include "src/engine/inspect.h"

namespace inlay {
namespace {

// A tap with its values kept.
struct Kept {
  int32_t op_index;
  const char* what;
  int64_t n_rows, n_cols;
  std::vector<float> values;
};

Result<std::vector<Kept>> taps_of(Engine& engine, Session& session, std::span<const int32_t> tokens, int32_t n_past) {
  std::vector<Kept> kept;
  Inspection inspection;
  inspection.tap = [&](const Tap& t) {
    kept.push_back({t.op_index, t.what, t.n_rows, t.n_cols, {t.values, t.values + t.n_rows * t.n_cols}});
  };
  INLAY_ASSIGN(const double seconds, engine.run_inspected(session, tokens, n_past, std::move(inspection)));
  (void)seconds;
  return kept;
}

// Of the rows that both have: backends show all logit rows or one.
OpDifference difference(const Plan& plan, const char* step, const Kept& a, const Kept& b) {
  const Op& op = plan.ops[static_cast<size_t>(a.op_index)];
  OpDifference d{.step = step,
                 .op_index = a.op_index,
                 .kind = op.kind,
                 .layer = is_layer_op(op.kind) ? op.layer : -1,
                 .what = a.what,
                 .n_rows = std::min(a.n_rows, b.n_rows),
                 .n_cols = a.n_cols};
  double aa = 0, bb = 0, ab = 0, squares = 0;
  for (int64_t i = 0; i < d.n_rows * d.n_cols; ++i) {
    const double x = a.values[static_cast<size_t>(i)], y = b.values[static_cast<size_t>(i)];
    aa += x * x, bb += y * y, ab += x * y, squares += (x - y) * (x - y);
    const double off = std::fabs(x - y);
    if (off > d.max_difference || std::isnan(off)) d.max_difference = off, d.row = i / d.n_cols, d.col = i % d.n_cols;
    if (std::isnan(off)) break;
  }
  d.nmse = squares == 0 ? 0 : squares / aa;
  d.cosine = squares == 0 ? 1 : ab / std::sqrt(aa * bb);
  return d;
}

Status check_plans(const Plan& a, const Plan& b) {
  if (a.ops.size() != b.ops.size())
    return error(Code::invalid_argument, "the first engine's plan has %zu ops, the second one's %zu", a.ops.size(), b.ops.size());
  const ModelSpec &x = a.spec, &y = b.spec;
  if (x.d_model != y.d_model || x.d_q() != y.d_q() || x.d_kv() != y.d_kv() || x.d_ff != y.d_ff ||
      x.n_vocab != y.n_vocab) {
    return error(Code::invalid_argument, "the engines hold models of different sizes: %s and %s", x.name.c_str(),
                 y.name.c_str());
  }
  return {};
}

Status add_step(Comparison& out, const Plan& plan, const char* step, const std::vector<Kept>& a,
                const std::vector<Kept>& b) {
  if (a.size() != b.size())
    return error(Code::unsupported, "%zu ops of one engine and %zu of the other can be seen", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].op_index != b[i].op_index || a[i].n_cols != b[i].n_cols) {
      return error(Code::unsupported, "op %d shows %lld columns in one engine, op %d %lld in the other", a[i].op_index,
                   static_cast<long long>(a[i].n_cols), b[i].op_index, static_cast<long long>(b[i].n_cols));
    }
    out.ops.push_back(difference(plan, step, a[i], b[i]));
  }
  return {};
}

}  // namespace

int32_t Comparison::first_over(double nmse_limit) const {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!(ops[i].nmse <= nmse_limit)) return static_cast<int32_t>(i);
  }
  return -1;
}

Result<Comparison> compare_engines(Engine& a, Engine& b, std::span<const int32_t> tokens) {
  if (tokens.empty()) return error(Code::invalid_argument, "no tokens to compare with");
  INLAY_TRY(check_plans(a.plan(), b.plan()));
  INLAY_TRY(a.check_not_in_slices());
  INLAY_TRY(b.check_not_in_slices());
  INLAY_ASSIGN(const std::shared_ptr<Session> in_a, a.create_session({}));
  INLAY_ASSIGN(const std::shared_ptr<Session> in_b, b.create_session({}));
  const auto n_prompt = static_cast<int32_t>(tokens.size()) - 1;
  Comparison out;
  if (n_prompt > 0) {
    const auto prompt = tokens.first(static_cast<size_t>(n_prompt));
    INLAY_ASSIGN(const std::vector<Kept> x, taps_of(a, *in_a, prompt, 0));
    INLAY_ASSIGN(const std::vector<Kept> y, taps_of(b, *in_b, prompt, 0));
    INLAY_TRY(add_step(out, a.plan(), "prompt", x, y));
  }
  INLAY_ASSIGN(const std::vector<Kept> x, taps_of(a, *in_a, tokens, n_prompt));
  INLAY_ASSIGN(const std::vector<Kept> y, taps_of(b, *in_b, tokens, n_prompt));
  INLAY_TRY(add_step(out, a.plan(), "decode", x, y));
  return out;
}

std::string comparison_table(const Comparison& c, double nmse_limit) {
  std::string out;
  append_format(out, "%-6s %4s %5s %-10s %-8s %12s %12s %12s  %s\n", "step", "op", "layer", "kind", "value", "cosine",
                "NMSE", "max diff", "at row, column");
  for (const OpDifference& d : c.ops) {
    append_format(out, "%-6s %4d %5s %-10s %-8s %12.9f %12.3e %12.3e  %lld, %lld\n", d.step, d.op_index,
                  d.layer < 0 ? "-" : std::to_string(d.layer).c_str(), op_name(d.kind), d.what, d.cosine, d.nmse,
                  d.max_difference, static_cast<long long>(d.row), static_cast<long long>(d.col));
  }
  const int32_t first = c.first_over(nmse_limit);
  if (first < 0) {
    append_format(out, "no op has an NMSE above %g\n", nmse_limit);
    return out;
  }
  const OpDifference& d = c.ops[static_cast<size_t>(first)];
  append_format(out, "first above %g: %s, op %d, %s", nmse_limit, d.step, d.op_index, op_name(d.kind));
  if (d.layer >= 0) append_format(out, " of layer %d", d.layer);
  append_format(out, ", NMSE %.3e\n", d.nmse);
  return out;
}

}  // namespace inlay
