// Random programs of API calls within the contract, arguments right and wrong, on engines that live for a whole batch.
// What the calls say is compared with what a plain model of a session expects.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

constexpr size_t kMostSessions = 5;
constexpr int32_t kContext = 64;
constexpr int kOperations = 120;
constexpr uint64_t kPrograms = 50;  // of a batch

inlay_engine* engine = nullptr;
int32_t n_vocab = 0;

bool load_engine(Case& the_case) {
  Host host(the_case);
  inlay_load_params params = sized<inlay_load_params>();
  params.device = INLAY_DEVICE_CPU;
  params.n_context = kContext;
  params.max_sessions = kMostSessions;
  params.n_threads = 1;
  params.prefill_chunk = 8;
  const uint64_t batch = the_case.index / kPrograms;
  static constexpr const char* kModels[] = {"chat-bpe-qwen3-f32", "chat-spm-llama-f32", "gemma3-f32", "gpt-oss-mxfp4",
                                            "llama-q4_k_m"};
  const std::string model = model_path(kModels[batch % std::size(kModels)]);
  inlay_memory_info memory = sized<inlay_memory_info>();
  inlay_error err;
  if (!host.check("inlay_memory_plan", lib.inlay_memory_plan(model.data(), model.size(), &params, &memory, &err),
                  err)) {
    return false;
  }
  if (batch % 2 == 1) params.kv_budget_bytes = memory.kv_bytes / 2;  // sessions find it full
  engine = load_file(host, model, params);
  inlay_engine_info info = sized<inlay_engine_info>();
  if (!engine || !host.check("inlay_engine_get_info", lib.inlay_engine_get_info(engine, &info, &err), err))
    return false;
  n_vocab = info.n_vocab;
  return true;
}

void free_engine() { lib.inlay_free(engine); }

struct Session {
  inlay_session* handle = nullptr;
  int32_t n_tokens = 0;
  bool for_requests = false;  // no place among kMostSessions
};

class Program {
 public:
  explicit Program(Case& the_case) : host_(the_case), random_(the_case.random) {}

  Outcome run() {
    for (int i = 0; i < kOperations; ++i) operate();
    while (!sessions_.empty()) free_one(0);
    lib.inlay_queue_free(queue_);
    inlay_stats stats = sized<inlay_stats>();
    host_.check("inlay_engine_get_stats", lib.inlay_engine_get_stats(engine, &stats, &err_), err_);
    if (stats.n_sessions != 0 || stats.n_kv_blocks_used != 0)
      host_.violated("sessions or blocks are left: " + std::to_string(stats.n_sessions) + ", " +
                     std::to_string(stats.n_kv_blocks_used));
    return n_worked_ > 0 ? Outcome::accepted : Outcome::refused;
  }

 private:
  bool check(const char* function, inlay_status status) {
    const bool worked = host_.check(function, status, err_);
    n_worked_ += worked;
    return worked;
  }

  void operate() {
    abandon_some();
    if (sessions_.empty() || random_.one_in(20)) return create();
    const size_t i = random_.below(sessions_.size());
    Session& s = sessions_[i];
    switch (random_.below(22)) {
      case 0:
        return free_one(i);
      case 1:
      case 2:
        return prefill(s);
      case 3:
      case 4:
      case 5:
        return step();
      case 6:
        return slice();
      case 7:
        return fork(s);
      case 8:
        return truncate(s);
      case 9:
        return set_sampler(s);
      case 10:
        return set_stops(s);
      case 11:
        return read_logits(s);
      case 12:
        return take_text(s);
      case 13:
        return cancel(s);
      case 14:
        return texts();
      case 15:
        return shift(s);
      case 16:
        return score();
      case 17:
        return accept(s);
      case 18:
        return save(s);
      case 19:
      case 20:
        return ask(s);
      default:
        return embed();
    }
  }

  // A pending step keeps the others out; it is dropped before most operations.
  void abandon_some() {
    if (pending_.empty() || random_.one_in(4)) return;
    check("inlay_decode_abandon", lib.inlay_decode_abandon(pending_.data(), pending_.size(), &err_));
    pending_.clear();
  }

