// Compares launch_sample with the CPU sampler on random rows, and times it. Stand-alone: prints one line a check.
//   sample [cases, default 4000] [seed] [nospeed]     sample speed: only the times
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/philox.h"
#include "kernels/cuda/cuda_kernels.h"
#include "src/sampler/sampler.h"
#include "src/sampler/score.h"
#include "tests/cuda/sample_rows.cuh"

namespace inlay {
namespace {

using cuda::RowError;

struct Tally {
  int cases = 0, errors = 0, near_boundary = 0, wrong_token = 0, wrong_logprob = 0, wrong_error = 0, dependent = 0;
  int not_repeated = 0;
  double worst_logprob = 0;
};

void fail(int& counter, const char* what, const Case& c, const std::string& details) {
  if (++counter <= 5) std::printf("       %s: %s | %s\n", what, details.c_str(), describe(c).c_str());
}

bool close(float a, float b, Tally& tally) {
  const double off = std::fabs(static_cast<double>(a) - b);
  tally.worst_logprob = std::max(tally.worst_logprob, off / (1 + 0.1 * std::fabs(b)));
  return off <= 1e-5 + 1e-6 * std::fabs(b);  // the second term: half a unit in the last place of large values, and some
}

void compare(const Case& c, const cuda::SampleRowResult& got, Tally& tally) {
  static std::map<size_t, Sampler> samplers;
  Sampler& sampler = samplers.try_emplace(c.logits.size(), static_cast<int32_t>(c.logits.size())).first->second;
  ++tally.cases;
  SampleResult want;
  Status status = sampler.sample(c.logits, c.params, c.history, c.stream, c.position, want, {.state = c.state, .allowed = c.mask});
  if (status.ok() && want.token < 0) status = error(Code::invalid_argument, "the mask leaves no token");
  if (!status.ok()) {
    ++tally.errors;
    const bool right = got.token == -1 && (status.code == Code::format ? got.error == RowError::bad_logit ||
                                                                             got.error == RowError::no_finite_logit
                                                                       : got.error == RowError::everything_banned);
    if (!right)
      fail(tally.wrong_error, "error", c,
           text("got %d, want: %s", static_cast<int>(got.error), status.message.c_str()));
    return;
  }
  if (got.error != RowError::none) {
    fail(tally.wrong_error, "error", c,
         text("got %d (bad token %d), want none", static_cast<int>(got.error), got.bad_token));
    return;
  }
  if (got.token != want.token) {
    if (c.params.temperature > 0 && (plain_draw(c, kNudge) == got.token || plain_draw(c, -kNudge) == got.token)) {
      ++tally.near_boundary;
    } else {
      fail(tally.wrong_token, "token", c,
           text("got %d, want %d, third sampler %d", got.token, want.token, plain_draw(c, 0)));
    }
  } else if (!close(got.logprob, want.logprob, tally)) {
    fail(tally.wrong_logprob, "logprob", c, text("got %.8g, want %.8g", got.logprob, want.logprob));
  }
  if (got.token == want.token && std::fabs(got.p_kept - want.p_kept) > 1e-5f * want.p_kept + 1e-30f) {
    fail(tally.wrong_logprob, "p_kept", c, text("got %.8g, want %.8g", got.p_kept, want.p_kept));
  }
  if (got.n_logprobs != want.n_logprobs) {
    fail(tally.wrong_logprob, "n_logprobs", c, text("got %d, want %d", got.n_logprobs, want.n_logprobs));
    return;
  }
  for (int i = 0; i < want.n_logprobs; ++i) {
    if (got.top_token[i] == want.top[i].token && close(got.top_logprob[i], want.top[i].logprob, tally)) continue;
    fail(tally.wrong_logprob, "top", c,
         text("%d: got %d %.8g, want %d %.8g", i, got.top_token[i], got.top_logprob[i], want.top[i].token,
              want.top[i].logprob));
    return;
  }
}

// One batch against the CPU, again on the same scratch memory, and every row alone.
void run_batch(const std::vector<Case>& cases, Tally& tally) {
  Batch batch;
  for (const Case& c : cases) add_row(batch, c);
  DeviceBatch device(batch);
  const std::vector<cuda::SampleRowResult> results = device.run();
  const std::vector<cuda::SampleRowResult> again = device.run();
  for (size_t i = 0; i < cases.size(); ++i) {
    compare(cases[i], results[i], tally);
    if (!same_bits(results[i], again[i])) {
      fail(tally.not_repeated, "repeat", cases[i],
           text("row %zu: token %d, then %d", i, results[i].token, again[i].token));
    }
    Batch single;
    add_row(single, cases[i]);
    const cuda::SampleRowResult alone = DeviceBatch(single).run()[0];
    if (!same_bits(results[i], alone)) {
      fail(tally.dependent, "alone", cases[i],
           text("row %zu: token %d logprob %a in the batch, %d %a alone", i, results[i].token, results[i].logprob,
                alone.token, alone.logprob));
    }
  }
}

void check_random(int n_cases, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tally tally;
  int features = 0;
  while (tally.cases < n_cases) {
    const uint64_t size = random() % 100;
    const int32_t n_vocab = size < 30 ? 5 : size < 55 ? 160 : size < 85 ? 2048 : size < 97 ? 32000 : 151936;
    std::vector<Case> cases;
    for (int i = 0; i < kBatch; ++i, ++features)
      cases.push_back(random_case(n_vocab, features % 64 + (features / 64 % 2 == 0 ? 0 : kLate) + (features % 5 < 2 ? kMask : 0), random));
    run_batch(cases, tally);
  }
  const int sure = tally.cases - tally.errors;
  report(tally.wrong_token == 0, "token",
         text("%d rows drawn, %d wrong, %d within 1e-6 of a boundary", sure, tally.wrong_token, tally.near_boundary));
  report(tally.near_boundary <= 1 + sure / 500, "boundary", text("%d of %d rows", tally.near_boundary, sure));
  report(tally.wrong_logprob == 0, "logprob", text("%d wrong, worst %.3g", tally.wrong_logprob, tally.worst_logprob));
  report(tally.wrong_error == 0, "error of random rows", text("%d of %d wrong", tally.wrong_error, tally.errors));
  report(tally.dependent == 0, "rows are independent",
         text("%d rows differ alone and in a batch of %d", tally.dependent, kBatch));
  report(tally.not_repeated == 0, "repeat", text("%d rows differ the second time", tally.not_repeated));
}

// The steps that take a row's whole list: alone, in pairs and together, with and without the others; rows without them
// lie beside them in every batch.
void check_steps(uint64_t seed) {
  std::mt19937_64 random(seed);
  const int steps[] = {kTypical, kSigma, kDynamic, kXtc, kMirostat, kAdaptive};
  Tally tally;
  for (const int32_t n_vocab : {1, 5, 160, 2048, 4097, 32000, 151936}) {
    const int n_rounds = n_vocab < 3000 ? 6 : n_vocab < 100000 ? 2 : 1;
    std::vector<Case> cases;
    for (int round = 0; round < n_rounds; ++round) {
      for (const int a : steps) {
        for (const int b : steps) {
          const int others = static_cast<int>(random() % 32) + (random() % 2 == 0 ? 0 : kLate) + (random() % 3 == 0 ? kMask : 0), all = random() % 8 == 0 ? 0xfff - kMirostat : 0;
          cases.push_back(random_case(n_vocab, kTemperature | a | b | others | all, random));
          if (random() % 4 == 0) cases.push_back(random_case(n_vocab, kTemperature | others, random));
        }
      }
    }
    for (size_t first = 0; first < cases.size(); first += kBatch) {
      const size_t end = std::min(cases.size(), first + kBatch);
      run_batch({cases.begin() + static_cast<std::ptrdiff_t>(first), cases.begin() + static_cast<std::ptrdiff_t>(end)},
                tally);
    }
  }
  const int sure = tally.cases - tally.errors;
  const int wrong = tally.wrong_token + tally.wrong_logprob + tally.wrong_error;
  report(wrong == 0, "steps",
         text("%d rows, %d wrong, %d within 1e-6 of a boundary", sure, wrong, tally.near_boundary));
  report(tally.near_boundary <= 1 + sure / 300, "steps' boundaries", text("%d of %d rows", tally.near_boundary, sure));
  report(tally.dependent + tally.not_repeated == 0, "steps' rows are independent",
         text("%d differ alone, %d the second time", tally.dependent, tally.not_repeated));
}

// The steps change draws: without them the device draws otherwise.
void check_steps_control() {
  std::mt19937_64 random(12);
  int n_other = 0;
  for (int i = 0; i < 40; ++i) {
    Case c = random_case(2048, kTemperature | kTypical | kSigma | kXtc, random);
    Batch batch;
    add_row(batch, c);
    add_row(batch, c);
    batch.rows[1].general = 0;
    const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
    n_other += results[0].token != results[1].token;
  }
  report(n_other > 8, "steps' control", text("%d of 40 rows draw another token without them", n_other));
}

// Few tokens are kept, all about equally likely, so that a token too many or too few shows within some draws.
void check_cuts() {
  std::mt19937_64 random(4);
  Tally tally;
  for (const int32_t n_vocab : {5, 160, 20000}) {
    for (int setting = 0; setting < 12; ++setting) {
      Case c;
      const int levels = 1 + setting % 3 * 3;  // how many different logits
      for (int i = 0; i < n_vocab; ++i)
        c.logits.push_back(i % 7 == 3 || n_vocab < 9 ? 0.25f * (random() % levels) : -30.0f);
      if (setting % 2 == 0) c.logits.assign(n_vocab, 1.0f);
      c.params.temperature = setting % 2 == 0 ? 1.0f : 3.0f;
      if (setting < 8) c.params.top_k = 1 + setting;
      if (setting % 4 == 3) c.params.top_p = 0.55f;
      if (setting >= 8) c.params.top_p = setting < 10 ? 6.5f / n_vocab : 0.999f * std::min(1.0f, 40.0f / n_vocab);
      if (setting % 6 == 5) c.params.min_p = 0.93f;
      Batch batch;
      std::vector<Case> cases;
      for (int draw = 0; draw < (n_vocab < 9 ? 24 : 96); ++draw) {
        c.position = draw;
        cases.push_back(c);
        add_row(batch, c);
      }
      const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
      for (size_t i = 0; i < cases.size(); ++i) compare(cases[i], results[i], tally);
    }
  }
  report(tally.wrong_token + tally.wrong_error + tally.wrong_logprob == 0 && tally.near_boundary <= 10, "cuts",
         text("%d rows, %d wrong tokens, %d within 1e-6 of a boundary", tally.cases, tally.wrong_token,
              tally.near_boundary));
}

// ---- single properties

void check_errors() {
  for (const int32_t n_vocab : {5, 32000}) {
    std::vector<Case> cases(7);
    for (Case& c : cases) c.logits.assign(n_vocab, 1.0f);
    const int32_t late = n_vocab - 2;
    cases[0].logits[late] = NAN;
    cases[0].logits[n_vocab - 1] = kInf;
    cases[1].logits[late] = kInf;
    cases[1].params.temperature = 1;
    cases[2].logits.assign(n_vocab, -kInf);
    cases[3].logits.assign(n_vocab, -kInf);
    cases[3].logits[late] = 2;
    cases[3].params.bias.push_back({late, -kInf});
    cases[4] = cases[3];
    cases[4].params.temperature = 0.7f;
    cases[4].params.top_p = 0.9f;
    cases[5].logits[1] = -NAN;
    cases[5].params.bias.push_back({1, -kInf});  // a bias does not hide a bad logit
    using enum RowError;
    const RowError want_error[] = {bad_logit, bad_logit, no_finite_logit, everything_banned, everything_banned,
                                   bad_logit, none};
    const int want_bad[] = {late, late, -1, -1, -1, 1, -1};
    Batch batch;
    for (const Case& c : cases) add_row(batch, c);
    const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
    Tally tally;
    bool good = true;
    std::string details = text("vocab %d:", n_vocab);
    for (size_t i = 0; i < cases.size(); ++i) {
      good = good && results[i].error == want_error[i] && results[i].bad_token == want_bad[i];
      good = good && (results[i].error == none) == (results[i].token >= 0);
      details += text(" %d/%d", static_cast<int>(results[i].error), results[i].bad_token);
      compare(cases[i], results[i], tally);
    }
    report(good && tally.wrong_error == 0, "error rows", details);
  }
}

// Sizes around a part of 4096 logits and a group of 256, every kind of draw.
void check_sizes() {
  std::mt19937_64 random(9);
  for (const int32_t n_vocab : {1, 17, 255, 257, 1024, 1025, 4095, 4096, 4097, 32000, 151936, 262144}) {
    Tally tally;
    for (int features = 0; features < 64; features += kBatch) {
      std::vector<Case> cases;
      for (int i = 0; i < kBatch; ++i) cases.push_back(random_case(n_vocab, (features + i) % 64 + ((features + i) % 2 == 0 ? kMask : 0), random));
      run_batch(cases, tally);
    }
    const int wrong =
        tally.wrong_token + tally.wrong_logprob + tally.wrong_error + tally.dependent + tally.not_repeated;
    report(wrong == 0 && tally.near_boundary <= 1, "size",
           text("vocab %d: %d rows, %d wrong, %d within 1e-6 of a boundary", n_vocab, tally.cases, wrong,
                tally.near_boundary));
  }
}

// Equal logits in several parts: the lowest id wins, in draws and in log-probabilities.
void check_ties() {
  for (const int32_t n_vocab : {4097, 32000, 151936}) {
    std::vector<Case> cases;
    for (int kind = 0; kind < 8; ++kind) {
      Case c;
      c.logits.assign(n_vocab, kind % 2 == 0 ? -3.0f : 0.0f);
      for (const int32_t id : {n_vocab - 1, 4096, 4095, 700, 699}) c.logits[id] = kind % 2 == 0 ? 5.0f : -0.0f;
      c.params.n_logprobs = kind < 4 ? 20 : 3;
      if (kind % 4 >= 2) {
        c.params.temperature = 1;
        c.params.top_k = kind < 4 ? 1 : 2;
        c.position = kind;
      }
      cases.push_back(c);
    }
    Tally tally;
    run_batch(cases, tally);
    Batch batch;
    for (const Case& c : cases) add_row(batch, c);
    const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
    bool good = tally.wrong_token + tally.wrong_logprob + tally.wrong_error + tally.dependent == 0;
    good = good && results[0].token == 699 && results[1].token == 0 && results[2].token == 699 &&
           results[3].token == 0 && results[0].top_token[2] == 4095 && results[1].top_token[19] == 19;
    report(good, "ties",
           text("vocab %d: %d rows, tokens %d %d %d %d, third best %d", n_vocab, tally.cases, results[0].token,
                results[1].token, results[2].token, results[3].token, results[0].top_token[2]));
  }
}

// Whatever is wrong with a result has to be found.
void check_control() {
  std::mt19937_64 random(10);
  Case c = random_case(32000, 0, random);
  c.logits[5] = 100;
  c.params.n_logprobs = 5;
  Batch batch;
  add_row(batch, c);
  const cuda::SampleRowResult right = DeviceBatch(batch).run()[0];
  int found = 0;
  for (int damage = 0; damage < 6; ++damage) {
    cuda::SampleRowResult bad = right;
    if (damage == 1) bad.token += 1;
    if (damage == 2) bad.logprob += 3e-5f;
    if (damage == 3) std::swap(bad.top_token[3], bad.top_token[4]);
    if (damage == 4) bad.n_logprobs -= 1;
    if (damage == 5) bad.error = RowError::bad_logit;
    Tally tally;
    if (damage == 1) std::puts("       five wrong results follow on purpose");
    compare(c, bad, tally);
    found += (tally.wrong_token + tally.wrong_logprob + tally.wrong_error > 0) << damage;
  }
  report(found == 0b111110, "control", text("wrong results found: mask %x of 3e", found));
}

// Results straight into host memory, and no more than the entries asked for; masks straight from there.
void check_mapped_results() {
  std::mt19937_64 random(11);
  Batch batch;
  for (int i = 0; i < kBatch; ++i) add_row(batch, random_case(32000, i * 7 + (i % 2 == 0 ? kMask : 0), random));
  DeviceBatch device(batch);
  const std::vector<cuda::SampleRowResult> direct = device.run();
  void *host_masks = nullptr, *mapped_masks = nullptr;
  CUDA_OK(cudaHostAlloc(&host_masks, batch.masks.size() * sizeof(uint32_t), cudaHostAllocMapped));
  CUDA_OK(cudaHostGetDevicePointer(&mapped_masks, host_masks, 0));
  std::memcpy(host_masks, batch.masks.data(), batch.masks.size() * sizeof(uint32_t));
  device.set_masks(static_cast<const uint32_t*>(mapped_masks));
  void *host = nullptr, *mapped = nullptr;
  CUDA_OK(cudaHostAlloc(&host, kBatch * sizeof(cuda::SampleRowResult), cudaHostAllocMapped));
  CUDA_OK(cudaHostGetDevicePointer(&mapped, host, 0));
  std::memset(host, 0x5a, kBatch * sizeof(cuda::SampleRowResult));
  device.set_results(static_cast<cuda::SampleRowResult*>(mapped));
  device.launch(nullptr);
  CUDA_OK(cudaStreamSynchronize(nullptr));
  const auto* results = static_cast<const cuda::SampleRowResult*>(host);
  int wrong = 0, touched = 0;
  for (int i = 0; i < kBatch; ++i) {
    wrong += !same_bits(results[i], direct[i]);
    for (int k = results[i].n_logprobs; k < cuda::kMaxLogprobs; ++k) touched += results[i].top_token[k] != 0x5a5a5a5a;
  }
  report(wrong == 0 && touched == 0, "mapped results",
         text("%d of %d rows differ, %d entries written that nobody asked for", wrong, kBatch, touched));
  CUDA_OK(cudaFreeHost(host));
  CUDA_OK(cudaFreeHost(host_masks));
}

void check_padding() {
  std::mt19937_64 random(5);
  Batch batch;
  for (int i = 0; i < 3; ++i) add_row(batch, random_case(32000, kTemperature | kTopP, random));
  batch.rows[1].slot = -1;
  const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
  const bool good =
      results[1].token == 0x5a5a5a5a && results[0].error == RowError::none && results[2].error == RowError::none;
  report(good, "padding",
         text("results of a padding row untouched, tokens %d %x %d", results[0].token, results[1].token,
              results[2].token));
}

void check_replay() {
  std::mt19937_64 random(6);
  Batch batch;
  for (int i = 0; i < kBatch; ++i) add_row(batch, random_case(151936, i * 7, random));
  DeviceBatch device(batch);
  const std::vector<cuda::SampleRowResult> direct = device.run();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  device.launch(stream);
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&replay, graph, 0));
  int wrong = 0;
  std::vector<cuda::SampleRowParams> other = batch.rows;
  for (cuda::SampleRowParams& row : other) row.position += 1;
  for (int turn = 0; turn < 4; ++turn) {
    device.set_rows(turn % 2 == 0 ? other : batch.rows);  // what varies lies in device memory
    CUDA_OK(cudaGraphLaunch(replay, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    const std::vector<cuda::SampleRowResult> results = device.results();
    for (size_t i = 0; turn % 2 == 1 && i < results.size(); ++i) wrong += !same_bits(results[i], direct[i]);
  }
  report(wrong == 0, "graph replay", text("%d of %d rows differ from the direct launch", wrong, 2 * kBatch));
  CUDA_OK(cudaGraphExecDestroy(replay));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
}

void check_other_seed() {
  std::mt19937_64 random(7);
  Case c = random_case(32000, 0, random);
  for (size_t i = 0; i < c.logits.size(); ++i) c.logits[i] = static_cast<float>(i % 11) * 0.01f;
  c.params.temperature = 1;
  int same = 0, wrong = 0;
  for (int i = 0; i < 32; ++i) {
    Case other = c;
    c.position = other.position = i;
    other.params.seed = c.params.seed + 1;
    Batch batch;
    add_row(batch, c);
    add_row(batch, other);
    const std::vector<cuda::SampleRowResult> results = DeviceBatch(batch).run();
    same += results[0].token == results[1].token;
    wrong += plain_draw(c, 0) == results[1].token;
  }
  report(same <= 1 && wrong <= 1, "another seed", text("%d of 32 tokens are the same", same));
}

struct PhiloxArgs {
  PhiloxCounter counter;
  PhiloxKey key;
  uint32_t* out;
};
__global__ void philox_kernel(const __grid_constant__ PhiloxArgs args) {
  const PhiloxCounter words = philox4x32(args.counter, args.key);
  for (int i = 0; i < 4; ++i) args.out[i] = words.w[i];
}

// The known answers published with the generator: all zeros, all ones, the digits of pi.
void check_philox() {
  const uint32_t ones = 0xffffffff;
  const PhiloxArgs inputs[] = {
      {{{0, 0, 0, 0}}, {{0, 0}}, nullptr},
      {{{ones, ones, ones, ones}}, {{ones, ones}}, nullptr},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}, nullptr}};
  const uint32_t want[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (int i = 0; i < 3; ++i) {
    cuda::Device<uint32_t> out(4);
    PhiloxArgs args = inputs[i];
    args.out = out.get();
    void* arguments[] = {&args};
    CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(&philox_kernel), dim3(1), dim3(1), arguments, 0, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
    const std::vector<uint32_t> got = out.host();
    report(std::equal(got.begin(), got.end(), want[i]), "philox",
           text("%08x %08x %08x %08x", got[0], got[1], got[2], got[3]));
  }
}

// ---- scores of known tokens

struct ScoredRows {
  std::vector<cuda::RowScore> scores;
  std::vector<cuda::TokenProbability> top;
};

ScoredRows score_on_device(const std::vector<float>& logits, const std::vector<int32_t>& tokens, int32_t n_top) {
  const auto n = static_cast<int32_t>(tokens.size());
  const cuda::Device<float> rows(logits);
  const cuda::Device<int32_t> ids(tokens);
  cuda::Device<cuda::RowScore> scores(tokens.size());
  cuda::Device<cuda::TokenProbability> top(std::max<size_t>(1, tokens.size() * static_cast<size_t>(n_top)));
  CUDA_OK(cuda::launch_score({rows.get(), ids.get(), scores.get(), top.get(), static_cast<int64_t>(logits.size()) / n, n, n_top}, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  return {scores.host(), top.host()};
}

// Rows whose scores are not those of the host; `first` is named.
int wrong_scores(const std::vector<float>& logits, const std::vector<int32_t>& tokens, const ScoredRows& got, int32_t n_top,
                 std::string& first) {
  const size_t n_vocab = logits.size() / tokens.size();
  int wrong = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::vector<TokenLogprob> top(static_cast<size_t>(n_top));
    const auto want = score_row(std::span(logits).subspan(i * n_vocab, n_vocab), tokens[i], top);
    const cuda::RowScore& s = got.scores[i];
    bool right = want.ok() == (s.error == RowError::none);
    if (right && want.ok()) {
      const bool both_never = std::isinf(want->logprob) && want->logprob == s.logprob;
      right = s.rank == want->rank && (both_never || std::fabs(s.logprob - want->logprob) <= 1e-5f + 1e-6f * std::fabs(want->logprob));
      for (size_t k = 0; k < top.size(); ++k) {
        const cuda::TokenProbability& t = got.top[i * top.size() + k];
        right = right && t.token == top[k].token && std::fabs(t.logprob - top[k].logprob) <= 1e-5f + 1e-6f * std::fabs(top[k].logprob);
      }
    }
    if (!right && wrong++ == 0) {
      first = text("row %zu of %zu tokens, token %d: got %.8g rank %d error %d, want %.8g rank %d", i, n_vocab, tokens[i],
                   static_cast<double>(s.logprob), s.rank, static_cast<int>(s.error),
                   want.ok() ? static_cast<double>(want->logprob) : NAN, want.ok() ? want->rank : -1);
    }
  }
  return wrong;
}

// Random rows of all sizes, ties, infinities and numbers that are none; and a control, for which one score is changed.
void check_scores(uint64_t seed) {
  std::mt19937_64 random(seed);
  int wrong = 0, seen = 0;
  std::string first;
  for (const int32_t n_vocab : {1, 5, 511, 512, 513, 2048, 32000, 151936}) {
    for (const int32_t n_top : {0, 1, 5, 20}) {
      constexpr size_t kRows = 9;
      std::vector<float> logits;
      std::vector<int32_t> tokens;
      for (size_t i = 0; i < kRows; ++i) {
        std::vector<float> row = random_logits(n_vocab, random);
        if (i == 0) std::fill(row.begin(), row.end(), 1.5f);
        if (i == 1) row[random() % row.size()] = -kInf;
        if (i == 2) std::fill(row.begin(), row.end(), -kInf);
        if (i == 3) row[random() % row.size()] = NAN;
        if (i == 4) row[random() % row.size()] = kInf;
        logits.insert(logits.end(), row.begin(), row.end());
        tokens.push_back(static_cast<int32_t>(random() % row.size()));
      }
      ScoredRows got = score_on_device(logits, tokens, n_top);
      wrong += wrong_scores(logits, tokens, got, n_top, first);
      got.scores[kRows - 1].rank += 1;
      std::string ignored;
      seen += wrong_scores(logits, tokens, got, n_top, ignored);
    }
  }
  cuda::report(wrong == 0, "scores of known tokens", first);
  cuda::report(seen == wrong + 8 * 4, "a changed score is seen", text("%d of %d", seen - wrong, 8 * 4));
}

// ---- speed

struct SpeedSetting {
  const char* name;
  float temperature, top_p;
  int32_t top_k, n_logprobs;
  float repetition;
  void (*more)(SamplerParams& p) = nullptr;
};

double time_rows(const SpeedSetting& s, int32_t n_vocab, int n_rows) {
  std::mt19937_64 random(8);
  std::normal_distribution<float> normal(0, 3);
  Batch batch;
  for (int row = 0; row < n_rows; ++row) {
    Case c;
    c.logits.resize(n_vocab);
    for (float& l : c.logits) l = normal(random);
    c.params.temperature = s.temperature;
    c.params.top_p = s.top_p;
    c.params.top_k = s.top_k;
    c.params.n_logprobs = s.n_logprobs;
    c.params.repetition_penalty = s.repetition;
    if (s.more) s.more(c.params);
    for (int i = 0; i < 64; ++i) c.history.push_back(i * 100);
    add_row(batch, c);
  }
  DeviceBatch device(batch);
  return cuda::graph_us(50, [&](int, cudaStream_t stream) { device.launch(stream); });
}

void print_speed() {
  const SpeedSetting settings[] = {
      {"greedy", 0, 1, 0, 0, 1},
      {"greedy, 5 logprobs", 0, 1, 0, 5, 1},
      {"greedy, penalty", 0, 1, 0, 0, 1.1f},
      {"T 0.8", 0.8f, 1, 0, 0, 1},
      {"T 0.8 k 40 p 0.95", 0.8f, 0.95f, 40, 0, 1},
      {"T 0.8 p 0.95", 0.8f, 0.95f, 0, 0, 1},
      {"T 0.8 min-p XTC", 0.8f, 1, 0, 0, 1, [](SamplerParams& p) { p.min_p = 0.05f, p.xtc_probability = 1; }},
      {"T 0.8 typical 0.9", 0.8f, 1, 0, 0, 1, [](SamplerParams& p) { p.typical_p = 0.9f; }},
      {"T 0.8 mirostat", 0.8f, 1, 0, 0, 1, [](SamplerParams& p) { p.mirostat_tau = 5; }}};
  for (const int32_t n_vocab : {32000, 128256, 151936}) {
    std::printf("us per launch in a graph, %d tokens\n%-22s %9s %9s %9s\n", n_vocab, "", "1 row", "8 rows", "32 rows");
    for (const SpeedSetting& s : settings) {
      std::printf("%-22s", s.name);
      for (const int n_rows : {1, 8, 32}) std::printf(" %9.2f", time_rows(s, n_vocab, n_rows));
      std::printf("\n");
    }
  }
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  if (!inlay::cuda::has_device()) return inlay::cuda::kSkipped;
  if (argc > 1 && std::strcmp(argv[1], "speed") == 0) {
    inlay::print_speed();
    return 0;
  }
  const int n_cases = argc > 1 ? std::atoi(argv[1]) : 4000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  inlay::check_philox();
  inlay::check_errors();
  inlay::check_control();
  inlay::check_sizes();
  inlay::check_ties();
  inlay::check_mapped_results();
  inlay::check_padding();
  inlay::check_other_seed();
  inlay::check_cuts();
  inlay::check_random(n_cases, seed);
  inlay::check_steps(seed);
  inlay::check_scores(seed);
  inlay::check_steps_control();
  inlay::check_replay();
  if (argc <= 3) inlay::print_speed();
  return inlay::cuda::finish();
}
