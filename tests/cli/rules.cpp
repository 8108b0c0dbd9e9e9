// What the tool decides by rules: the figures of a benchmark, speeds that cannot be, turns that stay in a context.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "examples/cli/bench_fit.h"
#include "examples/cli/bench_limits.h"
#include "examples/cli/bench_time.h"
#include "examples/cli/benchmark.h"
#include "examples/cli/engine.h"
#include "examples/cli/first_turn.h"
#include "examples/cli/json_line.h"
#include "examples/cli/messages.h"
#include "examples/cli/progress.h"

namespace inlay::cli {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;

TEST(ImpossibleSpeed, IsFasterThanTheMemoryByMoreThanTheTolerance) {
  const MemoryLimits gpu = {.bytes_per_second = 3e12, .tolerance = 1.25, .cache_bytes = 128 * kMiB};
  const MemoryLimits host = {.bytes_per_second = 3e10, .tolerance = 1.5, .cache_bytes = 32 * kMiB};
  const struct {
    const char* what;
    MemoryLimits limits;
    uint64_t n_bytes;
    double seconds;
    bool impossible;
  } rows[] = {
      {"77,744 tokens a second of an 8B", gpu, 4912916384, 1 / 77744.0, true},
      {"375 tokens a second of an 8B", gpu, 4912916384, 1 / 375.0, false},
      {"just within the tolerance", gpu, 3 * kGiB, 3.0 * kGiB / (3e12 * 1.24), false},
      {"just beyond it", gpu, 3 * kGiB, 3.0 * kGiB / (3e12 * 1.26), true},
      {"no time at all", gpu, 3 * kGiB, 0, true},
      {"the caches may hold it", gpu, 512 * kMiB, 1e-9, false},
      {"a byte more", gpu, 512 * kMiB + 1, 1e-9, true},
      {"a host at its memory's speed", host, kGiB, kGiB / 3e10, false},
      {"within the host's tolerance", host, kGiB, kGiB / (3e10 * 1.49), false},
      {"beyond it", host, kGiB, kGiB / (3e10 * 1.51), true},
      {"a small model in the host's caches", host, 128 * kMiB, 1e-6, false},
      {"nothing is known of the memory",
       {.bytes_per_second = 0, .tolerance = 1.5, .cache_bytes = 1},
       kGiB,
       1e-9,
       false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(is_impossible(row.n_bytes, row.seconds, row.limits), row.impossible) << row.what;
}

TEST(ImpossibleSpeed, ReadsTheTableOfAProfile) {
  const std::string table =
      "1 token after 0 cached on a device; memory read at 27.9 GB/s; medians of 2\n"
      "kind        calls           us  % time           bytes      GB/s  % read   GFLOP/s\n"
      "sum            33        194.3   100.0         5607041      28.9   103.5      28.4\n"
      "whole step     33        194.7   100.0         5607040      28.8   103.3      28.3\n";
  StepFacts facts;
  ASSERT_TRUE(read_step_facts(table, facts));
  EXPECT_EQ(facts.n_bytes, 5607040u);
  EXPECT_DOUBLE_EQ(facts.bytes_per_second, 27.9e9);
  for (const char* part : {"memory read at", "\nwhole step", "27.9", "5607040"}) {
    std::string damaged = table;
    damaged.replace(damaged.find(part), std::string(part).size(), std::string(std::string(part).size(), 'x'));
    EXPECT_FALSE(read_step_facts(damaged, facts)) << part;
  }
  for (size_t n = 0; n < table.find("5607040"); n += 7)
    EXPECT_FALSE(read_step_facts(std::string_view(table).substr(0, n), facts)) << n;
}

TEST(ImpossibleSpeed, EveryDeviceHasACache) {
  for (const inlay_device_kind device : {INLAY_DEVICE_CPU, INLAY_DEVICE_CUDA, INLAY_DEVICE_REFERENCE}) {
    EXPECT_GE(last_level_cache(device), kMiB / 4);
    EXPECT_LT(last_level_cache(device), 16 * kGiB);
  }
}

TEST(ImpossibleSpeed, IsReportedAsAnErrorAndNotAsASpeed) {
  LoadOptions load;
  load.device = INLAY_DEVICE_CPU;
  load.n_threads = 1;
  BenchmarkPlan plan;
  plan.prompts = {8}, plan.depths = {0}, plan.batches = {2};
  plan.n_drawn = 4, plan.batch_prompt = 4, plan.batch_steps = 2, plan.n_repetitions = 1;
  load.n_context = plan.n_context();
  load.max_sessions = plan.max_sessions();
  const EnginePtr engine = load_file(TALES_MODEL, load);
  Benchmark benchmark(engine.get(), plan);
  ASSERT_TRUE(benchmark.run()) << benchmark.error();
  const auto speeds = [&] {
    JsonLine line;
    benchmark.report(line);
    return line.finished();
  };
  const std::string measured = speeds();
  for (const char* key : {"pp8", "tg4@0", "batch2"}) EXPECT_NE(measured.find(key), std::string::npos) << key;

  const MemoryLimits fast = {.bytes_per_second = 1e15, .tolerance = 1.5, .cache_bytes = 0};
  EXPECT_FALSE(benchmark.has_impossible(5607040, fast));
  EXPECT_EQ(speeds(), measured);
  const MemoryLimits slow = {.bytes_per_second = 1e3, .tolerance = 1.5, .cache_bytes = 0};
  EXPECT_TRUE(benchmark.has_impossible(5607040, slow));
  benchmark.take_back_impossible(5607040, slow);
  EXPECT_FALSE(benchmark.has_impossible(5607040, slow));
  EXPECT_EQ(speeds(), "{}");
  for (const char* part : {"impossible speed", "pp8 ", "tg4@0 ", "batch2 ", "1e-06 GB/s"})
    EXPECT_NE(benchmark.error().find(part), std::string::npos) << benchmark.error();
}

TEST(SmallFigures, RunInTheContextThatTheyAskFor) {
  const BenchmarkPlan plans[] = {
      {.prompts = {}, .depths = {0}, .batches = {}, .n_drawn = 1},
      {.prompts = {}, .depths = {0}, .batches = {}, .n_drawn = 40},
      {.prompts = {}, .depths = {3}, .batches = {}, .n_drawn = 1},
      {.prompts = {1}, .depths = {0}, .batches = {}, .n_drawn = 1},
      {.prompts = {9, 2}, .depths = {}, .batches = {}, .n_drawn = 1},
      {.prompts = {9, 2}, .prompt_depths = {20, 0, 1}, .depths = {}, .batches = {}, .n_drawn = 1},
      {.prompts = {2, 9}, .depths = {1, 0}, .batches = {2}, .n_drawn = 2, .batch_prompt = 1, .batch_steps = 1},
      {.prompts = {}, .depths = {}, .batches = {1}, .n_drawn = 1, .batch_prompt = 1, .batch_steps = 1},
      {.prompts = {}, .depths = {}, .batches = {}, .n_drawn = 1, .batch_prompt = 1, .n_latency = 1},
  };
  for (size_t i = 0; i < std::size(plans); ++i) {
    BenchmarkPlan plan = plans[i];
    plan.n_repetitions = 1;
    LoadOptions load;
    load.device = INLAY_DEVICE_CPU;
    load.n_threads = 1;
    load.n_context = plan.n_context();
    load.max_sessions = plan.max_sessions();
    const EnginePtr engine = load_file(TALES_MODEL, load);
    Benchmark benchmark(engine.get(), plan);
    EXPECT_TRUE(benchmark.run()) << i << ", context " << load.n_context << ": " << benchmark.error();
  }
}

TEST(FittedFigures, FitIntoTheContext) {
  for (const int32_t context :
       {1, 2, 16, 24, 40, 100, 127, 128, 129, 256, 300, 512, 520, 1024, 2048, 4096, 8192, 16384, 16512, 131072}) {
    BenchmarkPlan plan;
    const std::string changes = fit_figures(plan, {}, [=](int32_t n) { return n <= context; });
    EXPECT_EQ(changes.empty(), BenchmarkPlan{}.n_context() <= context) << context;
    EXPECT_EQ(changes.empty(), plan.prompts == BenchmarkPlan{}.prompts && plan.depths == BenchmarkPlan{}.depths)
        << context;
    if (context >= 17) {  // the warm-up takes as many
      EXPECT_LE(plan.n_context(), context) << context;
    }
    if (context >= 24) {
      EXPECT_FALSE(plan.prompts.empty() || plan.depths.empty() || plan.batches.empty()) << context;
    }
  }
}

TEST(FittedFigures, OfARepositoryModelAreTheLongestThatFit) {
  BenchmarkPlan plan;
  EXPECT_EQ(fit_figures(plan, {}, [](int32_t n) { return n <= 512; }), "--pp 256 --depths 0");
  EXPECT_EQ(plan.prompts, std::vector<int32_t>{256});
  EXPECT_EQ(plan.depths, std::vector<int32_t>{0});
  EXPECT_EQ(plan.n_drawn, BenchmarkPlan{}.n_drawn);
  plan = BenchmarkPlan{.prompt_depths = {0, 300}};
  EXPECT_EQ(fit_figures(plan, {}, [](int32_t n) { return n <= 512; }), "--pp 128 --depths 0") << "behind the 300";
}

TEST(FittedFigures, LeaveWhatWasAskedFor) {
  const GivenFigures all = {.prompts = true, .depths = true, .n_drawn = true, .batches = true};
  BenchmarkPlan plan;
  EXPECT_EQ(fit_figures(plan, all, [](int32_t n) { return n <= 512; }), "");
  EXPECT_EQ(plan.n_context(), BenchmarkPlan{}.n_context());
  for (bool GivenFigures::*one :
       {&GivenFigures::prompts, &GivenFigures::depths, &GivenFigures::n_drawn, &GivenFigures::batches}) {
    GivenFigures given;
    given.*one = true;
    BenchmarkPlan part;
    const BenchmarkPlan before;
    fit_figures(part, given, [](int32_t n) { return n <= 64; });
    EXPECT_EQ(part.prompts == before.prompts, given.prompts);
    EXPECT_EQ(part.depths == before.depths, given.depths);
    EXPECT_EQ(part.n_drawn == before.n_drawn,
              given.n_drawn || given.depths);  // a depth beyond the context is no matter of --tg
    EXPECT_EQ(part.batch_prompt == before.batch_prompt, given.batches);
  }
}

// Turns of these lengths, with `n_around` tokens before all of them.
size_t first_of(size_t first, const std::vector<size_t>& turns, size_t n_context, size_t n_answer,
                size_t n_around = 0) {
  return first_turn_that_stays(first, turns.size(), n_context, n_answer, [&](size_t i) {
    return std::accumulate(turns.begin() + static_cast<std::ptrdiff_t>(i), turns.end(), n_around);
  });
}

TEST(TimedFigures, EndInTimeAndKeepWhatWasAskedFor) {
  const BenchmarkPlan whole;
  BenchmarkPlan plan = whole;
  EXPECT_EQ(fit_time(plan, {}, {.prompt_seconds = 1e-4, .step_seconds = 1e-2}, 120), "") << "a fast machine measures all";
  EXPECT_EQ(plan.depths, whole.depths);
  plan.prompt_depths = {0, 1000};
  const double more = seconds_of(plan, {.prompt_seconds = 1, .step_seconds = 10}) - seconds_of(whole, {.prompt_seconds = 1, .step_seconds = 10});
  EXPECT_EQ(more, 1000 + 5 * (512 + 10) + 5 * (2048 + 10)) << "the tokens before, once; each prompt behind them, with a step to go back";
  std::string some_change;
  for (const double slow : {1e-3, 1e-2, 5e-2, 0.1, 1.0}) {
    for (const double steps : {1.0, 10.0}) {
      const BenchSpeeds speeds = {.prompt_seconds = slow, .step_seconds = slow * steps};
      plan = whole;
      const std::string changes = fit_time(plan, {}, speeds, 120);
      EXPECT_TRUE(seconds_of(plan, speeds) <= 120 || (plan.n_repetitions == 1 && plan.prompts.size() == 1 && plan.n_drawn == 16 && plan.batch_steps == 8));
      EXPECT_EQ(changes.empty(), seconds_of(whole, speeds) <= 120) << slow;
      EXPECT_FALSE(plan.prompts.empty() || plan.depths.empty() || plan.batches.empty());
      EXPECT_EQ(plan.prompts.front(), 512);
      some_change += changes;
      plan = whole;  // what was asked for stays, however long it takes
      EXPECT_EQ(fit_time(plan, {.prompts = true, .depths = true, .n_drawn = true, .batches = true, .repetitions = true}, speeds, 120), "");
      EXPECT_EQ(seconds_of(plan, speeds), seconds_of(whole, speeds));
      plan = whole;
      EXPECT_EQ(fit_time(plan, {.depths = true}, speeds, 120).find("--depths"), std::string::npos);
      EXPECT_EQ(plan.depths, whole.depths);
    }
  }
  for (const char* option : {"-r ", "--pp 512", "--depths 0", "--tg ", "--batch ", "--batch-steps "})
    EXPECT_NE(some_change.find(option), std::string::npos) << option;
}

// Columns that a terminal needs at most: what is no ASCII may be two wide.
int columns_of(const std::string& text) {
  int n = 0;
  for (const char c : text) n += (c & 0x80) == 0 ? 1 : (c & 0xC0) == 0xC0 ? 2 : 0;
  return n;
}

TEST(ProgressLine, FitsIntoTheTerminal) {
  EXPECT_EQ(progress_line("loading a.gguf", 0.5, 12, 80), "loading a.gguf [===============               ]  50 %, 12 s left");
  EXPECT_EQ(progress_line("loading a.gguf", 1, -1, 80), "loading a.gguf [==============================] 100 %");
  std::string path = "loading /";
  for (int i = 0; i < 40; ++i) path += "ein/l\u00e4ngerer/\u6c34/";
  for (int columns = 1; columns < 200; ++columns) {
    for (const double part : {0.0, 0.004, 0.07, 0.5, 1.0}) {
      for (const std::string& what : {path, std::string("loading model.gguf")}) {
        const std::string line = progress_line(what, part, 99999, columns);
        EXPECT_LT(columns_of(line), columns) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos);
      }
    }
  }
  const std::string cut = progress_line("loading /disk/someone/models/of/this/year/with-a-long-name.gguf", 0.5, -1, 60);
  EXPECT_EQ(cut, "...-a-long-name.gguf [===============               ]  50 %");
  EXPECT_GT(columns_of(path), 400) << "the path would not fit";
}

TEST(FirstTurnThatStays, MakesRoomForSeveralTurns) {
  EXPECT_EQ(first_of(0, {10, 10, 10, 10}, 64, 24), 0u);  // as much as there is room for
  EXPECT_EQ(first_of(0, {10, 10, 10, 10}, 63, 24), 1u);
  EXPECT_EQ(first_of(0, {10, 10, 10, 10}, 50, 24), 2u);
  EXPECT_EQ(first_of(0, {10, 10, 10, 10}, 50, 24, 20), 3u);  // the system's message stays
  EXPECT_EQ(first_of(2, {90, 90, 10, 10}, 64, 16), 2u);      // dropped ones do not count
  EXPECT_EQ(first_of(1, {90, 10, 40, 10}, 64, 16), 3u);
}

TEST(FirstTurnThatStays, TheLastOneAlwaysDoes) {
  EXPECT_EQ(first_of(0, {10, 900}, 64, 16), 1u);
  EXPECT_EQ(first_of(0, {900}, 64, 16), 0u);
  EXPECT_EQ(first_of(0, {10, 10}, 64, 16, 900), 1u);
}

std::string written(const Messages& messages) {
  std::string all;
  for (const Messages::Turn& turn : messages.turns) all += "|" + turn.line + "|" + turn.answer;
  return messages.system + all;
}

TEST(SavedMessages, AreReadAsTheyWereWritten) {
  const struct {
    const char *text, *is;
  } rows[] = {
      {"[]", ""},
      {" [\n ] \n", ""},
      {R"([{"role":"system","content":"s"}])", "s"},
      {R"([{"role":"user","content":"u"},{"content":"a","role":"assistant"}])", "|u|a"},
      {R"([{"role":"system","content":"s"}, {"role":"user","content":"u"},
           {"role":"assistant","content":""}, {"role":"user","content":"v"}, {"role":"assistant","content":"b"}])", "s|u||v|b"},
      {R"([{"role":"system","content":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83D\ude00é"}])", "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600\u00e9"},
  };
  for (const auto& row : rows) {
    Messages messages;
    std::string reason;
    EXPECT_TRUE(read_messages(row.text, messages, reason)) << row.text << ": " << reason;
    EXPECT_EQ(written(messages), row.is) << row.text;
  }
  for (unsigned c = 1; c < 0x110000; c += c < 0x800 ? 1 : 0x3FF) {  // each character that the tool writes
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string character;
    if (c < 0x80) character = static_cast<char>(c);
    for (int n = c < 0x80 ? -1 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3, i = n; i >= 0; --i)
      character += static_cast<char>(i == n ? (n == 1 ? 0xC0 : n == 2 ? 0xE0 : 0xF0) | (c >> 6 * n) : 0x80 | (c >> 6 * i & 0x3F));
    JsonLine line;
    line.text("role", "system");
    line.text("content", character);
    Messages messages;
    std::string reason;
    ASSERT_TRUE(read_messages("[" + line.finished() + "]", messages, reason)) << c << ": " << reason;
    EXPECT_EQ(messages.system, character) << c;
  }
}

