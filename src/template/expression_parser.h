// The expressions of a template, by recursive descent over its tokens.
#pragma once

#include <string_view>
#include <vector>

#include "src/base/stack_budget.h"
#include "src/template/lexer.h"
#include "src/template/syntax.h"

namespace inlay::tmpl {

// Nesting of expressions and blocks in a template's text, which bounds the parser's and the tree's recursion.
inline constexpr uint32_t kMaxSyntaxDepth = 200;

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool skip_sign(std::string_view spelling);
  bool skip_name(std::string_view spelling);
  Status expect(TokenKind kind, const char* wanted);
  Status expect_sign(std::string_view spelling);
  Status expect_name(std::string_view spelling);
  Status unexpected(const char* wanted) const;
  Status fail(Position position, Code code, const std::string& message) const;

  Result<ExpressionPtr> expression();
  Result<ExpressionPtr> either();  // an expression without `if`
  // One expression, or several with commas as a tuple.
  Result<ExpressionPtr> tuple(bool with_condition);
  Result<ExpressionPtr> target();                     // what a loop or a set assigns to
  Result<ExpressionPtr> target_name();                // a single name
  Result<ExpressionPtr> filters(ExpressionPtr base);  // | filter | filter
  Result<ExpressionPtr> filter_chain();               // the same on the text of a block; the first bar is left out
  Result<ExpressionPtr> unary(bool with_filters);

  ExpressionPtr make(ExpressionKind kind, Position position) const;

  // Macros being parsed, outermost first: names inside tell what they use.
  std::vector<MacroDefinition*> macros;

  StackBudget stack;

  // Counts nesting for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Status check() const { return parser_.check_depth(parser_.depth_); }

   private:
    ExpressionParser& parser_;
  };

 private:
  Status check_depth(uint32_t depth) const;
  Result<ExpressionPtr> finish(ExpressionPtr node) const;
  using Rule = Result<ExpressionPtr> (ExpressionParser::*)();
  Result<ExpressionPtr> binary(Rule operand, std::initializer_list<std::string_view> signs);
  Result<ExpressionPtr> both();
  Result<ExpressionPtr> negation();
  Result<ExpressionPtr> comparison();
  std::string comparison_operator();
  Result<ExpressionPtr> sum();
  Result<ExpressionPtr> concat();
  Result<ExpressionPtr> product();
  Result<ExpressionPtr> power();
  Result<ExpressionPtr> unary_with_filters() { return unary(true); }
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> name();
  Result<ExpressionPtr> number();
  Result<ExpressionPtr> strings();
  Result<ExpressionPtr> list();
  Result<ExpressionPtr> map();
  Result<ExpressionPtr> parentheses();
  Result<ExpressionPtr> postfix(ExpressionPtr base);
  Result<ExpressionPtr> subscript(ExpressionPtr base);
  Result<ExpressionPtr> attribute(ExpressionPtr base);
  Result<ExpressionPtr> index_or_slice();
  Status arguments(Expression& call);
  Result<ExpressionPtr> call(ExpressionPtr base);
  Result<ExpressionPtr> filter(ExpressionPtr base);
  Result<ExpressionPtr> test(ExpressionPtr base);
  bool begins_test_argument() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace inlay::tmpl
