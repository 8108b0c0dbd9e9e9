// Sessions that are saved go on where they were, on this engine and on others; what is damaged or foreign is refused, and nothing changes.
#include "src/engine/saved_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

using Bytes = std::vector<std::byte>;

// What a session comes to from now on.
struct Rest {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::string text;
  FinishReason reason = FinishReason::none;
  bool operator==(const Rest&) const = default;
};

class SavedSessions : public test::EngineSessions {
 protected:
  static Bytes save(Session& s) {
    Bytes out;
    auto saved = SavedSession::of(s);
    EXPECT_TRUE(saved.ok()) << saved.status().message;
    if (!saved.ok()) return out;
    const Status status = saved->write([&](std::span<const std::byte> bytes) {
      out.insert(out.end(), bytes.begin(), bytes.end());
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(out.size(), saved->n_bytes());
    Bytes at_once(out.size());
    EXPECT_TRUE(saved->write(std::span(at_once)).ok());
    EXPECT_EQ(at_once, out) << "written where they are to be";
    return out;
  }
  static StateSource source_of(const Bytes& bytes, size_t& at) {
    at = 0;
    return [&bytes, &at](std::span<std::byte> into) {
      if (into.size() > bytes.size() - at) return error(Code::format, "the saved session ends after %zu bytes", bytes.size());
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), into.size(), into.begin());
      at += into.size();
      return Status();
    };
  }
  static Result<std::shared_ptr<Session>> restore(const std::shared_ptr<Engine>& engine, const Bytes& bytes) { return restore_session(engine, std::span(bytes)); }
  static std::shared_ptr<Session> restored(const std::shared_ptr<Engine>& engine, const Bytes& bytes) {
    auto session = restore(engine, bytes);
    EXPECT_TRUE(session.ok()) << session.status().message;
    return session.ok() ? *session : nullptr;
  }

  static StepEvent step_of(Session& s) {
    Session* one[] = {&s};
    StepEvent event;
    (void)s.engine().decode_step(one, {&event, 1});
    return event;
  }
  static std::string text_of(Session& s) {
    std::string out(s.n_pending_text(), '\0');
    out.resize(s.take_text(out.data(), out.size()));
    return out;
  }
  static Rest rest_of(Session& s, int n) {
    Rest out;
    for (int i = 0; i < n && out.reason == FinishReason::none; ++i) {
      const StepEvent event = step_of(s);
      if (!event.status.ok()) {
        out.text += event.status.message;
        break;
      }
      out.tokens.push_back(event.sample.token);
      out.logprobs.push_back(event.sample.logprob);
      out.reason = event.finish_reason;
      out.text += text_of(s);
    }
    return out;
  }
  // Both go on alike, and they say the same of themselves.
  static void expect_goes_on(Session& own, Session& again, const std::string& what, int n = 25) {
    const SessionInfo a = own.info(), b = again.info();
    EXPECT_EQ(a.n_tokens, b.n_tokens) << what;
    EXPECT_EQ(a.n_drawn, b.n_drawn) << what;
    EXPECT_EQ(a.finish_reason, b.finish_reason) << what;
    EXPECT_EQ(a.n_pending_text, b.n_pending_text) << what;
    EXPECT_EQ(a.generation, b.generation) << what;
    EXPECT_EQ(a.constraint, b.constraint) << what;
    const auto logits = own.view_logits(), logits_again = again.view_logits();
    EXPECT_EQ(logits.ok(), logits_again.ok()) << what;
    EXPECT_TRUE(!logits.ok() || !logits_again.ok() || std::ranges::equal(*logits, *logits_again)) << what;
    const std::string text = text_of(own);
    EXPECT_EQ(text_of(again), text) << what;
    const Rest rest = rest_of(own, n), rest_again = rest_of(again, n);
    EXPECT_EQ(rest_again.tokens, rest.tokens) << what;
    EXPECT_EQ(rest_again.logprobs, rest.logprobs) << what;
    EXPECT_EQ(rest_again.text, rest.text) << what;
    EXPECT_EQ(rest_again.reason, rest.reason) << what;
  }
  // What somebody does who knows the checksums: bytes whose header or description has changed get those that are right.
  static void sign(Bytes& bytes) {
    StateHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    Hash64 hash;
    hash.add(std::as_bytes(std::span(&header, 1)).first(offsetof(StateHeader, hash)));
    hash.add(std::span(bytes).subspan(sizeof header, header.n_description));
    header.hash = hash.value();
    std::memcpy(bytes.data(), &header, sizeof header);
    StateHash all;
    all.add(std::span(bytes).first(bytes.size() - 8));
    const uint64_t sum = all.value();
    std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
  }
  // That a restoration which fails leaves nothing.
  struct Unchanged {
    Engine& engine;
    EngineStats before = engine.stats();
    explicit Unchanged(Engine& e) : engine(e) {}
    ~Unchanged() {
      EXPECT_EQ(engine.stats().n_sessions, before.n_sessions);
      EXPECT_EQ(engine.stats().n_kv_blocks_used, before.n_kv_blocks_used);
    }
  };

