// Calls of the library with what a host may set for its thread: rounding, denormals, traps and the locale.
#pragma once

#include <locale.h>

#include <cfenv>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/capi/client.h"

namespace inlay::test {

// ---- the host's settings

#if defined(__x86_64__)
inline constexpr unsigned kDefaultControl = 0x1f80;
#else
inline constexpr unsigned kDefaultControl = 0;
static_assert(FE_TONEAREST == 0);
#endif

struct FloatState {
  unsigned control = kDefaultControl;  // MXCSR, FPCR, or the rounding where there is neither
  uint16_t x87 = 0x37f;                // the control word
  uint16_t x87_flags = 0;
  bool operator==(const FloatState&) const = default;
};

inline FloatState read_state() {
#if defined(__x86_64__)
  FloatState out;
  out.control = __builtin_ia32_stmxcsr();
  __asm__ volatile("fnstcw %0" : "=m"(out.x87));
  __asm__ volatile("fnstsw %0" : "=m"(out.x87_flags));
  out.x87_flags &= 0x3f;
  return out;
#elif defined(__aarch64__)
  return {static_cast<unsigned>(__builtin_aarch64_get_fpcr())};
#else
  return {static_cast<unsigned>(std::fegetround())};
#endif
}

inline void write_state(const FloatState& state) {
#if defined(__x86_64__)
  __asm__ volatile("fnclex");
  __asm__ volatile("fldcw %0" : : "m"(state.x87));
  __builtin_ia32_ldmxcsr(state.control);
#elif defined(__aarch64__)
  __builtin_aarch64_set_fpcr(state.control);
#else
  std::fesetround(static_cast<int>(state.control));
#endif
}

// Of the control word.
#if defined(__x86_64__)
inline constexpr unsigned kRoundingAt = 13, kFlushToZero = 1u << 15, kDenormalsAreZero = 1u << 6;
#elif defined(__aarch64__)
inline constexpr unsigned kRoundingAt = 22, kFlushToZero = 1u << 24, kDenormalsAreZero = kFlushToZero;
#endif

struct Host {
  std::string name;
  FloatState state;
  const char* locale = "C";
  bool full = true;  // runs the slow rows too
};

// All settings of a thread, and the locale with and without them.
inline std::vector<Host> float_hosts() {
  std::vector<Host> out;
#if defined(__x86_64__)
  constexpr unsigned kMasks = 0x1f80;
  constexpr unsigned kTraps = 1 | 4 | 8;  // invalid, division by zero, overflow
  for (unsigned rounding = 0; rounding < 4; ++rounding)
    for (const unsigned denormals : {0u, kFlushToZero, kDenormalsAreZero, kFlushToZero | kDenormalsAreZero})
      for (const unsigned traps : {0u, kTraps}) {
        Host host;
        host.name = "rounding " + std::to_string(rounding) + (denormals & kFlushToZero ? " FTZ" : "") +
                    (denormals & kDenormalsAreZero ? " DAZ" : "") + (traps ? " traps" : "");
        host.state.control = (kMasks & ~(traps << 7)) | rounding << kRoundingAt | denormals;
        host.state.x87 = static_cast<uint16_t>((0x37f & ~traps) | rounding << 10);
        host.full = traps && denormals == (kFlushToZero | kDenormalsAreZero);
        out.push_back(host);
      }
  out.push_back({"inexact was raised, single precision on the x87", {0x1f80 | 0x20, 0x07f, 0}, "C", false});
#elif defined(__aarch64__)
  for (unsigned rounding = 0; rounding < 4; ++rounding)
    for (const unsigned denormals : {0u, kFlushToZero})
      out.push_back({"rounding " + std::to_string(rounding) + (denormals ? " FZ" : ""), {rounding << kRoundingAt | denormals}, "C", denormals != 0});
#else
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    out.push_back({"rounding " + std::to_string(rounding), {static_cast<unsigned>(rounding), 0x37f, 0}});
#endif
  return out;
}

// ---- the stack that a call takes

constexpr size_t kPaintedStack = size_t{400} << 10;
constexpr uint64_t kStackPaint = 0xa5c3a5c3a5c3a5c3;

// Paints the stack below this frame; the lowest painted word.
[[gnu::noinline]] inline const volatile uint64_t* paint_stack() {
  volatile uint64_t words[kPaintedStack / 8];
  for (volatile uint64_t& word : words) word = kStackPaint;
  const volatile uint64_t* out = words;
  __asm__ volatile("" : "+r"(out) : : "memory");
  return out;
}

inline size_t taken_stack(const volatile uint64_t* lowest) {
  size_t untouched = 0;
  while (untouched < kPaintedStack / 8 && lowest[untouched] == kStackPaint) ++untouched;
  return kPaintedStack - 8 * untouched;
}

// ---- calls of the library with them

struct Report {
  Host host;
  const FloatState own = read_state();
  std::set<std::string> called;
  std::vector<std::string> problems;
  int n_callbacks = 0;
  std::map<std::string, size_t>* stack = nullptr;  // the most that a call of each function takes; null: is not measured
  std::map<std::string, std::vector<double>>* times = nullptr;  // milliseconds of each call; null: are not measured
};
inline Report* report = nullptr;

inline void check_state(const std::string& where) {
  const FloatState found = read_state();
  write_state(report->own);
  if (!(found == report->host.state)) report->problems.push_back(where + " changes the settings of: " + report->host.name);
}

template <class Function, class... Given>
auto in_host(const char* name, Function function, Given... given) {
  report->called.insert(name);
  setlocale(LC_ALL, report->host.locale);
  const volatile uint64_t* painted = report->stack ? paint_stack() : nullptr;
  const auto start = std::chrono::steady_clock::now();
  const auto finish = [&] {
    if (report->times) (*report->times)[name].push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    if (painted) {
      size_t& most = (*report->stack)[name];
      most = std::max(most, taken_stack(painted));
    }
    check_state(name);
    setlocale(LC_ALL, "C");
  };
  write_state(report->host.state);
  if constexpr (std::is_void_v<decltype(function(given...))>) {
    function(given...);
    finish();
  } else {
    const auto out = function(given...);
    finish();
    return out;
  }
}
#define CALL(function, ...) in_host(#function, function __VA_OPT__(, ) __VA_ARGS__)

// In a callback: it runs with the host's settings, which the library must still find changed back behind it.
inline void in_callback(const char* name) {
  ++report->n_callbacks;
  const FloatState found = read_state();
  write_state(report->own);
  FloatState expected = report->host.state;
  expected.x87_flags = found.x87_flags;
  if (!(found == expected)) report->problems.push_back(std::string(name) + " runs without the settings of: " + report->host.name);
}
inline void leave_callback() { write_state(report->host.state); }

inline void log_line(void* user, inlay_log_level level, const char* text, size_t n) {
  in_callback("log");
  *static_cast<std::string*>(user) += std::to_string(level) + std::string(text, n) + "\n";
  leave_callback();
}

inline int32_t progress(void* user, uint64_t n_done, uint64_t n_total) {
  in_callback("progress");
  if (n_done == n_total) *static_cast<std::string*>(user) += std::to_string(n_total);
  leave_callback();
  return 0;
}

inline const std::vector<char>& model_bytes() {
  static const std::vector<char> bytes = file_bytes(model_file(kModel));
  return bytes;
}

inline int32_t read_model(void*, uint64_t offset, void* into, uint64_t n) {
  in_callback("read");
  const auto& bytes = model_bytes();
  const bool inside = offset <= bytes.size() && n <= bytes.size() - offset;
  if (inside) std::memcpy(into, bytes.data() + offset, n);
  leave_callback();
  return inside ? 0 : 22;
}

}  // namespace inlay::test
