#include "src/template/parser.h"

#include <algorithm>
#include <string>

#include "src/template/expression_parser.h"
#include "src/template/lexer.h"

namespace inlay::tmpl {

namespace {

using Names = std::initializer_list<std::string_view>;

std::string listed(Names names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "'" : " or '") + std::string(name) + "'";
  return out;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : in_(std::move(tokens)) {}

  Result<Body> run() { return body({}, {}); }

 private:
  // Statements up to the tag that one of `ends` begins, whose name is the next token; to the end if there is none.
  Result<Body> body(Names ends, Position opened) {
    if (in_.stack.is_spent()) return in_.stack.go_on([&] { return body(ends, opened); });
    const ExpressionParser::Nesting nesting(in_);
    INLAY_TRY(nesting.check());
    Body out;
    while (true) {
      const Token& token = in_.peek();
      if (token.kind == TokenKind::end) {
        if (ends.size() == 0) return out;
        return in_.fail(token.position, Code::format,
                        "the template ends inside the block of line " + std::to_string(opened.line) + "; " +
                            listed(ends) + " is missing");
      }
      if (token.kind == TokenKind::block_begin) {
        in_.take();
        const Token& name = in_.peek();
        if (name.kind == TokenKind::name && std::find(ends.begin(), ends.end(), name.text) != ends.end()) return out;
      }
      INLAY_ASSIGN(Statement next, token.kind == TokenKind::block_begin ? tag(ends) : outside_of_tags());
      out.push_back(std::move(next));
    }
  }

  // The body, and the tag that ends it.
  Result<Body> block(Names ends, Position opened) {
    INLAY_TRY(in_.expect(TokenKind::block_end, "'%}'"));
    INLAY_ASSIGN(Body inside, body(ends, opened));
    return inside;
  }
  Result<Body> whole_block(std::string_view end, Position opened) {
    INLAY_ASSIGN(Body inside, block({end}, opened));
    INLAY_TRY(close());
    return inside;
  }
  Status close() {
    in_.take();
    return in_.expect(TokenKind::block_end, "'%}'");
  }

  static Statement make(StatementKind kind, Position position) {
    Statement out;
    out.kind = kind;
    out.position = position;
    return out;
  }

  Result<Statement> outside_of_tags() {
    const Token& token = in_.take();
    if (token.kind == TokenKind::text) {
      Statement out = make(StatementKind::text, token.position);
      out.text = token.text;
      return out;
    }
    Statement out = make(StatementKind::print, token.position);
    INLAY_ASSIGN(ExpressionPtr value, in_.tuple(true));
    out.expressions.push_back(std::move(value));
    INLAY_TRY(in_.expect(TokenKind::print_end, "'}}'"));
    return out;
  }

  Result<Statement> tag(Names ends) {
    if (in_.peek().kind != TokenKind::name) return in_.unexpected("the name of a tag");
    struct Tag {
      const char* name;
      Result<Statement> (Parser::*parse)(Position);
    };
    static constexpr Tag kTags[] = {{"if", &Parser::branch},       {"for", &Parser::loop},
                                    {"set", &Parser::assignment},  {"macro", &Parser::macro},
                                    {"call", &Parser::call_block}, {"filter", &Parser::filter_block},
                                    {"with", &Parser::scope},      {"generation", &Parser::generation},
                                    {"break", &Parser::leave},     {"continue", &Parser::next}};
    const Token& name = in_.take();
    for (const Tag& known : kTags)
      if (name.text == known.name) return (this->*known.parse)(name.position);
    return unknown_tag(name, ends);
  }

  Status unknown_tag(const Token& name, Names ends) {
    if (name.text.starts_with("end") || name.text == "else" || name.text == "elif")
      return in_.fail(name.position, Code::format,
                      "the tag '" + name.text + "' closes nothing" +
                          (ends.size() ? "; " + listed(ends) + " should come first" : std::string()));
    return in_.fail(name.position, Code::unsupported, "the tag '" + name.text + "' is not supported");
  }

  Result<Statement> branch(Position position) {
    Statement out = make(StatementKind::branch, position);
    for (bool more = true; more;) {
      INLAY_ASSIGN(ExpressionPtr guard, in_.tuple(false));
      INLAY_ASSIGN(Body inside, block({"elif", "else", "endif"}, position));
      out.expressions.push_back(std::move(guard));
      out.bodies.push_back(std::move(inside));
      more = in_.skip_name("elif");
    }
    if (in_.skip_name("else")) {
      INLAY_ASSIGN(Body inside, block({"endif"}, position));
      out.bodies.push_back(std::move(inside));
    }
    INLAY_TRY(close());
    return out;
  }

  Result<Statement> loop(Position position) {
    Statement out = make(StatementKind::loop, position);
    INLAY_ASSIGN(ExpressionPtr target, in_.target());
    INLAY_TRY(in_.expect_name("in"));
    INLAY_ASSIGN(ExpressionPtr sequence, in_.tuple(false));
    ExpressionPtr guard;
    if (in_.skip_name("if")) {
      INLAY_ASSIGN(guard, in_.expression());
    }
    out.recursive = in_.skip_name("recursive");
    out.targets.push_back(std::move(target));
    out.expressions.push_back(std::move(sequence));
    out.expressions.push_back(std::move(guard));
    ++n_loops_;
    INLAY_ASSIGN(Body inside, block({"else", "endfor"}, position));
    --n_loops_;
    out.bodies.push_back(std::move(inside));
    if (in_.skip_name("else")) {
      INLAY_ASSIGN(Body otherwise, block({"endfor"}, position));
      out.bodies.push_back(std::move(otherwise));
    }
    INLAY_TRY(close());
    return out;
  }

