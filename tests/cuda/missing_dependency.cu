// Stand-alone check that a missing dependency would be noticed: a chain of products, each taking what the one before it
// gave, has the same bits launched at once (of one row), one by one, and as phases of the token kernel. Then one
// product of it does not wait for its input, and the bits must differ.
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/hasty_kernels.h"
#include "tests/cuda/kernel_test.h"
#include "tests/cuda/random_rows.h"

using namespace inlay;
using namespace inlay::cuda;

namespace {

constexpr int kOps = 6, kHasty = 3;
constexpr int64_t kWidth = 3072;  // 192 tiles: no number of CTAs near 132 or 264 shares them out evenly
constexpr int kRuns = 200;

// Products of m rows.
class Chain {
 public:
  explicit Chain(int32_t m)
      : m_(m),
        weights_(packed_bytes(DType::q8_0, kWidth, kWidth)),
        activations_(activation_bytes(m, kWidth)),
        norm_(std::vector<float>(kWidth, 1.0f)) {
    activations_.fill(0);
    std::mt19937 rng(77);
    const Device<uint8_t> file(random_rows(DType::q8_0, kWidth, kWidth, 1.0f, rng));
    CUDA_OK(
        launch_repack({file.get(), nullptr, weights_.get(), kWidth, kWidth, DType::q8_0, RowOrder::plain}, nullptr));
    std::normal_distribution<float> normal;
    for (float& v : input_) v = cleared(normal(rng));  // the tag 0
    CUDA_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Chain() { CUDA_OK(cudaStreamDestroy(stream_)); }

  // The k-th product: from one of two rows to the other, the last one to a row of its own.
  LinearArgs op(int k) const {
    LinearArgs a{};
    a.weights = weights_.get();
    a.raw = rows_[k % 2].get();
    a.norm_weight = norm_.get();
    a.epsilon = 1e-6f;
    a.out = k == kOps - 1 ? result_.get() : rows_[(k + 1) % 2].get();
    a.n_rows = a.n_cols = a.ld_out = kWidth;
    a.m = m_;
    a.dtype = DType::q8_0;
    return a;
  }
  int32_t n_rows() const { return m_; }
  // Where the token kernel prepares what the k-th product takes.
  void* prepared(int k) const { return m_ > 1 ? prepared_[k % 2].get() : nullptr; }
  cudaStream_t stream() const { return stream_; }

  void launch_one(int k) const {
    LinearArgs a = op(k);
    if (m_ > 1) {
      a.x = activations_at(activations_.get(), m_, kWidth);
      const ActivationsArgs rows{a.raw, a.norm_weight, nullptr, a.x, m_, kWidth, a.epsilon, ActivationForm::f16};
      CUDA_OK(launch_activations(rows, stream_));
      a.raw = nullptr;
    }
    CUDA_OK(launch_linear(a, stream_));
  }

  std::vector<float> run(const std::function<void()>& launch) {
    for (const Device<float>& row : rows_) row.fill(0xff);  // a tag that no generation has
    for (const Device<uint8_t>& x : prepared_) x.fill(0xff);
    result_.fill(0xff);
    rows_[0].put(input_);
    CUDA_OK(cudaDeviceSynchronize());
    launch();
    CUDA_OK(cudaStreamSynchronize(stream_));
    return result_.host();
  }

 private:
  static float cleared(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits &= ~3u;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }

  const int32_t m_;
  const size_t n_ = static_cast<size_t>(m_) * kWidth;
  Device<uint8_t> weights_, activations_;
  Device<uint8_t> prepared_[2] = {Device<uint8_t>(token_x_bytes(kWidth)), Device<uint8_t>(token_x_bytes(kWidth))};
  Device<float> norm_, rows_[2] = {Device<float>(n_), Device<float>(n_)}, result_{n_};
  std::vector<float> input_ = std::vector<float>(n_);
  cudaStream_t stream_ = nullptr;
};

// The products as a graph, whose launches begin before their predecessors have ended.
class Launches {
 public:
  Launches(const Chain& chain, int hasty) : stream_(chain.stream()) {
    for (int k = 0; k < kOps; ++k) launch(chain.op(k), k == hasty);  // a capture should not load kernels
    CUDA_OK(cudaStreamSynchronize(stream_));
    CUDA_OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < kOps; ++k) launch(chain.op(k), k == hasty);
    cudaGraph_t graph = nullptr;
    CUDA_OK(cudaStreamEndCapture(stream_, &graph));
    CUDA_OK(cudaGraphInstantiate(&graph_, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
  }
  ~Launches() { CUDA_OK(cudaGraphExecDestroy(graph_)); }
  void operator()() const { CUDA_OK(cudaGraphLaunch(graph_, stream_)); }

 private:
  void launch(const LinearArgs& args, bool hasty) const {
    CUDA_OK(hasty ? launch_hasty_product(&args, stream_) : launch_linear(args, stream_));
  }
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

// The products as phases of one launch.
class Token {
 public:
  Token(const Chain& chain, int hasty) : stream_(chain.stream()), positions_(std::vector<int32_t>(chain.n_rows(), 0)) {
    TokenOp ops[kOps] = {};
    for (int k = 0; k < kOps; ++k) {
      ops[k].kind = TokenOp::Kind::linear;
      ops[k].linear = chain.op(k);
      ops[k].prepared = chain.prepared(k);
      ops[k].tag_in = k == hasty ? kUntagged : tag_of(k);
      ops[k].tag_out = k == kOps - 1 ? kUntagged : tag_of(k + 1);
    }
    runs_ = token_runs(ops, kOps);
    if (!runs_) return;
    std::vector<uint8_t> table(token_table_bytes(kOps));
    CUDA_OK(make_token_table(ops, kOps, table.data(), launch_));
    table_.put(table);
    if (hasty >= 0) launch_.kernel = hasty_token_kernel(chain.n_rows());
    launch_.positions = positions_.get(), launch_.max_context = 1;  // an attention would have told
  }
  bool runs() const { return runs_; }
  void operator()() const { CUDA_OK(launch_token(launch_, table_.get(), stream_)); }

 private:
  // Of the row that op k reads: generations of a row follow one another at every second op.
  static uint8_t tag_of(int k) { return static_cast<uint8_t>(k / 2 % 3); }

  cudaStream_t stream_;
  Device<uint8_t> table_{token_table_bytes(kOps)};
  Device<int32_t> positions_;
  TokenLaunch launch_{};
  bool runs_ = false;
};

int n_differing(Chain& chain, const std::vector<float>& want, const std::function<void()>& launch) {
  int n = 0;
  for (int i = 0; i < kRuns; ++i) {
    const std::vector<float> got = chain.run(launch);
    if (std::memcmp(got.data(), want.data(), got.size() * sizeof(float)) != 0) ++n;
  }
  return n;
}

void check_both(Chain& chain, const std::vector<float>& want, const std::string& what,
                const std::function<void()>& whole, const std::function<void()>& hasty) {
  const int n = n_differing(chain, want, whole);
  report(n == 0, what, text("%d of %d runs differ from the products one by one", n, kRuns));
  const int n_hasty = n_differing(chain, want, hasty);
  report(n_hasty > 0, what + ", one not waiting", text("%d of %d runs differ", n_hasty, kRuns));
}

void check_chain(int32_t m) {
  Chain chain(m);
  const std::string rows = text(", %d rows", m);
  const std::vector<float> want = chain.run([&] {
    for (int k = 0; k < kOps; ++k) {
      chain.launch_one(k);
      CUDA_OK(cudaStreamSynchronize(chain.stream()));
    }
  });
  report(std::isfinite(want[0]) && want[0] != want[1], "the chain has a result" + rows);
  if (m == 1) {
    const Launches launches(chain, -1), hasty(chain, kHasty);
    check_both(
        chain, want, "launches at once", [&] { launches(); }, [&] { hasty(); });
  }
  const Token token(chain, -1), hasty(chain, kHasty);
  report(token.runs() && hasty.runs(), "the token kernel takes the chain" + rows);
  if (!token.runs() || !hasty.runs()) return;
  check_both(
      chain, want, "phases of a token" + rows, [&] { token(); }, [&] { hasty(); });
}

}  // namespace

int main() {
  if (!has_device()) return kSkipped;
  int major = 0;
  CUDA_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major < 9) {
    std::puts("skipped: needs a GPU of compute capability 9.0: launches wait for one another before compute capability 9.0");
    return kSkipped;
  }
  // Of several rows enough that CTAs with fewer tiles than others prepare some: only those come too early.
  for (const int32_t m : {1, 6, 8}) check_chain(m);
  return finish();
}