  std::shared_ptr<Engine> other() { return load({.n_context = 160, .max_sessions = 2, .n_threads = 1, .prefill_chunk = 16}); }
};
INLAY_ON_CPU_AND_CUDA(SavedSessions);

// With every kind of sampling, at every kind of moment, here and on an engine with another context, pool and number of threads.
TEST_P(SavedSessions, GoOnAsIfNothingHadHappened) {
  const auto elsewhere = other();
  ASSERT_NE(elsewhere, nullptr);
  const std::pair<const char*, SamplerParams> samplers[] = {
      {"greedy", {}},
      {"seeded", {.temperature = 0.9f, .top_k = 30, .seed = 77, .bias = {{5, 1.5f}, {9, -2.0f}}}},
      {"penalties", {.temperature = 0.8f, .repetition_penalty = 1.3f, .frequency_penalty = 0.2f, .penalty_window = -1, .seed = 3}},
      {"mirostat", {.temperature = 1.0f, .seed = 9, .mirostat_tau = 3, .mirostat_eta = 0.3f}},
      {"adaptive", {.temperature = 1.0f, .seed = 9, .adaptive_target = 0.4f}},
      {"dry", {.temperature = 0.7f, .seed = 4, .dry_multiplier = 1.0f, .dry_breakers = {"a", "the"}, .temperature_last = true}},
  };
  for (const auto& [name, sampler] : samplers) {
    for (const int n_drawn : {0, 1, 7, 30, 40}) {
      SessionOptions options{.sampler = sampler, .stream = 5, .max_tokens = 40, .ignore_end_of_generation = true, .reserve = n_drawn == 7, .stop_tokens = {299}, .stops = {"zzzz", "e t"}};
      const auto own = session(options);
      ASSERT_TRUE(prefill(*own, prompt(45)).ok());
      for (int i = 0; i < n_drawn; ++i) step(*own);
      const Bytes bytes = save(*own);
      const std::string what = std::string(name) + " after " + std::to_string(n_drawn);
      const auto fork = own->fork();
      ASSERT_TRUE(fork.ok());
      const auto again = restored(engine_, bytes);
      ASSERT_NE(again, nullptr) << what;
      EXPECT_EQ(save(*again), bytes) << what;
      expect_goes_on(*own, *again, what);
      const auto there = restored(elsewhere, bytes);
      ASSERT_NE(there, nullptr) << what;
      expect_goes_on(**fork, *there, what + ", elsewhere");
    }
  }
}

