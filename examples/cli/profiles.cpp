#include "examples/cli/profiles.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "examples/cli/system.h"
#include "examples/cli/words.h"

namespace inlay::cli {
namespace {

std::string profile_text(const inlay_engine* engine, inlay_profile_form form) {
  return text_of([&](char* buffer, size_t cap, size_t* needed,
                     inlay_error* error) { return inlay_profile_text(engine, form, buffer, cap, needed, error); },
                 "cannot print the profile");
}

void print_profile(const inlay_engine* engine, const ProfilePlan& plan, int32_t n_tokens, int32_t n_past) {
  auto params = sized<inlay_profile_params>();
  params.n_tokens = n_tokens;
  params.n_past = n_past;
  params.n_repetitions = plan.n_repetitions;
  inlay_error error;
  check(inlay_profile_step(engine, &params, &error), error,
        "cannot profile " + counted(static_cast<uint64_t>(n_tokens), "token") + " after " + std::to_string(n_past));
  if (plan.timeline) std::printf("%s\n", profile_text(engine, INLAY_PROFILE_TIMELINE).c_str());
  std::printf("%s\n", profile_text(engine, INLAY_PROFILE_KINDS).c_str());
  std::fflush(stdout);
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = open_file(path, 'w');
  if (!file) fail(kExitFailed, "cannot write " + path + ": " + std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) fail(kExitFailed, "cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

void print_profiles(const inlay_engine* engine, const ProfilePlan& plan) {
  for (const int32_t depth : plan.depths) print_profile(engine, plan, 1, depth);
  for (const int32_t depth : plan.prompt_depths)
    for (const int32_t prompt : plan.prompts) print_profile(engine, plan, prompt, depth);
  if (!plan.trace.empty()) write_file(plan.trace, profile_text(engine, INLAY_PROFILE_TRACE));
}

}  // namespace inlay::cli
