// Chat templates: Jinja as the models' files use it, set up as Hugging Face transformers does.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/template/run.h"
#include "src/template/syntax.h"
#include "src/template/value.h"

namespace inlay::tmpl {

inline constexpr size_t kMaxTemplateBytes = size_t{4} << 20;

// Immutable once parsed; any number of threads may render it at once.
class Template {
 public:
  // Errors name line and column: Code::format for what is no Jinja, Code::unsupported for what is not known here.
  static Result<Template> parse(std::string_view source);

  // `context` names the variables: messages, tools, add_generation_prompt, bos_token and so on. `now` is local time,
  // for strftime_now. Errors name line and column of the template: Code::invalid_argument where the template refuses
  // the messages or fails on them, Code::unsupported where it needs what is not known here or runs past `limits`.
  Result<std::string> render(const Map& context, const std::tm& now, const Limits& limits = {}) const;
  // The same, with what comes from foreign values of the context.
  Result<Text> render_marked(const Map& context, const std::tm& now, const Limits& limits = {}) const;

 private:
  explicit Template(Body body) : body_(std::make_shared<const Body>(std::move(body))) {}
  std::shared_ptr<const Body> body_;
};

}  // namespace inlay::tmpl
