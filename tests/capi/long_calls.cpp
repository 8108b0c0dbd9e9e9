// Calls that take long: the host hears of them in time, and can end them, however large one tensor is, however slow the reader, however
// long a text.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/capi/client.h"
#include "tests/support/random_model.h"
#include "tests/support/temporary_folder.h"

namespace inlay::test {
namespace {

class LongCalls : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(LongCalls);

constexpr uint64_t kMostAtOnce = 4 << 20;
constexpr auto kSlow = std::chrono::milliseconds(300);

// Two matrices of 12 MB.
const std::vector<std::byte>& wide_model() {
  static const std::vector<std::byte> bytes = random_model({}, Windows::none, 0, 1, 48 << 10);
  return bytes;
}

// A reader that is slow with a few of its large pieces, and whoever hears of the load.
struct SlowReader {
  int n_slow = 3, cancel_at = -1;
  uint64_t largest = 0, n_done = 0;
  int n_reads = 0, n_calls = 0, n_calls_before = -1, n_silent = 0, n_reads_after = 0;
  bool falls = false, cancelled = false;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    auto* self = static_cast<SlowReader*>(user);
    std::memcpy(into, wide_model().data() + offset, n);
    self->largest = std::max(self->largest, n);
    ++self->n_reads;
    self->n_reads_after += self->cancelled;
    // Between two slow pieces there must have been a call.
    self->n_silent += self->n_calls == self->n_calls_before;
    self->n_calls_before = -1;
    if (n < (1 << 20) || self->n_slow == 0) return 0;
    --self->n_slow;
    self->n_calls_before = self->n_calls;
    std::this_thread::sleep_for(kSlow);
    return 0;
  }
  static int32_t progress(void* user, uint64_t n_done, uint64_t n_total) {
    auto* self = static_cast<SlowReader*>(user);
    self->falls |= n_total == 0 || n_done > n_total || n_done < self->n_done;
    self->n_done = n_done;
    self->cancelled |= self->n_calls == self->cancel_at;
    return self->n_calls++ == self->cancel_at;
  }

  inlay_status load(inlay_load_params p, EnginePtr& out) {
    inlay_reader reader = sized<inlay_reader>();
    reader.user = this, reader.size = wide_model().size(), reader.read = read;
    p.progress = progress, p.progress_user = this;
    inlay_engine* engine = nullptr;
    const inlay_status status = inlay_load_reader(&reader, &p, &engine, nullptr);
    out.reset(engine);
    return status;
  }
};

TEST_P(LongCalls, ASlowReaderIsHeardOf) {
  for (const inlay_weight_dtype held : {INLAY_WEIGHT_DEFAULT, INLAY_WEIGHT_Q8_0}) {
    SlowReader reader;
    EnginePtr engine;
    inlay_load_params p = params();
    p.weight_dtype = held;
    EXPECT_EQ(reader.load(p, engine), INLAY_OK);
    EXPECT_LE(reader.largest, kMostAtOnce);
    EXPECT_EQ(reader.n_slow, 0);
    EXPECT_EQ(reader.n_silent, 0);
    EXPECT_GE(reader.n_calls, 3);
    EXPECT_FALSE(reader.falls);
  }
}

TEST_P(LongCalls, ASlowReaderIsStopped) {
  SlowReader reader{.n_slow = 2, .cancel_at = 0};
  EnginePtr engine;
  EXPECT_EQ(reader.load(params(), engine), INLAY_CANCELLED);
  EXPECT_EQ(engine, nullptr);
  EXPECT_EQ(reader.n_calls, 1);
  EXPECT_LE(reader.n_reads_after, 1);  // another thread may be on its way
}

// Longer to read than the host waits for word of it.
const std::string& long_text() {
  static const std::string text = [] {
    std::string out;
    while (out.size() < (24 << 20)) out += "Once upon a time, in 1234, there was a fox. ";
    return out;
  }();
  return text;
}

inlay_status embed(const inlay_engine* engine, const std::string& text, inlay_progress_fn progress, void* user, inlay_error* err) {
  inlay_embed_input input = {};
  input.text = text.data(), input.text_len = text.size();
  inlay_embed_params p = sized<inlay_embed_params>();
  p.pooling = INLAY_POOLING_MEAN;
  p.progress = progress, p.progress_user = user;
  std::vector<float> out(4096);
  return inlay_embed(engine, &input, 1, sizeof input, &p, out.data(), out.size(), nullptr, err);
}

TEST_P(LongCalls, ATextIsStoppedWhileItBecomesTokens) {
  const EnginePtr engine = load(params());
  inlay_error err;
  int n_calls = 0;
  const auto stop = [](void* user, uint64_t n_done, uint64_t n_total) -> int32_t {
    return ++*static_cast<int*>(user), n_done == 0 && n_total == 1;
  };
  EXPECT_EQ(embed(engine.get(), long_text(), stop, &n_calls, &err), INLAY_CANCELLED) << err.message;
  EXPECT_EQ(n_calls, 1);
  const auto go_on = [](void*, uint64_t, uint64_t) -> int32_t { return 0; };
  EXPECT_EQ(embed(engine.get(), long_text(), go_on, nullptr, &err), INLAY_CONTEXT_FULL) << err.message;
}

// A call that holds the engine's memory: its progress waits until it is let go.
class Holder {
 public:
  explicit Holder(const EnginePtr& engine)
      : thread_([this, e = engine.get()] { status_ = embed(e, long_text(), wait, this, &err_); }) {
    while (!is_held_) std::this_thread::yield();
  }
  inlay_status let_go() {
    is_let_go_ = true;
    thread_.join();
    return status_;
  }
  const char* message() const { return err_.message; }

