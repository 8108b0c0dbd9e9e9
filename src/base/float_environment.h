// The floating-point settings that the library computes with: rounding to nearest, denormals kept, no traps. What the
// thread had before, its sticky flags included, comes back at the end of the scope.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <cfenv>
#endif

namespace inlay {

class FloatEnvironment {
 public:
  // A callback of the host runs with the host's settings.
  class OfHost;

  FloatEnvironment() {
#if defined(__x86_64__)
    saved_ = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstcw %0" : "=m"(control_));
    if (keeps_flags()) __asm__ volatile("fnstsw %0" : "=m"(status_));
    __builtin_ia32_ldmxcsr(kDefault);
    const uint16_t control = kDefaultControl;
    if (control_ != control) __asm__ volatile("fldcw %0" : : "m"(control));
#else
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
#endif
    outer_ = exchange_innermost(this);
  }
  ~FloatEnvironment() {
    exchange_innermost(outer_);
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(saved_);
    uint16_t control, status = status_;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    // A flag that the library raised would trap at the host's next x87 instruction.
    if (keeps_flags()) __asm__ volatile("fnstsw %0" : "=m"(status));
    if (((status ^ status_) & kFlags) != 0 || control != control_) restore_x87();
#else
    std::fesetenv(&saved_);
#endif
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static const FloatEnvironment* exchange_innermost(const FloatEnvironment* now);  // of the calling thread

  const FloatEnvironment* outer_ = nullptr;
#if defined(__x86_64__)
  static constexpr unsigned kDefault = 0x1f80;
  static constexpr uint16_t kDefaultControl = 0x37f, kFlags = 0x3f;

  // Reading the flags takes longer than all else here, and no code of ours computes on the x87; MinGW's C library does.
#ifdef _WIN32
  static constexpr bool kUsesX87 = true;
#else
  static constexpr bool kUsesX87 = false;
#endif
  bool keeps_flags() const { return kUsesX87 || (control_ & kFlags) != kFlags; }

  void restore_x87() const {
    struct {
      uint16_t control, gap, status, gap2;
      uint32_t rest[5];
    } x87;
    __asm__ volatile("fnstenv %0" : "=m"(x87));
    x87.control = control_;
    if (keeps_flags()) x87.status = static_cast<uint16_t>((x87.status & ~kFlags) | (status_ & kFlags));
    __asm__ volatile("fldenv %0" : : "m"(x87));
  }

  unsigned saved_;
  uint16_t control_, status_ = 0;
#else
  std::fenv_t saved_;
#endif
};

class FloatEnvironment::OfHost {
 public:
  OfHost() {
    const FloatEnvironment* call = library_.outer_;
    if (!call) return;
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(call->saved_);
    if (kUsesX87) __asm__ volatile("fnclex");  // what the library raised would trap in the callback
    __asm__ volatile("fldcw %0" : : "m"(call->control_));
#else
    std::fesetenv(&call->saved_);
#endif
  }
  OfHost(const OfHost&) = delete;
  OfHost& operator=(const OfHost&) = delete;

 private:
  const FloatEnvironment library_;  // puts the library's settings back
};

}  // namespace inlay
