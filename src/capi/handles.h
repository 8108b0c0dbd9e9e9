// What the handles are, and what a call does with one. Sessions hold their engine by reference count, so any order of
// frees is legal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "src/base/fork.h"
#include "src/capi/arguments.h"
#include "src/capi/guard.h"
#include "src/engine/engine.h"
#include "src/engine/request_queue.h"

namespace inlay::capi {

// What the handles of one engine and of its sessions have in common.
struct Shared {
  // INTERNAL or DEVICE_LOST once a call ended so: nothing that the engine holds can be relied on after that.
  std::atomic<Code> broken{Code::ok};

  const uint32_t of_fork = fork_generation();  // the process that loaded the engine

  std::atomic<bool> warned_of_two_bos{false};
};

// The calls that are inside of a handle. Whoever leaves or frees it last deletes it, so that neither waits for the other.
class Users {
 public:
  bool enter() {  // false: it was freed
    if ((state_.fetch_add(kOne, std::memory_order_acquire) & kFreed) == 0) return true;
    (void)leave();
    return false;
  }
  // After enter(): false where another call has the handle for itself.
  bool claim() { return (state_.fetch_or(kClaimed, std::memory_order_acquire) & kClaimed) == 0; }
  void unclaim() { state_.fetch_and(~kClaimed, std::memory_order_release); }
  bool is_freed() const { return (state_.load(std::memory_order_relaxed) & kFreed) != 0; }
  // Whether the handle is to be deleted.
  [[nodiscard]] bool leave() { return state_.fetch_sub(kOne, std::memory_order_acq_rel) == (kOne | kFreed); }
  [[nodiscard]] bool free() {
    const uint32_t before = state_.fetch_or(kFreed, std::memory_order_acq_rel);
    return (before & kFreed) == 0 && before < kOne;
  }

 private:
  static constexpr uint32_t kFreed = 1, kClaimed = 2, kOne = 4;
  std::atomic<uint32_t> state_{0};
};

// The tag tells a handle from one of another type.
template <uint64_t kOwnTag>
struct Handle {
  static constexpr uint64_t kTag = kOwnTag;
  ~Handle() { tag.store(0, std::memory_order_relaxed); }
  std::atomic<uint64_t> tag{kTag};
  Users users;
};

}  // namespace inlay::capi

struct inlay_engine : inlay::capi::Handle<0x656e69676e65'0001> {
  ~inlay_engine();  // ends what was submitted to it, whatever else keeps the engine
  std::shared_ptr<inlay::Engine> engine;
  std::shared_ptr<inlay::capi::Shared> shared;
};

struct inlay_session : inlay::capi::Handle<0x6e6f69737365'0002> {
  ~inlay_session();  // cancels the requests that continue it
  std::shared_ptr<inlay::Session> session;
  std::shared_ptr<inlay::capi::Shared> shared;
};

struct inlay_queue : inlay::capi::Handle<0x6575657571'0003> {
  ~inlay_queue();
  std::shared_ptr<inlay::RequestQueue> queue;
  std::shared_ptr<inlay::capi::Shared> shared;  // its own: it outlives the engine, also one that broke
};

struct inlay_constraint : inlay::capi::Handle<0x6e6f6373'0004> {
  inlay::MadeConstraint made;
  std::shared_ptr<inlay::capi::Shared> shared;  // its own: it outlives the engine, also one that broke
};

struct inlay_chat_parser : inlay::capi::Handle<0x657372617070'0005> {
  std::unique_ptr<inlay::MessageParser> parser;
  std::shared_ptr<inlay::capi::Shared> shared;  // its own: it outlives the engine, also one that broke
};