// An empty one, one that was cut, one with accepted tokens, a fork, and one that was shifted.
TEST_P(SavedSessions, HaveWhatTheCallerHasMadeOfThem) {
  {
    const auto empty = session();
    const auto again = restored(engine_, save(*empty));
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(step_of(*again).status.code, Code::invalid_state);
    ASSERT_TRUE(prefill(*empty, prompt(20)).ok() && prefill(*again, prompt(20)).ok());
    expect_goes_on(*empty, *again, "empty");
  }

  const auto change = [&](const char* what, const auto& changed) {
    const auto own = session();
    ASSERT_TRUE(prefill(*own, prompt(70)).ok());
    for (int i = 0; i < 5; ++i) step(*own);
    changed(*own);
    const auto again = restored(engine_, save(*own));
    ASSERT_NE(again, nullptr);
    expect_goes_on(*own, *again, what);
  };
  change("cut", [](Session& s) { ASSERT_TRUE(s.truncate(50).ok()); });
  change("cut to nothing", [](Session& s) { ASSERT_TRUE(s.truncate(0).ok()); });
  change("accepted", [](Session& s) {
    size_t n = 0;
    const int32_t tokens[] = {11, 12, 13};
    ASSERT_TRUE(s.accept(tokens, n).ok());
  });
  change("shifted", [](Session& s) { ASSERT_TRUE(s.shift(10, 37).ok()); });
  change("other parameters", [](Session& s) {
    ASSERT_TRUE(s.set_sampler({.temperature = 1.0f, .seed = 1}).ok());
    ASSERT_TRUE(s.set_stop({"ab", "c"}).ok());
    ASSERT_TRUE(s.set_max_tokens(17).ok());
  });
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(40)).ok());
  const auto fork = own->fork();
  ASSERT_TRUE(fork.ok());
  const auto again = restored(engine_, save(**fork));
  ASSERT_NE(again, nullptr);
  expect_goes_on(*own, *again, "a fork");
}

// What is held back of the text: the beginning of a character and of a stop string, names of control tokens, text that nobody has taken.
// Each type of keys and values that the device has, by one thread and by several; what one engine saved another one of that type goes on with.
TEST_P(SavedSessions, HaveKeysAndValuesOfEachType) {
  int n_types = 0;
  for (const KvDType type : {KvDType::f16, KvDType::f32, KvDType::fp8, KvDType::int8}) {
    EngineOptions options{.device = GetParam(), .n_context = 128, .max_sessions = 2, .kv_dtype = type, .n_threads = 3, .prefill_chunk = 32};
    const auto one = Engine::load(test::model_file("chat-bpe-qwen3-f32"), options);
    if (one.status().code == Code::unsupported) continue;
    ASSERT_TRUE(one.ok()) << one.status().message;
    ++n_types;
    options.n_threads = 1;
    const auto two = Engine::load(test::model_file("chat-bpe-qwen3-f32"), options);
    auto own = (*one)->create_session({.sampler = {.temperature = 0.7f, .seed = 8}, .ignore_end_of_generation = true});
    ASSERT_TRUE(two.ok() && own.ok() && prefill(**own, prompt(70)).ok());
    const Bytes bytes = save(**own);
    const auto again = restored(*two, bytes);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(save(*again), bytes);
    expect_goes_on(**own, *again, "type " + std::to_string(static_cast<int>(type)));
  }
  EXPECT_EQ(n_types, GetParam() == DeviceKind::cuda ? 3 : 1);
}

// Position by position, as docs/design/session-state.md has it: what is cut at the end is cut from the end of the rows.
TEST_P(SavedSessions, HaveTheirRowsInOrder) {
  const auto rows_of = [&](Session& s) {
    const Bytes bytes = save(s);
    StateHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const size_t first = sizeof header + header.n_description, n_behind = sizeof(uint64_t) + (s.view_logits().ok() ? static_cast<size_t>(engine_->spec().n_vocab) * sizeof(float) : 0);
    return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.end() - static_cast<std::ptrdiff_t>(n_behind));
  };
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(100)).ok());
  const Bytes all = rows_of(*own);
  EXPECT_EQ(all.size() % 100, 0u);
  for (const int32_t n : {70, 40, 32, 3}) {
    ASSERT_TRUE(own->truncate(n).ok());
    const Bytes rows = rows_of(*own);
    ASSERT_EQ(rows.size(), all.size() / 100 * static_cast<size_t>(n - 1)) << "without the last one, which is run again";
    EXPECT_TRUE(std::ranges::equal(rows, std::span(all).first(rows.size()))) << n;
  }
}

