// Loading through the shared library, and what can be asked of an engine.
#include <pthread.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/capi/client.h"
#include "tests/support/temporary_folder.h"

namespace inlay::test {
namespace {

namespace fs = std::filesystem;

class Load : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(Load);

Tokens reply_of(const EnginePtr& engine) {
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  return greedy(session, kPlainReply.size());
}

std::string meta(const EnginePtr& engine, const char* key) {
  char buf[1024];
  size_t needed = 0;
  EXPECT_EQ(inlay_meta_value(engine.get(), key, SIZE_MAX, buf, sizeof buf, &needed, nullptr), INLAY_OK) << key;
  return std::string(buf, needed);
}

struct Shelf {
  std::vector<char> bytes;
  int n_reads = 0;
  int fail_at = -1;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    auto* self = static_cast<Shelf*>(user);
    if (self->n_reads++ == self->fail_at) return 5;
    if (offset > self->bytes.size() || n > self->bytes.size() - offset) return 22;
    std::memcpy(into, self->bytes.data() + offset, n);
    return 0;
  }
  inlay_reader reader() {
    inlay_reader r = sized<inlay_reader>();
    r.user = this;
    r.size = bytes.size();
    r.read = read;
    return r;
  }
};

TEST_P(Load, FromMemory) {
  std::vector<char> bytes = file_bytes(model_file(kModel));
  inlay_engine* engine = nullptr;
  inlay_error err;
  const inlay_load_params p = params();
  ASSERT_EQ(inlay_load_memory(bytes.data(), bytes.size(), &p, &engine, &err), INLAY_OK) << err.message;
  std::fill(bytes.begin(), bytes.end(), '\x7f');  // not needed after the call
  const EnginePtr owned(engine);
  EXPECT_EQ(reply_of(owned), kPlainReply);
  EXPECT_EQ(meta(owned, "general.architecture"), "qwen3");
}

TEST_P(Load, ThroughAReader) {
  Shelf shelf{file_bytes(model_file(kModel))};
  inlay_engine* engine = nullptr;
  inlay_error err;
  const inlay_load_params p = params();
  const inlay_reader reader = shelf.reader();
  ASSERT_EQ(inlay_load_reader(&reader, &p, &engine, &err), INLAY_OK) << err.message;
  const EnginePtr owned(engine);
  const int n_reads = shelf.n_reads;
  EXPECT_EQ(reply_of(owned), kPlainReply);
  EXPECT_EQ(shelf.n_reads, n_reads);
}

// Nothing passes through a call, as the header says; a callback that returns is the control.
TEST_P(Load, UnwindingOutOfACallbackEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a forked child has no use of the GPU
#ifdef _WIN32  // abort() is an exit there, and a thread that ends unwinds nothing
  constexpr int kReasons = 2;
  const testing::ExitedWithCode aborted(3);
#else
  constexpr int kReasons = 4;
  const testing::KilledBySignal aborted(SIGABRT);
#endif
  static int reason;
  const auto fail = [] {
    if (reason == 1) throw std::runtime_error("of the host");
    if (reason == 2) throw 7;
    if (reason == 3) pthread_exit(nullptr);
    if (reason == 4) pthread_cancel(pthread_self()), pthread_testcancel();
  };
  static const auto static_fail = fail;
  const auto load = [&](int callback) {
    inlay_load_params p = params();
    Shelf shelf{file_bytes(model_file(kModel))};
    inlay_reader reader = shelf.reader();
    if (callback == 0) p.progress = [](void*, uint64_t, uint64_t) -> int32_t { return static_fail(), 0; };
    if (callback == 1) p.log_level = INLAY_LOG_DEBUG, p.log = [](void*, int32_t, const char*, size_t) { static_fail(); };
    if (callback == 2)
      reader.read = [](void* user, uint64_t offset, void* into, uint64_t n) { return static_fail(), Shelf::read(user, offset, into, n); };
    inlay_engine* engine = nullptr;
    std::thread([&] { inlay_load_reader(&reader, &p, &engine, nullptr); }).join();
    return EnginePtr(engine) != nullptr;
  };
  for (int callback = 0; callback < 3; ++callback) {
    for (reason = 1; reason <= kReasons; ++reason) EXPECT_EXIT(load(callback), aborted, "") << callback << reason;
    reason = 0;
    EXPECT_TRUE(load(callback));
  }
}

TEST_P(Load, ReaderThatFailsSaysSo) {
  Shelf shelf{file_bytes(model_file(kModel))};
  inlay_engine* engine = nullptr;
  inlay_error err;
  const inlay_load_params p = params();
  const inlay_reader reader = shelf.reader();
  ASSERT_EQ(inlay_load_reader(&reader, &p, &engine, nullptr), INLAY_OK);
  inlay_free(engine);
  const int n_reads = shelf.n_reads;
  for (int i = 0; i < n_reads; ++i) {
    shelf.n_reads = 0;
    shelf.fail_at = i;
    EXPECT_EQ(inlay_load_reader(&reader, &p, &engine, &err), INLAY_IO) << i << err.message;
    EXPECT_EQ(err.native_code, 5);
    EXPECT_EQ(engine, nullptr);
  }
}

TEST_P(Load, CutOffModelIsRefused) {
  const std::vector<char> bytes = file_bytes(model_file(kModel));
  const inlay_load_params p = params();
  for (size_t n : {size_t{4}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    inlay_engine* engine = nullptr;
    inlay_error err;
    EXPECT_EQ(inlay_load_memory(bytes.data(), n, &p, &engine, &err), INLAY_FORMAT) << n << err.message;
    EXPECT_EQ(engine, nullptr);
  }
}

struct Progress {
  uint64_t n_done = 0, n_total = 0;
  int n_calls = 0, cancel_at = -1;
  bool falls = false;

  static int32_t report(void* user, uint64_t n_done, uint64_t n_total) {
    auto* self = static_cast<Progress*>(user);
    self->falls |= n_done < self->n_done || n_done > n_total;
    self->n_done = n_done;
    self->n_total = n_total;
    return self->n_calls++ == self->cancel_at;
  }
};

TEST_P(Load, ProgressRunsToTheEnd) {
  Progress progress;
  inlay_load_params p = params();
  p.progress = Progress::report;
  p.progress_user = &progress;
  const EnginePtr engine = load(p);
  EXPECT_GT(progress.n_calls, 1);
  EXPECT_FALSE(progress.falls);
  EXPECT_EQ(progress.n_done, progress.n_total);
  EXPECT_GT(progress.n_total, 0u);
}

TEST_P(Load, ProgressCancels) {
  Progress all;
  inlay_load_params p = params();
  p.progress = Progress::report;
  p.progress_user = &all;
  load(p);
  for (const int at : {0, all.n_calls / 2}) {
    Progress progress;
    progress.cancel_at = at;
    p.progress_user = &progress;
    inlay_engine* engine = nullptr;
    inlay_error err;
    EXPECT_EQ(inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, &engine, &err), INLAY_CANCELLED) << err.message;
    EXPECT_EQ(engine, nullptr);
    EXPECT_EQ(progress.n_calls, at + 1);
  }
}

TEST_P(Load, PlanIsWhatLoadingTakes) {
  inlay_load_params p = params();
  p.n_context = 256;
  p.max_sessions = 3;
  inlay_memory_info plan = sized<inlay_memory_info>();
  inlay_error err;
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &p, &plan, &err), INLAY_OK) << err.message;
  inlay_engine_info info = sized<inlay_engine_info>();
  const EnginePtr engine = load(p);
  ASSERT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  EXPECT_EQ(plan.weight_bytes, info.weight_bytes);
  EXPECT_EQ(plan.kv_bytes, info.kv_bytes);
  EXPECT_EQ(plan.total_bytes, plan.weight_bytes + plan.kv_bytes + plan.scratch_bytes);
  EXPECT_EQ(plan.device, info.device);
  EXPECT_EQ(info.device, GetParam());
  EXPECT_EQ(plan.n_context, 256);
  EXPECT_EQ(info.n_context, 256);
  EXPECT_EQ(plan.max_sessions, 3);
  EXPECT_EQ(info.max_sessions, 3);
  EXPECT_GT(plan.available_bytes, plan.total_bytes);
}

