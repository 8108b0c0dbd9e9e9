// What a text may be, by --json-schema, --grammar and --choices.
#pragma once

#include <memory>
#include <string>

#include "examples/cli/options.h"
#include "include/capi/inlay.h"

namespace inlay::cli {

struct ConstraintFree {
  void operator()(inlay_constraint* c) const { inlay_constraint_free(c); }
};
using ConstraintPtr = std::unique_ptr<inlay_constraint, ConstraintFree>;

struct ConstraintOptions {
  std::string schema, grammar, choices;

  void add_to(Options& options);
  void check(const Options& options) const;              // that at most one is given
  ConstraintPtr make(const inlay_engine* engine) const;  // null: none is
};

}  // namespace inlay::cli
