// Model files that shrink, grow, are rewritten, replaced or removed while they are read: an engine of what there was,
// or an error.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

namespace fs = std::filesystem;

struct Source {
  std::string name;    // of the file that changes, in the scratch folder
  std::string loaded;  // what is given to the library
  std::vector<uint8_t> bytes;
};

std::vector<Source> sources;
std::string folder;

bool copy_sources(Case& the_case) {
  folder = scratch_folder();
  std::error_code failure;
  fs::create_directories(folder + "/hf", failure);
  for (const auto& entry : fs::directory_iterator(source_path("examples/model/hf"), failure)) {
    fs::copy_file(entry.path(), folder + "/hf/" + entry.path().filename().string(),
                  fs::copy_options::overwrite_existing, failure);
  }
  if (failure) the_case.say("cannot copy a folder");
  sources = {{"tales.gguf", "tales.gguf", bytes_of_file(model_path("tales"))},
             {"small.gguf", "small.gguf", bytes_of_file(model_path("chat-bpe-qwen3-f32"))},
             {"quantized.gguf", "quantized.gguf", bytes_of_file(model_path("llama-q4_k_m"))}};
  for (const char* name : {"model.safetensors", "config.json", "tokenizer.json"}) {
    sources.push_back(
        {std::string("hf/") + name, "hf", bytes_of_file(source_path(std::string("examples/model/hf/") + name))});
  }
  return !failure && !sources[0].bytes.empty() && !sources[3].bytes.empty();
}

void remove_files() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

enum class Change { shrink, empty, grow, rewrite, overwrite_zeros, replace, remove, unreadable, count };

struct Plan {
  const Source* source = nullptr;
  std::string path;
  Change change = Change::shrink;
  size_t at = 0;
};

void write_at(const std::string& path, int flags, const void* data, size_t n) {
  const int fd = open(path.c_str(), O_WRONLY | flags | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (n > 0 && write(fd, data, n) < 0) unlink(path.c_str());
  close(fd);
}

void apply(const Plan& plan) {
  const std::vector<uint8_t>& bytes = plan.source->bytes;
  const std::vector<uint8_t> zeros(plan.change == Change::overwrite_zeros ? bytes.size() : 0);
  const std::string other = plan.path + ".new";
  switch (plan.change) {
    case Change::shrink:
      if (truncate(plan.path.c_str(), static_cast<off_t>(plan.at)) != 0) break;
      break;
    case Change::empty:
      write_at(plan.path, O_TRUNC, nullptr, 0);
      break;
    case Change::grow:
      write_at(plan.path, O_APPEND, bytes.data(), plan.at);
      break;
    case Change::rewrite:  // as a download that begins again
      write_at(plan.path, O_TRUNC, bytes.data(), bytes.size());
      break;
    case Change::overwrite_zeros:
      write_at(plan.path, 0, zeros.data(), zeros.size());
      break;
    case Change::replace:
      write_at(other, O_CREAT | O_TRUNC, bytes.data(), plan.at);
      if (rename(other.c_str(), plan.path.c_str()) != 0) unlink(other.c_str());
      break;
    case Change::remove:
      unlink(plan.path.c_str());
      break;
    default:
      chmod(plan.path.c_str(), 0);
      break;
  }
}

// The change comes at a step of the load's own progress, or after a time.
struct Trigger {
  const Plan* plan = nullptr;
  int until = 0;
};

int32_t on_progress(void* user, uint64_t, uint64_t) {
  auto& trigger = *static_cast<Trigger*>(user);
  if (--trigger.until == 0) apply(*trigger.plan);
  return 0;
}

void read_it(Host& host, const std::string& path, const inlay_load_params& params) {
  inlay_error err;
  switch (host.random().below(5)) {
    case 0: {
      inlay_memory_info info = sized<inlay_memory_info>();
      host.check("inlay_memory_plan", lib.inlay_memory_plan(path.data(), path.size(), &params, &info, &err), err);
      break;
    }
    case 1: {
      const std::string out = folder + "/out.gguf";
      inlay_convert_params convert = sized<inlay_convert_params>();
      convert.type = INLAY_CONVERT_Q8_0;
      convert.n_threads = 1;
      convert.progress = params.progress;
      convert.progress_user = params.progress_user;
      host.check("inlay_convert", lib.inlay_convert(path.data(), path.size(), out.data(), out.size(), &convert, &err),
                 err);
      unlink(out.c_str());
      break;
    }
    case 2: {
      char text[4096];
      int32_t n_devices = 0;
      size_t needed = 0;
      const auto form = static_cast<inlay_explain_form>(host.random().below(2));
      const inlay_status status =
          lib.inlay_explain(path.data(), path.size(), &params, form, &n_devices, text, sizeof text, &needed, &err);
      host.check("inlay_explain", status, err);
      break;
    }
    default:
      use_and_free(host, load_file(host, path, params));
      break;
  }
}

// How long a load takes here, for delays that fall into it.
double load_seconds(Host& host, const std::string& path, const inlay_load_params& params) {
  const auto begin = std::chrono::steady_clock::now();
  lib.inlay_free(load_file(host, path, params));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Outcome run(Case& the_case) {
  fuzz::Random& random = the_case.random;
  const Source& source = sources[random.below(sources.size())];
  Plan plan = {&source, folder + "/" + source.name,
               static_cast<Change>(random.below(static_cast<size_t>(Change::count))), 0};
  plan.at = random.below(source.bytes.size());
  unlink(plan.path.c_str());
  if (!write_file(plan.path, source.bytes.data(), source.bytes.size())) the_case.violated("cannot write " + plan.path);
  const std::string path = folder + "/" + source.loaded;
  Host host(the_case);
  host.expect_only({INLAY_IO, INLAY_FORMAT, INLAY_NOT_FOUND, INLAY_UNSUPPORTED, INLAY_INVALID_ARGUMENT});
  inlay_load_params params = small_params(random);
  Trigger trigger = {&plan, 0};
  std::thread changer;
  if (random.one_in(2)) {
    trigger.until = 1 + static_cast<int>(random.below(8));
    params.progress = on_progress;
    params.progress_user = &trigger;
  } else {
    Host alone(the_case);
    const double seconds = load_seconds(alone, path, params) * static_cast<double>(random.below(1000)) / 900;
    changer = std::thread([seconds, &plan] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      apply(plan);
    });
  }
  read_it(host, path, params);
  if (changer.joinable()) changer.join();
  chmod(plan.path.c_str(), 0644);
  return host.refused() ? Outcome::refused : Outcome::accepted;
}

}  // namespace

const Generator kFiles = {
    "files",      "model files that shrink, grow, are rewritten, replaced or removed while they are read",
    50,           20,
    copy_sources, run,
    remove_files};

}  // namespace inlay::abuse