TEST_P(Load, Fp8WeightsTakeTheBytesThatThePlanSays) {
  inlay_memory_info stored = sized<inlay_memory_info>(), plan = sized<inlay_memory_info>();
  inlay_load_params p = params();
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &p, &stored, nullptr), INLAY_OK);
  EXPECT_EQ(stored.weight_dtype, INLAY_WEIGHT_DEFAULT);
  p.weight_dtype = INLAY_WEIGHT_FP8;
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &p, &plan, nullptr), INLAY_OK);
  EXPECT_EQ(plan.weight_dtype, INLAY_WEIGHT_FP8);
  EXPECT_LT(plan.weight_bytes, stored.weight_bytes * 4 / 10) << "34 bytes instead of 128, padding and norms";
  EXPECT_GT(plan.weight_bytes, stored.weight_bytes * 34 / 128);
  const EnginePtr engine = load(p);
  inlay_engine_info info = sized<inlay_engine_info>();
  ASSERT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.weight_bytes, plan.weight_bytes);
  EXPECT_EQ(info.weight_dtype, INLAY_WEIGHT_FP8);
  size_t needed = 0;
  std::string text(1 << 16, 0);
  ASSERT_EQ(inlay_plan_text(engine.get(), text.data(), text.size(), &needed, nullptr), INLAY_OK);
  EXPECT_NE(text.find("ffn_down.weight[64x96 F8_E4M3]"), std::string::npos) << text.substr(0, needed);
  EXPECT_EQ(reply_of(engine).size(), kPlainReply.size());
}

