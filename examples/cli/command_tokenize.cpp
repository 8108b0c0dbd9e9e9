#include <algorithm>
#include <cstdio>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/json_line.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

// In quotes, with what cannot be shown as escapes.
std::string quoted_piece(const std::string& text) {
  std::string marked;
  for (const char c : text) {
    if (c == '"' || c == '\\') marked += '\\';
    marked += c;
  }
  return '"' + printable(marked) + '"';
}

// Ids with blanks, commas, brackets or line ends between.
std::vector<int32_t> parse_ids(const Options& options, const std::string& text) {
  std::vector<int32_t> ids;
  for (size_t at = 0; (at = text.find_first_not_of(" ,\n\t\r[]", at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" ,\n\t\r[]", at), text.size());
    const std::string word = text.substr(at, end - at);
    int64_t id = 0;
    if (!parse_integer(word, 0, INT32_MAX, id))
      options.usage_error("--decode is expected to be token ids, whole numbers from 0 on, not '" + word + "'");
    ids.push_back(static_cast<int32_t>(id));
    at = end;
  }
  return ids;
}

void print_json(const inlay_engine* engine, const std::vector<int32_t>& tokens) {
  std::vector<std::string> ids, pieces;
  for (const int32_t token : tokens) {
    ids.push_back(std::to_string(token));
    pieces.push_back(json_text(piece_of(engine, token)));
  }
  JsonLine line;
  line.list("ids", ids);
  line.list("pieces", pieces);
  std::printf("%s\n", line.finished().c_str());
}

void print_tokens(const inlay_engine* engine, const std::vector<int32_t>& tokens, bool ids_only) {
  if (ids_only) {
    for (size_t i = 0; i < tokens.size(); ++i) std::printf("%s%d", i > 0 ? " " : "", tokens[i]);
    std::printf("\n");
    return;
  }
  for (const int32_t token : tokens) std::printf("%d\t%s\n", token, quoted_piece(piece_of(engine, token)).c_str());
}

}  // namespace

int tokenize_command(int argc, char** argv) {
  LoadOptions load;
  load.n_context = load.max_sessions = 1;
  std::string file, ids;
  bool has_file = false, decode = false, ids_only = false, json = false, no_bos = false, special = false;
  Options options("tokenize MODEL [TEXT] [options]",
                  "Prints the tokens of a text, one a line: id and piece. With --decode, prints the text of tokens.");
  options.text("-f --file", "PATH", file, &has_file, "take the text from a file; - is the standard input");
  options.flag("--ids", ids_only, "print the ids only, on one line");
  options.flag("--json", json, "print one line of JSON: ids and pieces, or with --decode the text");
  options.text("--decode", "IDS", ids, &decode, "print the text of these ids, with commas or blanks between");
  options.flag("--no-bos", no_bos, "leave out the BOS and EOS tokens that the model asks for");
  options.flag("--special", special,
               "turn control tokens written in the text into their ids, and show them in decoded text");
  load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 2);
  if (rest.empty()) options.usage_error("no model given: name a GGUF file or a Hugging Face folder");
  if ((rest.size() == 2) + has_file + decode != 1) options.usage_error("give one of TEXT, --file and --decode");
  if (json && ids_only) options.usage_error("give one of --json and --ids");

  const std::vector<int32_t> given = parse_ids(options, ids);
  const std::string text = has_file ? read_file(file) : rest.size() == 2 ? rest[1] : "";
  const EnginePtr engine = load_file(rest[0], load);
  if (decode) {
    const std::string decoded = detokenize(engine.get(), given, special ? INLAY_DETOKENIZE_SHOW_SPECIAL : 0);
    if (json) {
      JsonLine line;
      line.text("text", decoded);
      std::printf("%s\n", line.finished().c_str());
      return 0;
    }
    std::fwrite(decoded.data(), 1, decoded.size(), stdout);
    std::fputc('\n', stdout);
    return 0;
  }
  const inlay_tokenize_flags flags =
      (no_bos ? INLAY_TOKENIZE_NO_BOS_EOS : 0) | (special ? INLAY_TOKENIZE_PARSE_SPECIAL : 0);
  const std::vector<int32_t> tokens = tokenize(engine.get(), text, flags);
  json ? print_json(engine.get(), tokens) : print_tokens(engine.get(), tokens, ids_only);
  return 0;
}

}  // namespace inlay::cli
