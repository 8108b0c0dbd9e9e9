// From a file to an engine: options settled, model understood, plan built, memory counted, backend filled.
#include "src/engine/load.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/format.h"
#include "src/base/held_folder.h"
#include "src/base/thread.h"
#include "src/engine/chat.h"
#include "src/engine/engine.h"
#include "src/engine/fingerprint.h"
#include "src/engine/placement.h"
#include "src/engine/progress_report.h"
#include "src/engine/requests.h"
#include "src/engine/tuning.h"
#include "src/engine/turn.h"
#include "src/formats/text.h"
#include "src/model/hf_folder.h"
#include "src/model/hf_vocabulary.h"
#include "src/model/known_keys.h"
#include "src/model/recipe.h"
#include "src/tokenizer/json_tokenizer.h"

namespace inlay {
namespace {

Result<std::unique_ptr<Tokenizer>> read_folder_tokenizer(const std::string& folder, int32_t n_rows) {
  TokenizerFiles files;
  files.name = folder + "/tokenizer.json";
  INLAY_ASSIGN(files.tokenizer, read_text_file(files.name));
  INLAY_ASSIGN(files.config, read_hf_tokenizer_config(folder));
  INLAY_ASSIGN(HfConfiguredIds ends, read_hf_end_ids(folder));
  files.end_ids = std::move(ends.ids);
  files.end_ids_name = std::move(ends.where);
  files.n_rows = n_rows;
  return read_tokenizer_json(std::move(files));
}

constexpr const char* kCancelled = "loading was cancelled";

// By WeightDType; the first two are no recipes.
constexpr ConvertType kRecipeOf[] = {ConvertType::count,  ConvertType::count,  ConvertType::q8_0, ConvertType::q4_0,
                                     ConvertType::q4_k_m, ConvertType::q5_k_m, ConvertType::q6_k};

EngineInfo make_info(const Model& model, const MemoryNeeds& memory, const Placement& placement, WeightDType asked) {
  return {.n_params = model.n_params(),
          .memory = memory,
          .prefix_cache_host_bytes = placement.prefix_cache_host_bytes,
          .n_context = placement.config.n_context,
          .max_sessions = placement.config.max_sequences,
          .n_threads = placement.config.n_threads,
          .device = placement.device,
          .weight_dtype = model.is_quantized_at_load() ? asked : WeightDType::as_stored};
}

// Where the files' answers to how large the vocabulary is differ: the model's rows count.
void log_sizes(const Checkpoint& checkpoint, const ModelSpec& spec, Log& log) {
  const std::string key = spec.arch + ".vocab_size";
  const auto said = checkpoint.metadata().u64_or(key, static_cast<uint64_t>(spec.n_vocab));
  if (!said.ok() || *said == static_cast<uint64_t>(spec.n_vocab)) return;
  std::string line;
  append_format(line, "%s is %llu, but the model has %d rows, which count", key.c_str(), static_cast<unsigned long long>(*said),
                spec.n_vocab);
  log.write(LogLevel::info, line);
}

// Of keys that may change results and that nobody has read.
std::vector<std::string> key_warnings(const Checkpoint& checkpoint, const ModelSpec& spec) {
  if (checkpoint.conventions().tensor_name) return checkpoint.conventions().warnings;  // a folder, whose metadata are made here
  return gguf_key_warnings(checkpoint.metadata(), spec.arch);
}

void log_tokenizer(const Tokenizer& tokenizer, int32_t n_rows, Log& log) {
  if (const int32_t n_more = tokenizer.n_tokens() - n_rows; n_more > 0) {
    std::string line;
    append_format(line, "the tokenizer has %s more than the model, which cannot run them: those from %s (%d) on",
                  counted(static_cast<uint64_t>(n_more), "token").c_str(), quote(tokenizer.piece(n_rows)).c_str(), n_rows);
    log.write(LogLevel::info, line);
  }
  for (const std::string& warning : tokenizer.warnings()) log.write(LogLevel::warning, warning);
  for (const std::string& remark : tokenizer.remarks()) log.write(LogLevel::info, remark);
}

// What was asked for and changes nothing here; the header says when.
void log_unused(const EngineOptions& o, const Placement& p, const Plan& plan, Log& log) {
  const std::vector<KvGroup>& groups = plan.kv.groups;
  const BackendConfig& config = p.config;
  const bool slides = std::ranges::any_of(groups, [](const KvGroup& group) { return group.window > 0; });
  const struct {
    const char* name;
    bool is_given;
    DeviceKind device;
    const char* device_name;
  } flags[] = {{"NO_CUBLAS", !o.allow_cublas && std::ranges::find(o.tuned, "cublas") == o.tuned.end(), DeviceKind::cuda, "CUDA"},
               {"RUN_AHEAD", o.run_ahead, DeviceKind::cuda, "CUDA"},
               {"TAKE_PAGES_LATER", o.take_pages_later, DeviceKind::cpu, "the CPU"},
               {"EXACT_ACTIVATIONS", o.exact_activations, DeviceKind::cpu, "the CPU"}};
  for (const auto& flag : flags) {
    if (flag.is_given && p.device != flag.device)
      log.write(LogLevel::info,
                std::string("the load flag ") + flag.name + " changes nothing: it is of " + flag.device_name);
  }
  for (const std::string& line : unused_tuning(o, p.device)) log.write(LogLevel::info, line);
  if (o.run_ahead && slides && p.device == DeviceKind::cuda) {
    log.write(LogLevel::info, "the load flag RUN_AHEAD changes nothing: the model has sliding windows");
  }
  if (o.no_prefix_cache && std::ranges::all_of(groups, [](const KvGroup& group) { return group.window > 0; }))
    log.write(LogLevel::info, "the load flag NO_PREFIX_CACHE changes nothing: all layers of the model have sliding windows");
  if (o.prefix_cache_host_bytes > 0 && !keeps_blocks_on_host(plan)) {
    log.write(LogLevel::info, std::string("prefix_cache_host_bytes changes nothing: the model ") + (slides ? "has sliding windows" : "writes no text"));
  }
  if (o.n_threads > 1 && p.device == DeviceKind::reference) {
    log.write(LogLevel::info, "n_threads changes nothing: the reference interpreter computes on one thread");
  }
  std::string line;
  if (o.prefill_chunk > config.n_context) {
    append_format(line, "prefill_chunk is %d, more than the context has: it counts as %d", o.prefill_chunk, config.n_context);
    log.write(LogLevel::info, std::exchange(line, {}));
  }
  const int64_t usable = int64_t{kv_blocks_for(config.n_context)} * config.max_sequences;
  for (size_t i = 0; i < groups.size() && o.kv_budget_bytes != 0; ++i) {
    if (config.n_kv_blocks[i] <= usable) continue;
    append_format(line, "kv_budget_bytes gives %d blocks of %d tokens, of which max_sessions and n_context can use %lld",
                  config.n_kv_blocks[i], kKvBlockTokens, static_cast<long long>(usable));
    log.write(LogLevel::info, std::exchange(line, {}));
  }
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Checkpoint& checkpoint, const ModelSpec& spec, const EngineOptions& options) {
  const std::string& folder = checkpoint.conventions().tokenizer_folder;
  if (folder.empty()) return Tokenizer::from_metadata(checkpoint.metadata(), spec.n_vocab, options.pre_tokenizer);
  if (!options.pre_tokenizer.empty()) {
    return error(Code::invalid_argument, "pre_tokenizer is %s, but %s has a tokenizer.json, which says how text is split",
                 quote(options.pre_tokenizer).c_str(), folder.c_str());
  }
  return read_folder_tokenizer(folder, spec.n_vocab);
}

Result<Model> settle_model(const Checkpoint& checkpoint, const EngineOptions& options) {
  INLAY_ASSIGN(Model model, Model::from_checkpoint(checkpoint));
  if (options.weight_dtype == WeightDType::fp8) {
    model.hold_as_f8();
  } else if (options.weight_dtype != WeightDType::as_stored) {
    model.hold_as(recipe_of(kRecipeOf[static_cast<size_t>(options.weight_dtype)]));
  }
  return model;
}

struct Engine::Parts {
  std::unique_ptr<Log> log;
  Metadata metadata;
  EmbeddingRules embedding_rules;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  EngineInfo info;
  bool no_prefix_cache = false;
  std::vector<float> output_norm;
  uint64_t fingerprint = 0;
  int32_t prefill_chunk;
};

Engine::Engine(Parts parts)
    : log_(std::move(parts.log)),
      metadata_(std::move(parts.metadata)),
      chat_templates_(metadata_),
      embedding_rules_(std::move(parts.embedding_rules)),
      tokenizer_(std::move(parts.tokenizer)),
      backend_(std::move(parts.backend)),
      info_(parts.info),
      output_norm_(std::move(parts.output_norm)),
      fingerprint_(parts.fingerprint),
      prefill_chunk_(parts.prefill_chunk),
      runs_ahead_(backend_->config().run_ahead && std::ranges::none_of(backend_->plan().kv.groups, [](const KvGroup& group) { return group.window > 0; })),
      shared_steps_(static_cast<size_t>(info_.max_sessions)),
      sequences_(*backend_, lost_, mutex_, info_.max_sessions, runs_ahead_, info_.prefix_cache_host_bytes),
      queue_(*backend_, sequences_, lost_, mutex_),
      decoder_(*this) {
  for (int32_t id = 0; tokenizer_ && id < std::min(tokenizer_->n_tokens(), spec().n_vocab); ++id) {
    if (tokenizer_->is_end_of_generation(id)) end_tokens_.push_back(id);
  }
  const auto most = static_cast<size_t>(info_.max_sessions);
  step_.works.reserve(most);
  step_.samples.reserve(most);
  called_.sessions.resize(most);
  called_.events.resize(most);
  requests_ = std::make_unique<Requests>(*this, !parts.no_prefix_cache && sequences_.pools().has_cache());
}

Engine::~Engine() { requests_->close(); }

Result<std::shared_ptr<Engine>> Engine::load(const std::string& path, const EngineOptions& options) {
  LoadTimes times;
  ProgressReport report(options.progress, kCancelled);
  const HeldFolder folder(path);
  const HeldFolder::Use use(&folder);
  return assemble(open_checkpoint(path), options, times, report);
}

Result<std::shared_ptr<Engine>> Engine::load(std::unique_ptr<ByteSource> source, const EngineOptions& options) {
  LoadTimes times;
  ProgressReport report(options.progress, kCancelled);
  return assemble(read_gguf(std::move(source)), options, times, report);
}

Result<EngineInfo> Engine::plan_memory(const std::string& path, const EngineOptions& options) {
  const HeldFolder folder(path);
  const HeldFolder::Use use(&folder);
  INLAY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path));
  INLAY_ASSIGN(const Model model, settle_model(checkpoint, options));
  INLAY_ASSIGN(const Plan plan, build_plan(model, context_length(options, model.spec())));
  INLAY_ASSIGN(const Placement placement, place(plan, options));
  return make_info(model, placement.needs, placement, options.weight_dtype);
}

