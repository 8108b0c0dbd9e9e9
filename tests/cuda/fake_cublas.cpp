// Our side of cuBLASLt without a GPU: a library of host functions that keeps account of what it is asked and multiplies
// as cuBLASLt is documented to, by columns.
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "src/backend/cuda/cublas.h"

namespace inlay {

struct MatrixOfTest {
  int type;
  uint64_t n_rows, n_cols;
  int64_t ld;
};

namespace {

struct Account {
  int n_alive = 0, n_chosen = 0, n_products = 0;
  bool transposes_a = false;
  bool exact = false;  // an algorithm refuses other numbers of columns than it was chosen for
  uint64_t cols_of_choice = 0;
  bool refuses_all = false;
};
Account account;

template <class Handle>
int make(Handle* out) {
  ++account.n_alive;
  *out = reinterpret_cast<Handle>(new int);
  return cublas::kSuccess;
}
template <class Handle>
int drop(Handle handle) {
  --account.n_alive;
  delete reinterpret_cast<int*>(handle);
  return cublas::kSuccess;
}
const MatrixOfTest& matrix(cublas::Layout layout) { return *reinterpret_cast<MatrixOfTest*>(layout); }

int make_layout(cublas::Layout* out, int type, uint64_t n_rows, uint64_t n_cols, int64_t ld) {
  ++account.n_alive;
  *out = reinterpret_cast<cublas::Layout>(new MatrixOfTest{type, n_rows, n_cols, ld});
  return cublas::kSuccess;
}
int set_layout(cublas::Layout layout, int attribute, const void* value, size_t) {
  if (attribute != cublas::kCols) return cublas::kInvalidValue;
  reinterpret_cast<MatrixOfTest*>(layout)->n_cols = *static_cast<const uint64_t*>(value);
  return cublas::kSuccess;
}
int drop_layout(cublas::Layout layout) {
  --account.n_alive;
  delete reinterpret_cast<MatrixOfTest*>(layout);
  return cublas::kSuccess;
}
int set_operation(cublas::Operation, int attribute, const void* value, size_t) {
  if (attribute == cublas::kTransposeA)
    account.transposes_a = *static_cast<const int32_t*>(value) == cublas::kTransposed;
  return cublas::kSuccess;
}
int choose(cublas::Handle, cublas::Operation, cublas::Layout, cublas::Layout, cublas::Layout, cublas::Layout d,
           cublas::Preference, int, cublas::Heuristic* out, int* n_found) {
  ++account.n_chosen;
  *n_found = account.refuses_all ? 0 : 1;
  *out = {};
  out->algorithm.data[0] = matrix(d).n_cols;
  return cublas::kSuccess;
}

float bf16(const void* data, int64_t at) {
  return std::bit_cast<float>(static_cast<uint32_t>(static_cast<const uint16_t*>(data)[at]) << 16);
}

// D = alpha A^T B + beta C, element (i, j) at i + j * ld.
int multiply(cublas::Handle, cublas::Operation, const void* alpha, const void* a, cublas::Layout la, const void* b,
             cublas::Layout lb, const void* beta, const void* c, cublas::Layout lc, void* d, cublas::Layout ld,
             const cublas::Algorithm* algorithm, void*, size_t, cudaStream_t) {
  const MatrixOfTest &ma = matrix(la), &mb = matrix(lb), &mc = matrix(lc), &md = matrix(ld);
  if (!account.transposes_a || ma.n_rows != mb.n_rows || ma.n_cols != md.n_rows || mb.n_cols != md.n_cols ||
      mc.n_cols != md.n_cols)
    return cublas::kInvalidValue;
  if (account.exact && algorithm->data[0] != md.n_cols) return cublas::kNotSupported;
  account.cols_of_choice = algorithm->data[0];
  ++account.n_products;
  for (uint64_t j = 0; j < md.n_cols; ++j) {
    for (uint64_t i = 0; i < md.n_rows; ++i) {
      float sum = 0;
      for (uint64_t k = 0; k < ma.n_rows; ++k) {
        sum += bf16(a, static_cast<int64_t>(k + i * static_cast<uint64_t>(ma.ld))) *
               bf16(b, static_cast<int64_t>(k + j * static_cast<uint64_t>(mb.ld)));
      }
      const float before = static_cast<const float*>(c)[i + j * static_cast<uint64_t>(mc.ld)];
      static_cast<float*>(d)[i + j * static_cast<uint64_t>(md.ld)] =
          *static_cast<const float*>(alpha) * sum + *static_cast<const float*>(beta) * before;
    }
  }
  return cublas::kSuccess;
}

cublas::Api host_api() {
  return {.cublasLtCreate = make<cublas::Handle>,
          .cublasLtDestroy = drop<cublas::Handle>,
          .cublasLtGetVersion = [] { return size_t{130105}; },
          .cublasLtMatmulDescCreate = [](cublas::Operation* out, int, int) { return make(out); },
          .cublasLtMatmulDescSetAttribute = set_operation,
          .cublasLtMatmulDescDestroy = drop<cublas::Operation>,
          .cublasLtMatrixLayoutCreate = make_layout,
          .cublasLtMatrixLayoutSetAttribute = set_layout,
          .cublasLtMatrixLayoutDestroy = drop_layout,
          .cublasLtMatmulPreferenceCreate = make<cublas::Preference>,
          .cublasLtMatmulPreferenceSetAttribute = [](cublas::Preference, int, const void*,
                                                     size_t) { return cublas::kSuccess; },
          .cublasLtMatmulPreferenceDestroy = drop<cublas::Preference>,
          .cublasLtMatmulAlgoGetHeuristic = choose,
          .cublasLtMatmul = multiply};
}

// Small integers, which BF16 and sums in F32 hold exactly.
std::vector<uint16_t> integers(int64_t n, int step) {
  std::vector<uint16_t> out;
  for (int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(i * step % 17 - 8)) >> 16));
  return out;
}