TEST_P(SavedSessions, HaveTheTextThatIsHeldBack) {
  const Tokenizer& tokenizer = *engine_->tokenizer();
  std::vector<int32_t> pieces;  // of "é", byte by byte, where the vocabulary has none for it
  ASSERT_TRUE(tokenizer.encode("é sto", {.add_special = false}, pieces).ok());
  for (size_t n = 0; n <= pieces.size(); ++n) {
    const auto own = session({.ignore_end_of_generation = true, .stops = {"stop", " s"}});
    ASSERT_TRUE(prefill(*own, prompt(9)).ok());
    size_t n_accepted = 0;
    ASSERT_TRUE(own->accept(std::span(pieces).first(n), n_accepted).ok());
    const auto again = restored(engine_, save(*own));
    ASSERT_NE(again, nullptr);
    ASSERT_TRUE(own->accept(std::span(pieces).subspan(n_accepted), n_accepted).ok() == again->accept(std::span(pieces).subspan(n), n_accepted).ok());
    EXPECT_EQ(text_of(*again), text_of(*own)) << n;
    expect_goes_on(*own, *again, "after " + std::to_string(n) + " pieces");
  }
  TextStream stream, again;
  ASSERT_TRUE(stream.set_stops({"<|a|> b", "abc"}).ok());
  stream.begin_behind("\xE2\x82");
  EXPECT_FALSE(stream.append("\xACxyz ab"));
  EXPECT_FALSE(stream.append_name("<|a|>"));
  ASSERT_TRUE(again.hold(stream.held()).ok());
  EXPECT_TRUE(stream.append(" b"));
  EXPECT_TRUE(again.append(" b"));
  EXPECT_EQ(again.n_ready(), stream.n_ready());
}

// A constraint is made again from its source, and has read what was written.
TEST_P(SavedSessions, HaveTheirConstraint) {
  const ConstraintSource sources[] = {
      {.kind = ConstraintSource::Kind::choices, .text = {}, .choices = {"a long choice of words", "another choice"}},
      {.kind = ConstraintSource::Kind::json_schema, .text = R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]})", .choices = {}, .compact = true},
      {.kind = ConstraintSource::Kind::regex, .text = "[a-c ]{4,30}", .choices = {}},
  };
  const auto elsewhere = other();
  for (const ConstraintSource& source : sources) {
    auto made = engine_->make_constraint(source);
    ASSERT_TRUE(made.ok()) << made.status().message;
    for (const int n_drawn : {0, 1, 4}) {
      const auto own = session({.sampler = {.temperature = 1.0f, .seed = 6}, .max_tokens = 30, .constraint = made->constraint});
      ASSERT_TRUE(prefill(*own, prompt(12)).ok());
      for (int i = 0; i < n_drawn; ++i) step_of(*own);
      const auto again = restored(n_drawn == 1 ? elsewhere : engine_, save(*own));
      ASSERT_NE(again, nullptr);
      expect_goes_on(*own, *again, source.text + " after " + std::to_string(n_drawn));
    }
    const auto written = session({.sampler = {.temperature = 1.0f, .seed = 6}, .max_tokens = 30});
    ASSERT_TRUE(prefill(*written, prompt(12)).ok());
    const char* const begun = source.kind == ConstraintSource::Kind::json_schema ? "{" : "a";
    ASSERT_TRUE(written->set_constraint(made->constraint, begun).ok());
    const auto again = restored(engine_, save(*written));
    ASSERT_NE(again, nullptr);
    expect_goes_on(*written, *again, source.text + " behind what is written");
  }
}

// A source is compiled again by the compiler that it was compiled by, and by no other: it could mean something else.
TEST_P(SavedSessions, RefuseAnotherCompilersConstraint) {
  auto made = engine_->make_constraint({.kind = ConstraintSource::Kind::choices, .text = {}, .choices = {"one", "another"}});
  ASSERT_TRUE(made.ok());
  for (const bool is_constrained : {true, false}) {
    const auto own = session({.max_tokens = 30, .constraint = is_constrained ? made->constraint : nullptr});
    ASSERT_TRUE(prefill(*own, prompt(12)).ok());
    const Bytes bytes = save(*own);
    // Of the description's end: how many constraints, and of the one the version.
    const std::string& origin = made->constraint->origin();
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t source = all.find(origin);
    ASSERT_EQ(source != all.npos, is_constrained);
    if (!is_constrained) {
      EXPECT_NE(restored(engine_, bytes), nullptr) << "without a constraint there is no version";
      continue;
    }
    const size_t at = source - sizeof(uint64_t) - sizeof(uint32_t);
    uint32_t version = 0;
    std::memcpy(&version, bytes.data() + at, sizeof version);
    ASSERT_EQ(version, constraint::kCompilerVersion);
    for (const uint32_t other : {version - 1, version, version + 1, version + 256}) {
      Bytes changed = bytes;
      std::memcpy(changed.data() + at, &other, sizeof other);
      sign(changed);
      const Unchanged unchanged(*engine_);
      const auto again = restore(engine_, changed);
      EXPECT_EQ(again.ok(), other == version) << other << ": " << again.status().message << " (negative control: the same version)";
      if (other == version) continue;
      EXPECT_EQ(again.status().code, Code::unsupported);
      EXPECT_EQ(again.status().message, "the saved session's constraint was compiled by version " + std::to_string(other) + " of the compiler of constraints, this library has version " +
                                            std::to_string(version) + ": its source could mean something else");
    }
  }
}