TEST_P(Load, QuantizedWeightsTakeTheBytesThatThePlanSays) {
  inlay_memory_info stored = sized<inlay_memory_info>(), plan = sized<inlay_memory_info>();
  inlay_load_params p = params();
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &p, &stored, nullptr), INLAY_OK);
  uint64_t last = stored.weight_bytes;
  for (const inlay_weight_dtype type : {INLAY_WEIGHT_Q8_0, INLAY_WEIGHT_Q4_K_M, INLAY_WEIGHT_Q4_0}) {
    p.weight_dtype = type;
    ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &p, &plan, nullptr), INLAY_OK);
    EXPECT_EQ(plan.weight_dtype, type);
    EXPECT_LT(plan.weight_bytes, last);
    last = plan.weight_bytes;
    const EnginePtr engine = load(p);
    inlay_engine_info info = sized<inlay_engine_info>();
    ASSERT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
    EXPECT_EQ(info.weight_bytes, plan.weight_bytes);
    EXPECT_EQ(info.weight_dtype, type);
    EXPECT_EQ(reply_of(engine).size(), kPlainReply.size());
  }
}

TEST_P(Load, Fp8LeavesQuantizedMatricesAndSaysSo) {
  std::string heard;
  inlay_load_params p = params();
  p.weight_dtype = INLAY_WEIGHT_FP8;
  p.log_user = &heard;
  p.log = [](void* user, inlay_log_level level, const char* text, size_t text_len) {
    if (level == INLAY_LOG_WARNING) static_cast<std::string*>(user)->append(text, text_len);
  };
  const EnginePtr engine = load(p, "chat-bpe-llama-q8_0");
  inlay_engine_info info = sized<inlay_engine_info>();
  ASSERT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.weight_dtype, INLAY_WEIGHT_DEFAULT);
  EXPECT_NE(heard.find("weight_dtype"), std::string::npos) << heard;
  heard.clear();
  load(p);
  EXPECT_EQ(heard, "") << "negative control";
}

