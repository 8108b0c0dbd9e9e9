// What the handles are. Sessions hold their engine by reference count, so any order of frees is legal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/capi/arguments.h"
#include "src/capi/guard.h"
#include "src/engine/engine.h"

namespace inlay::capi {

// What the handles of one engine and of its sessions have in common.
struct Shared {
  explicit Shared(size_t max_sessions) : sessions(max_sessions), events(max_sessions) {}

  // INTERNAL or DEVICE_LOST once a call ended so: nothing that the engine holds can be relied on after that.
  std::atomic<Code> broken{Code::ok};

  std::atomic<bool> warned_of_two_bos{false};

  // Room for the arguments of a decode step, so that the step itself allocates nothing.
  std::mutex mutex;
  std::vector<Session*> sessions;
  std::vector<StepEvent> events;
};

}  // namespace inlay::capi

// The tag tells a handle from one of another type.
struct inlay_engine {
  static constexpr uint64_t kTag = 0x656e69676e65'0001;
  uint64_t tag = kTag;
  std::shared_ptr<inlay::Engine> engine;
  std::shared_ptr<inlay::capi::Shared> shared;
};

struct inlay_session {
  static constexpr uint64_t kTag = 0x6e6f69737365'0002;
  uint64_t tag = kTag;
  std::shared_ptr<inlay::Session> session;
  std::shared_ptr<inlay::capi::Shared> shared;
};

namespace inlay::capi {

template <class Handle>
Status check_handle(const Handle* handle, const char* name) {
  INLAY_TRY(check_not_null(handle, name));
  if (handle->tag != Handle::kTag) return error(Code::invalid_argument, "%s is not a live handle of its type", name);
  const Code broken = handle->shared->broken.load(std::memory_order_relaxed);
  if (broken != Code::ok) return error(broken, "the engine failed before; it can only be freed");
  return {};
}

// As guarded(), for a call on a handle: one that broke the engine is the last that works.
template <class Handle, class Body>
inlay_status guarded(inlay_error* err, const Handle* handle, Body&& body) noexcept {
  const inlay_status status = guarded(err, std::forward<Body>(body));
  if ((status == INLAY_INTERNAL || status == INLAY_DEVICE_LOST) && handle && handle->tag == Handle::kTag) {
    handle->shared->broken.store(static_cast<Code>(status), std::memory_order_relaxed);
  }
  return status;
}

// The engine's parameters in the C structs' words; zero means default.
Status read_sampler(const inlay_sampler_params* given, SamplerParams& out);
Status read_session_params(const inlay_session_params* given, SessionOptions& out);
Status read_load_params(const inlay_load_params* given, EngineOptions& out);

}  // namespace inlay::capi