class CublasOnTheHost : public testing::Test {
 protected:
  static constexpr int64_t kRows = 5, kCols = 64, kLd = 7;

  void SetUp() override {
    account = {};
    auto made = Cublas::create(host_api(), nullptr);
    ASSERT_TRUE(made.ok()) << made.status().message;
    cublas_.emplace(std::move(*made));
  }
  Status multiply(int32_t m, float beta) {
    out_.assign(static_cast<size_t>(m * kLd), 1.0f);
    return cublas_->multiply(
        {weights_.data(), x_.data(), out_.data(), kRows, kCols, kLd, m, cuda::ActivationForm::bf16, 0.5f, beta},
        nullptr);
  }
  void expect_products(int32_t m, float beta) {
    for (int64_t i = 0; i < m * kLd; ++i) {
      const int64_t row = i / kLd, r = i % kLd;
      float want = 1.0f;
      if (r < kRows) {
        float sum = 0;
        for (int64_t c = 0; c < kCols; ++c)
          sum += bf16(weights_.data(), r * kCols + c) * bf16(x_.data(), row * kCols + c);
        want = 0.5f * sum + beta;
      }
      ASSERT_EQ(out_[static_cast<size_t>(i)], want) << "row " << row << ", result " << r;
    }
  }

  std::vector<uint16_t> weights_ = integers(kRows * kCols, 3), x_ = integers(200 * kCols, 5);
  std::vector<float> out_;
  std::optional<Cublas> cublas_;
};

TEST_F(CublasOnTheHost, RowsTimesRows) {
  for (const int32_t m : {1, 3, 64, 65}) {
    for (const float beta : {0.0f, 2.0f}) {
      ASSERT_TRUE(multiply(m, beta).ok());
      expect_products(m, beta);
    }
  }
  EXPECT_EQ(cublas_->version(), "13.1.5");
}

TEST_F(CublasOnTheHost, ChoosesOnceForSixtyFourNumbersOfRows) {
  for (const int32_t m : {65, 100, 128, 66}) ASSERT_TRUE(multiply(m, 0).ok());
  EXPECT_EQ(account.n_chosen, 1);
  EXPECT_EQ(account.cols_of_choice, 128u);
  ASSERT_TRUE(multiply(129, 0).ok());
  EXPECT_EQ(account.n_chosen, 2);
}

TEST_F(CublasOnTheHost, ChoosesAgainWhereTheAlgorithmRefuses) {
  account.exact = true;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(multiply(70, 0).ok());
  expect_products(70, 0);
  EXPECT_EQ(account.n_chosen, 2) << "for 128 and for 70";
  EXPECT_EQ(account.cols_of_choice, 70u);
}

TEST_F(CublasOnTheHost, SaysWhatItCannotDo) {
  account.refuses_all = true;
  const Status none = multiply(3, 0);
  EXPECT_EQ(none.code, Code::unsupported);
  EXPECT_NE(none.message.find("no algorithm"), std::string::npos) << none.message;
  const Status f32 = cublas_->multiply(
      {weights_.data(), x_.data(), out_.data(), kRows, kCols, kLd, 1, cuda::ActivationForm::f32}, nullptr);
  EXPECT_FALSE(f32.ok());
}

TEST_F(CublasOnTheHost, GivesEverythingBack) {
  ASSERT_TRUE(multiply(3, 0).ok());
  EXPECT_GT(account.n_alive, 3) << "negative control";
  cublas_.reset();
  EXPECT_EQ(account.n_alive, 0);
}

}  // namespace
}  // namespace inlay