// The weights as the backends count them.
static void expect_weights(const Plan& plan, ProgressReport& report) {
  uint64_t n_held = 0, n_stored = 0;
  for (const Weight& w : plan.weights) {
    n_held += w.n_bytes();
    n_stored += row_bytes(w.file_dtype, static_cast<uint64_t>(w.n_cols)) * static_cast<uint64_t>(w.n_rows);
  }
  report.expect(n_held, n_stored);
}

// A session, some text and a conversation: a host's first ones would take ten times as long as those that follow.
static void call_first(const std::shared_ptr<Engine>& engine) {
  (void)engine->create_text_session();
  const Tokenizer* tokenizer = engine->tokenizer();
  if (!tokenizer) return;
  std::vector<int32_t> tokens;
  std::string text;
  (void)tokenizer->encode("Once upon a time", {}, tokens);
  (void)tokenizer->decode(tokens, {}, text);
  constexpr const char* kHello = R"([{"role": "user", "content": "Hello"}])";
  (void)tokenize_chat(*engine, kHello, {.add_generation_prompt = true});
  log_chat(*engine, kHello);
}

Result<std::shared_ptr<Engine>> Engine::assemble(Result<Checkpoint> opened, const EngineOptions& options, LoadTimes& times,
                                                 ProgressReport& report) {
  INLAY_ASSIGN(const Checkpoint checkpoint, std::move(opened));
  INLAY_ASSIGN(const Model model, settle_model(checkpoint, options));
  INLAY_ASSIGN(Plan plan, build_plan(model, context_length(options, model.spec())));
  times.mark("header");
  // Beside the start of the device and the weights; where the system gives no thread, after them.
  Task<decltype(load_tokenizer(checkpoint, model.spec(), options))> tokenizer(
      "inlay-tokenizer", [&, folder = HeldFolder::used()] {
        const HeldFolder::Use use(folder);
        return load_tokenizer(checkpoint, model.spec(), options);
      });
  INLAY_ASSIGN(const Placement placement, place(plan, options));
  INLAY_TRY(check_memory(placement));
  times.mark("placement", placement.times);

  Parts parts;
  parts.log = std::make_unique<Log>(options.log_level, options.log);
  if (!placement.remark.empty()) parts.log->write(LogLevel::info, placement.remark);
  if (options.weight_dtype != WeightDType::as_stored && !model.is_quantized_at_load()) {
    parts.log->write(LogLevel::warning, "weight_dtype changes nothing: the model has no matrix to quantize so");
  }
  expect_weights(plan, report);
  const LoadProgress tell = [&](uint64_t n_done, uint64_t) { return report.tell(n_done); };
  WeightReader reader(checkpoint, model);
  if (const Weight* norm = model.find(WeightRole::output_norm)) {
    INLAY_ASSIGN(parts.output_norm, reader.read_vector(*norm));
  }
  Result<std::unique_ptr<Backend>> backend = make_backend(std::move(plan), reader, placement, tell);
  times.mark("backend", backend.ok() ? (*backend)->load_times() : std::string());
  if (backend.ok()) {
    INLAY_ASSIGN(parts.fingerprint, fingerprint_of((*backend)->plan(), reader));
    INLAY_TRY(checkpoint.check_unchanged());
  }
  INLAY_ASSIGN(parts.tokenizer, tokenizer.get());
  times.mark("wait for tokenizer");
  for (const std::string& warning : key_warnings(checkpoint, model.spec())) parts.log->write(LogLevel::warning, warning);
  log_sizes(checkpoint, model.spec(), *parts.log);
  if (backend.ok()) log_unused(options, placement, (*backend)->plan(), *parts.log);
  if (parts.tokenizer) log_tokenizer(*parts.tokenizer, model.spec().n_vocab, *parts.log);
  INLAY_ASSIGN(parts.backend, std::move(backend));
  parts.metadata = checkpoint.metadata();
  INLAY_ASSIGN(parts.embedding_rules, EmbeddingRules::read(parts.metadata, static_cast<size_t>(model.spec().d_model)));
  parts.info = make_info(model, parts.backend->memory(), placement, options.weight_dtype);
  parts.no_prefix_cache = options.no_prefix_cache;
  parts.prefill_chunk = std::min(placement.prefill_chunk, placement.config.max_step_tokens);

  const std::shared_ptr<Engine> engine(new Engine(std::move(parts)));
  const double seconds = times.total();
  std::string pools;
  {
    const EngineLock lock(engine->mutex_);
    engine->stats_.load_seconds = seconds;
    INLAY_TRY(engine->sequences_.start_host_blocks());
    pools = engine->sequences_.pools().text();
  }
  const ModelSpec& spec = engine->spec();
  std::string line;
  append_format(line, "loaded %s (%s, %.2f billion parameters) on %s, context %d, KV blocks of %d tokens: %s; %.2f s",
                spec.name.c_str(), spec.arch.c_str(), static_cast<double>(engine->info_.n_params) * 1e-9,
                engine->backend_->description().c_str(), placement.config.n_context, kKvBlockTokens,
                pools.c_str(), seconds);
  engine->log_->write(LogLevel::info, line);
  if (const std::string remark = engine->backend_->remark(); !remark.empty()) engine->log_->write(LogLevel::info, remark);
  engine->log_->write(LogLevel::debug, "load times: " + times.text());
  call_first(engine);
  return engine;
}