TEST_P(Load, InfoIsTheModels) {
  const EnginePtr engine = load(params());
  inlay_engine_info info = sized<inlay_engine_info>();
  ASSERT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.n_vocab, kVocab);
  EXPECT_EQ(info.n_layers, 2);
  EXPECT_EQ(info.d_model, 64);
  EXPECT_EQ(info.n_heads, 4);
  EXPECT_EQ(info.n_kv_heads, 2);
  EXPECT_EQ(info.d_head, 32);
  EXPECT_EQ(info.d_ff, 96);
  EXPECT_EQ(info.n_context_train, 4096);
  EXPECT_EQ(info.bos, 317);
  EXPECT_EQ(info.eos, kEnd);
  EXPECT_EQ(info.flags, static_cast<uint32_t>(INLAY_ENGINE_HAS_TOKENIZER));
}

TEST_P(Load, MetadataAsText) {
  const EnginePtr engine = load(params());
  EXPECT_EQ(meta(engine, "qwen3.block_count"), "2");
  EXPECT_EQ(meta(engine, "tokenizer.ggml.add_bos_token"), "false");
  EXPECT_EQ(meta(engine, "qwen3.attention.layer_norm_rms_epsilon"), "9.99999997e-07");
  const std::string types = meta(engine, "tokenizer.ggml.token_type");
  EXPECT_EQ(types.substr(0, 7), "[1, 1, ");
  EXPECT_NE(types.find("320 in all]"), std::string::npos) << types;
  size_t count = 0;
  ASSERT_EQ(inlay_meta_count(engine.get(), &count, nullptr), INLAY_OK);
  for (size_t i = 0; i < count; ++i) {
    char key[256];
    size_t needed = 0;
    ASSERT_EQ(inlay_meta_key(engine.get(), i, key, sizeof key, &needed, nullptr), INLAY_OK);
    meta(engine, key);
  }
}

TEST_P(Load, PlanTextNamesEveryOp) {
  const EnginePtr engine = load(params());
  std::string text(100000, '\0');
  size_t needed = 0;
  ASSERT_EQ(inlay_plan_text(engine.get(), text.data(), text.size(), &needed, nullptr), INLAY_OK);
  text.resize(needed);
  for (const char* op : {"embed", "attn_in", "attention", "attn_out", "ffn_in", "ffn_out", "head", "sample"}) {
    EXPECT_NE(text.find(op), std::string::npos) << op;
  }
}

TEST_P(Load, MessagesReachTheHostAndTheRing) {
  std::vector<std::string> heard;
  inlay_load_params p = params();
  p.log_user = &heard;
  p.log = [](void* user, inlay_log_level level, const char* text, size_t text_len) {
    EXPECT_EQ(level, INLAY_LOG_INFO);
    EXPECT_EQ(std::strlen(text), text_len);
    static_cast<std::vector<std::string>*>(user)->push_back(text);
  };
  const EnginePtr engine = load(p);
  ASSERT_FALSE(heard.empty());
  EXPECT_NE(heard.back().find(kModel), std::string::npos);
  uint64_t cursor = 0;
  for (const std::string& message : heard) {
    char buf[1024];
    size_t needed = 0;
    inlay_log_level level = 0;
    ASSERT_EQ(inlay_log_read(engine.get(), &cursor, &level, buf, sizeof buf, &needed, nullptr), INLAY_OK);
    EXPECT_EQ(std::string(buf, needed), message);
    EXPECT_EQ(level, INLAY_LOG_INFO);
  }
  EXPECT_EQ(inlay_log_read(engine.get(), &cursor, nullptr, nullptr, 0, nullptr, nullptr), INLAY_NOT_FOUND);

  heard.clear();
  p.log_level = INLAY_LOG_OFF;
  load(p);
  EXPECT_TRUE(heard.empty());
}

void tune(inlay_load_params& params, const char* text) {
  params.tuning = text;
  params.tuning_len = SIZE_MAX;
}

void note_line(void* user, inlay_log_level, const char* text, size_t n) {
  *static_cast<std::string*>(user) += std::string(text, n) + "\n";
}