// The next prompt computes its own tokens alone.
TEST_P(SavedSessions, ComputeNothingTwice) {
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(70)).ok());
  step(*own), step(*own);
  const Bytes bytes = save(*own);
  const auto elsewhere = other();
  const auto again = restored(elsewhere, bytes);
  ASSERT_NE(again, nullptr);
  const uint64_t before = elsewhere->stats().n_prefill_tokens;
  ASSERT_TRUE(prefill(*again, prompt(10)).ok());
  EXPECT_EQ(elsewhere->stats().n_prefill_tokens - before, 11u) << "and the last drawn token, which no step had run";
}

// Windows, of every model of the tests' data, with blocks that have left them.
TEST_P(SavedSessions, OfEveryModel) {
  int n_models = 0, n_windows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(INLAY_TEST_DATA_DIR "/models")) {
    if (entry.path().extension() != ".gguf") continue;
    const EngineOptions options{.device = GetParam(), .n_context = 96, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 16};
    const auto loaded = Engine::load(entry.path().string(), options);
    if (!loaded.ok() || (*loaded)->spec().n_vocab < 60) continue;
    ++n_models;
    for (const KvGroup& group : (*loaded)->plan().kv.groups) n_windows += group.window > 0 && group.window < 60;
    std::vector<int32_t> tokens;
    for (int32_t k = 0; k < 66; ++k) tokens.push_back(13 * k % 55 + 5);
    for (const int n_drawn : {0, 6}) {
      auto own = (*loaded)->create_session({.ignore_end_of_generation = true});
      ASSERT_TRUE(own.ok());
      ASSERT_TRUE(prefill(**own, tokens).ok());
      for (int i = 0; i < n_drawn; ++i) step_of(**own);
      const Bytes bytes = save(**own);
      const auto again = restored(*loaded, bytes);
      ASSERT_NE(again, nullptr) << entry.path();
      EXPECT_EQ(save(*again), bytes) << entry.path();
      expect_goes_on(**own, *again, entry.path().stem().string(), 12);
    }
  }
  EXPECT_GT(n_models, 20);
  EXPECT_GT(n_windows, 5);
}

// Each beginning of the bytes, and each 97th bit turned, is refused in words.
TEST_P(SavedSessions, RefuseDamage) {
  const auto own = session({.sampler = {.temperature = 0.5f}, .max_tokens = 30, .stops = {"never"}});
  ASSERT_TRUE(prefill(*own, prompt(5)).ok());
  const Bytes bytes = save(*own);
  ASSERT_LT(bytes.size(), 40'000u);
  const Unchanged unchanged(*engine_);
  const auto expect_refused = [&](const Bytes& damaged, const std::string& what) {
    const auto again = restore(engine_, damaged);
    ASSERT_FALSE(again.ok()) << what;
    EXPECT_TRUE(again.status().code == Code::format || again.status().code == Code::unsupported) << what << ": " << again.status().message;
    EXPECT_FALSE(again.status().message.empty()) << what;
  };
  for (size_t n = 0; n < bytes.size(); n += n < 2000 || n + 300 > bytes.size() ? 1 : 37) expect_refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}, "the first " + std::to_string(n));
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 97) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << bit % 8;
    expect_refused(damaged, "bit " + std::to_string(bit));
  }
  EXPECT_EQ(restore(engine_, {}).status().message, "the saved session has no bytes");
  EXPECT_EQ(restore(engine_, {bytes.begin(), bytes.begin() + 1}).status().message, "the saved session ends after 1 byte");
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  expect_refused(longer, "a byte more");
  size_t at = 0;
  EXPECT_TRUE(restore_session(engine_, source_of(longer, at)).ok()) << "a source may go on behind it";
  EXPECT_EQ(at, bytes.size());
  EXPECT_TRUE(restore(engine_, bytes).ok()) << "negative control";
}

