#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "examples/cli/bench_fit.h"
#include "examples/cli/bench_limits.h"
#include "examples/cli/benchmark.h"
#include "examples/cli/commands.h"
#include "examples/cli/engine.h"
#include "examples/cli/model_path.h"
#include "examples/cli/options.h"
#include "examples/cli/profiles.h"
#include "examples/cli/synthetic_model.h"
#include "examples/cli/system.h"

namespace inlay::cli {
namespace {

// What a plain read may miss of the memory's speed.
constexpr double kDeviceTolerance = 1.25, kHostTolerance = 1.5;
constexpr double kBusyCores = 0.3;  // taken by other programs: figures are doubtful
constexpr int kMostReads = 5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct BenchRequest {
  std::string path;
  std::string save_path;  // where a random model is written and loaded from; empty: it is loaded as it is made
  SyntheticRequest synthetic;
  bool has_shape = false, has_recipe = false, quick = false, list = false, profile = false;
  ProfilePlan profiles;
  BenchmarkPlan plan;
  GivenFigures given;
  LoadOptions load;
};

// Seconds. The first program that asks for them waits until the driver has started.
double find_devices() {
  const double start = now();
  (void)inlay_device_count();
  return now() - start;
}

// A loaded model, and what the line says about how it came to be.
struct Subject {
  EnginePtr engine;
  std::string name;
  uint64_t n_bytes = 0;
  double load_seconds = 0.0;
  double init_seconds = find_devices();  // before loading, as programs do that choose a device
  double generate_seconds = 0.0;         // not part of load_seconds
  std::unique_ptr<std::string> load_times = std::make_unique<std::string>();  // the engine's log knows its address
};

// `names`: spellings of an option.
bool is_given(int argc, char** argv, std::initializer_list<std::string_view> names) {
  return std::any_of(argv, argv + argc, [&](std::string_view argument) {
    return std::find(names.begin(), names.end(), argument.substr(0, argument.find('='))) != names.end();
  });
}

GivenFigures given_figures(int argc, char** argv) {
  return {.prompts = is_given(argc, argv, {"--pp", "-p", "--n-prompt"}),
          .depths = is_given(argc, argv, {"--depths", "-d", "--n-depth"}),
          .n_drawn = is_given(argc, argv, {"--tg", "-n", "--n-gen"}),
          .batches = is_given(argc, argv, {"--batch", "--batch-prompt", "--batch-steps"}),
          .repetitions = is_given(argc, argv, {"-r", "--reps", "--repetitions"})};
}

// What these two imply; options that are given as well take precedence, wherever they stand.
void apply_profile(int argc, char** argv, BenchRequest& r) {
  if (!is_given(argc, argv, {"--profile"})) return;
  r.plan.prompts = {512};
  r.plan.depths = {0};
  r.plan.batches = {};
  r.plan.n_repetitions = 20;
  r.plan.n_drawn = 1;
}

void apply_quick(int argc, char** argv, BenchRequest& r) {
  if (!is_given(argc, argv, {"--quick"})) return;
  r.plan.prompts = {128};
  r.plan.depths = {0};
  r.plan.batches = {};
  r.plan.n_repetitions = 2;
  r.plan.n_drawn = 32;
}

// A prompt is one step, so the chunks must be as long.
void settle_profile(BenchRequest& r) {
  r.profiles.depths = r.plan.depths;
  r.profiles.prompts = r.plan.prompts;
  r.profiles.prompt_depths = r.plan.prompt_depths;
  r.profiles.n_repetitions = r.plan.n_repetitions;
  r.load.n_context = 1;
  for (const int32_t n : r.plan.depths) r.load.n_context = std::max(r.load.n_context, n + 1);
  for (const int32_t n : r.plan.prompts) {
    for (const int32_t depth : r.plan.prompt_depths) r.load.n_context = std::max(r.load.n_context, depth + n);
    r.load.prefill_chunk = std::max(r.load.prefill_chunk, n);
  }
}

// The figures that were not asked for fit into the model's context; then the load has room for all of them.
void settle_figures(BenchRequest& r, const std::function<bool(int32_t)>& fits) {
  const std::string changes = fit_figures(r.plan, r.given, fits);
  if (!changes.empty())
    std::fprintf(stderr, "inlay: fitted to the context that the model was trained for: %s\n", changes.c_str());
  r.load.n_context = r.plan.n_context();
  r.load.max_sessions = r.plan.max_sessions();
  if (r.profile) settle_profile(r);
}

// Reads the file's header. What is wrong besides the context is said by the load.
bool file_has_context(const std::string& path, int32_t n_context) {
  LoadOptions load;
  load.device = INLAY_DEVICE_CPU;
  load.max_sessions = 1;
  load.n_context = n_context;
  const inlay_load_params params = load.params();
  auto memory = sized<inlay_memory_info>();
  return inlay_memory_plan(path.data(), path.size(), &params, &memory, nullptr) != INLAY_INVALID_ARGUMENT;
}

BenchRequest parse_bench_request(int argc, char** argv) {
  BenchRequest r;
  r.given = given_figures(argc, argv);
  r.load.context_from = "the lengths of --pp, --pp-depths, --depths, --tg, --batch-prompt and --latency need";
  apply_quick(argc, argv, r);
  apply_profile(argc, argv, r);
  Options options(
      "bench [MODEL] [options]",
      "Measures a model's speed and prints one line of JSON: tokens per second, medians, with the smallest and\n"
      "largest value under \"range\". pp: a prompt into an empty session; pp@depth: behind\n"
      "others; tg@depth: tokens one by one; batch: steps of several sessions, together. All end with the logits on the host. --shape takes random weights\n"
      "in a real model's shape instead of a file.");
  options.text("--shape", "NAME", r.synthetic.shape, &r.has_shape, "the shape of the random model; --list names them");
  options.text("--quant", "RECIPE", r.synthetic.recipe, &r.has_recipe, "its quantization; --list names them");
  options.integer("--layers", r.synthetic.n_layers, 1, 1000, "another number of layers for it");
  options.integer("--vocab", r.synthetic.n_vocab, 1, 1 << 24, "another vocabulary size for it");
  options.real("--scale", r.synthetic.scale, 0.01, 1, "shrink its width, heads and vocabulary to about this part");
  options.text("--save", "FILE", r.save_path, nullptr, "with --shape: write the model there and load the file");
  options.flag("--list", r.list, "print the shapes and recipes, with their bytes, and end");
  options.integers("-p --pp --n-prompt", r.plan.prompts, 1, 1 << 20, "lengths of prompts (512,2048); none: skip them");
  options.integers("--pp-depths", r.plan.prompt_depths, 0, 1 << 20, "tokens before those of pp (0)");
  options.integers("-d --depths --n-depth", r.plan.depths, 0, 1 << 20, "tokens before those of tg (0,2048,8192,16384)");
  options.integers("--batch", r.plan.batches, 1, 1024, "numbers of sessions (2,4,8,16,32)");
  options.integer("-n --tg --n-gen", r.plan.n_drawn, 1, 65536, "tokens of a repetition at a depth (128)");
  options.integer("--batch-prompt", r.plan.batch_prompt, 1, 1 << 20, "tokens already in each session of a batch (128)");
  options.integer("--batch-steps", r.plan.batch_steps, 1, 1 << 20, "steps of a repetition of a batch (64)");
  options.integer(
      "--latency", r.plan.n_latency, 1, 1 << 20,
      "times this many tokens of one session one by one, drawn at random after --batch-prompt others (off)");
  options.integer("--slices", r.plan.slice_units, 1, 1 << 20,
                  "with --latency: their steps are made of slices of this many units, which are timed, too (off)");
  options.integer("-r --reps --repetitions", r.plan.n_repetitions, 1, 1000, "repetitions (5)");
  options.flag("--quick", r.quick, "-r 2 --pp 128 --tg 32 --depths 0 --batch none, where not given otherwise");
  options.flag("--profile", r.profile,
               "a table of operations instead: one token at each of --depths (0), each of --pp (512) at each of --pp-depths in one step");
  options.flag("--timeline", r.profiles.timeline, "with --profile: every operation, not only their kinds");
  options.text("--trace", "FILE", r.profiles.trace, nullptr,
               "with --profile: a trace for chrome://tracing or Perfetto");
  options.integer("--kv-mib", r.load.kv_mib, 1, 1 << 24,
                  "size of the KV pool in MiB (sessions x context, at most 2048)");
  options.integer("--prefill-chunk", r.load.prefill_chunk, 1, 1 << 20,
                  "tokens of a prompt that run at a time (512, on a GPU 1024)");
  options.flag("--no-cublas", r.load.no_cublas,
               "cuda: prompts on the engine's own products, even where the machine has cuBLASLt");
  options.flag("--run-ahead", r.load.run_ahead, "cuda: a step begins the next one before it returns");
  r.load.add_to(options);
  const std::vector<std::string> rest = options.parse(argc, argv, 1);
  if (r.list) return r;
  if (!rest.empty()) r.path = rest[0];
  if (r.has_shape && !rest.empty()) options.usage_error("give one of MODEL and --shape");
  if (!r.has_shape && rest.empty())
    options.usage_error("no model given: name a GGUF file or a Hugging Face folder, or give --shape");
  if (r.has_shape != r.has_recipe) options.usage_error(r.has_shape ? "--shape needs --quant" : "--quant needs --shape");
  const bool shrinks = r.synthetic.n_layers > 0 || r.synthetic.n_vocab > 0 || r.synthetic.scale < 1.0;
  if (shrinks && !r.has_shape) options.usage_error("--layers, --vocab and --scale need --shape");
  if (!r.save_path.empty() && !r.has_shape) options.usage_error("--save needs --shape");
  if (r.plan.slice_units > 0 && r.plan.n_latency == 0) options.usage_error("--slices needs --latency");
  if (!r.profile && (r.profiles.timeline || !r.profiles.trace.empty())) {
    options.usage_error("--timeline and --trace need --profile");
  }
  return r;
}

int print_list() {
  std::printf("%-14s", "bytes of");
  for (const std::string& recipe : synthetic_recipe_names()) std::printf(" %12s", recipe.c_str());
  std::printf("\n");
  for (const std::string& shape : synthetic_shape_names()) {
    std::printf("%-14s", shape.c_str());
    for (const std::string& recipe : synthetic_recipe_names()) {
      SyntheticModel model;
      std::string error;
      const bool there_is = model.build({shape, recipe}, error);
      std::printf(" %12s", there_is ? std::to_string(model.n_bytes()).c_str() : "-");
    }
    std::printf("\n");
  }
  return 0;
}

// Of a model file, or of the weights in a Hugging Face folder.
uint64_t bytes_on_disk(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) {
    const uintmax_t n_bytes = std::filesystem::file_size(path, problem);
    if (problem) fail(kExitFailed, "cannot open " + path.string() + ": " + problem.message());
    return n_bytes;
  }
  uint64_t n_bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
    if (entry.path().extension() == ".safetensors") n_bytes += entry.file_size(problem);
  }
  return n_bytes;
}

