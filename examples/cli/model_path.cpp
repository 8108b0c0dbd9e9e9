#include "examples/cli/model_path.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "examples/cli/engine.h"
#include "examples/cli/failure.h"

namespace inlay::cli {
namespace {

constexpr size_t kMostNames = 5;

// Of a split file's parts the first one.
bool is_later_part(const std::string& name) {
  const size_t of = name.rfind("-of-");
  return of != std::string::npos && of >= 6 && name[of - 6] == '-' && name.compare(of - 5, 5, "00001") != 0;
}

std::vector<std::string> gguf_files(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator(folder, problem);
       !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    if (entry->path().extension() == ".gguf" && !is_later_part(entry->path().filename().string()))
      names.push_back(entry->path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Is one of the files of a folder, but none that stands for the model.
bool is_beside_model(const std::filesystem::path& path) {
  std::error_code problem;
  const std::string name = path.filename().string(), kind = path.extension().string();
  const bool stands_for_it = name == "config.json" || name.ends_with(".index.json");
  return (kind == ".json" || kind == ".jinja" || kind == ".model") && !stands_for_it && std::filesystem::is_regular_file(path, problem) &&
         std::filesystem::exists(path.parent_path() / "config.json", problem);
}

}  // namespace

void check_path(const std::string& path) {
  std::error_code problem;
  if (is_beside_model(path)) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    fail(kExitFailed, path + " is one file of a model; the model is the folder: give " + (folder.empty() ? "." : folder));
  }
  if (!std::filesystem::is_directory(path, problem) || std::filesystem::exists(path + "/config.json", problem)) return;
  const std::vector<std::string> files = gguf_files(path);
  if (files.empty()) fail(kExitFailed, path + " is a folder without a model: it has no config.json and no GGUF file");
  if (files.size() == 1) fail(kExitFailed, path + " is a folder; the model is the file in it: give " + files[0]);
  std::string list;
  for (size_t i = 0; i < std::min(files.size(), kMostNames); ++i) list += "\n  " + files[i];
  if (files.size() > kMostNames) list += "\n  and " + std::to_string(files.size() - kMostNames) + " more";
  fail(kExitFailed, path + " is a folder; give one of the files in it:" + list);
}

int32_t trained_context_of(const std::string& path) {
  const auto params = sized<inlay_load_params>();
  size_t n = 0;
  const auto explain = [&](char* buffer, size_t cap) {
    return inlay_explain(path.data(), path.size(), &params, INLAY_EXPLAIN_JSON, nullptr, buffer, cap, &n, nullptr) == INLAY_OK;
  };
  if (!explain(nullptr, 0)) return 0;
  std::string text(n + 1, '\0');
  if (!explain(text.data(), text.size())) return 0;
  constexpr std::string_view kMember = "\"n_context_train\": ";  // quotation marks of texts have a backslash before them
  const size_t at = text.find(kMember);
  int32_t value = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + kMember.size(), text.data() + text.size(), value);
  return value;
}

}  // namespace inlay::cli