TEST_P(Load, TuningSaysWhatChangesNothing) {
  const struct {
    const char *key, *text;
    inlay_device_kind device;
  } cases[] = {{"token_kernel", "token_kernel=0", INLAY_DEVICE_CUDA},
               {"cublas", ",cublas=0,", INLAY_DEVICE_CUDA},
               {"mixed_gemm", " mixed_gemm=0", INLAY_DEVICE_CUDA},
               {"group_rows", "group_rows=1\n", INLAY_DEVICE_CUDA},
               {"isa", "\tisa=generic", INLAY_DEVICE_CPU}};
  std::string all;
  for (const auto& c : cases) {
    all += c.text;
    all += ' ';
    std::string log;
    inlay_load_params p = params();
    tune(p, c.text);
    p.log = note_line;
    p.log_user = &log;
    const EnginePtr engine = load(p);
    const bool is_said = log.find(std::string("tuning: ") + c.key + " changes nothing") != std::string::npos;
    EXPECT_EQ(is_said, c.device != GetParam()) << log;
    EXPECT_EQ(log.find("the load flag"), std::string::npos) << log;
  }
  inlay_load_params p = params();
  tune(p, all.c_str());
  const SessionPtr session = new_session(load(p));
  prefill(session, kPlain);
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
}

// The log names the kernels; what the processor lacks is refused.
TEST(LoadTuning, ChoosesTheInstructionSet) {
  int n_loaded = 0;
  for (const char* isa : {"generic", "avx2", "avx512"}) {
    std::string log;
    inlay_load_params p = on(INLAY_DEVICE_CPU);
    const std::string text = std::string("isa=") + isa;
    tune(p, text.c_str());
    p.log = note_line;
    p.log_user = &log;
    inlay_engine* engine = nullptr;
    inlay_error err;
    const inlay_status status = inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, &engine, &err);
    const EnginePtr owned(engine);
    if (status == INLAY_OK) {
      ++n_loaded;
      EXPECT_NE(log.find(isa), std::string::npos) << log;
    } else {
      EXPECT_EQ(status, INLAY_UNSUPPORTED);
      EXPECT_NE(std::string(err.message).find(text), std::string::npos) << err.message;
    }
  }
  EXPECT_GE(n_loaded, 1);
}

