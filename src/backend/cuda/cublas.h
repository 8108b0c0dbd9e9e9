// Matrix products by the machine's cuBLASLt, which is opened when it is first wanted and never linked. Where there is
// none, our own kernels compute everything.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cublas_api.h"
#include "src/base/status.h"

namespace inlay {

// out (m, n_rows) = alpha * x W^T + beta * out. All row-major; W and x have 2-byte elements, both padded to n_cols with
// zeros.
struct CublasProduct {
  const void* weights;  // (n_rows, n_cols)
  const void* x;        // (m, n_cols)
  float* out;           // (m, n_rows), ld_out floats from row to row
  int64_t n_rows, n_cols, ld_out;
  int32_t m;
  cuda::ActivationForm form;  // f16 or bf16
  float alpha = 1.0f, beta = 0.0f;
};

class Cublas {
 public:
  static constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20;

  // Whether the library opens and has what we call; the error says why not. directory: see DynamicLibrary::open.
  static Result<cublas::Api> open_library(const std::string& directory, std::string* name = nullptr);

  // For the device that is selected; `workspace` has kWorkspaceBytes and outlives the object.
  static Result<Cublas> create(const cublas::Api& api, void* workspace);

  // Chooses an algorithm at the first product of a shape, for m rounded up to kRowStep; for m itself should that one
  // refuse m.
  Status multiply(const CublasProduct& product, cudaStream_t stream);
  std::string version() const;

 private:
  static constexpr int32_t kRowStep = 64;

  template <class Pointer>
  using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, int (*)(Pointer)>;
  template <class Pointer>
  static Owned<Pointer> none() {
    return {nullptr, nullptr};
  }

  // What decides on the algorithm: form, rows of x in steps, rows, columns, ld_out, alignment of out.
  using Shape = std::tuple<cuda::ActivationForm, int32_t, int64_t, int64_t, int64_t, uint32_t>;
  struct Prepared {
    Owned<cublas::Layout> weights = none<cublas::Layout>(), x = none<cublas::Layout>(), out = none<cublas::Layout>();
    cublas::Algorithm algorithm{};
  };

  explicit Cublas(const cublas::Api& api) : api_(api) {}
  Result<const Prepared*> prepared_for(const CublasProduct& product, int32_t m);
  Result<Prepared> prepare(const CublasProduct& product, int32_t m, uint32_t alignment);
  int run(const CublasProduct& product, const Prepared& use, cudaStream_t stream);  // a status of the library

  // What cublasLtCreate gave, for the context that was current then.
  class Handle {
   public:
    static Result<Handle> take(const cublas::Api& api);
    Handle() = default;
    Handle(Handle&& other) noexcept { swap(other); }
    Handle& operator=(Handle&& other) noexcept {
      Handle(std::move(other)).swap(*this);
      return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle();
    cublas::Handle get() const { return handle_; }

   private:
    void swap(Handle& other) noexcept {
      std::swap(destroy_, other.destroy_);
      std::swap(context_, other.context_);
      std::swap(handle_, other.handle_);
    }
    int (*destroy_)(cublas::Handle) = nullptr;
    uint64_t context_ = 0;
    cublas::Handle handle_ = nullptr;
  };

  cublas::Api api_;
  void* workspace_ = nullptr;
  Handle handle_;
  Owned<cublas::Operation> operation_ = none<cublas::Operation>();
  Owned<cublas::Preference> preference_ = none<cublas::Preference>();
  std::map<Shape, Prepared> prepared_;
};

}  // namespace inlay
