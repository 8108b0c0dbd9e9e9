// Numbers in text as Python's int() and float() read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace inlay::tmpl {

// Base 0 takes the base from a prefix 0x, 0o or 0b. Nothing if the text is no number or does not fit.
std::optional<int64_t> parse_integer(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);

// Of a decimal digit of any script; -1 of others.
int decimal_value(uint32_t code_point);

}  // namespace inlay::tmpl