namespace inlay::capi {

template <class T>
bool is_live(const T* handle) {
  return handle && handle->tag.load(std::memory_order_relaxed) == T::kTag;
}

// A call's use of a handle. An engine and a const session serve several calls at once, another session and a parser one.
template <class T>
class Use {
 public:
  Use() = default;
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    if (!handle_) return;
    if (claimed_) {
      if constexpr (std::is_same_v<T, inlay_session>) handle_->session->leave_call();
      handle_->users.unclaim();
    }
    if (handle_->users.leave()) delete handle_;
  }

  Status begin(const T* handle, const char* name) {
    INLAY_TRY(check_not_null(handle, name));
    auto* const own = const_cast<T*>(handle);
    if (!is_live(handle) || !own->users.enter())
      return error(Code::invalid_argument, "%s is not a live handle of its type", name);
    handle_ = own;
    const Shared& shared = *handle_->shared;
    if (shared.of_fork != fork_generation()) {
      return error(Code::invalid_state,
                   "the engine was loaded before fork(): the process that loaded it can use it, this one has to load its own");
    }
    const Code broken = shared.broken.load(std::memory_order_relaxed);
    if (broken != Code::ok) return error(broken, "the engine failed before; it can only be freed");
    return {};
  }
  Status begin(T* handle, const char* name)
    requires(std::is_same_v<T, inlay_session> || std::is_same_v<T, inlay_chat_parser>)
  {
    INLAY_TRY(begin(static_cast<const T*>(handle), name));
    return claim(name);
  }
  // After begin() of a const session.
  Status claim(const char* name) {
    if (!handle_->users.claim()) return error(Code::busy, "another thread is in a call on %s", name);
    if constexpr (std::is_same_v<T, inlay_session>) {
      if (Status status = handle_->session->enter_call(); !status.ok()) {
        handle_->users.unclaim();
        return status;
      }
    }
    claimed_ = true;
    return {};
  }
  // The engine's calls are at an end where one ended so; a queue still has what is to be polled.
  void note(inlay_status status) {
    if constexpr (!std::is_same_v<T, inlay_engine> && !std::is_same_v<T, inlay_session>) return;
    if (handle_ && (status == INLAY_INTERNAL || status == INLAY_DEVICE_LOST))
      handle_->shared->broken.store(static_cast<Code>(status), std::memory_order_relaxed);
  }

 private:
  T* handle_ = nullptr;
  bool claimed_ = false;
};

// As guarded(), for a call on a handle, which its body begins to use: one that broke the engine is the last that works.
template <class T, class Body>
inlay_status guarded(inlay_error* err, Body&& body) noexcept {
  Use<T> use;
  const inlay_status status = guarded(err, [&] { return body(use); });
  use.note(status);
  return status;
}

template <class T>
bool may_be_freed(const T* handle) {
  return is_live(handle) && handle->shared->of_fork == fork_generation();
}

// Waits for nobody. In a process that did not load the engine, what others held at the fork stays as it is: the handle's
// memory goes with the process.
template <class T>
void free_handle(T* handle) {
  if (!may_be_freed(handle)) return;
  const FloatEnvironment environment;
  if (handle->users.free()) delete handle;
}

// CANCELLED once the engine is freed: what nobody can want any more need not go on.
inline Status check_not_freed(const inlay_engine& engine) {
  return engine.users.is_freed() ? error(Code::cancelled, "the engine was freed while text became tokens") : Status{};
}

// The session as a handle of the caller.
Status hand_over(Result<std::shared_ptr<Session>> made, std::shared_ptr<Shared> shared, inlay_session** out);

// The engine's parameters in the C structs' words; zero means default.
Status read_sampler(const inlay_sampler_params* given, SamplerParams& out);
Status read_session_params(const inlay_session_params* given, SessionOptions& out);
Result<std::shared_ptr<const constraint::Constraint>> read_constraint(const inlay_constraint* given, const char* name);
Status read_chat_params(const inlay_chat_params* given, ChatOptions& out);
Status read_embed_params(const inlay_embed_params* given, EmbedOptions& out);
Status read_load_params(const inlay_load_params* given, EngineOptions& out);

}  // namespace inlay::capi
