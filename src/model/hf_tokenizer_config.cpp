// The tokenizer's configuration of a folder, whichever files have its parts.
#include "src/base/files.h"
#include "src/formats/json.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_vocabulary.h"

namespace inlay {

Result<std::string> read_hf_tokenizer_config(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json", map_path = folder + "/special_tokens_map.json";
  std::string text;
  if (file_exists(path)) {
    INLAY_ASSIGN(text, read_text_file(path));
  }
  if (!file_exists(map_path)) return text;
  INLAY_ASSIGN(const JsonDocument config, JsonDocument::parse(text.empty() ? "{}" : text, path));
  if (config.root().find("added_tokens_decoder")) return text;
  INLAY_ASSIGN(const JsonDocument map, read_json_file(map_path));
  if (!map.root().is_object()) return map.root().expected("an object");
  std::string out;
  const auto add = [&](const JsonMember& member) { (out += out.empty() ? "{" : ",") += json_string(member.key) + ":" + json_text(member.value); };
  for (const JsonMember& member : map.root().members()) add(member);
  for (const JsonMember& member : config.root().members())
    if (!map.root().find(member.key)) add(member);
  return out.empty() ? text : out + "}";
}

}  // namespace inlay
