// The chat templates of a folder.
#include <map>

#include "src/base/files.h"
#include "src/model/hf_token_list.h"

namespace inlay {
namespace {

constexpr const char *kTemplateKey = "tokenizer.chat_template", *kDefaultTemplate = "default";

using Templates = std::map<std::string, std::string, std::less<>>;  // by name

// chat_template.jinja and additional_chat_templates/NAME.jinja
Result<Templates> templates_of_files(const std::string& folder) {
  Templates out;
  const std::string usual = folder + "/chat_template.jinja";
  if (file_exists(usual)) {
    INLAY_ASSIGN(out[kDefaultTemplate], read_text_file(usual));
  }
  const std::string others = folder + "/additional_chat_templates";
  INLAY_ASSIGN(const std::vector<std::string> names, names_in(others));
  for (const std::string& name : names) {
    constexpr std::string_view kEnd = ".jinja";
    const std::string file = others + "/" + name;
    if (name.size() <= kEnd.size() || !name.ends_with(kEnd) || !file_exists(file)) continue;
    INLAY_ASSIGN(std::string text, read_text_file(file));
    out.emplace(name.substr(0, name.size() - kEnd.size()), std::move(text));
  }
  return out;
}

// The value of "chat_template": a text, a list of {"name", "template"}, or an object of texts by name.
Result<Templates> templates_of_key(const JsonValue& given) {
  Templates out;
  const auto add = [&](std::string_view name, const JsonValue& text) -> Status {
    INLAY_ASSIGN(out[std::string(name)], text.as_string());
    return {};
  };
  if (given.is_array()) {
    for (const JsonValue& named : given.elements()) {
      INLAY_ASSIGN(const JsonValue name, named.get("name"));
      INLAY_ASSIGN(const std::string_view name_text, name.as_string());
      INLAY_ASSIGN(const JsonValue text, named.get("template"));
      INLAY_TRY(add(name_text, text));
    }
  } else if (given.is_object()) {
    for (const JsonMember& named : given.members()) INLAY_TRY(add(named.key, named.value));
  } else if (given.is_string()) {
    INLAY_TRY(add(kDefaultTemplate, given));
  } else {
    return given.expected("a template, or several by name");
  }
  return out;
}

}  // namespace

Status add_hf_templates(const std::string& folder, MetadataBuilder& metadata) {
  INLAY_ASSIGN(Templates templates, templates_of_files(folder));
  for (const char* file : {"tokenizer_config.json", "chat_template.json", "processor_config.json"}) {
    if (templates.contains(kDefaultTemplate)) break;
    INLAY_ASSIGN(const std::optional<JsonDocument> document, read_if_there(folder + "/" + file));
    const auto given = member(document, "chat_template");
    if (!given) continue;
    INLAY_ASSIGN(Templates named, templates_of_key(*given));
    templates.merge(named);  // those that are there stay
  }
  for (const auto& [name, text] : templates) {
    metadata.text(name == kDefaultTemplate ? kTemplateKey : std::string(kTemplateKey) + "." + name, text);
  }
  return {};
}

}  // namespace inlay
