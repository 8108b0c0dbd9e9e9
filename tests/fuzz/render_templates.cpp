// Renders the templates of its input: a line of JSON {"template", "context"} each; writes a line {"text"} or {"error", "code"} for each.
#include <iostream>
#include <string>

#include "src/template/template.h"
#include "tests/support/template_values.h"

int main() {
  using namespace inlay;
  using Json = nlohmann::ordered_json;
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const Json job = Json::parse(line);
    const auto parsed = tmpl::Template::parse(job["template"].get<std::string>());
    const auto out = parsed.ok() ? parsed->render(tmpl::value_of(job["context"]).map(), {}) : parsed.status();
    Json answer;
    if (out.ok())
      answer["text"] = *out;
    else
      answer["error"] = out.status().message, answer["code"] = static_cast<int>(out.status().code);
    std::cout << answer.dump() << "\n";
  }
}