Subject open_file(const std::string& file, BenchRequest& r) {
  Subject subject;
  check_path(file);
  settle_figures(r, [&](int32_t n) { return file_has_context(file, n); });
  const std::filesystem::path path(file);
  subject.name = path.filename().string();
  subject.n_bytes = bytes_on_disk(path);
  const double start = now();
  LoadOptions load = r.load;
  load.load_times = subject.load_times.get();
  subject.engine = load_file(file, load);
  subject.load_seconds = now() - start;
  return subject;
}

// A shrunk shape is another model, so its name says what was changed.
std::string synthetic_name(const SyntheticRequest& s) {
  std::string name = s.shape;
  if (s.n_layers > 0) name += "-" + std::to_string(s.n_layers) + "layers";
  if (s.n_vocab > 0) name += "-" + std::to_string(s.n_vocab) + "tokens";
  if (s.scale < 1.0) name += "-x" + short_number(s.scale);
  return name + "." + s.recipe + ".gguf";
}

struct SyntheticReading {
  SyntheticModel model;
  double seconds = 0.0;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    auto& self = *static_cast<SyntheticReading*>(user);
    const double start = now();
    self.model.read(offset, static_cast<std::byte*>(into), n);
    self.seconds += now() - start;
    return 0;
  }
};

void save(const SyntheticModel& model, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::vector<std::byte> piece(size_t{16} << 20);
  for (uint64_t at = 0; at < model.n_bytes() && file; at += piece.size()) {
    const uint64_t n = std::min<uint64_t>(piece.size(), model.n_bytes() - at);
    model.read(at, piece.data(), n);
    file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(n));
  }
  file.close();
  if (!file) fail(kExitFailed, "cannot write " + path + ": " + std::strerror(errno));
}