 private:
  static int32_t wait(void* user, uint64_t, uint64_t) {
    auto* self = static_cast<Holder*>(user);
    self->is_held_ = true;
    while (!self->is_let_go_) std::this_thread::yield();
    return 0;
  }
  std::atomic<bool> is_held_{false}, is_let_go_{false};
  inlay_status status_ = INLAY_OK;
  inlay_error err_{};
  std::thread thread_;
};

TEST_P(LongCalls, TheTextsOfAFreedEngineGoNoFurther) {
  EnginePtr engine = load(params());
  Holder holder(engine);
  engine.reset();
  EXPECT_EQ(holder.let_go(), INLAY_CANCELLED);
  EXPECT_NE(std::string(holder.message()).find("freed"), std::string::npos) << holder.message();
}

// tokenize has no callback: a thread that has begun is freed under its hands. One that had not begun yet finds no engine, and the next try
// waits longer for it; one that has ended is tried again.
TEST_P(LongCalls, TokenizingEndsWithTheEngine) {
  const std::string messages = R"([{"role": "user", "content": ")" + long_text() + "\"}]";
  for (const bool is_chat : {false, true}) {
    inlay_status status = INLAY_INVALID_ARGUMENT;
    int ms = 20;
    for (int i = 0; i < 20 && (status == INLAY_INVALID_ARGUMENT || status == INLAY_OK) && ms < 5000; ++i) {
      EnginePtr engine = load(params());
      Holder holder(engine);
      std::atomic<bool> begins{false};
      std::thread thread([&, e = engine.get()] {
        const inlay_chat_params form = written_by("{{ messages[0].content }}");
        size_t n = 0;
        begins = true;
        status = is_chat ? inlay_chat_tokenize(e, messages.data(), messages.size(), &form, nullptr, 0, &n, nullptr)
                         : inlay_tokenize(e, long_text().data(), long_text().size(), 0, nullptr, 0, &n, nullptr);
      });
      while (!begins) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      engine.reset();
      thread.join();
      EXPECT_EQ(holder.let_go(), INLAY_CANCELLED);
      if (status == INLAY_INVALID_ARGUMENT) ms *= 2;
    }
    EXPECT_EQ(status, INLAY_CANCELLED) << is_chat;
  }
}

// Others compute meanwhile: a text takes no turn of the engine.
TEST_P(LongCalls, StepsGoOnWhileATextBecomesTokens) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, {72, 105});
  Holder holder(engine);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  EXPECT_EQ(holder.let_go(), INLAY_CONTEXT_FULL);
}

}  // namespace
}  // namespace inlay::test
