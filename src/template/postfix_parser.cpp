// What may stand behind an expression: attributes, items, calls, filters and tests.
#include <charconv>

#include "src/template/expression_parser.h"

namespace inlay::tmpl {

Result<ExpressionPtr> ExpressionParser::postfix(ExpressionPtr base) {
  while (true) {
    if (peek().is_sign(".") || peek().is_sign("[")) {
      INLAY_ASSIGN(base, subscript(std::move(base)));
    } else if (peek().is_sign("(")) {
      INLAY_ASSIGN(base, call(std::move(base)));
    } else {
      return base;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::subscript(ExpressionPtr base) {
  if (peek().is_sign(".")) return attribute(std::move(base));
  auto node = make(ExpressionKind::item, take().position);
  node->parts.push_back(std::move(base));
  INLAY_ASSIGN(ExpressionPtr index, index_or_slice());
  if (peek().is_sign(","))
    return fail(peek().position, Code::unsupported, "several indices in one subscript are not supported");
  INLAY_TRY(expect_sign("]"));
  node->parts.push_back(std::move(index));
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::attribute(ExpressionPtr base) {
  take();
  const Token& token = peek();
  if (token.kind != TokenKind::name && token.kind != TokenKind::integer) return unexpected("a name or a number");
  auto node = make(token.kind == TokenKind::name ? ExpressionKind::attribute : ExpressionKind::item, token.position);
  node->parts.push_back(std::move(base));
  if (token.kind == TokenKind::name) {
    node->name = take().text;
  } else {
    INLAY_ASSIGN(ExpressionPtr index, number());
    node->parts.push_back(std::move(index));
  }
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::index_or_slice() {
  auto slice = make(ExpressionKind::slice, peek().position);
  slice->parts.resize(3);
  size_t which = 0;
  while (!peek().is_sign("]")) {
    if (skip_sign(":")) {
      if (++which > 2) return unexpected("']'");
      continue;
    }
    if (slice->parts[which]) return unexpected("']'");
    INLAY_ASSIGN(slice->parts[which], expression());
    if (peek().is_sign(",")) break;
  }
  if (which > 0) return finish(std::move(slice));
  if (!slice->parts[0]) return unexpected("an index");
  return std::move(slice->parts[0]);
}

Status ExpressionParser::arguments(Expression& call) {
  INLAY_TRY(expect_sign("("));
  for (bool first = true; !peek().is_sign(")"); first = false) {
    if (!first) INLAY_TRY(expect_sign(","));
    if (peek().is_sign(")")) break;
    if (peek().is_sign("*") || peek().is_sign("**")) {
      ExpressionPtr& spread = peek().is_sign("*") ? call.spread : call.spread_named;
      if (spread || call.spread_named) return unexpected("')'");
      take();
      INLAY_ASSIGN(spread, expression());
      continue;
    }
    const bool keyword = peek().kind == TokenKind::name && peek(1).is_sign("=");
    const std::string name = keyword ? take().text : "";
    if (keyword) take();
    if (call.spread_named) return unexpected("')'");
    if (!keyword && (call.spread || !call.keywords.empty())) return unexpected("a keyword argument");
    INLAY_ASSIGN(ExpressionPtr value, expression());
    if (keyword)
      call.keywords.emplace_back(name, std::move(value));
    else
      call.parts.push_back(std::move(value));
  }
  take();
  return {};
}

Result<ExpressionPtr> ExpressionParser::call(ExpressionPtr base) {
  auto node = make(ExpressionKind::call, base->position);
  node->parts.push_back(std::move(base));
  INLAY_TRY(arguments(*node));
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::filters(ExpressionPtr base) {
  while (true) {
    if (skip_sign("|")) {
      INLAY_ASSIGN(base, filter(std::move(base)));
    } else if (peek().is_name("is")) {
      INLAY_ASSIGN(base, test(std::move(base)));
    } else if (peek().is_sign("(")) {
      INLAY_ASSIGN(base, call(std::move(base)));
    } else {
      return base;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::filter_chain() {
  INLAY_ASSIGN(ExpressionPtr first, filter(make(ExpressionKind::captured, peek().position)));
  return filters(std::move(first));
}

Result<ExpressionPtr> ExpressionParser::filter(ExpressionPtr base) {
  if (peek().kind != TokenKind::name) return unexpected("the name of a filter");
  auto node = make(ExpressionKind::filter, peek().position);
  node->name = take().text;
  node->parts.push_back(std::move(base));
  if (peek().is_sign("(")) INLAY_TRY(arguments(*node));
  return finish(std::move(node));
}

bool ExpressionParser::begins_test_argument() const {
  const Token& next = peek();
  switch (next.kind) {
    case TokenKind::string:
    case TokenKind::integer:
    case TokenKind::real:
      return true;
    case TokenKind::name:
      return !next.is_name("else") && !next.is_name("or") && !next.is_name("and") && !next.is_name("is") &&
             !next.is_name("if") && !next.is_name("not") && !next.is_name("in");
    default:
      return next.is_sign("[") || next.is_sign("{");
  }
}

Result<ExpressionPtr> ExpressionParser::test(ExpressionPtr base) {
  take();
  const Position position = peek().position;
  const bool negated = skip_name("not");
  if (peek().kind != TokenKind::name) return unexpected("the name of a test");
  auto node = make(ExpressionKind::test, peek().position);
  node->name = take().text;
  node->parts.push_back(std::move(base));
  if (peek().is_sign("(")) {
    INLAY_TRY(arguments(*node));
  } else if (peek().is_name("is")) {
    return fail(peek().position, Code::format, "tests cannot be chained with 'is'");
  } else if (begins_test_argument()) {
    INLAY_ASSIGN(ExpressionPtr argument, primary());
    INLAY_ASSIGN(argument, postfix(std::move(argument)));
    node->parts.push_back(std::move(argument));
  }
  if (!negated) return finish(std::move(node));
  auto negation = make(ExpressionKind::negation, position);
  INLAY_ASSIGN(ExpressionPtr inner, finish(std::move(node)));
  negation->parts.push_back(std::move(inner));
  return finish(std::move(negation));
}

}  // namespace inlay::tmpl