EngineInfo Engine::info() const { return info_; }

EngineStats Engine::stats() const {
  const EngineLock lock(mutex_);
  EngineStats s = stats_;
  s.n_sessions = sequences_.n_taken() - requests_->live().n_running();
  s.n_kv_blocks = sequences_.pools().n_blocks();
  s.n_kv_blocks_used = sequences_.pools().n_used();
  s.n_kv_blocks_peak = sequences_.n_blocks_peak();
  s.stored = sequences_.pools().store_counts();
  if (const HostBlocks* host = sequences_.host_blocks()) s.prefix_cache_host_bytes_taken = host->bytes_taken();
  return s;
}

Status Engine::check_writes() const {
  if (spec().causal) return {};
  return error(Code::unsupported, "%s is false: the model's tokens see those behind them, so that it makes embeddings and writes no text",
               metadata_.key_in_file(spec().arch + ".attention.causal").c_str());
}

Result<std::shared_ptr<Session>> Engine::create_text_session() {
  const std::shared_ptr<Session> session(new Session(shared_from_this(), {}));
  INLAY_TRY(take_slot(*session));
  return session;
}

Result<std::shared_ptr<Session>> Engine::create_session(const SessionOptions& options) {
  INLAY_TRY(check_writes());
  INLAY_TRY(validate(options.sampler, spec().n_vocab));
  if (options.max_tokens < 0) return error(Code::invalid_argument, "max_tokens is %d, expected 0 or more", options.max_tokens);
  INLAY_TRY(validate_stop_tokens(options.stop_tokens, spec().n_vocab));
  INLAY_TRY(check_constraint(options));
  // Made before it has a slot, so that running out of memory here loses none.
  const std::shared_ptr<Session> session(new Session(shared_from_this(), options));
  INLAY_TRY(session->set_stop(std::move(session->options_.stops)));
  if (!options.for_requests) {
    INLAY_TRY(take_slot(*session));
    return session;
  }
  const EngineLock lock(mutex_);
  INLAY_TRY(lost_.status());
  requests_->sessions().add(*session);
  return session;
}