  void compare(Session& s) {
    inlay_session_info info = sized<inlay_session_info>();
    check("inlay_session_get_info", lib.inlay_session_get_info(s.handle, &info, &err_));
    if (info.n_tokens != s.n_tokens) {
      host_.violated("a session has " + std::to_string(info.n_tokens) + " tokens, expected " +
                     std::to_string(s.n_tokens));
      s.n_tokens = info.n_tokens;
    }
    if (info.n_tokens > info.n_context) host_.violated("more tokens than the context has room for");
  }

  void create() {
    inlay_sampler_params sampler = random_sampler();
    const int32_t stops[] = {static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab) + 2))};
    struct {
      inlay_session_params params = sized<inlay_session_params>();
      uint8_t newer[64] = {};  // fields that the library does not know
    } grown;
    inlay_session_params& params = grown.params;
    params.flags = static_cast<inlay_session_flags>(random_.below(random_.one_in(20) ? 64 : random_.one_in(3) ? 8 : 4));
    params.sampler = random_.one_in(2) ? &sampler : nullptr;
    params.stream = random_.next();
    params.max_tokens = static_cast<int32_t>(random_.below(20)) - (random_.one_in(20) ? 5 : 0);
    params.stop_tokens = stops;
    params.n_stop_tokens = random_.below(2);
    if (random_.one_in(30)) params.struct_size = static_cast<uint32_t>(random_.below(sizeof grown + 1));
    if (random_.one_in(30)) grown.newer[random_.below(sizeof grown.newer)] = 1;
    inlay_session* made = nullptr;
    const bool is_plain = random_.one_in(5);
    const inlay_status status = lib.inlay_session_create(engine, is_plain ? nullptr : &params, &made, &err_);
    host_.check("inlay_session_create", status, err_, made);
    if (made) add({made, 0, !is_plain && (params.flags & INLAY_SESSION_FOR_REQUESTS) != 0});
  }

  // Of those for requests there may be any number; a few will do.
  void add(const Session& made) {
    const auto n = static_cast<size_t>(std::ranges::count(sessions_, made.for_requests, &Session::for_requests));
    if (!made.for_requests && n == kMostSessions) host_.violated("more sessions than max_sessions");
    sessions_.push_back(made);
    if (made.for_requests && n == kMostSessions) free_one(sessions_.size() - 1);
  }

  // A request that continues the session, or none, to its end, or until somebody cancels it.
  void ask(Session& s) {
    if (queue_ == nullptr && !host_.check("inlay_queue_create", lib.inlay_queue_create(engine, nullptr, &queue_, &err_), err_, queue_)) return;
    if (!pending_.empty()) check("inlay_decode_abandon", lib.inlay_decode_abandon(pending_.data(), pending_.size(), &err_));
    pending_.clear();
    std::vector<int32_t> tokens(1 + random_.below(random_.one_in(8) ? 90 : 14));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab)));
    inlay_session_params params = sized<inlay_session_params>();
    params.max_tokens = static_cast<int32_t>(1 + random_.below(9));
    inlay_request request = sized<inlay_request>();
    request.tokens = tokens.data();
    request.n_tokens = tokens.size();
    request.kind = static_cast<inlay_request_kind>(random_.below(random_.one_in(20) ? 4 : 2));
    request.session_params = random_.one_in(2) ? &params : nullptr;
    request.continues = random_.one_in(5) ? nullptr : s.handle;
    inlay_embed_params embed = sized<inlay_embed_params>();
    embed.pooling = static_cast<inlay_pooling>(random_.below(random_.one_in(10) ? 6 : 4));
    embed.flags = static_cast<inlay_embed_flags>(random_.below(random_.one_in(10) ? 8 : 4));
    if (random_.one_in(4)) request.kind = INLAY_REQUEST_EMBED, request.embed = &embed;
    if (request.kind == INLAY_REQUEST_EMBED && !random_.one_in(8)) request.session_params = nullptr, request.continues = nullptr;
    uint64_t id = 0;
    if (!check("inlay_submit", lib.inlay_submit(queue_, &request, &id, &err_))) return;
    if (random_.one_in(9)) check("inlay_request_cancel", lib.inlay_request_cancel(queue_, id, &err_));
    inlay_run_info run = sized<inlay_run_info>();
    inlay_run_params step = sized<inlay_run_params>();
    step.budget_us = random_.one_in(3) ? 50 : 0;
    if (random_.one_in(9)) lib.inlay_session_cancel(s.handle);
    inlay_request_event event = {}, end = {};
    std::vector<inlay_token_logprob> drawn(256);
    std::string text(1024, '\0');
    for (int i = 0; i < 10'000 && end.kind != INLAY_REQUEST_EVENT_END; ++i) {
      if (!check("inlay_run", lib.inlay_run(engine, &step, &run, &err_))) return host_.violated("requests cannot run");
      // Sessions may have the room that it waits for.
      if ((run.flags & INLAY_RUN_INFO_HAS_WORK) == 0 && i % 8 == 7) check("inlay_request_cancel", lib.inlay_request_cancel(queue_, id, &err_));
      size_t n = 0;
      if (check("inlay_poll", lib.inlay_poll(queue_, &event, 1, sizeof event, drawn.data(), drawn.size(), text.data(), text.size(), &n, &err_)) && n == 1) end = event;
    }
    if (end.kind != INLAY_REQUEST_EVENT_END) return host_.violated("a request does not end");
    take_vector(end);
    if (request.continues == nullptr) return;
    inlay_session_info info = sized<inlay_session_info>();
    check("inlay_session_get_info", lib.inlay_session_get_info(s.handle, &info, &err_));
    const int32_t n_asked = s.n_tokens + static_cast<int32_t>(tokens.size());
    if (end.n_drawn > 0 || end.finish_reason == INLAY_FINISH_PREFILLED) {
      s.n_tokens = n_asked + end.n_drawn;
    } else if (info.n_tokens == n_asked) {  // it began, and else it changed nothing
      s.n_tokens = n_asked;
    }
    compare(s);
  }

  // Once where there is one, and else never.
  void take_vector(const inlay_request_event& end) {
    if ((end.finish_reason == INLAY_FINISH_EMBEDDED) != (end.n_values > 0)) host_.violated("a vector without values, or values without a vector");
    std::vector<float> values(end.n_values + 1, -7);
    size_t needed = 0;
    for (const bool is_first : {true, false}) {
      const bool is_taken = check("inlay_request_take_values", lib.inlay_request_take_values(queue_, end.request_id, values.data(), end.n_values, &needed, &err_));
      if (is_taken != (is_first && end.n_values > 0)) host_.violated("a vector is taken twice or never");
    }
    if (values.back() != -7) host_.violated("a value behind the room");
  }

  void free_one(size_t i) {
    if (std::ranges::find(pending_, sessions_[i].handle) != pending_.end())
      pending_.clear();  // freeing one drops the step
    lib.inlay_session_free(sessions_[i].handle);
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void prefill(Session& s) {
    std::vector<int32_t> tokens(random_.below(random_.one_in(8) ? 90 : 14));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab)));
    if (!tokens.empty() && random_.one_in(20))
      tokens[random_.below(tokens.size())] = static_cast<int32_t>(random_.next());
    size_t n_done = 7777;
    const inlay_status status =
        lib.inlay_prefill(s.handle, tokens.data(), tokens.size(), random_.one_in(5) ? nullptr : &n_done, &err_);
    if (check("inlay_prefill", status)) {
      s.n_tokens += static_cast<int32_t>(tokens.size());
    } else if (status == INLAY_CANCELLED) {
      inlay_session_info info = sized<inlay_session_info>();
      lib.inlay_session_get_info(s.handle, &info, nullptr);
      s.n_tokens = info.n_tokens;
    }
    compare(s);
  }

  std::vector<inlay_session*> some_sessions() {
    std::vector<inlay_session*> out;
    for (const Session& s : sessions_) {
      if (random_.one_in(2) && (s.n_tokens > 0 || random_.one_in(8))) out.push_back(s.handle);
    }
    if (out.empty() || random_.one_in(40)) out.push_back(sessions_[0].handle);  // twice is an error
    return out;
  }

  void count_events(const std::vector<inlay_session*>& taken, const std::vector<inlay_event>& events) {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (events[i].text_bytes > INLAY_EVENT_TEXT_BYTES || events[i].n_logprobs > INLAY_MAX_LOGPROBS)
        host_.violated("an event's lengths");
      for (Session& s : sessions_) {
        if (s.handle != taken[i]) continue;
        if (events[i].kind == INLAY_EVENT_TOKEN) ++s.n_tokens;
        if (events[i].kind == INLAY_EVENT_TOKEN && (events[i].token < 0 || events[i].token >= n_vocab))
          host_.violated("a token that is none");
        compare(s);
      }
    }
  }

  void step() {
    const std::vector<inlay_session*> taken = some_sessions();
    std::vector<inlay_event> events(taken.size(), inlay_event{});
    check("inlay_decode_step",
          lib.inlay_decode_step(taken.data(), taken.size(), events.data(), sizeof(inlay_event), &err_));
    count_events(taken, events);
  }

  void slice() {
    const std::vector<inlay_session*> taken = pending_.empty() || random_.one_in(10) ? some_sessions() : pending_;
    std::vector<inlay_event> events(taken.size(), inlay_event{});
    int32_t left = 0;
    const auto n_units = static_cast<int32_t>(random_.below(6));
    const inlay_status status =
        lib.inlay_decode_slice(taken.data(), taken.size(), n_units, events.data(), sizeof(inlay_event), &left, &err_);
    if (check("inlay_decode_slice", status) && left > 0) {
      pending_ = taken;
    } else if (status != INLAY_INVALID_ARGUMENT && (pending_.empty() || taken == pending_)) {
      pending_.clear();
      count_events(taken, events);
    }
  }

  void fork(const Session& s) {
    inlay_session* child = nullptr;
    Session made = s;
    host_.check("inlay_session_fork", lib.inlay_session_fork(s.handle, &child, &err_), err_, child);
    if (!child) return;
    made.handle = child;
    compare(made);
    add(made);
  }

  void truncate(Session& s) {
    const size_t n = random_.below(static_cast<size_t>(s.n_tokens) + (random_.one_in(5) ? 4 : 1));
    if (check("inlay_session_truncate", lib.inlay_session_truncate(s.handle, n, &err_)))
      s.n_tokens = static_cast<int32_t>(n);
    compare(s);
  }

  void shift(Session& s) {
    const auto n_now = static_cast<size_t>(s.n_tokens);
    const size_t first = random_.below(n_now + 1), n = random_.below(n_now - first + (random_.one_in(5) ? 4 : 1));
    if (check("inlay_session_shift", lib.inlay_session_shift(s.handle, first, n, &err_))) s.n_tokens -= static_cast<int32_t>(n);
    compare(s);
  }

  void accept(Session& s) {
    std::vector<int32_t> tokens(random_.below(4));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab) + (random_.one_in(10) ? 3 : 0)));
    size_t n = 0;
    check("inlay_session_accept", lib.inlay_session_accept(s.handle, tokens.data(), tokens.size(), &n, &err_));
    s.n_tokens += static_cast<int32_t>(n);
    compare(s);
    std::vector<int32_t> all(static_cast<size_t>(s.n_tokens));
    if (check("inlay_session_get_tokens", lib.inlay_session_get_tokens(s.handle, 0, all.data(), all.size(), &n, &err_)) && n != all.size())
      host_.violated("a sequence of " + std::to_string(all.size()) + " tokens reads as " + std::to_string(n));
  }

  // To memory, and back as a session of its own; sometimes with a bit turned.
  void save(const Session& s) {
    Session again = s;
    size_t n = 0;
    if (!check("inlay_session_save", lib.inlay_session_save(s.handle, nullptr, 0, &n, &err_))) return;
    std::vector<unsigned char> state(n - (random_.one_in(6) ? 1 : 0));
    if (!check("inlay_session_save", lib.inlay_session_save(s.handle, state.data(), state.size(), &n, &err_))) return;
    const bool is_damaged = random_.one_in(3);
    if (is_damaged) state[random_.below(n)] ^= static_cast<unsigned char>(1 << random_.below(8));
    inlay_session* made = nullptr;
    host_.check("inlay_session_restore", lib.inlay_session_restore(engine, state.data(), n - (random_.one_in(9) ? 1 : 0), &made, &err_), err_, made);
    if (!made) return;
    if (is_damaged) host_.violated("a damaged session is restored");
    again.handle = made;
    compare(again);
    add(again);
  }

  inlay_sampler_params random_sampler() {
    inlay_sampler_params p = sized<inlay_sampler_params>();
    static constexpr float kValues[] = {0.0f, 0.3f, 0.9f, 1.0f, 1.5f};
    p.temperature = random_.of(kValues);
    p.top_k = static_cast<int32_t>(random_.below(60));
    p.top_p = random_.of(kValues);
    p.min_p = random_.of(kValues) / 2;
    p.repetition_penalty = random_.of(kValues);
    p.frequency_penalty = random_.of(kValues) - 0.5f;
    p.presence_penalty = random_.of(kValues) - 0.5f;
    p.penalty_window = static_cast<int32_t>(random_.below(30)) - 1;
    p.n_logprobs = static_cast<int32_t>(random_.below(INLAY_MAX_LOGPROBS + 1));
    p.seed = random_.next();
    bias_ = {{static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab))), random_.one_in(3) ? -INFINITY : 5.0f},
             {0, 1.0f}};
    p.bias = bias_.data();
    p.n_bias = random_.below(3);
    if (random_.one_in(10)) p.temperature = NAN;
    if (random_.one_in(10)) p.top_k = -static_cast<int32_t>(random_.below(10));
    return p;
  }

  void set_sampler(const Session& s) {
    const inlay_sampler_params p = random_sampler();
    check("inlay_session_set_sampler",
          lib.inlay_session_set_sampler(s.handle, random_.one_in(10) ? nullptr : &p, &err_));
  }

  void set_stops(const Session& s) {
    static constexpr const char* kStops[] = {"a", "the", "\xC3\xA9", "", "<|im_end|>", "\n\n", "stop here"};
    std::vector<inlay_text> stops(random_.below(4));
    for (inlay_text& t : stops) t = {random_.of(kStops), SIZE_MAX};
    check("inlay_session_set_stop", lib.inlay_session_set_stop(s.handle, stops.data(), stops.size(), &err_));
    std::vector<int32_t> tokens(random_.below(4));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab) + 3)) - 1;
    check("inlay_session_set_stop_tokens",
          lib.inlay_session_set_stop_tokens(s.handle, tokens.data(), tokens.size(), &err_));
    check("inlay_session_set_max_tokens",
          lib.inlay_session_set_max_tokens(s.handle, static_cast<int32_t>(random_.below(30)) - 1, &err_));
  }

  void read_logits(const Session& s) {
    std::vector<float> logits(static_cast<size_t>(n_vocab) - random_.below(2));
    size_t needed = 0;
    const bool copied = check("inlay_session_copy_logits",
                              lib.inlay_session_copy_logits(s.handle, logits.data(), logits.size(), &needed, &err_));
    inlay_logits view = sized<inlay_logits>();
    const bool viewed = check("inlay_session_view_logits", lib.inlay_session_view_logits(s.handle, &view, &err_));
    if (copied && viewed && !std::equal(logits.begin(), logits.end(), view.values))
      host_.violated("copied and viewed logits differ");
  }

  void take_text(const Session& s) {
    char text[40];
    size_t n = 0;
    check("inlay_session_take_text",
          lib.inlay_session_take_text(s.handle, text, random_.below(sizeof text + 1), &n, &err_));
  }

  void cancel(const Session& s) {
    if (random_.one_in(2)) return lib.inlay_session_cancel(s.handle);
    check("inlay_session_cancel_generation", lib.inlay_session_cancel_generation(s.handle, random_.below(6), &err_));
  }

  void texts() {
    std::string text(random_.below(40), 'x');
    for (char& c : text) c = static_cast<char>(random_.one_in(4) ? random_.next() : 'a' + random_.below(26));
    int32_t tokens[256];
    size_t n = 0;
    const auto flags = static_cast<inlay_tokenize_flags>(random_.below(random_.one_in(20) ? 16 : 4));
    if (check("inlay_tokenize", lib.inlay_tokenize(engine, text.data(), text.size(), flags, tokens,
                                                   random_.one_in(4) ? 3 : 256, &n, &err_))) {
      char back[600];
      size_t needed = 0;
      check("inlay_detokenize",
            lib.inlay_detokenize(engine, tokens, n, 0, back, random_.one_in(4) ? 2 : sizeof back, &needed, &err_));
    }
    inlay_token_info info = sized<inlay_token_info>();
    check("inlay_token_get_info",
          lib.inlay_token_get_info(engine, static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab) + 3)) - 1,
                                   &info, &err_));
    char line[300];
    uint64_t cursor = random_.below(9);
    inlay_log_level level = 0;
    check("inlay_log_read", lib.inlay_log_read(engine, &cursor, &level, line, sizeof line, &n, &err_));
  }

  void embed() {
    std::vector<int32_t> tokens(1 + random_.below(20));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab)));
    const size_t cut = random_.below(tokens.size());
    const std::string text(random_.below(30), 'x');
    inlay_embed_input inputs[] = {{tokens.data(), cut, nullptr, 0}, {tokens.data() + cut, tokens.size() - cut, nullptr, 0}};
    if (random_.one_in(3)) inputs[0] = {nullptr, 0, text.data(), text.size()};
    inlay_embed_params params = sized<inlay_embed_params>();
    params.pooling = static_cast<inlay_pooling>(random_.below(5));
    params.flags = static_cast<inlay_embed_flags>(random_.below(2));
    std::vector<float> out(random_.one_in(6) ? 10 : 4096);
    size_t needed = 0;
    if (random_.one_in(3)) params.progress = tell, params.progress_user = this;
    check("inlay_embed", lib.inlay_embed(engine, inputs, 2, sizeof *inputs, &params, out.data(), out.size(), &needed, &err_));
  }

  static int32_t tell(void* user, uint64_t n_done, uint64_t n_total) {
    auto& self = *static_cast<Program*>(user);
    if (n_done == 0 || n_done > n_total) self.host_.violated("progress of " + std::to_string(n_done) + " in " + std::to_string(n_total));
    return self.random_.one_in(3);
  }

  void score() {
    std::vector<int32_t> tokens(2 + random_.below(30));
    for (int32_t& t : tokens) t = static_cast<int32_t>(random_.below(static_cast<size_t>(n_vocab)));
    const auto cut = static_cast<int32_t>(random_.below(tokens.size()));
    const int32_t lengths[] = {cut, static_cast<int32_t>(tokens.size()) - cut};
    const bool one = random_.one_in(3);
    struct {
      inlay_score_params params = sized<inlay_score_params>();
      uint8_t newer[64] = {};
    } grown;
    inlay_score_params& params = grown.params;
    if (random_.one_in(4)) params.struct_size = sizeof grown;
    params.n_given = static_cast<int32_t>(random_.below(6));
    params.n_logprobs = static_cast<int32_t>(random_.below(random_.one_in(8) ? 30 : 4));
    if (random_.one_in(3)) {
      params.progress = tell;
      params.progress_user = this;
    }
    std::vector<inlay_token_score> scores(tokens.size());
    std::vector<inlay_token_logprob> top(tokens.size() * (random_.one_in(6) ? 2 : 20));
    const inlay_engine* against = random_.one_in(3) ? engine : nullptr;
    if (!check("inlay_score",
               lib.inlay_score(engine, against, tokens.data(), tokens.size(), one ? nullptr : lengths, one ? 0 : 2, &params,
                               scores.data(), sizeof(inlay_token_score), top.data(), top.size(), &err_)))
      return;
    const size_t n_given = static_cast<size_t>(std::max(params.n_given, 1));
    for (size_t i = 0; i < tokens.size(); ++i) {
      const size_t place = !one && i >= static_cast<size_t>(cut) ? i - static_cast<size_t>(cut) : i;
      const inlay_token_score& s = scores[i];
      const bool scored = place >= n_given;
      if (scored != (s.rank >= 0 && s.rank < n_vocab && s.logprob <= 0) || (scored && against) != (s.divergence >= 0))
        host_.violated("token " + std::to_string(i) + " has rank " + std::to_string(s.rank));
    }
  }

  Host host_;
  fuzz::Random& random_;
  inlay_error err_ = {};
  std::vector<Session> sessions_;
  inlay_queue* queue_ = nullptr;
  std::vector<inlay_session*> pending_;
  std::vector<inlay_logit_bias> bias_;
  int n_worked_ = 0;
};

Outcome run(Case& the_case) { return Program(the_case).run(); }

}  // namespace

const Generator kApi = {
    "api", "random programs of 120 operations within the contract", kPrograms, 20, load_engine, run, free_engine,
    false};

}  // namespace inlay::abuse
