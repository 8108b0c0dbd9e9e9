// What a thread's CUDA calls mean: whose device they go to, and what they are to captures of graphs that are under way.
// A host has settings of its own on each thread, which our calls leave as they are.
#pragma once

#include <cstdint>

#include "src/base/status.h"

struct CUctx_st;  // of the driver

namespace inlay {

// The context of a device that the CUDA runtime uses. Once asked for, it stays as long as the process, or until the host
// resets the device, with which all that was made in it is gone.
class PrimaryContext {
 public:
  PrimaryContext() = default;
  static Result<PrimaryContext> of(int32_t device);

 private:
  friend class ContextScope;
  CUctx_st* handle_ = nullptr;
  uint64_t id_ = 0;  // the same handle stands for another context after a reset
};

// While it lives, calls of this thread neither spoil a host's capture of a graph, as those that allocate, free or wait
// would, nor are refused because of it. Everything that may touch the driver runs inside of one.
class CaptureScope {
 public:
  CaptureScope();
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

 private:
  static constexpr int kNone = -1;
  int former_mode_ = kNone;
};

// While it lives, the runtime's calls of this thread go to the device of the context; afterwards to where they went
// before.
//
// The context is pushed and popped with the driver: selecting the former device with cudaSetDevice would make a context
// on it, hundreds of megabytes, if the host has none there, and lose one that the host made itself.
//
// Where the host has reset the device since, the status is DEVICE_LOST, and what is destroyed inside of the scope is only
// forgotten: its addresses may be of others by now.
class ContextScope {
 public:
  explicit ContextScope(const PrimaryContext& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  const Status& status() const { return status_; }
  static bool is_gone() { return is_gone_; }  // the context of this thread's innermost scope

 private:
  static inline thread_local bool is_gone_ = false;
  const CaptureScope relaxed_;
  const bool outer_is_gone_ = is_gone_;
  Status status_;
  bool is_pushed_ = false;
};

// Tells the context that is current from all others that the process has or had; 0: there is none.
uint64_t current_context_id();

}  // namespace inlay
