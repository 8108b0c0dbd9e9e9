#include "src/template/expression_parser.h"

#include <algorithm>
#include <charconv>

#include "src/template/value.h"

namespace inlay::tmpl {

bool ExpressionParser::skip_sign(std::string_view spelling) {
  if (!peek().is_sign(spelling)) return false;
  take();
  return true;
}

bool ExpressionParser::skip_name(std::string_view spelling) {
  if (!peek().is_name(spelling)) return false;
  take();
  return true;
}

Status ExpressionParser::fail(Position position, Code code, const std::string& message) const {
  return at(position, error(code, "%s", message.c_str()));
}

Status ExpressionParser::unexpected(const char* wanted) const {
  return fail(peek().position, Code::format, "found " + peek().describe() + " where " + wanted + " should be");
}

Status ExpressionParser::expect(TokenKind kind, const char* wanted) {
  if (peek().kind != kind) return unexpected(wanted);
  take();
  return {};
}

Status ExpressionParser::expect_sign(std::string_view spelling) {
  return skip_sign(spelling) ? Status{} : unexpected(("'" + std::string(spelling) + "'").c_str());
}

Status ExpressionParser::expect_name(std::string_view spelling) {
  return skip_name(spelling) ? Status{} : unexpected(("'" + std::string(spelling) + "'").c_str());
}

Status ExpressionParser::check_depth(uint32_t depth) const {
  if (depth <= kMaxSyntaxDepth) return {};
  return fail(peek().position, Code::unsupported,
              "the template is nested deeper than " + std::to_string(kMaxSyntaxDepth) + " levels");
}

ExpressionPtr ExpressionParser::make(ExpressionKind kind, Position position) const {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->position = position;
  return node;
}

// Every node passes through here once it is whole.
Result<ExpressionPtr> ExpressionParser::finish(ExpressionPtr node) const {
  for (const auto& part : node->parts)
    if (part) node->depth = std::max(node->depth, part->depth + 1);
  for (const auto* spread : {&node->spread, &node->spread_named})
    if (*spread) node->depth = std::max(node->depth, (*spread)->depth + 1);
  for (const auto& [name, value] : node->keywords) node->depth = std::max(node->depth, value->depth + 1);
  INLAY_TRY(check_depth(node->depth));
  return node;
}

Result<ExpressionPtr> ExpressionParser::expression() {
  if (stack.is_spent()) return stack.go_on([&] { return expression(); });
  const Nesting nesting(*this);
  INLAY_TRY(nesting.check());
  INLAY_ASSIGN(ExpressionPtr value, either());
  while (peek().is_name("if")) {
    auto node = make(ExpressionKind::condition, take().position);
    INLAY_ASSIGN(ExpressionPtr guard, either());
    ExpressionPtr otherwise;
    if (skip_name("else")) {
      INLAY_ASSIGN(otherwise, expression());
    }
    node->parts.push_back(std::move(guard));
    node->parts.push_back(std::move(value));
    node->parts.push_back(std::move(otherwise));
    INLAY_ASSIGN(value, finish(std::move(node)));
  }
  return value;
}

Result<ExpressionPtr> ExpressionParser::either() {
  INLAY_ASSIGN(ExpressionPtr left, both());
  while (peek().is_name("or")) {
    auto node = make(ExpressionKind::either, take().position);
    INLAY_ASSIGN(ExpressionPtr right, both());
    node->parts.push_back(std::move(left));
    node->parts.push_back(std::move(right));
    INLAY_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::both() {
  INLAY_ASSIGN(ExpressionPtr left, negation());
  while (peek().is_name("and")) {
    auto node = make(ExpressionKind::both, take().position);
    INLAY_ASSIGN(ExpressionPtr right, negation());
    node->parts.push_back(std::move(left));
    node->parts.push_back(std::move(right));
    INLAY_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::negation() {
  if (!peek().is_name("not")) return comparison();
  const Nesting nesting(*this);
  INLAY_TRY(nesting.check());
  auto node = make(ExpressionKind::negation, take().position);
  INLAY_ASSIGN(ExpressionPtr operand, negation());
  node->parts.push_back(std::move(operand));
  return finish(std::move(node));
}

// The operator that stands here, consumed; empty if none.
std::string ExpressionParser::comparison_operator() {
  for (const char* sign : {"==", "!=", "<", "<=", ">", ">="})
    if (skip_sign(sign)) return sign;
  if (skip_name("in")) return "in";
  if (peek().is_name("not") && peek(1).is_name("in")) {
    take(), take();
    return "not in";
  }
  return "";
}

Result<ExpressionPtr> ExpressionParser::comparison() {
  const Position position = peek().position;
  INLAY_ASSIGN(ExpressionPtr first, sum());
  auto node = make(ExpressionKind::comparison, position);
  node->parts.push_back(std::move(first));
  for (std::string sign; !(sign = comparison_operator()).empty();) {
    INLAY_ASSIGN(ExpressionPtr operand, sum());
    node->operators.push_back(std::move(sign));
    node->parts.push_back(std::move(operand));
  }
  if (node->operators.empty()) return std::move(node->parts[0]);
  return finish(std::move(node));
}

// Operators of one precedence, from left to right.
Result<ExpressionPtr> ExpressionParser::binary(Rule operand, std::initializer_list<std::string_view> signs) {
  INLAY_ASSIGN(ExpressionPtr left, (this->*operand)());
  while (std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) { return peek().is_sign(sign); })) {
    auto node = make(ExpressionKind::arithmetic, peek().position);
    node->name = take().text;
    INLAY_ASSIGN(ExpressionPtr right, (this->*operand)());
    node->parts.push_back(std::move(left));
    node->parts.push_back(std::move(right));
    INLAY_ASSIGN(left, finish(std::move(node)));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::sum() { return binary(&ExpressionParser::concat, {"+", "-"}); }

Result<ExpressionPtr> ExpressionParser::concat() {
  const Position position = peek().position;
  INLAY_ASSIGN(ExpressionPtr first, product());
  auto node = make(ExpressionKind::concat, position);
  node->parts.push_back(std::move(first));
  while (skip_sign("~")) {
    INLAY_ASSIGN(ExpressionPtr operand, product());
    node->parts.push_back(std::move(operand));
  }
  if (node->parts.size() == 1) return std::move(node->parts[0]);
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::product() { return binary(&ExpressionParser::power, {"*", "/", "//", "%"}); }
// Jinja's power groups from the left and binds weaker than a sign, unlike Python's.
Result<ExpressionPtr> ExpressionParser::power() { return binary(&ExpressionParser::unary_with_filters, {"**"}); }

Result<ExpressionPtr> ExpressionParser::unary(bool with_filters) {
  const Nesting nesting(*this);
  INLAY_TRY(nesting.check());
  ExpressionPtr value;
  if (peek().is_sign("-") || peek().is_sign("+")) {
    value = make(ExpressionKind::sign, peek().position);
    value->name = take().text;
    INLAY_ASSIGN(ExpressionPtr operand, unary(false));
    value->parts.push_back(std::move(operand));
    INLAY_ASSIGN(value, finish(std::move(value)));
  } else {
    INLAY_ASSIGN(value, primary());
  }
  INLAY_ASSIGN(value, postfix(std::move(value)));
  return with_filters ? filters(std::move(value)) : std::move(value);
}

Result<ExpressionPtr> ExpressionParser::primary() {
  switch (peek().kind) {
    case TokenKind::name:
      return name();
    case TokenKind::string:
      return strings();
    case TokenKind::integer:
    case TokenKind::real:
      return number();
    default:
      break;
  }
  if (peek().is_sign("[")) return list();
  if (peek().is_sign("{")) return map();
  if (peek().is_sign("(")) return parentheses();
  return unexpected("an expression");
}

Result<ExpressionPtr> ExpressionParser::name() {
  const Token& token = take();
  auto node = make(ExpressionKind::constant, token.position);
  const std::string& text = token.text;
  if (text == "none" || text == "None") return node;
  if (text == "true" || text == "True" || text == "false" || text == "False") {
    node->constant = text == "true" || text == "True";
    return node;
  }
  for (MacroDefinition* macro : macros) {
    macro->uses_varargs |= text == "varargs";
    macro->uses_kwargs |= text == "kwargs";
    macro->uses_caller |= text == "caller";
  }
  node->kind = ExpressionKind::name;
  node->name = text;
  return node;
}

Result<ExpressionPtr> ExpressionParser::number() {
  const Token& token = take();
  auto node = make(ExpressionKind::constant, token.position);
  const char *begin = token.text.data(), *end = begin + token.text.size();
  if (token.kind == TokenKind::real) {
    double value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc())
      return fail(token.position, Code::unsupported, "the number " + token.text + " is out of range");
    node->constant = value;
    return node;
  }
  int base = 10;
  if (token.text.size() > 2 && begin[0] == '0' && !(begin[1] >= '0' && begin[1] <= '9')) {
    base = (begin[1] | 0x20) == 'x' ? 16 : (begin[1] | 0x20) == 'o' ? 8 : 2;
    begin += 2;
  }
  int64_t value = 0;
  if (std::from_chars(begin, end, value, base).ec != std::errc())
    return fail(token.position, Code::unsupported, "the integer " + token.text + " does not fit in 64 bits");
  node->constant = value;
  return node;
}

Result<ExpressionPtr> ExpressionParser::strings() {
  auto node = make(ExpressionKind::constant, peek().position);
  std::string text;
  while (peek().kind == TokenKind::string) text += take().text;  // neighbours are one literal
  node->constant = std::move(text);
  return node;
}

Result<ExpressionPtr> ExpressionParser::list() {
  auto node = make(ExpressionKind::list, take().position);
  while (!peek().is_sign("]")) {
    if (!node->parts.empty()) INLAY_TRY(expect_sign(","));
    if (peek().is_sign("]")) break;
    INLAY_ASSIGN(ExpressionPtr item, expression());
    node->parts.push_back(std::move(item));
  }
  take();
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::map() {
  auto node = make(ExpressionKind::map, take().position);
  while (!peek().is_sign("}")) {
    if (!node->parts.empty()) INLAY_TRY(expect_sign(","));
    if (peek().is_sign("}")) break;
    INLAY_ASSIGN(ExpressionPtr key, expression());
    INLAY_TRY(expect_sign(":"));
    INLAY_ASSIGN(ExpressionPtr value, expression());
    node->parts.push_back(std::move(key));
    node->parts.push_back(std::move(value));
  }
  take();
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::parentheses() {
  const Position position = take().position;
  if (skip_sign(")")) return make(ExpressionKind::tuple, position);
  INLAY_ASSIGN(ExpressionPtr inside, tuple(true));
  INLAY_TRY(expect_sign(")"));
  return inside;
}

Result<ExpressionPtr> ExpressionParser::tuple(bool with_condition) {
  auto node = make(ExpressionKind::tuple, peek().position);
  bool comma = false;
  do {
    const Token& next = peek();
    if (comma && (next.is_sign(")") || next.kind == TokenKind::block_end || next.kind == TokenKind::print_end)) break;
    INLAY_ASSIGN(ExpressionPtr item, with_condition ? expression() : either());
    node->parts.push_back(std::move(item));
  } while (skip_sign(",") && (comma = true));
  if (!comma) return std::move(node->parts[0]);
  return finish(std::move(node));
}

Result<ExpressionPtr> ExpressionParser::target_name() {
  const Token& token = peek();
  if (token.kind != TokenKind::name) return unexpected("a name");
  for (const char* reserved : {"true", "True", "false", "False", "none", "None"})
    if (token.text == reserved) return fail(token.position, Code::format, "cannot assign to '" + token.text + "'");
  auto node = make(ExpressionKind::name, token.position);
  node->name = take().text;
  return node;
}

Result<ExpressionPtr> ExpressionParser::target() {
  const Nesting nesting(*this);
  INLAY_TRY(nesting.check());
  auto node = make(ExpressionKind::tuple, peek().position);
  bool comma = false;
  do {
    if (comma && peek().kind != TokenKind::name && !peek().is_sign("(")) break;
    ExpressionPtr part;
    if (skip_sign("(")) {
      INLAY_ASSIGN(part, target());
      INLAY_TRY(expect_sign(")"));
    } else {
      INLAY_ASSIGN(part, target_name());
    }
    node->parts.push_back(std::move(part));
  } while (skip_sign(",") && (comma = true));
  if (!comma) return std::move(node->parts[0]);
  return finish(std::move(node));
}

}  // namespace inlay::tmpl