// Bytes of somebody who knows the checksums: each is refused, or makes a session that can be used.
TEST_P(SavedSessions, SurviveForgedBytes) {
  auto made = engine_->make_constraint({.kind = ConstraintSource::Kind::choices, .text = {}, .choices = {"one", "two"}});
  ASSERT_TRUE(made.ok());
  const auto own = session({.sampler = {.temperature = 0.5f, .bias = {{3, 1.0f}}}, .max_tokens = 30, .stop_tokens = {7}, .stops = {"never"}, .constraint = made->constraint});
  ASSERT_TRUE(prefill(*own, prompt(5)).ok());
  step(*own);
  const Bytes bytes = save(*own);
  StateHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const Unchanged unchanged(*engine_);
  int n_refused = 0, n_taken = 0;
  for (size_t at = 0; at < header.n_description; ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Bytes forged = bytes;
      forged[sizeof header + at] = static_cast<std::byte>(value);
      sign(forged);
      const auto again = restore(engine_, forged);
      ++(again.ok() ? n_taken : n_refused);
      if (again.ok()) (void)rest_of(**again, 2);
    }
  }
  EXPECT_GT(n_refused, 1000);
  EXPECT_GT(n_taken, 100);
}

// Keys and values of positions that the windows have left: no blocks are taken for them.
TEST_P(SavedSessions, RefuseWhatIsBeforeAWindow) {
  const auto loaded = Engine::load(test::model_file("gemma3-f32"), {.device = GetParam(), .n_context = 512, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 16});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message;
  Engine& engine = **loaded;
  auto own = engine.create_session({});
  ASSERT_TRUE(own.ok());
  std::vector<int32_t> tokens;
  for (int32_t k = 0; k < 450; ++k) tokens.push_back(13 * k % 55 + 5);
  ASSERT_TRUE(prefill(**own, tokens).ok());
  const Bytes bytes = save(**own);
  StateHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto read = read_state({reinterpret_cast<const char*>(bytes.data()) + sizeof header, header.n_description}, engine);
  ASSERT_TRUE(read.ok()) << read.status().message;
  const std::vector<KvGroup>& groups = engine.plan().kv.groups;
  const Unchanged unchanged(engine);
  int n_forged = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    const int32_t first = read->first_rows[g];
    if (groups[g].window == 0) continue;
    ASSERT_GE(first, 2 * kKvBlockTokens);
    for (const int32_t forged : {0, 1, first / 2, first - 1, first}) {
      SessionState state = *read;
      state.first_rows[g] = forged;
      const std::string description = bytes_of(state);
      StateHeader changed = header;
      changed.n_description = description.size();
      changed.n_bytes = state_bytes(engine, state, description.size());
      Bytes all(changed.n_bytes);
      std::memcpy(all.data(), &changed, sizeof changed);
      std::memcpy(all.data() + sizeof changed, description.data(), description.size());
      sign(all);
      const auto again = restore(*loaded, all);
      if (forged == first) {
        EXPECT_TRUE(again.ok()) << "negative control: " << again.status().message;
        continue;
      }
      ++n_forged;
      ASSERT_FALSE(again.ok()) << forged;
      EXPECT_EQ(again.status().code, Code::format) << forged << ": " << again.status().message;
    }
  }
  EXPECT_GE(n_forged, 4);
}

