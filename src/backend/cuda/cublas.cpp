#include "src/backend/cuda/cublas.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "src/backend/cuda/context.h"
#include "src/base/dynamic_library.h"

namespace inlay {
namespace {

using cublas::kSuccess;

#ifdef _WIN32
constexpr std::array<const char*, 2> kNames = {"cublasLt64_13.dll", "cublasLt64_12.dll"};
#else
constexpr std::array<const char*, 3> kNames = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
#endif

Status status_of(int code, const char* what) {
  if (code == kSuccess) return {};
  Code kind = Code::internal;
  if (code == cublas::kAllocationFailed) kind = Code::device_out_of_memory;
  if (code == cublas::kExecutionFailed) kind = Code::device_lost;
  // A library that is older than the device, or not whole.
  if (code == cublas::kNotInitialized || code == cublas::kArchMismatch || code == cublas::kNotSupported)
    kind = Code::unsupported;
  Status status = error(kind, "cuBLASLt, %s: status %d", what, code);
  status.native_code = code;
  return status;
}

template <class Function>
bool resolve(const DynamicLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library.symbol(name));
  return function != nullptr;
}

// The name of what is missing, or null.
const char* resolve_all(const DynamicLibrary& library, cublas::Api& api) {
#define INLAY_RESOLVE(name) \
  if (!resolve(library, #name, api.name)) return #name
  INLAY_RESOLVE(cublasLtCreate);
  INLAY_RESOLVE(cublasLtDestroy);
  INLAY_RESOLVE(cublasLtGetVersion);
  INLAY_RESOLVE(cublasLtMatmulDescCreate);
  INLAY_RESOLVE(cublasLtMatmulDescSetAttribute);
  INLAY_RESOLVE(cublasLtMatmulDescDestroy);
  INLAY_RESOLVE(cublasLtMatrixLayoutCreate);
  INLAY_RESOLVE(cublasLtMatrixLayoutSetAttribute);
  INLAY_RESOLVE(cublasLtMatrixLayoutDestroy);
  INLAY_RESOLVE(cublasLtMatmulPreferenceCreate);
  INLAY_RESOLVE(cublasLtMatmulPreferenceSetAttribute);
  INLAY_RESOLVE(cublasLtMatmulPreferenceDestroy);
  INLAY_RESOLVE(cublasLtMatmulAlgoGetHeuristic);
  INLAY_RESOLVE(cublasLtMatmul);
#undef INLAY_RESOLVE
  return nullptr;
}

// The largest power of two up to 256 that divides both.
uint32_t alignment_of(const void* pointer, int64_t stride_bytes) {
  const uint64_t bits = reinterpret_cast<uintptr_t>(pointer) | static_cast<uint64_t>(stride_bytes) | 256;
  return static_cast<uint32_t>(bits & ~(bits - 1));
}

// Every handle that was made. To destroy one is to wait for the whole device, which ends the captures that a host has
// under way there; so a handle stays, and waits for its next user.
struct Made {
  int (*destroy)(cublas::Handle);  // tells the library
  uint64_t context;
  cublas::Handle handle;
  bool in_use;
};
struct MadeHandles {
  std::mutex mutex;
  std::vector<Made> list;
};
MadeHandles& made_handles() {
  static auto* const handles = new MadeHandles;  // never destroyed: engines may go while the process ends
  return *handles;
}

}  // namespace

Result<Cublas::Handle> Cublas::Handle::take(const cublas::Api& api) {
  Handle taken;
  taken.context_ = current_context_id();
  taken.destroy_ = api.cublasLtDestroy;
  MadeHandles& made = made_handles();
  const std::lock_guard lock(made.mutex);
  const auto idle = std::ranges::find_if(made.list, [&](const Made& m) {
    return !m.in_use && m.destroy == taken.destroy_ && m.context == taken.context_;
  });
  if (idle != made.list.end()) {
    idle->in_use = true;
    taken.handle_ = idle->handle;
    return taken;
  }
  made.list.reserve(made.list.size() + 1);
  INLAY_TRY(status_of(api.cublasLtCreate(&taken.handle_), "opening the device"));
  if (taken.context_ != 0) made.list.push_back({taken.destroy_, taken.context_, taken.handle_, true});
  return taken;
}

Cublas::Handle::~Handle() {
  if (!handle_) return;
  if (context_ == 0) {
    (void)destroy_(handle_);
    return;
  }
  MadeHandles& made = made_handles();
  const std::lock_guard lock(made.mutex);
  for (Made& m : made.list) {
    if (m.handle == handle_ && m.context == context_) m.in_use = false;
  }
}

Result<cublas::Api> Cublas::open_library(const std::string& directory, std::string* name) {
  INLAY_ASSIGN(const DynamicLibrary library, DynamicLibrary::open(kNames, directory));
  cublas::Api api;
  if (const char* missing = resolve_all(library, api)) {
    return error(Code::unsupported, "%s has no %s", library.name().c_str(), missing);
  }
  if (name) *name = library.name();
  return api;
}

Result<Cublas> Cublas::create(const cublas::Api& api, void* workspace) {
  Cublas self(api);
  self.workspace_ = workspace;
  INLAY_ASSIGN(self.handle_, Handle::take(api));

  cublas::Operation operation = nullptr;
  INLAY_TRY(
      status_of(api.cublasLtMatmulDescCreate(&operation, cublas::kComputeF32, cublas::kF32), "describing a product"));
  self.operation_ = {operation, api.cublasLtMatmulDescDestroy};
  const int32_t transposed = cublas::kTransposed;
  INLAY_TRY(
      status_of(api.cublasLtMatmulDescSetAttribute(operation, cublas::kTransposeA, &transposed, sizeof transposed),
                "describing a product"));

  cublas::Preference preference = nullptr;
  INLAY_TRY(status_of(api.cublasLtMatmulPreferenceCreate(&preference), "stating preferences"));
  self.preference_ = {preference, api.cublasLtMatmulPreferenceDestroy};
  const uint64_t workspace_bytes = kWorkspaceBytes;
  INLAY_TRY(status_of(api.cublasLtMatmulPreferenceSetAttribute(preference, cublas::kMaxWorkspace, &workspace_bytes,
                                                               sizeof workspace_bytes),
                      "stating preferences"));
  // Parts of a sum meet in F32 in the workspace, never in an order that timing decides.
  const uint32_t schemes = cublas::kReductionInComputeType;
  INLAY_TRY(status_of(
      api.cublasLtMatmulPreferenceSetAttribute(preference, cublas::kReductionSchemes, &schemes, sizeof schemes),
      "stating preferences"));
  return self;
}

// cuBLASLt counts by columns: it sees W as (n_cols, n_rows) to be transposed, x as (n_cols, m), out as (n_rows, m).
Result<Cublas::Prepared> Cublas::prepare(const CublasProduct& p, int32_t m, uint32_t alignment) {
  const int type = p.form == cuda::ActivationForm::bf16 ? cublas::kBf16 : cublas::kF16;
  const auto n_rows = static_cast<uint64_t>(p.n_rows), n_cols = static_cast<uint64_t>(p.n_cols),
             rows_of_x = static_cast<uint64_t>(m);
  Prepared made;
  const auto layout = [&](Owned<cublas::Layout>& out, int element, uint64_t rows, uint64_t cols, int64_t ld) {
    cublas::Layout created = nullptr;
    INLAY_TRY(status_of(api_.cublasLtMatrixLayoutCreate(&created, element, rows, cols, ld), "describing a matrix"));
    out = {created, api_.cublasLtMatrixLayoutDestroy};
    return Status{};
  };
  INLAY_TRY(layout(made.weights, type, n_cols, n_rows, p.n_cols));
  INLAY_TRY(layout(made.x, type, n_cols, rows_of_x, p.n_cols));
  INLAY_TRY(layout(made.out, cublas::kF32, n_rows, rows_of_x, p.ld_out));

  const uint32_t input_alignment = 128;  // rows of W and x are whole units of 64 elements
  const std::pair<int, uint32_t> alignments[] = {{cublas::kAlignmentA, input_alignment},
                                                 {cublas::kAlignmentB, input_alignment},
                                                 {cublas::kAlignmentC, alignment},
                                                 {cublas::kAlignmentD, alignment}};
  for (const auto& [attribute, bytes] : alignments) {
    INLAY_TRY(status_of(api_.cublasLtMatmulPreferenceSetAttribute(preference_.get(), attribute, &bytes, sizeof bytes),
                        "stating preferences"));
  }
  cublas::Heuristic found{};
  int n_found = 0;
  INLAY_TRY(status_of(
      api_.cublasLtMatmulAlgoGetHeuristic(handle_.get(), operation_.get(), made.weights.get(), made.x.get(),
                                          made.out.get(), made.out.get(), preference_.get(), 1, &found, &n_found),
      "choosing an algorithm"));
  if (n_found == 0)
    return error(Code::unsupported, "cuBLASLt has no algorithm for %d x %lld x %lld", m,
                 static_cast<long long>(p.n_rows), static_cast<long long>(p.n_cols));
  INLAY_TRY(status_of(found.status, "choosing an algorithm"));
  made.algorithm = found.algorithm;
  return made;
}

Status Cublas::multiply(const CublasProduct& p, cudaStream_t stream) {
  if (p.m <= 0 || p.n_rows <= 0) return {};
  if (p.form == cuda::ActivationForm::f32 || p.n_cols % cuda::kUnitCols != 0 || p.ld_out < p.n_rows) {
    return error(Code::internal, "a product that cuBLASLt does not get: %lld columns, ld_out %lld",
                 static_cast<long long>(p.n_cols), static_cast<long long>(p.ld_out));
  }
  const int32_t rounded = (p.m + kRowStep - 1) / kRowStep * kRowStep;
  INLAY_ASSIGN(const Prepared* use, prepared_for(p, rounded));
  int code = run(p, *use, stream);
  if (rounded != p.m && (code == cublas::kNotSupported || code == cublas::kInvalidValue)) {
    INLAY_ASSIGN(use, prepared_for(p, p.m));
    code = run(p, *use, stream);
  }
  return status_of(code, "multiplying");
}

Result<const Cublas::Prepared*> Cublas::prepared_for(const CublasProduct& p, int32_t m) {
  const uint32_t alignment = alignment_of(p.out, p.ld_out * static_cast<int64_t>(sizeof(float)));
  const Shape shape{p.form, m, p.n_rows, p.n_cols, p.ld_out, alignment};
  auto found = prepared_.find(shape);
  if (found == prepared_.end()) {
    INLAY_ASSIGN(Prepared made, prepare(p, m, alignment));
    found = prepared_.emplace(shape, std::move(made)).first;
  }
  return &found->second;
}

int Cublas::run(const CublasProduct& p, const Prepared& use, cudaStream_t stream) {
  const auto m = static_cast<uint64_t>(p.m);
  for (const cublas::Layout layout : {use.x.get(), use.out.get()}) {
    if (const int code = api_.cublasLtMatrixLayoutSetAttribute(layout, cublas::kCols, &m, sizeof m); code != kSuccess)
      return code;
  }
  return api_.cublasLtMatmul(handle_.get(), operation_.get(), &p.alpha, p.weights, use.weights.get(), p.x, use.x.get(),
                             &p.beta, p.out, use.out.get(), p.out, use.out.get(), &use.algorithm, workspace_,
                             kWorkspaceBytes, stream);
}

std::string Cublas::version() const {
  const size_t v = api_.cublasLtGetVersion();  // major * 10000 + minor * 100 + patch
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

}  // namespace inlay
