// A parsed template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/template/position.h"
#include "src/template/value.h"

namespace inlay::tmpl {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind : uint8_t {
  constant,
  captured,    // the text of the block that a filter stands on
  name,        // name
  list,        // parts
  tuple,       // parts
  map,         // parts: key, value, key, value, ...
  attribute,   // parts[0].name
  item,        // parts[0][parts[1]]
  slice,       // parts: begin, end, step; each may be null
  call,        // parts[0](parts[1...], keywords)
  filter,      // parts[0]|name(parts[1...], keywords)
  test,        // parts[0] is name(parts[1...], keywords)
  sign,        // name: + or -; parts[0]
  negation,    // not parts[0]
  arithmetic,  // parts[0] name parts[1]
  concat,      // parts, joined as text
  both,        // and
  either,      // or
  comparison,  // parts[0] operators[0] parts[1] operators[1] parts[2] ...
  condition,   // parts[1] if parts[0] else parts[2], which may be null
};

struct Expression {
  ExpressionKind kind;
  Position position;
  std::string name;
  Value constant;
  std::vector<ExpressionPtr> parts;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
  ExpressionPtr spread, spread_named;  // of a call: *spread, **spread_named
  std::vector<std::string> operators;
  uint32_t depth = 1;  // longest chain of expressions below and including this one
};

struct Statement;
using Body = std::vector<Statement>;

struct MacroDefinition {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  Body body;
  // What the body refers to decides what a call may pass.
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
};

enum class StatementKind : uint8_t {
  text,          // text
  print,         // expressions[0]
  branch,        // expressions[i] guards bodies[i]; one more body is the else
  loop,          // target in expressions[0] if expressions[1], which may be null; bodies: one pass, else
  assign,        // target = expressions[0]
  capture,       // target = the text of bodies[0], through expressions[0], which may be null
  macro,         // macro
  call_block,    // the call expressions[0] with `macro` as its caller
  filter_block,  // bodies[0] through expressions[0]
  scope,         // with: targets = expressions, bodies[0]
  group,         // bodies[0]
  leave,         // break
  next,          // continue
};

struct Statement {
  StatementKind kind;
  Position position;
  std::string text;
  std::vector<ExpressionPtr> targets;  // names, tuples of targets, or an attribute of a namespace
  std::vector<ExpressionPtr> expressions;
  std::vector<Body> bodies;
  std::unique_ptr<MacroDefinition> macro;
  bool recursive = false;
};

}  // namespace inlay::tmpl
