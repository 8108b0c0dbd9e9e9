// What the handles are. Sessions hold their engine by reference count, so any order of frees is legal.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/capi/arguments.h"
#include "src/engine/engine.h"

namespace inlay::capi {

// Room for the arguments of a decode step, taken with the engine, so that the step itself allocates nothing.
struct StepRoom {
  explicit StepRoom(size_t max_sessions) : sessions(max_sessions), events(max_sessions) {}
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
  std::shared_ptr<inlay::capi::StepRoom> room;
};

struct inlay_session {
  static constexpr uint64_t kTag = 0x6e6f69737365'0002;
  uint64_t tag = kTag;
  std::shared_ptr<inlay::Session> session;
  std::shared_ptr<inlay::capi::StepRoom> room;
};

namespace inlay::capi {

template <class Handle>
Status check_handle(const Handle* handle, const char* name) {
  INLAY_TRY(check_not_null(handle, name));
  if (handle->tag != Handle::kTag) return error(Code::invalid_argument, "%s is not a live handle of its type", name);
  return {};
}

// The engine's parameters in the C structs' words; zero means default.
Status read_sampler(const inlay_sampler_params* given, SamplerParams& out);
Status read_session_params(const inlay_session_params* given, SessionOptions& out);
Status read_load_params(const inlay_load_params* given, EngineOptions& out);

}  // namespace inlay::capi