TEST(SavedMessages, OfAnotherFormAreRefusedWithTheReason) {
  const std::string user = R"({"role":"user","content":"u"})", assistant = R"({"role":"assistant","content":"a"})", system = R"({"role":"system","content":"s"})";
  const struct {
    std::string text, reason;
  } rows[] = {
      {"", "its JSON: line 1, byte 1: the text ends where a value is expected"},
      {R"({"messages":[]})", "its JSON: the document is an object, expected an array"},
      {"[", "its JSON: line 1, byte 2: the text ends where a value is expected"},
      {"[1]", "its JSON: [0] is 1, expected an object"},
      {"[" + user + ",\n" + assistant, "its JSON: line 2, byte 35: a comma or ] is expected"},
      {"[" + user + ",\n" + assistant + ",]", "its JSON: line 2, byte 36: a value is expected"},
      {"[]\n[]", "its JSON: line 2, byte 1: there is more text after the end of the value"},
      {"[{}]", "its JSON: [0] has no 'role'"},
      {R"([{"role":"user"}])", "its JSON: [0] has no 'content'"},
      {R"([{"content":"user"}])", "its JSON: [0] has no 'role'"},
      {R"([{"role":"user","role":"user"}])", "its JSON: line 1, byte 31: the object that ends here has the key 'role' twice"},
      {R"([{"role":"user","name":"x"}])", "its JSON: [0].name: a message has role and content here, and no other key"},
      {R"([{"role":"user","content":null}])", "its JSON: [0].content is null, expected a string"},
      {R"([{"role":"user","content":["u"]}])", "its JSON: [0].content is an array, expected a string"},
      {"[{\"role\":\"user\",\"content\":\"\xff\"}]", "its JSON: line 1, byte 28: a string with bytes that are not UTF-8"},
      {R"([{"role":"user","content":"\ud83d"}])", "its JSON: line 1, byte 28: half a surrogate pair in a string"},
      {"[" + assistant + "]", "message 1 is of \"assistant\" where one of user is expected"},
      {"[" + user + "]", "message 1, the last one, is of user and has no answer"},
      {"[" + system + "," + user + "]", "message 2, the last one, is of user and has no answer"},
      {"[" + user + "," + user + "]", "message 2 is of \"user\" where one of assistant is expected"},
      {"[" + system + "," + system + "]", "message 2 is of \"system\" where one of user is expected"},
      {R"([{"role":"tool","content":"x"}])", "message 1 is of \"tool\" where one of user is expected"},
  };
  for (const auto& row : rows) {
    Messages messages = {.system = "before", .turns = {}};
    std::string reason;
    EXPECT_FALSE(read_messages(row.text, messages, reason)) << row.text;
    EXPECT_EQ(reason, row.reason) << row.text;
    EXPECT_EQ(written(messages), "before") << row.text;  // nothing is taken of it
  }
}

}  // namespace
}  // namespace inlay::cli