Subject open_synthetic(BenchRequest& r) {
  Subject subject;
  SyntheticReading reading;
  std::string error;
  if (!reading.model.build(r.synthetic, error)) fail(kExitUsage, error);
  if (!r.save_path.empty()) {
    const double start = now();
    save(reading.model, r.save_path);
    const double seconds = now() - start;
    subject = open_file(r.save_path, r);
    subject.name = synthetic_name(r.synthetic);
    subject.generate_seconds = seconds;
    return subject;
  }
  settle_figures(r, [&](int32_t n) { return n <= reading.model.n_context(); });
  auto reader = sized<inlay_reader>();
  reader.user = &reading;
  reader.size = reading.model.n_bytes();
  reader.read = SyntheticReading::read;
  subject.name = synthetic_name(r.synthetic);
  subject.n_bytes = reading.model.n_bytes();
  const double start = now();
  LoadOptions load = r.load;
  load.load_times = subject.load_times.get();
  subject.engine = load_reader(subject.name, reader, load, reading.model.n_context());
  subject.generate_seconds = reading.seconds;
  subject.load_seconds = now() - start - reading.seconds;
  return subject;
}

// Name of the first device of the engine's kind; the reference interpreter runs on the processor.
std::string device_text(const inlay_engine_info& info) {
  const bool reference = info.device == INLAY_DEVICE_REFERENCE;
  const inlay_device_kind kind = reference ? INLAY_DEVICE_CPU : info.device;
  for (int32_t i = 0; i < inlay_device_count(); ++i) {
    auto device = sized<inlay_device_info>();
    inlay_error error;
    check(inlay_device_get(i, &device, &error), error, "cannot read about device " + std::to_string(i));
    if (device.kind == kind) return std::string(device.name) + (reference ? " (reference)" : "");
  }
  return device_name(info.device);
}

