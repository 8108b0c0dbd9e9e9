// Requests of kind EMBED through the C interface: many callers, who takes a vector and when, models that write no text.
#include <atomic>
#include <fstream>
#include <thread>

#include "tests/capi/request_client.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/llama_image.h"

namespace inlay::test {
namespace {

using Vector = std::vector<float>;

inlay_embed_params pooled(inlay_pooling pooling) {
  inlay_embed_params out = sized<inlay_embed_params>();
  out.pooling = pooling;
  return out;
}

inlay_request vector_request(const Tokens& tokens, const inlay_embed_params& embed) {
  inlay_request out = request_of(tokens);
  out.kind = INLAY_REQUEST_EMBED;
  out.embed = &embed;
  return out;
}

Vector embedded(const EnginePtr& engine, const Tokens& tokens, const inlay_embed_params& embed) {
  inlay_embed_input input = {};
  input.tokens = tokens.data();
  input.n_tokens = tokens.size();
  Vector out(4096);
  size_t n = 0;
  inlay_error err;
  EXPECT_EQ(inlay_embed(engine.get(), &input, 1, sizeof input, &embed, out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  out.resize(n);
  return out;
}

EnginePtr small_engine(int32_t max_sessions = 4) {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_context = 256;
  params.max_sessions = max_sessions;
  params.n_threads = 1;
  params.prefill_chunk = 32;
  return load(params);
}

Tokens some(size_t n, int32_t start) {
  Tokens out(n);
  for (size_t i = 0; i < n; ++i) out[i] = (start + 7 * static_cast<int32_t>(i)) % 90 + 5;
  return out;
}

// Callers of vectors beside callers of texts, while other threads embed and step sessions of their own.
TEST(VectorsByRequest, ManyCallersBesideTexts) {
  const EnginePtr engine = small_engine();
  const inlay_embed_params mean = pooled(INLAY_POOLING_MEAN), last = pooled(INLAY_POOLING_LAST);
  inlay_session_params session = sized<inlay_session_params>();
  session.max_tokens = 20;
  const Tokens prompt = some(50, 1);
  std::vector<Tokens> texts;
  std::vector<Vector> means, lasts;
  for (int32_t i = 0; i < 6; ++i) {
    texts.push_back(some(static_cast<size_t>(1 + 31 * i), i));
    means.push_back(embedded(engine, texts.back(), mean));
    lasts.push_back(embedded(engine, texts.back(), last));
  }
  const QueuePtr one = new_queue(engine);
  const uint64_t first = submit(one, request_of(prompt, &session));
  const Answer alone = answers_of(engine, one)[first];
  give_thread(engine);
  std::atomic<int> n_right{0};
  std::vector<std::thread> hosts;
  for (int t = 0; t < 8; ++t) {
    hosts.emplace_back([&, t] {
      const QueuePtr queue = new_queue(engine);
      std::map<uint64_t, const Vector*> wanted;
      const uint64_t text = submit(queue, request_of(prompt, &session));
      for (size_t i = 0; i < texts.size(); ++i) {
        const bool is_mean = (static_cast<size_t>(t) + i) % 2 == 0;
        wanted[submit(queue, vector_request(texts[i], is_mean ? mean : last))] = is_mean ? &means[i] : &lasts[i];
      }
      if (t == 0 && embedded(engine, texts[3], mean) == means[3]) ++n_right;
      Answers answers;
      collect(queue.get(), answers, wanted.size() + 1);
      for (const auto& [id, vector] : wanted) n_right += answers[id].values == *vector && answers[id].n_ends == 1 && answers[id].reason == INLAY_FINISH_EMBEDDED;
      n_right += answers[text].tokens == alone.tokens;
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(n_right, 8 * 7 + 1);
}

// Nothing is lost, and nothing grows: what nobody takes keeps its place in the queue.
TEST(VectorsByRequest, AQueueIsFullOfVectorsThatNobodyTakes) {
  const EnginePtr engine = small_engine();
  inlay_queue_params params = sized<inlay_queue_params>();
  params.max_requests = 3;
  const QueuePtr queue = new_queue(engine, &params);
  const inlay_embed_params mean = pooled(INLAY_POOLING_MEAN);
  const Tokens text = some(40, 3);
  const inlay_request request = vector_request(text, mean);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(submit(queue, request));
  inlay_run_info info = sized<inlay_run_info>();
  ASSERT_EQ(inlay_run(engine.get(), nullptr, &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.n_requests, 0);
  EXPECT_EQ(info.n_tokens, 0) << "nothing was drawn";
  std::vector<inlay_request_event> events(8);
  size_t n = 0;
  inlay_error err;
  ASSERT_EQ(inlay_poll(queue.get(), events.data(), events.size(), sizeof events[0], nullptr, 0, nullptr, 0, &n, &err), INLAY_OK) << err.message;
  ASSERT_EQ(n, 3u);
  inlay_wait_result result = INLAY_WAIT_RESULT_READY;
  EXPECT_EQ(inlay_wait(queue.get(), 0, &result, nullptr), INLAY_OK);
  EXPECT_EQ(result, INLAY_WAIT_RESULT_TIME_OVER) << "a vector is not an event";
  uint64_t none = 1;
  EXPECT_EQ(inlay_submit(queue.get(), &request, &none, &err), INLAY_QUEUE_FULL);
  EXPECT_NE(std::string(err.message).find("vectors were not taken"), std::string::npos) << err.message;
  const Vector wanted = embedded(engine, text, mean);
  Vector got(events[1].n_values);
  ASSERT_EQ(inlay_request_take_values(queue.get(), ids[1], got.data(), got.size(), nullptr, &err), INLAY_OK) << err.message;
  EXPECT_EQ(got, wanted);
  submit(queue, request);
}

// The queue outlives its engine, with what is there to be taken.
TEST(VectorsByRequest, AreThereBehindTheEngine) {
  EnginePtr engine = small_engine();
  const QueuePtr queue = new_queue(engine);
  const inlay_embed_params mean = pooled(INLAY_POOLING_MEAN);
  const Tokens text = some(40, 3);
  const uint64_t there = submit(queue, vector_request(text, mean)), cancelled = submit(queue, vector_request(text, mean));
  EXPECT_EQ(inlay_request_cancel(queue.get(), cancelled, nullptr), INLAY_OK);
  inlay_request timed = vector_request(text, mean);
  timed.timeout_us = 1;
  const uint64_t late = submit(queue, timed);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(inlay_run(engine.get(), nullptr, std::make_unique<inlay_run_info>(sized<inlay_run_info>()).get(), nullptr), INLAY_OK);
  const uint64_t waits = submit(queue, vector_request(text, mean));
  const Vector wanted = embedded(engine, text, mean);
  engine.reset();
  Answers answers;
  while (poll(queue.get(), answers) > 0) {
  }
  EXPECT_EQ(answers[there].values, wanted);
  EXPECT_EQ(answers[cancelled].reason, INLAY_FINISH_CANCELLED);
  EXPECT_EQ(answers[late].reason, INLAY_FINISH_TIMEOUT);
  EXPECT_EQ(answers[waits].reason, INLAY_FINISH_CANCELLED);
  for (const uint64_t id : {cancelled, late, waits}) EXPECT_TRUE(answers[id].values.empty());
}

// A model that makes vectors and writes no text: its queues take vectors alone.
TEST(VectorsByRequest, OfAModelThatWritesNoText) {
  const testing::LlamaSizes sizes{.d_model = 64, .d_ff = 96, .n_heads = 2, .n_kv_heads = 1, .d_head = 32, .n_rot = 32, .n_vocab = 100, .n_context = 128};
  const auto image = testing::llama_image(sizes, [](testing::GgufImage& more) {
    more.text("tokenizer.ggml.model", "no_vocab").boolean("llama.attention.causal", false).u32("llama.pooling_type", 2);
  });
  const TemporaryFolder folder;
  folder.write("encoder.gguf", std::string(reinterpret_cast<const char*>(image.data()), image.size()));
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_threads = 1;
  params.prefill_chunk = 64;
  inlay_engine* loaded = nullptr;
  inlay_error err, of_session;
  ASSERT_EQ(inlay_load(folder.path("encoder.gguf").c_str(), SIZE_MAX, &params, &loaded, &err), INLAY_OK) << err.message;
  const EnginePtr engine(loaded);
  const QueuePtr queue = new_queue(engine);
  inlay_session* session = nullptr;
  ASSERT_EQ(inlay_session_create(engine.get(), nullptr, &session, &of_session), INLAY_UNSUPPORTED);
  const Tokens text = some(30, 1), longer = some(65, 1);
  for (const inlay_request_kind kind : {INLAY_REQUEST_GENERATE, INLAY_REQUEST_PREFILL}) {
    inlay_request request = request_of(text);
    request.kind = kind;
    uint64_t none = 1;
    EXPECT_EQ(inlay_submit(queue.get(), &request, &none, &err), INLAY_UNSUPPORTED);
    EXPECT_STREQ(err.message, of_session.message);
    EXPECT_EQ(none, 0u);
  }
  const inlay_embed_params defaults = sized<inlay_embed_params>();
  const inlay_request too_long = vector_request(longer, defaults);
  uint64_t none = 1;
  EXPECT_EQ(inlay_submit(queue.get(), &too_long, &none, &err), INLAY_CONTEXT_FULL);
  EXPECT_EQ(err.required, 65u);
  give_thread(engine);
  std::map<uint64_t, Vector> wanted;
  for (int32_t i = 0; i < 40; ++i) {
    const Tokens one = some(static_cast<size_t>(1 + 13 * i % 64), i);
    inlay_request request = vector_request(one, defaults);
    if (i % 2 == 0) request.embed = nullptr;
    wanted[submit(queue, request)] = embedded(engine, one, defaults);
  }
  Answers answers;
  collect(queue.get(), answers, wanted.size());
  for (const auto& [id, vector] : wanted) EXPECT_EQ(answers[id].values, vector) << id << " " << answers[id].message;
}

}  // namespace
}  // namespace inlay::test