Status Engine::check_constraint(const SessionOptions& options) const {
  if (!options.constraint) return {};
  if (!vocabulary_.has(*options.constraint)) return error(Code::invalid_argument, "the constraint was made for another engine");
  if (options.ignore_end_of_generation)
    return error(Code::invalid_argument, "a constraint says where a text ends, and IGNORE_END_OF_GENERATION that it does not");
  return {};
}

// Requests that run give way.
Status Engine::take_slot(Session& session) {
  const auto takes = [&]() INLAY_NEEDS(engine_mutex) { return sequences_.take_slot(session.seq_) || (requests_->live().give_slot() && sequences_.take_slot(session.seq_)); };
  {
    const EngineLock lock(mutex_);
    INLAY_TRY(lost_.status());
    if (takes()) return {};
    if (requests_->live().n_running() == 0) return session_limit();
  }
  const Turn turn(*this);  // all that run are in the step at hand
  return takes() ? Status() : session_limit();
}

Status Engine::session_limit() const {
  Status full = error(Code::session_limit, "all sessions are in use: the engine was loaded for %d", info_.max_sessions);
  full.required = static_cast<uint64_t>(info_.max_sessions) + 1;
  full.available = static_cast<uint64_t>(info_.max_sessions);
  return full;
}

// With the engine's mutex: where memory runs out, what is there of it has no slot to return.
std::shared_ptr<Session> Engine::session_of_request(const SessionOptions& options) {
  const std::shared_ptr<Engine> unowned(std::shared_ptr<Engine>(), this);
  std::shared_ptr<Session> session(new Session(unowned, options));
  (void)session->set_stop(std::move(session->options_.stops));  // were checked when it was submitted
  return session;
}
void Engine::return_slot(Session& session) {
  const EngineLock lock(mutex_);
  if (session.in_slices_) decoder_.end_slices();
  decoder_.leave_ahead(session);
  if (session.for_requests_) requests_->sessions().remove(session);
  sequences_.release(session.seq_);
}

}  // namespace inlay
