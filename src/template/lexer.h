// A template's text as tokens. Blocks swallow the line break behind them and the blanks in front of them on their line
// (trim_blocks and lstrip_blocks), which is how chat templates are written to be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/template/position.h"

namespace inlay::tmpl {

enum class TokenKind : uint8_t {
  text,         // outside of tags
  print_begin,  // {{
  print_end,    // }}
  block_begin,  // {%
  block_end,    // %}
  name,
  string,  // `text` is what the literal means
  integer,
  real,
  sign,  // an operator or a bracket; `text` spells it
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  Position position;

  bool is(TokenKind wanted, std::string_view spelling) const { return kind == wanted && text == spelling; }
  bool is_sign(std::string_view spelling) const { return is(TokenKind::sign, spelling); }
  bool is_name(std::string_view spelling) const { return is(TokenKind::name, spelling); }
  std::string describe() const;  // for messages
};

// The last token is `end`. `source` must be well-formed UTF-8.
Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace inlay::tmpl
