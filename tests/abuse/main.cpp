// Abuse of the library by generated cases: hostile files and arguments, memory that runs out, files that change,
// signals, forks.
//
//   inlay_abuse NAME|list|all [--count N] [--seed S] [--seconds T] [--limit T] [--only I] [--library PATH] [--plant]
//
// A case is made of the seed and its number alone: --only runs one again. --limit is the time after which a case hangs.
// --library opens another library than the build's. --plant adds faults of this program's own, which have to be in the
// table. The exit status is 1 if a column after `accepted` is not 0, or if no case was accepted, or of a hundred none
// refused where the generator is to be refused: then nothing was tried.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "tests/abuse/children.h"
#include "tests/abuse/runner.h"

namespace inlay::abuse {

namespace fs = std::filesystem;

std::string source_path(std::string_view path) { return INLAY_SOURCE_DIR "/" + std::string(path); }

std::string model_path(std::string_view name) {
  return source_path(name == "tales" ? "examples/model/tales.gguf"
                                     : "tests/data/models/" + std::string(name) + ".gguf");
}

namespace {
std::string library = INLAY_LIBRARY;
}
std::string library_path() { return library; }
std::string tool_path() { return INLAY_TOOL; }
std::string failing_calls_path() { return INLAY_FAILING_CALLS; }

namespace {
std::string scratch;  // the first call is the parent's
}
std::string scratch_folder() {
  if (scratch.empty())
    scratch = (fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/inlay-abuse-" + std::to_string(getpid());
  fs::create_directories(scratch);
  return scratch;
}

namespace {

const Generator* const kGenerators[] = {
#ifndef _WIN32
    &kLimit, &kCalls, &kNewThreads, &kToolLimit, &kToolCalls, &kFiles, &kPairs, &kForks, &kSignals,
#endif
    &kGguf, &kFolders, &kApi, &kTemplates};

int usage() {
  std::fprintf(stderr,
               "usage: inlay_abuse NAME|list|all [--count N] [--seed S] [--seconds T] [--limit T] [--only I] "
               "[--library PATH] [--plant]\n");
  return 2;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--plant") {
      options.plant = true;
      continue;
    }
    if (++i == argc) return false;
    if (name == "--library") {
      options.library = library = argv[i];
      continue;
    }
    char* end = nullptr;
    const double value = std::strtod(argv[i], &end);
    if (*end != 0 || end == argv[i] || value < 0) return false;
    if (name == "--count")
      options.count = static_cast<uint64_t>(value);
    else if (name == "--seed")
      options.seed = std::strtoull(argv[i], nullptr, 10);
    else if (name == "--seconds")
      options.seconds = value;
    else if (name == "--limit")
      options.limit_s = value;
    else if (name == "--only")
      options.only = static_cast<int64_t>(value);
    else
      return false;
  }
  return true;
}

void print_row(const char* name, const Totals& t) {
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%-11s %9llu %9llu %9llu %9llu %8llu %6llu %7llu %6llu\n", name, n(t.n_cases), n(t.n_calls),
              n(t.n_refused), n(t.n_accepted), n(t.n_crashed), n(t.n_hung), n(t.n_leaked), n(t.n_other));
  std::fflush(stdout);
}

bool tried(const Generator& generator, const Options& options, const Totals& totals) {
  if (options.only >= 0) return true;
  const bool out = totals.n_accepted > 0 && (totals.n_refused > 0 || !generator.refuses || totals.n_cases < 100);
  if (!out) std::printf("%s: no case was %s\n", generator.name, totals.n_accepted == 0 ? "accepted" : "refused");
  return out;
}

int run_all(std::string_view which, const Options& options) {
  bool clean = true, any = false;
  std::printf("%-11s %9s %9s %9s %9s %8s %6s %7s %6s\n", "", "cases", "calls", "refused", "accepted", "crashed", "hung",
              "leaked", "other");
  for (const Generator* generator : kGenerators) {
    if (which != "all" && which != generator->name) continue;
    any = true;
    if (INLAY_SANITIZED && !generator->sanitized) {
      std::printf("%-11s left out: a sanitizer stands where it stands\n", generator->name);
      continue;
    }
    const Totals totals = run(*generator, options, "inlay_abuse");
    print_row(generator->name, totals);
    clean = clean && totals.faults() == 0 && tried(*generator, options, totals);
  }
  return any ? (clean ? 0 : 1) : usage();
}

int list() {
  for (const Generator* generator : kGenerators) std::printf("%-11s %s\n", generator->name, generator->does);
  return 0;
}

#ifdef INLAY_NO_DRIVER
// Begins this program again with a folder in front in which CUDA's driver cannot be opened: what NVIDIA's driver does where malloc
// fails, and the files and threads that it keeps, are not this library's.
void hide_driver(char** argv) {
  const char* had = std::getenv("LD_LIBRARY_PATH");
  const std::string before = had ? had : "";
  if (before.starts_with(INLAY_NO_DRIVER)) return;
  setenv("LD_LIBRARY_PATH", (INLAY_NO_DRIVER + (before.empty() ? "" : ":" + before)).c_str(), 1);
  execv("/proc/self/exe", argv);
  std::perror("inlay_abuse: cannot begin again");
  std::exit(2);
}
#endif

}  // namespace

#ifdef _WIN32
void set_scratch_folder(const std::string& path) { scratch = path; }
void set_library(const std::string& path) { library = path; }
const Generator* find_generator(std::string_view name) {
  const auto found = std::find_if(std::begin(kGenerators), std::end(kGenerators), [&](const Generator* g) { return g->name == name; });
  return found == std::end(kGenerators) ? nullptr : *found;
}
#endif
}  // namespace inlay::abuse

int main(int argc, char** argv) {
  using namespace inlay::abuse;
#ifdef _WIN32
  if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return be_started_child(argc - 2, argv + 2);
#endif
  Options options;
  if (argc < 2 || !read_options(argc, argv, options)) return usage();
  if (std::strcmp(argv[1], "list") == 0) return list();
#ifdef INLAY_NO_DRIVER
  hide_driver(argv);
#endif
  scratch_folder();
  const int status = run_all(argv[1], options);
  std::error_code ignored;
  fs::remove_all(scratch_folder(), ignored);
  return status;
}
