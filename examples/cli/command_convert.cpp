#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/model_path.h"
#include "examples/cli/progress.h"
#include "src/base/printable.h"

namespace inlay::cli {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

int convert_command(int argc, char** argv) {
  auto params = sized<inlay_convert_params>();
  Options options("convert MODEL OUT.gguf [options]",
                  "Writes a model, a GGUF file or a Hugging Face folder, as a GGUF file.");
  int32_t type = 0;
  const std::vector<std::string> types = {"f16", "bf16", "f32", "q8_0", "q4_0", "q4_k_m", "q5_k_m", "q6_k"};
  options.choice("--type", types, type, "type of the matrices (f16)");
  options.integer("-t --threads", params.n_threads, 1, 1024, "threads that compute (all cores)");
  const std::vector<std::string> rest = options.parse(argc, argv, 2);
  if (rest.size() < 2)
    options.usage_error(rest.empty() ? "no model given: name a GGUF file or a Hugging Face folder"
                                     : "no file to write given");
  if (std::ranges::find(types, lower(rest[1])) != types.end()) {
    options.usage_error(rest[1] + " is a type, which --type takes, and no name of a file; ./" + rest[1] + " would be one");
  }
  constexpr inlay_convert_type kTypes[] = {INLAY_CONVERT_F16,  INLAY_CONVERT_BF16,   INLAY_CONVERT_F32,    INLAY_CONVERT_Q8_0,
                                           INLAY_CONVERT_Q4_0, INLAY_CONVERT_Q4_K_M, INLAY_CONVERT_Q5_K_M, INLAY_CONVERT_Q6_K};
  params.type = kTypes[type];

  check_path(rest[0]);
  inlay_error error;
  inlay_status status = INLAY_OK;
  int interrupted = 0;
  uint64_t n_read = 0;
  {
    Progress progress("converting " + rest[0], true);
    params.progress = Progress::on_progress;
    params.progress_user = &progress;
    params.log = [](void*, inlay_log_level, const char* text, size_t n) {
      std::fprintf(stderr, "inlay: %.*s\n", static_cast<int>(n), text);
    };
    status = inlay_convert(rest[0].data(), rest[0].size(), rest[1].data(), rest[1].size(), &params, &error);
    if (progress.interrupted()) interrupted = progress.exit_code();
    n_read = progress.n_total();
  }
  if (status == INLAY_CANCELLED && interrupted != 0) fail(interrupted, "converting " + rest[0] + " was interrupted");
  check(status, error, "cannot convert", rest[0]);
  std::error_code failure;
  const uint64_t n_written = std::filesystem::file_size(rest[1], failure);
  if (failure) fail(kExitFailed, "cannot find " + rest[1] + " after it was written");
  std::printf("%s: %.1f MB; the tensors of %s: %.1f MB\n", printable(rest[1], LineEnds::escaped).c_str(),
              static_cast<double>(n_written) / 1e6, printable(rest[0], LineEnds::escaped).c_str(),
              static_cast<double>(n_read) / 1e6);
  return 0;
}

}  // namespace inlay::cli
