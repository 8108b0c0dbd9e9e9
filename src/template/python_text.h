// Values as Python's str(), repr() and % write them.
#pragma once

#include <string>

#include "src/template/object.h"
#include "src/template/run.h"

namespace inlay::tmpl {

std::string real_text(double value);                        // repr of a float
std::string quoted_text(std::string_view text);             // repr of a str
Result<std::string> to_text(Run& run, const Value& value);  // str()
Result<std::string> repr(Run& run, const Value& value);
Status append_text(Run& run, const Value& value, bool escaped, Text& out);  // str(), for HTML if `escaped`
// Joined as ~ and the filter join do.
Result<Value> join_plainly(Run& run, const std::vector<Value>& parts, const Value& separator);
// Joined as + and the method join do: where one is markup, the others are escaped.
Result<Value> join_texts(Run& run, const std::vector<Value>& parts, const Value& separator);
// printf-style: `arguments` is a tuple, a map for %(name)s, or a single value.
Result<Value> percent_format(Run& run, const std::string& format, const Value& arguments);
// str.format, with attributes and items of arguments, conversions, and format specifications of strings and numbers.
Result<Value> brace_format(Run& run, const std::string& format, const Arguments& arguments);

}  // namespace inlay::tmpl