TEST_P(Load, ErrorsNameTheParameter) {
  struct Case {
    const char* name;
    void (*set)(inlay_load_params&);
    inlay_status want;
  };
  const inlay_status no_such_index = GetParam() == INLAY_DEVICE_CUDA ? INLAY_NO_DEVICE : INLAY_INVALID_ARGUMENT;
  const Case cases[] = {
      {"n_context", [](inlay_load_params& p) { p.n_context = 5000; }, INLAY_INVALID_ARGUMENT},
      {"max_sessions", [](inlay_load_params& p) { p.max_sessions = 1 << 20; }, INLAY_INVALID_ARGUMENT},
      {"n_threads", [](inlay_load_params& p) { p.n_threads = 1 << 20; }, INLAY_INVALID_ARGUMENT},
      {"prefill_chunk", [](inlay_load_params& p) { p.prefill_chunk = 1 << 20; }, INLAY_INVALID_ARGUMENT},
      {"max_sessions is -1, expected 0 to 1024", [](inlay_load_params& p) { p.max_sessions = -1; }, INLAY_INVALID_ARGUMENT},
      {"n_threads is -1, expected 0 to 1024", [](inlay_load_params& p) { p.n_threads = -1; }, INLAY_INVALID_ARGUMENT},
      {"prefill_chunk is -1, expected 0 to 4096", [](inlay_load_params& p) { p.prefill_chunk = -1; }, INLAY_INVALID_ARGUMENT},
      {"index", [](inlay_load_params& p) { p.device_index = 99; }, no_such_index},
      {"pre_tokenizer", [](inlay_load_params& p) { p.pre_tokenizer = "gpt-99", p.pre_tokenizer_len = SIZE_MAX; },
       INLAY_INVALID_ARGUMENT},
      {"params.pre_tokenizer is NULL", [](inlay_load_params& p) { p.pre_tokenizer_len = 3; }, INLAY_INVALID_ARGUMENT},
      {"params.tuning is NULL", [](inlay_load_params& p) { p.tuning_len = 3; }, INLAY_INVALID_ARGUMENT},
      {"no key 'speed'; there are token_kernel, cublas, mixed_gemm, group_rows, isa",
       [](inlay_load_params& p) { tune(p, "isa=generic speed=9"); }, INLAY_INVALID_ARGUMENT},
      {"'speed', expected key=value", [](inlay_load_params& p) { tune(p, "speed"); }, INLAY_INVALID_ARGUMENT},
      {"'fast' for isa, expected generic, avx2 or avx512", [](inlay_load_params& p) { tune(p, "isa=fast"); }, INLAY_INVALID_ARGUMENT},
      {"'' for cublas, expected 0 or 1", [](inlay_load_params& p) { tune(p, "cublas="); }, INLAY_INVALID_ARGUMENT},
      {"names cublas twice", [](inlay_load_params& p) { tune(p, "cublas=0,cublas=0"); }, INLAY_INVALID_ARGUMENT},
      {"kv_budget_bytes", [](inlay_load_params& p) { p.kv_budget_bytes = 1; }, INLAY_INVALID_ARGUMENT},
      {"KV cache",
       [](inlay_load_params& p) { p.kv_dtype = p.device == INLAY_DEVICE_REFERENCE ? INLAY_KV_F16 : INLAY_KV_F32; },
       INLAY_UNSUPPORTED},
      {"not in FP8", [](inlay_load_params& p) { p.kv_dtype = INLAY_KV_FP8, p.device = INLAY_DEVICE_CPU; },
       INLAY_UNSUPPORTED},
      {"not in INT8", [](inlay_load_params& p) { p.kv_dtype = INLAY_KV_INT8, p.device = INLAY_DEVICE_REFERENCE; },
       INLAY_UNSUPPORTED}};
  for (const Case& c : cases) {
    inlay_load_params p = params();
    c.set(p);
    inlay_engine* engine = nullptr;
    inlay_error err;
    EXPECT_EQ(inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, &engine, &err), c.want) << c.name;
    EXPECT_NE(std::strstr(err.message, c.name), nullptr) << err.message;
  }
}

TEST_P(Load, WhatDoesNotFitIsRefusedWithTheBytes) {
  const EnginePtr unharmed = load(params());
  inlay_load_params huge = params();
  huge.kv_budget_bytes = uint64_t{1} << 42;
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load(model_file(kModel).c_str(), SIZE_MAX, &huge, &engine, &err),
            GetParam() == INLAY_DEVICE_CUDA ? INLAY_DEVICE_OUT_OF_MEMORY : INLAY_OUT_OF_MEMORY);
  EXPECT_EQ(engine, nullptr);
  EXPECT_GT(err.required, err.available);
  EXPECT_GT(err.required, uint64_t{1} << 41) << "the pool's bytes";
  EXPECT_GT(err.available, 0u);
  EXPECT_NE(std::strstr(err.message, std::to_string(err.required).c_str()), nullptr) << err.message;
  EXPECT_EQ(reply_of(unharmed), kPlainReply);
}

TEST(LoadAnywhere, WithoutAGpuItsAbsenceIsSaid) {
  if (has_device(INLAY_DEVICE_CUDA)) GTEST_SKIP() << "needs a machine without a GPU";
  const inlay_load_params p = on(INLAY_DEVICE_CUDA);
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load(model_file(kModel).c_str(), SIZE_MAX, &p, &engine, &err), INLAY_NO_DEVICE);
  EXPECT_EQ(engine, nullptr);
  EXPECT_NE(std::string_view(err.message), "");
  EXPECT_EQ(reply_of(load(on(INLAY_DEVICE_CPU))), kPlainReply);
}

TEST(LoadAnywhere, MissingFileIsNamed) {
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load("no/such/model.gguf", SIZE_MAX, nullptr, &engine, &err), INLAY_NOT_FOUND);
  EXPECT_NE(std::strstr(err.message, "no/such/model.gguf"), nullptr) << err.message;
}

