#include "src/template/template.h"

#include "src/formats/text.h"
#include "src/template/interpreter.h"
#include "src/template/parser.h"

namespace inlay::tmpl {

Result<Template> Template::parse(std::string_view source) {
  if (source.size() > kMaxTemplateBytes)
    return error(Code::unsupported, "the template has %zu bytes, more than %zu", source.size(), kMaxTemplateBytes);
  if (!is_valid_utf8(source)) return error(Code::format, "the template is not valid UTF-8");
  INLAY_ASSIGN(Body body, tmpl::parse(source));
  return Template(std::move(body));
}

Result<std::string> Template::render(const Map& context, const std::tm& now, const Limits& limits) const {
  INLAY_ASSIGN(Text text, render_marked(context, now, limits));
  return std::move(text.bytes);
}

Result<Text> Template::render_marked(const Map& context, const std::tm& now, const Limits& limits) const {
  Run run(limits, now);
  Interpreter interpreter(run, context);
  return interpreter.render(*body_);
}

}  // namespace inlay::tmpl