TEST_P(SavedSessions, RefuseWhatTheEngineCannotTake) {
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(70)).ok());
  const Bytes bytes = save(*own);
  const auto status_on = [&](const std::shared_ptr<Engine>& engine) {
    const Unchanged unchanged(*engine);
    return restore(engine, bytes).status();
  };
  const auto foreign = Engine::load(test::model_file("qwen3-f32"), {.device = GetParam(), .n_context = 128, .n_threads = 1});
  ASSERT_TRUE(foreign.ok());
  EXPECT_EQ(status_on(*foreign).code, Code::unsupported);
  EXPECT_NE(status_on(*foreign).message.find("another model"), std::string::npos);
  const auto reference = Engine::load(test::model_file("chat-bpe-qwen3-f32"), {.device = DeviceKind::reference, .n_context = 128});
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(status_on(*reference).code, Code::unsupported);
  EXPECT_EQ(status_on(*reference).message, "the saved session's keys and values are F16, the engine's are F32");
  const auto narrow = load({.n_context = 64, .max_sessions = 2, .n_threads = 1});
  EXPECT_EQ(status_on(narrow).code, Code::context_full);
  EXPECT_EQ(status_on(narrow).required, 70u);
  const auto single = load({.n_context = 128, .max_sessions = 1, .n_threads = 1});
  {
    const auto taken = single->create_session({});
    EXPECT_EQ(status_on(single).code, Code::session_limit);
  }
  const uint64_t block = single->info().memory.kv / static_cast<uint64_t>(single->stats().n_kv_blocks);
  const auto small = load({.n_context = 128, .max_sessions = 2, .kv_budget_bytes = 4 * block, .n_threads = 1});
  const auto full = small->create_session({});
  ASSERT_TRUE(full.ok() && prefill(**full, prompt(60)).ok());
  EXPECT_EQ(status_on(small).code, Code::kv_full);
  EXPECT_TRUE(restore(engine_, bytes).ok()) << "negative control";
}

// The status of a sink or a source ends the call.
TEST_P(SavedSessions, EndWithTheHostsError) {
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(70)).ok());
  const Bytes bytes = save(*own);
  for (size_t n = 0; n < 5; ++n) {  // header, description, rows, logits, hash
    auto saved = SavedSession::of(*own);
    ASSERT_TRUE(saved.ok());
    size_t n_calls = 0;
    const Status status = saved->write([&](std::span<const std::byte>) { return n_calls++ == n ? error(Code::io, "the disk is full") : Status(); });
    EXPECT_EQ(status.code, Code::io) << n;
    EXPECT_EQ(n_calls, n + 1);
    const Unchanged unchanged(*engine_);
    size_t at = 0, n_reads = 0;
    const StateSource right = source_of(bytes, at);
    const auto again = restore_session(engine_, [&](std::span<std::byte> into) { return n_reads++ == n ? error(Code::io, "the disk is gone") : right(into); });
    EXPECT_EQ(again.status().code, Code::io) << n;
  }
  EXPECT_EQ(save(*own), bytes);
}

// Beside a step that was begun ahead, and beside steps in slices: of another session it may be saved and restored, its own it has to end.
TEST_P(SavedSessions, GoWithStepsThatAreUnderWay) {
  const auto ahead = load({.n_context = 128, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 32, .run_ahead = true});
  ASSERT_NE(ahead, nullptr);
  auto own = ahead->create_session({.sampler = {.temperature = 0.9f, .seed = 3}, .ignore_end_of_generation = true});
  ASSERT_TRUE(own.ok() && prefill(**own, prompt(40)).ok());
  for (int i = 0; i < 5; ++i) step_of(**own);
  EXPECT_EQ(ahead->n_ahead(), 1u);
  const Bytes bytes = save(**own);
  EXPECT_EQ(ahead->n_ahead(), 1u) << "saving leaves it alone";
  auto again = restored(ahead, bytes), there = restored(engine_, bytes);
  ASSERT_TRUE(again && there);
  const Rest rest = rest_of(**own, 10);
  EXPECT_EQ(rest_of(*again, 10), rest);
  EXPECT_EQ(rest_of(*there, 10), rest);
  there.reset();

  const auto sliced = session(), other = session();
  ASSERT_TRUE(prefill(*sliced, prompt(20)).ok() && prefill(*other, prompt(33)).ok());
  step(*sliced);
  Session* one[] = {sliced.get()};
  StepEvent event;
  int32_t left = 0;
  ASSERT_TRUE(engine_->decode_slice(one, 1, {&event, 1}, left).ok());
  ASSERT_GT(left, 0);
  EXPECT_EQ(SavedSession::of(*sliced).status().code, Code::invalid_state);
  const auto other_again = restored(engine_, save(*other));
  ASSERT_NE(other_again, nullptr);
  while (left > 0) ASSERT_TRUE(engine_->decode_slice(one, 3, {&event, 1}, left).ok());
  expect_goes_on(*other, *other_again, "beside slices", 8);
  const auto sliced_again = restored(engine_, save(*sliced));
  ASSERT_NE(sliced_again, nullptr);
  expect_goes_on(*sliced, *sliced_again, "behind slices", 8);
}