  Result<Statement> leave(Position position) { return loop_control(StatementKind::leave, position); }
  Result<Statement> next(Position position) { return loop_control(StatementKind::next, position); }
  Result<Statement> loop_control(StatementKind kind, Position position) {
    if (n_loops_ == 0) return in_.fail(position, Code::format, "'break' and 'continue' belong in a loop");
    INLAY_TRY(in_.expect(TokenKind::block_end, "'%}'"));
    return make(kind, position);
  }

  Result<Statement> assignment(Position position) {
    Statement out = make(StatementKind::assign, position);
    ExpressionPtr target;
    if (in_.peek().kind == TokenKind::name && in_.peek(1).is_sign(".")) {
      INLAY_ASSIGN(ExpressionPtr object, in_.target_name());
      in_.take();
      if (in_.peek().kind != TokenKind::name) return in_.unexpected("the name of an attribute");
      target = in_.make(ExpressionKind::attribute, in_.peek().position);
      target->name = in_.take().text;
      target->parts.push_back(std::move(object));
    } else {
      INLAY_ASSIGN(target, in_.target());
    }
    out.targets.push_back(std::move(target));
    if (in_.skip_sign("=")) {
      INLAY_ASSIGN(ExpressionPtr value, in_.tuple(true));
      INLAY_TRY(in_.expect(TokenKind::block_end, "'%}'"));
      out.expressions.push_back(std::move(value));
      return out;
    }
    out.kind = StatementKind::capture;
    ExpressionPtr filters;
    if (in_.skip_sign("|")) {
      INLAY_ASSIGN(filters, in_.filter_chain());
    }
    out.expressions.push_back(std::move(filters));
    INLAY_ASSIGN(Body inside, whole_block("endset", position));
    out.bodies.push_back(std::move(inside));
    return out;
  }

  // (name, name=default, ...)
  Status parameters(MacroDefinition& macro) {
    INLAY_TRY(in_.expect_sign("("));
    while (!in_.peek().is_sign(")")) {
      if (!macro.parameters.empty()) INLAY_TRY(in_.expect_sign(","));
      if (in_.peek().is_sign(")")) break;
      INLAY_ASSIGN(ExpressionPtr name, in_.target_name());
      macro.parameters.push_back(name->name);
      if (in_.skip_sign("=")) {
        INLAY_ASSIGN(ExpressionPtr value, in_.expression());
        macro.defaults.push_back(std::move(value));
      } else if (!macro.defaults.empty()) {
        return in_.fail(name->position, Code::format, "a parameter without a default behind one that has one");
      }
    }
    in_.take();
    return {};
  }

  Status macro_body(MacroDefinition& macro, std::string_view end, Position position) {
    in_.macros.push_back(&macro);
    const size_t n_loops = std::exchange(n_loops_, 0);
    INLAY_ASSIGN(macro.body, whole_block(end, position));
    n_loops_ = n_loops;
    in_.macros.pop_back();
    return {};
  }

  Result<Statement> macro(Position position) {
    Statement out = make(StatementKind::macro, position);
    out.macro = std::make_unique<MacroDefinition>();
    INLAY_ASSIGN(ExpressionPtr name, in_.target_name());
    out.macro->name = name->name;
    INLAY_TRY(parameters(*out.macro));
    INLAY_TRY(macro_body(*out.macro, "endmacro", position));
    return out;
  }

  Result<Statement> call_block(Position position) {
    Statement out = make(StatementKind::call_block, position);
    out.macro = std::make_unique<MacroDefinition>();
    out.macro->name = "caller";
    if (in_.peek().is_sign("(")) INLAY_TRY(parameters(*out.macro));
    INLAY_ASSIGN(ExpressionPtr call, in_.expression());
    if (call->kind != ExpressionKind::call)
      return in_.fail(call->position, Code::format, "the tag 'call' needs a call");
    out.expressions.push_back(std::move(call));
    INLAY_TRY(macro_body(*out.macro, "endcall", position));
    return out;
  }

  Result<Statement> filter_block(Position position) {
    Statement out = make(StatementKind::filter_block, position);
    INLAY_ASSIGN(ExpressionPtr filters, in_.filter_chain());
    out.expressions.push_back(std::move(filters));
    INLAY_ASSIGN(Body inside, whole_block("endfilter", position));
    out.bodies.push_back(std::move(inside));
    return out;
  }

  Result<Statement> scope(Position position) {
    Statement out = make(StatementKind::scope, position);
    while (in_.peek().kind != TokenKind::block_end) {
      if (!out.targets.empty()) INLAY_TRY(in_.expect_sign(","));
      INLAY_ASSIGN(ExpressionPtr target, in_.target_name());
      INLAY_TRY(in_.expect_sign("="));
      INLAY_ASSIGN(ExpressionPtr value, in_.expression());
      out.targets.push_back(std::move(target));
      out.expressions.push_back(std::move(value));
    }
    INLAY_ASSIGN(Body inside, whole_block("endwith", position));
    out.bodies.push_back(std::move(inside));
    return out;
  }

  // Marks what the model wrote, for training; here its body is all that counts.
  Result<Statement> generation(Position position) {
    Statement out = make(StatementKind::group, position);
    INLAY_ASSIGN(Body inside, whole_block("endgeneration", position));
    out.bodies.push_back(std::move(inside));
    return out;
  }

  ExpressionParser in_;
  size_t n_loops_ = 0;  // loops around here, within the same macro
};

}  // namespace

Result<Body> parse(std::string_view source) {
  INLAY_ASSIGN(auto tokens, tokenize(source));
  return Parser(std::move(tokens)).run();
}

}  // namespace inlay::tmpl
