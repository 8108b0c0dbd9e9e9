#include "examples/cli/constraint.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "examples/cli/engine.h"
#include "examples/cli/failure.h"

namespace inlay::cli {
namespace {

// A file's content, or the text itself where it has what no file's name has.
std::string content_of(const std::string& given, const char* sign) { return given.find(sign) != std::string::npos ? given : read_file(given); }

std::vector<inlay_text> cut(const std::string& list) {
  std::vector<inlay_text> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    out.push_back({list.data() + at, end - at});
    at = end + 1;
  }
  return out;
}

void print_remarks(const inlay_constraint* made) {
  auto info = sized<inlay_constraint_info>();
  if (inlay_constraint_get_info(made, &info, nullptr) != INLAY_OK) return;
  for (int32_t i = 0; i < info.n_remarks; ++i) {
    char text[512];
    size_t needed = 0;
    const inlay_status status = inlay_constraint_get_remark(made, static_cast<size_t>(i), text, sizeof text, &needed, nullptr);
    if (status == INLAY_OK) std::fprintf(stderr, "inlay: --json-schema: %.*s\n", static_cast<int>(needed), text);
  }
}

}  // namespace

void ConstraintOptions::add_to(Options& options) {
  options.text("-j --json-schema --json-schema-file", "FILE", schema, nullptr, "write JSON of this schema, a file or the schema itself");
  options.text("--grammar --grammar-file", "FILE", grammar, nullptr, "write what this grammar in GBNF allows, a file or the grammar itself");
  options.text("--choices", "A,B", choices, nullptr, "write one of these texts, between which commas stand");
}

void ConstraintOptions::check(const Options& options) const {
  if (!schema.empty() + !grammar.empty() + !choices.empty() > 1) options.usage_error("give one of --json-schema, --grammar and --choices");
}

ConstraintPtr ConstraintOptions::make(const inlay_engine* engine) const {
  if ((schema + grammar + choices).empty()) return nullptr;
  auto params = sized<inlay_constraint_params>();
  const std::string text = !schema.empty() ? content_of(schema, "{") : !grammar.empty() ? content_of(grammar, "::=") : std::string();
  const std::vector<inlay_text> words = choices.empty() ? std::vector<inlay_text>() : cut(choices);
  if (choices.empty()) {
    params.kind = schema.empty() ? INLAY_CONSTRAINT_GBNF : INLAY_CONSTRAINT_JSON_SCHEMA;
    params.text = text.data();
    params.text_len = text.size();
  } else {
    params.kind = INLAY_CONSTRAINT_CHOICES;
    params.choices = words.data();
    params.n_choices = words.size();
  }
  inlay_constraint* made = nullptr;
  inlay_error error;
  const inlay_status status = inlay_constraint_create(engine, &params, &made, &error);
  ConstraintPtr owner(made);
  cli::check(status, error, !schema.empty() ? "cannot take --json-schema" : !grammar.empty() ? "cannot take --grammar" : "cannot take --choices");
  print_remarks(made);
  return owner;
}

}  // namespace inlay::cli
