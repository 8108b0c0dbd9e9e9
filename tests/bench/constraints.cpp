// What constraints cost and whether they are right, over schemas with instances that tests/real/constraints.py prepares:
//   bench_constraints PIECES CASES
// PIECES: for each token a byte for its kind (0 text, 1 control, 2 end, 3 unused), four for its length, and its bytes. CASES: lines of
// JSON, {"schema": text, "tests": [{"valid": bool, "tokens": [int]}]}. For each case a line of JSON is printed: the error, or the
// microseconds to compile, of the first mask and of each token (mask and advance), and where each instance was stopped.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/json_schema.h"
#include "src/formats/json.h"

namespace {

using namespace inlay;
using namespace inlay::constraint;

std::string read_file(const char* path) {
  std::string out;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return out;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) out.append(buffer, n);
  std::fclose(file);
  return out;
}

// Of processor time: others may use the machine.
double now() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}
bool with_masks = true;

double microseconds(double begin) { return now() - begin; }

std::vector<Piece> pieces_of(const std::string& bytes) {
  std::vector<Piece> out;
  for (size_t at = 0; at + 5 <= bytes.size();) {
    uint32_t n = 0;
    std::memcpy(&n, bytes.data() + at + 1, 4);
    out.push_back({std::string_view(bytes).substr(at + 5, n), static_cast<PieceKind>(bytes[at])});
    at += 5 + n;
  }
  return out;
}

// Where the instance was stopped, or -1 if it was accepted.
int64_t run_instance(const std::shared_ptr<const Constraint>& constraint, const JsonValue& tokens, std::vector<uint32_t>& mask, std::string& times) {
  ConstraintState state(constraint);
  int64_t n = 0;
  for (const JsonValue element : tokens.elements()) {
    const auto token = static_cast<int32_t>(*element.as_i64());
    const auto begin = now();
    const Status status = with_masks ? state.mask(mask) : Status{};
    const bool allowed = !with_masks || (status.ok() && (mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0);
    const Status accepted = allowed ? state.accept_token(token) : status;
    char text[32];
    std::snprintf(text, sizeof text, "%s%.2f", times.empty() ? "" : ",", microseconds(begin));
    times += text;
    if (!accepted.ok()) std::fprintf(stderr, "%s\n", accepted.message.c_str());
    if (!allowed || !accepted.ok() || state.is_dead()) return n;
    ++n;
  }
  return state.is_complete() ? -1 : n;
}

void run_case(const JsonValue& one, const std::shared_ptr<const TokenTrie>& tokens, std::vector<uint32_t>& mask, const SchemaOptions& options) {
  const auto begin = now();
  auto compiled = compile_json_schema(std::string(*one.get("schema")->as_string()), options);
  Status status = compiled.ok() ? Status{} : compiled.status();
  std::shared_ptr<const Constraint> constraint;
  if (compiled.ok()) {
    auto made = Constraint::make(std::move(compiled->grammar), tokens);
    if (made.ok())
      constraint = *made;
    else
      status = made.status();
  }
  const double compile = microseconds(begin);
  if (!constraint) {
    std::printf("{\"error\":%s,\"compile\":%.2f}\n", json_string(status.message).c_str(), compile);
    return;
  }
  ConstraintState state(constraint);
  if (with_masks) (void)state.mask(mask);
  std::printf("{\"compile\":%.2f,\"first\":%.2f,\"stopped\":[", compile, microseconds(begin));
  std::string times;
  const char* comma = "";
  for (const JsonValue test : one.find("tests")->elements()) {
    std::printf("%s%lld", comma, static_cast<long long>(run_instance(constraint, *test.find("tokens"), mask, times)));
    comma = ",";
  }
  std::printf("],\"times\":[%s],\"memory\":%zu}\n", times.c_str(), constraint->memory());
}

}  // namespace

int main(int n_arguments, char** arguments) {
  if (n_arguments < 3) return std::fprintf(stderr, "usage: bench_constraints PIECES CASES [--lenient] [--without-masks]\n"), 2;
  const std::string vocabulary = read_file(arguments[1]), cases = read_file(arguments[2]);
  const auto begin = now();
  const auto tokens = TokenTrie::make(pieces_of(vocabulary));
  if (!tokens.ok()) return std::fprintf(stderr, "%s\n", tokens.status().message.c_str()), 1;
  std::fprintf(stderr, "vocabulary of %d tokens in %.0f us\n", (*tokens)->n_tokens(), microseconds(begin));
  SchemaOptions options;
  for (int i = 3; i < n_arguments; ++i) {
    options.lenient |= std::strcmp(arguments[i], "--lenient") == 0;
    with_masks &= std::strcmp(arguments[i], "--without-masks") != 0;
  }
  std::vector<uint32_t> mask((*tokens)->mask_words());
  for (size_t at = 0; at < cases.size();) {
    const size_t end = std::min(cases.find('\n', at), cases.size());
    const auto document = JsonDocument::parse(cases.substr(at, end - at), "case");
    if (!document.ok()) return std::fprintf(stderr, "%s\n", document.status().message.c_str()), 1;
    run_case(document->root(), *tokens, mask, options);
    at = end + 1;
  }
  return 0;
}