JsonLine first_keys(const Subject& subject, const BenchRequest& r) {
  const inlay_engine_info info = info_of(subject.engine.get());
  JsonLine line;
  line.text("model", subject.name);
  line.integer("model_bytes", subject.n_bytes);
  line.text("engine", "inlay");
  line.text("version", inlay_version_string());
  line.text("device", device_text(info));
  line.text("weights", weight_dtype_name(info.weight_dtype));
  line.integer("weight_bytes", info.weight_bytes);
  line.integer("params", info.n_params);
  line.integer("reps", static_cast<uint64_t>(r.plan.n_repetitions));
  line.integer("threads", static_cast<uint64_t>(info.n_threads));
  line.number("init_s", subject.init_seconds, 3);
  line.number("load_s", subject.load_seconds, 3);
  line.text("load_times", *subject.load_times);
  if (r.has_shape) line.number("generate_s", subject.generate_seconds, 3);
  return line;
}

// As a profile of one step has them.
bool measure_memory(const inlay_engine* engine, StepFacts& facts) {
  auto params = sized<inlay_profile_params>();
  params.n_repetitions = 1;
  inlay_error error;
  if (inlay_profile_step(engine, &params, &error) != INLAY_OK) {
    std::fprintf(stderr, "inlay: %s\n", describe("the speeds were not compared with the memory's", error).c_str());
    return false;
  }
  const std::string table = text_of(
      [&](char* buffer, size_t cap, size_t* needed, inlay_error* err) {
        return inlay_profile_text(engine, INLAY_PROFILE_KINDS, buffer, cap, needed, err);
      },
      "cannot read the profile");
  return read_step_facts(table, facts);
}

// False if a speed is impossible. Models whose weights the caches may hold are not judged, and cost no time here; nor
// is what ran while other programs took `n_others` of the host's cores. A read may be slowed down by what others do:
// the best of several counts.
bool judge(const inlay_engine* engine, Benchmark& benchmark, double n_others) {
  const inlay_engine_info info = info_of(engine);
  const bool on_host = info.device != INLAY_DEVICE_CUDA;
  MemoryLimits limits;
  limits.cache_bytes = last_level_cache(info.device);
  limits.tolerance = on_host ? kHostTolerance : kDeviceTolerance;
  if (info.weight_bytes <= 4 * limits.cache_bytes || (on_host && n_others > kBusyCores)) return true;
  StepFacts facts;
  for (int i = 0; i < kMostReads; ++i) {
    if (!measure_memory(engine, facts)) return true;
    limits.bytes_per_second = std::max(limits.bytes_per_second, facts.bytes_per_second);
    if (!benchmark.has_impossible(facts.n_bytes, limits)) return true;
  }
  benchmark.take_back_impossible(facts.n_bytes, limits);
  return false;
}

}  // namespace

int bench_command(int argc, char** argv) {
  BenchRequest r = parse_bench_request(argc, argv);
  if (r.list) return print_list();
  const Subject subject = r.has_shape ? open_synthetic(r) : open_file(r.path, r);
  if (r.profile) {
    print_profiles(subject.engine.get(), r.profiles);
    return 0;
  }
  Benchmark benchmark(subject.engine.get(), r.plan, r.given);
  const double start = now(), others = seconds_of_others();
  bool finished = benchmark.run();
  const double others_after = seconds_of_others();
  const double n_others =
      others >= 0.0 && others_after >= 0.0 ? std::max(0.0, others_after - others) / (now() - start) : -1.0;
  finished = finished && judge(subject.engine.get(), benchmark, n_others);
  r.plan = benchmark.plan();
  JsonLine line = first_keys(subject, r);
  benchmark.report(line);
  if (n_others >= 0.0) line.number("others", n_others, 2);
  if (r.quick) line.truth("quick", true);
  JsonLine ranges;
  benchmark.report_ranges(ranges);
  line.object("range", ranges);
  JsonLine first;
  benchmark.report_first(first);
  line.object("first_ms", first);
  if (!finished) line.text("error", benchmark.error());
  std::printf("%s\n", line.finished().c_str());
  if (!finished) fail(kExitFailed, benchmark.error());
  return 0;
}

}  // namespace inlay::cli
