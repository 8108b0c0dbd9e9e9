#include <cstring>

#include "src/base/format.h"
#include "src/profile/profile.h"

namespace inlay {
namespace {

using ull = unsigned long long;

struct Totals {
  const char* kind = "";
  int32_t n_calls = 0;
  double us = 0;
  uint64_t n_bytes = 0, flops = 0;
};

// 1e9 a second of what was done in microseconds; 0 where the clock saw no time pass.
double giga_per_second(uint64_t n, double us) { return us > 0 ? static_cast<double>(n) / us * 1e-3 : 0; }

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

double bandwidth_percent(const Profile& p, uint64_t n_bytes, double us) {
  return percent(giga_per_second(n_bytes, us) * 1e9, p.read_bandwidth);
}

void append_title(std::string& out, const Profile& p) {
  append_format(out, "%lld token%s after %lld cached on %s; memory read at %.1f GB/s; medians of %d\n",
                static_cast<long long>(p.n_tokens), p.n_tokens == 1 ? "" : "s", static_cast<long long>(p.n_past),
                p.device.c_str(), p.read_bandwidth * 1e-9, p.n_repetitions);
}

std::vector<Totals> totals_by_kind(const Profile& p) {
  std::vector<Totals> totals;
  for (const ProfiledOp& op : p.ops) {
    Totals* found = nullptr;
    for (Totals& t : totals) {
      if (std::strcmp(t.kind, op.kind) == 0) found = &t;
    }
    if (!found) found = &totals.emplace_back(Totals{.kind = op.kind});
    ++found->n_calls;
    found->us += op.us;
    found->n_bytes += op.n_bytes();
    found->flops += op.flops;
  }
  return totals;
}

void append_totals(std::string& out, const Profile& p, const Totals& t, double sum_us) {
  append_format(out, "%-10s %6d %12.1f %7.1f %15llu %9.1f %7.1f %9.1f\n", t.kind, t.n_calls, t.us,
                percent(t.us, sum_us), static_cast<ull>(t.n_bytes), giga_per_second(t.n_bytes, t.us),
                bandwidth_percent(p, t.n_bytes, t.us), giga_per_second(t.flops, t.us));
}

}  // namespace

double Profile::sum_us() const {
  double us = 0;
  for (const ProfiledOp& op : ops) us += op.us;
  return us;
}

std::string timeline_table(const Profile& p) {
  std::string out;
  append_title(out, p);
  append_format(out, "%4s %5s %-10s %10s %14s %12s %14s %9s %7s\n", "op", "layer", "kind", "us", "weight bytes",
                "KV bytes", "activations", "GB/s", "% read");
  for (const ProfiledOp& op : p.ops) {
    append_format(out, "%4d %5s %-10s %10.2f %14llu %12llu %14llu %9.1f %7.1f\n", op.index,
                  op.layer < 0 ? "-" : std::to_string(op.layer).c_str(), op.kind, op.us,
                  static_cast<ull>(op.weight_bytes), static_cast<ull>(op.kv_bytes),
                  static_cast<ull>(op.activation_bytes), giga_per_second(op.n_bytes(), op.us),
                  bandwidth_percent(p, op.n_bytes(), op.us));
  }
  return out;
}

std::string kind_table(const Profile& p) {
  std::string out;
  append_title(out, p);
  append_format(out, "%-10s %6s %12s %7s %15s %9s %7s %9s\n", "kind", "calls", "us", "% time", "bytes", "GB/s",
                "% read", "GFLOP/s");
  const double sum_us = p.sum_us();
  Totals all{.kind = "sum"};
  for (const Totals& t : totals_by_kind(p)) {
    append_totals(out, p, t, sum_us);
    all.n_calls += t.n_calls;
    all.us += t.us;
    all.n_bytes += t.n_bytes;
    all.flops += t.flops;
  }
  append_totals(out, p, all, sum_us);
  all.kind = "whole step";
  all.us = p.step_us;
  append_totals(out, p, all, p.step_us);
  return out;
}

}  // namespace inlay