TEST(LoadAnywhere, LongMessagesAreCutAtACharacter) {
  for (std::string path : {"no/", "no/x"}) {
    while (path.size() < 2000) path += "é";
    inlay_engine* engine = nullptr;
    inlay_error err;
    EXPECT_NE(inlay_load(path.c_str(), SIZE_MAX, nullptr, &engine, &err), INLAY_OK);
    EXPECT_LT(err.message_len, static_cast<uint32_t>(INLAY_ERROR_MESSAGE_BYTES));
    EXPECT_EQ(std::strlen(err.message), err.message_len);
    const auto last = static_cast<unsigned char>(err.message[err.message_len - 1]);
    EXPECT_NE(last, 0xc3) << "a half character ends the message";
  }
}

// ---- a file that changes while it loads

struct Change {
  const char* name;
  void (*make)(const std::string& path, uint64_t size);
  const char* message;
};

const Change kChanges[] = {
    {"cut to a half", [](const std::string& path, uint64_t size) { fs::resize_file(path, size / 2); }, "cut short while it was read: it ends at "},
    {"cut to nothing", [](const std::string& path, uint64_t) { fs::resize_file(path, 0); }, "cut short while it was read: it ends at "},
    {"grown", [](const std::string& path, uint64_t size) { fs::resize_file(path, size + 4096); }, "was written to while it was read"},
    {"written to in place",
     [](const std::string& path, uint64_t size) {
       std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
       file.seekp(static_cast<std::streamoff>(size / 2));
       file.write("other bytes", 11);
     },
     "was written to while it was read"},
    {"renamed", [](const std::string& path, uint64_t) { fs::rename(path, path + ".old"); }, nullptr},
    {"removed", [](const std::string& path, uint64_t) { fs::remove(path); }, nullptr},
    {"unchanged", [](const std::string&, uint64_t) {}, nullptr},
};

struct Changing {
  const Change* change;
  std::string path;
  uint64_t size;
  bool is_done = false;

  static int32_t progress(void* user, uint64_t, uint64_t) {
    auto& self = *static_cast<Changing*>(user);
    if (!std::exchange(self.is_done, true)) self.change->make(self.path, self.size);
    return 0;
  }
};

// A GGUF file and a folder of safetensors; `file`: the one with the weights.
TEST_P(Load, AFileThatChangesMeanwhile) {
  const TemporaryFolder own;
  const fs::path examples = INLAY_SOURCE_DIR "/examples/model", folder = own.path("model");
  struct {
    fs::path from;
    const char* file;
  } const models[] = {{examples / "tales.gguf", ""}, {examples / "hf", "model.safetensors"}};
  for (const auto& model : models) {
    for (const Change& change : kChanges) {
      fs::remove_all(folder);
      fs::copy(model.from, folder, fs::copy_options::recursive);
      const std::string file = *model.file ? (folder / model.file).string() : folder.string();
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));  // clocks of file systems are coarse
      Changing changing{&change, file, fs::file_size(file)};
      inlay_load_params p = params();
      p.progress = Changing::progress;
      p.progress_user = &changing;
      inlay_engine* engine = nullptr;
      inlay_error err = {};
      const inlay_status status = inlay_load(folder.string().c_str(), SIZE_MAX, &p, &engine, &err);
      const EnginePtr owned(engine);
      EXPECT_TRUE(changing.is_done) << file;
      EXPECT_EQ(status, change.message ? INLAY_IO : INLAY_OK) << file << " " << change.name << ": " << err.message;
      EXPECT_EQ(engine == nullptr, change.message != nullptr);
      if (change.message) {
        EXPECT_NE(std::string(err.message).find(change.message), std::string::npos) << change.name << ": " << err.message;
        EXPECT_NE(std::string(err.message).find(file), std::string::npos) << err.message;
      }
    }
  }
}

}  // namespace
}  // namespace inlay::test