// While others compute: neither they nor the saved bytes change.
TEST_P(SavedSessions, LetOthersCompute) {
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(100)).ok());
  const Bytes bytes = save(*own);
  Rest alone;
  {
    const auto s = session();
    ASSERT_TRUE(prefill(*s, prompt(30, 50)).ok());
    alone = rest_of(*s, 60);
  }
  std::atomic<bool> done{false};
  std::thread saver([&] {
    while (!done) {
      EXPECT_TRUE(save(*own) == bytes);
      const auto again = restore(engine_, bytes);
      EXPECT_TRUE(again.ok()) << again.status().message;
    }
  });
  for (int i = 0; i < 5; ++i) {
    const auto s = session();
    EXPECT_TRUE(prefill(*s, prompt(30, 50)).ok());
    const Rest rest = rest_of(*s, 60);
    EXPECT_EQ(rest.tokens, alone.tokens);
    EXPECT_EQ(rest.logprobs, alone.logprobs);
  }
  done = true;
  saver.join();
}

// Between the CPU and a GPU, in both ways: the rows are the same file.
TEST_P(SavedSessions, CrossDevices) {
  const auto cpu = Engine::load(test::model_file("chat-bpe-qwen3-f32"), {.device = DeviceKind::cpu, .n_context = 128, .n_threads = 1});
  ASSERT_TRUE(cpu.ok());
  const auto own = session();
  ASSERT_TRUE(prefill(*own, prompt(70)).ok());
  for (int i = 0; i < 5; ++i) step(*own);
  const auto there = restored(*cpu, save(*own));
  ASSERT_NE(there, nullptr);
  const auto back = restored(engine_, save(*there));
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(save(*back), save(*own));
  const Rest rest = rest_of(*own, 8), rest_there = rest_of(*there, 8);
  ASSERT_FALSE(rest.logprobs.empty());
  EXPECT_EQ(rest_there.tokens[0], rest.tokens[0]);
  EXPECT_NEAR(rest_there.logprobs[0], rest.logprobs[0], 0.02f);
}

// However the bytes are cut into calls, and by one thread or several; each bit counts, in each part.
TEST(StateHash, IsOneOfTheBytesAlone) {
  constexpr size_t kPart = StateHash::kPart;
  Bytes bytes(5 * kPart + 123);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 29);
  ThreadPool pool(3);
  const auto hash_of = [&](size_t n_first, size_t n_each, bool threads) {
    StateHash hash;
    std::span<const std::byte> left = bytes;
    for (size_t n = n_first; !left.empty(); n = n_each) {
      hash.add(left.first(std::min(n, left.size())), threads ? &pool : nullptr);
      left = left.subspan(std::min(n, left.size()));
    }
    return hash.value();
  };
  const uint64_t wanted = hash_of(bytes.size(), 1, false);
  for (const size_t n_first : {size_t{1}, size_t{88}, kPart - 1, kPart, kPart + 1, 3 * kPart}) {
    for (const size_t n_each : {kPart / 3, kPart, 2 * kPart + 5, bytes.size()}) {
      EXPECT_EQ(hash_of(n_first, n_each, false), wanted) << n_first << " " << n_each;
      EXPECT_EQ(hash_of(n_first, n_each, true), wanted) << n_first << " " << n_each;
    }
  }
  for (size_t at = 0; at < bytes.size(); at += kPart / 2 + 11) {
    bytes[at] ^= std::byte{16};
    EXPECT_NE(hash_of(88, bytes.size(), true), wanted) << at;
    bytes[at] ^= std::byte{16};
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + kPart, bytes.begin() + 2 * kPart);
  EXPECT_NE(hash_of(88, bytes.size(), true), wanted) << "parts in another order";
}

}  // namespace
}  // namespace inlay
