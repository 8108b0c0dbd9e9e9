// Runs seeded programs of calls of the C interface and prints what each call came to, to the bit: events, and a hash of the logits. Two
// builds that print the same lines behave alike. record.py compares them.
//
// Usage: record MODELS [--device cpu|cuda|reference] [--threads N] [--programs N] [--first N] [--flags N] [--tuning TEXT]
//   MODELS: a folder; program i runs on its GGUF file i modulo their number. --flags: of inlay_load_flags. --tuning: of inlay_load_params.
//
// Numbers of blocks and of units are not printed: they are how, not what.
#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "include/capi/inlay.h"

namespace {

// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int32_t below(size_t n) { return n == 0 ? 0 : static_cast<int32_t>(next() % n); }
  int32_t between(int32_t low, int32_t high) { return low + below(static_cast<size_t>(high - low) + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

// FNV-1a.
class Hash {
 public:
  void add(const void* data, size_t n) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < n; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

template <class T>
T sized() {
  T out = {};
  out.struct_size = sizeof(T);
  return out;
}

struct Free {
  void operator()(inlay_engine* e) const { inlay_free(e); }
  void operator()(inlay_session* s) const { inlay_session_free(s); }
};
using Session = std::unique_ptr<inlay_session, Free>;
using Tokens = std::vector<int32_t>;

struct Settings {
  inlay_device_kind device = INLAY_DEVICE_CPU;
  int32_t n_threads = 1, n_programs = 300, first = 0;
  uint32_t flags = 0;
  std::string tuning;
};

class Program {
 public:
  Program(int32_t number, const Settings& settings) : number_(number), settings_(settings), random_(static_cast<uint64_t>(number) * 7919) {}

  bool run(const std::string& model) {
    if (!load(model)) return false;
    const int32_t n_operations = random_.between(16, 32);
    for (operation_ = 0; operation_ < n_operations; ++operation_) {
      // Of its own numbers, so that what one operation comes to does not change the next ones.
      random_ = Random(static_cast<uint64_t>(number_) << 20 | static_cast<uint64_t>(operation_));
      operate();
    }
    for (const Session& s : sessions_) logits("end", s.get());
    sessions_.clear();
    auto stats = sized<inlay_stats>();
    print("stats", inlay_engine_get_stats(engine_.get(), &stats, nullptr));
    std::printf(" prefill %" PRIu64 " decode %" PRIu64 " blocks %d\n", stats.n_prefill_tokens, stats.n_decode_tokens, stats.n_kv_blocks_used);
    return true;
  }

 private:
  bool load(const std::string& model) {
    auto params = sized<inlay_load_params>();
    params.device = settings_.device;
    params.n_threads = settings_.n_threads;
    params.n_context = std::array{48, 96, 160, 256}[static_cast<size_t>(random_.below(4))];
    params.max_sessions = random_.chance(50) ? random_.between(1, 6) : random_.between(7, 34);
    params.prefill_chunk = std::array{0, 5, 16, 33}[static_cast<size_t>(random_.below(4))];
    params.flags = settings_.flags;
    params.tuning = settings_.tuning.data();
    params.tuning_len = settings_.tuning.size();
    params.log_level = INLAY_LOG_OFF;
    if (random_.chance(25)) {  // a pool that cannot hold all
      auto needs = sized<inlay_memory_info>();
      if (inlay_memory_plan(model.c_str(), SIZE_MAX, &params, &needs, nullptr) == INLAY_OK)
        params.kv_budget_bytes = needs.kv_bytes / static_cast<uint64_t>(random_.between(2, 4));
    }
    inlay_error err;
    inlay_engine* engine = nullptr;
    inlay_status status = inlay_load(model.c_str(), SIZE_MAX, &params, &engine, &err);
    if (status != INLAY_OK && params.kv_budget_bytes != 0) {  // not one context fits into it
      params.kv_budget_bytes = 0;
      status = inlay_load(model.c_str(), SIZE_MAX, &params, &engine, &err);
    }
    if (status != INLAY_OK) return std::fprintf(stderr, "record: %s: %s\n", model.c_str(), err.message), false;
    engine_.reset(engine);
    info_ = sized<inlay_engine_info>();
    (void)inlay_engine_get_info(engine, &info_, nullptr);
    std::printf("%d load %s context %d sessions %d chunk %d pool %d\n", number_, std::filesystem::path(model).stem().string().c_str(), info_.n_context,
                info_.max_sessions, params.prefill_chunk, params.kv_budget_bytes != 0);
    return true;
  }

  void operate() {
    const int32_t kind = random_.below(100);
    if (sessions_.empty() || kind < 8) return create(random_.chance(30) ? random_.between(1, info_.max_sessions) : 1);
    if (kind < 22) return prefill(pick());
    if (kind < 52) return steps();
    if (kind < 62) return slices();
    if (kind < 68) return fork(pick());
    if (kind < 74) return truncate(pick());
    if (kind < 79) return shift(pick());
    if (kind < 84) return change(pick());
    if (kind < 87) return inlay_session_cancel(pick());
    if (kind < 90) return take_text(pick());
    if (kind < 93) return embed();
    if (kind < 96) return score();
    print("free", INLAY_OK);
    std::printf("\n");
    sessions_.erase(sessions_.begin() + random_.below(sessions_.size()));
  }

  void print(const char* what, inlay_status status) const { std::printf("%d.%d %s %s", number_, operation_, what, inlay_status_name(status)); }

  inlay_session* pick() { return sessions_[static_cast<size_t>(random_.below(sessions_.size()))].get(); }

  Tokens tokens(int32_t n) {
    Tokens out;
    for (int32_t i = 0; i < n; ++i) out.push_back(random_.below(static_cast<size_t>(info_.n_vocab)));
    return out;
  }

  inlay_sampler_params sampler() {
    auto params = sized<inlay_sampler_params>();
    params.seed = random_.next();
    if (random_.chance(40)) return params;  // greedy
    params.temperature = random_.chance(80) ? 0.8f : 0.0f;
    if (random_.chance(30)) params.top_k = random_.between(1, 60);
    if (random_.chance(30)) params.top_p = 0.9f;
    if (random_.chance(20)) params.min_p = 0.05f;
    if (random_.chance(20)) params.repetition_penalty = 1.3f;
    if (random_.chance(10)) params.frequency_penalty = 0.4f;
    if (random_.chance(30)) params.n_logprobs = random_.between(1, 20);
    if (random_.chance(10)) params.typical_p = 0.8f;
    if (random_.chance(10)) params.xtc_probability = 0.5f;
    if (random_.chance(10)) params.dry_multiplier = 0.8f;
    if (random_.chance(10)) params.mirostat_tau = 5.0f;
    return params;
  }

  void create(int32_t n) {
    for (int32_t i = 0; i < n; ++i) {
      auto params = sized<inlay_session_params>();
      const inlay_sampler_params how = sampler();
      params.sampler = &how;
      params.stream = random_.next();
      if (random_.chance(30)) params.max_tokens = random_.between(1, 40);
      if (random_.chance(50)) params.flags |= INLAY_SESSION_IGNORE_END_OF_GENERATION;
      if (random_.chance(10)) params.flags |= INLAY_SESSION_RESERVE;
      inlay_session* made = nullptr;
      const inlay_status status = inlay_session_create(engine_.get(), &params, &made, nullptr);
      print("create", status);
      std::printf("\n");
      if (status != INLAY_OK) return;
      sessions_.emplace_back(made);
      if (random_.chance(80)) prefill(made);
    }
  }

  void prefill(inlay_session* s) {
    const Tokens given = tokens(random_.chance(80) ? random_.between(1, 24) : random_.between(25, 90));
    size_t n_done = 0;
    const inlay_status status = inlay_prefill(s, given.data(), given.size(), &n_done, nullptr);
    print("prefill", status);
    std::printf(" %zu of %zu\n", n_done, given.size());
    logits("prefill", s);
  }

  // A random subset of the sessions, in random order; mostly all that there are.
  std::vector<inlay_session*> some() {
    std::vector<inlay_session*> out;
    for (const Session& s : sessions_) out.push_back(s.get());
    for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[static_cast<size_t>(random_.below(i))]);
    if (random_.chance(50)) out.resize(static_cast<size_t>(random_.between(1, static_cast<int32_t>(out.size()))));
    return out;
  }

  void steps() {
    const std::vector<inlay_session*> part = some();
    const int32_t n_steps = random_.between(1, 6);
    std::vector<inlay_event> events(part.size());
    for (int32_t i = 0; i < n_steps; ++i) {
      print("step", inlay_decode_step(part.data(), part.size(), events.data(), sizeof(inlay_event), nullptr));
      std::printf(" of %zu\n", part.size());
      show(part, events);
    }
  }

  void slices() {
    const std::vector<inlay_session*> part = some();
    const int32_t abandon_after = random_.chance(30) ? 1 : 0;
    const int32_t most = abandon_after != 0 ? 1 : random_.between(1, 4);
    std::vector<inlay_event> events(part.size());
    int32_t left = 0, n_calls = 0;
    inlay_status status = INLAY_OK;
    do {
      status = inlay_decode_slice(part.data(), part.size(), most, events.data(), sizeof(inlay_event), &left, nullptr);
      ++n_calls;
    } while (status == INLAY_OK && left > 0 && n_calls != abandon_after);
    print(left > 0 ? "abandon" : "slice", left > 0 ? inlay_decode_abandon(part.data(), part.size(), nullptr) : status);
    std::printf(" of %zu\n", part.size());
    if (left == 0 && (status != INLAY_INVALID_ARGUMENT && status != INLAY_BUSY)) show(part, events);
  }

  void show(const std::vector<inlay_session*>& part, const std::vector<inlay_event>& events) {
    for (size_t i = 0; i < part.size(); ++i) {
      const inlay_event& e = events[i];
      Hash hash;
      for (int32_t k = 0; k < e.n_logprobs; ++k) hash.add(&e.top[k], sizeof(e.top[k]));
      hash.add(e.text, e.text_bytes);
      std::printf("  %d %s %d token %d finish %d logprob %08" PRIx32 " text %u+%" PRIu64 " hash %016" PRIx64 "\n", e.session_index,
                  inlay_status_name(e.status), e.kind, e.token, e.finish_reason, std::bit_cast<uint32_t>(e.logprob), e.text_bytes, e.text_pending,
                  hash.value());
      logits("", part[i]);
    }
  }

  void logits(const char* what, inlay_session* s) {
    std::vector<float> values(static_cast<size_t>(info_.n_vocab));
    size_t needed = 0;
    const inlay_status status = inlay_session_copy_logits(s, values.data(), values.size(), &needed, nullptr);
    auto info = sized<inlay_session_info>();
    (void)inlay_session_get_info(s, &info, nullptr);
    Hash hash;
    if (status == INLAY_OK) hash.add(values.data(), values.size() * sizeof(float));
    std::printf("  logits %s %s %016" PRIx64 " tokens %d generated %d finish %d pending %" PRIu64 "\n", what, inlay_status_name(status), hash.value(),
                info.n_tokens, info.n_generated, info.finish_reason, info.text_pending);
  }

  int32_t length(const inlay_session* s) const {
    auto info = sized<inlay_session_info>();
    (void)inlay_session_get_info(s, &info, nullptr);
    return info.n_tokens;
  }

  void fork(inlay_session* s) {
    inlay_session* child = nullptr;
    print("fork", inlay_session_fork(s, &child, nullptr));
    std::printf("\n");
    if (!child) return;
    sessions_.emplace_back(child);
    logits("child", child);
  }

  void truncate(inlay_session* s) {
    const int32_t n = random_.between(0, length(s));
    print("truncate", inlay_session_truncate(s, static_cast<size_t>(n), nullptr));
    std::printf(" to %d\n", n);
    logits("", s);
  }

  void shift(inlay_session* s) {
    const int32_t n_tokens = length(s), first = random_.between(0, n_tokens), n = random_.between(0, n_tokens - first);
    print("shift", inlay_session_shift(s, static_cast<size_t>(first), static_cast<size_t>(n), nullptr));
    std::printf(" %d at %d\n", n, first);
    logits("", s);
  }

  void change(inlay_session* s) {
    const int32_t kind = random_.below(4);
    inlay_status status = INLAY_OK;
    if (kind == 0) {
      const inlay_sampler_params how = sampler();
      status = inlay_session_set_sampler(s, &how, nullptr);
    } else if (kind == 1) {
      status = inlay_session_set_max_tokens(s, random_.between(0, 30), nullptr);
    } else if (kind == 2) {
      const Tokens stops = tokens(3);
      status = inlay_session_set_stop_tokens(s, stops.data(), stops.size(), nullptr);
    } else {
      const inlay_text stops[] = {{"e", 1}, {"th", 2}};
      status = inlay_session_set_stop(s, stops, 2, nullptr);
    }
    print("change", status);
    std::printf(" %d\n", kind);
  }

  void take_text(inlay_session* s) {
    char buffer[64];
    size_t n = 0;
    const inlay_status status = inlay_session_take_text(s, buffer, sizeof(buffer), &n, nullptr);
    Hash hash;
    hash.add(buffer, n);
    print("text", status);
    std::printf(" %zu hash %016" PRIx64 "\n", n, hash.value());
  }

  // Texts of random lengths, and where each begins.
  Tokens texts(std::vector<int32_t>& lengths) {
    size_t n = 0;
    for (int32_t i = random_.between(1, 5); i > 0; --i) {
      lengths.push_back(random_.between(1, 40));
      n += static_cast<size_t>(lengths.back());
    }
    return tokens(static_cast<int32_t>(n));
  }

  void embed() {
    std::vector<int32_t> lengths;
    const Tokens given = texts(lengths);
    auto params = sized<inlay_embed_params>();
    params.pooling = std::array{INLAY_POOLING_MEAN, INLAY_POOLING_LAST, INLAY_POOLING_FIRST}[static_cast<size_t>(random_.below(3))];
    std::vector<float> vectors(lengths.size() * static_cast<size_t>(info_.d_model));
    size_t needed = 0;
    std::vector<inlay_embed_input> inputs;
    const int32_t* at = given.data();
    for (const int32_t n : lengths) {
      inputs.push_back({at, static_cast<size_t>(n), nullptr, 0});
      at += n;
    }
    const inlay_status status = inlay_embed(engine_.get(), inputs.data(), inputs.size(), sizeof(inlay_embed_input), &params, vectors.data(),
                                            vectors.size(), &needed, nullptr);
    Hash hash;
    if (status == INLAY_OK) hash.add(vectors.data(), vectors.size() * sizeof(float));
    print("embed", status);
    std::printf(" %zu texts hash %016" PRIx64 "\n", lengths.size(), hash.value());
  }

  void score() {
    std::vector<int32_t> lengths;
    const Tokens given = texts(lengths);
    auto params = sized<inlay_score_params>();
    std::vector<inlay_token_score> scores(given.size());
    const inlay_status status = inlay_score(engine_.get(), nullptr, given.data(), given.size(), lengths.data(), lengths.size(), &params, scores.data(),
                                            sizeof(inlay_token_score), nullptr, 0, nullptr);
    Hash hash;
    if (status == INLAY_OK) {
      for (const inlay_token_score& s : scores) {
        hash.add(&s.logprob, sizeof(s.logprob));
        hash.add(&s.rank, sizeof(s.rank));
      }
    }
    print("score", status);
    std::printf(" %zu texts hash %016" PRIx64 "\n", lengths.size(), hash.value());
  }

  const int32_t number_;
  const Settings& settings_;
  Random random_;
  int32_t operation_ = -1;
  std::unique_ptr<inlay_engine, Free> engine_;
  inlay_engine_info info_ = {};
  std::vector<Session> sessions_;
};

bool read_option(const std::string& name, const std::string& value, Settings& out) {
  const auto number = static_cast<int32_t>(std::strtol(value.c_str(), nullptr, 10));
  if (name == "--threads") return out.n_threads = number, true;
  if (name == "--programs") return out.n_programs = number, true;
  if (name == "--first") return out.first = number, true;
  if (name == "--flags") return out.flags = static_cast<uint32_t>(number), true;
  if (name == "--tuning") return out.tuning = value, true;
  if (name != "--device") return false;
  out.device = value == "cuda" ? INLAY_DEVICE_CUDA : value == "reference" ? INLAY_DEVICE_REFERENCE : INLAY_DEVICE_CPU;
  return value == "cuda" || value == "reference" || value == "cpu";
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool right = argc >= 2 && argc % 2 == 0;
  for (int i = 2; right && i + 1 < argc; i += 2) right = read_option(argv[i], argv[i + 1], settings);
  if (!right) {
    std::fprintf(stderr, "usage: record MODELS [--device cpu|cuda|reference] [--threads N] [--programs N] [--first N] [--flags N] [--tuning TEXT]\n");
    return 2;
  }
  std::set<std::string> models;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".gguf") models.insert(entry.path().string());
  if (models.empty()) return std::fprintf(stderr, "record: no GGUF file in %s\n", argv[1]), 2;
  const std::vector<std::string> files(models.begin(), models.end());
  for (int32_t i = settings.first; i < settings.first + settings.n_programs; ++i)
    if (!Program(i, settings).run(files[static_cast<size_t>(i) % files.size()])) return 1;
  return 0;
}
