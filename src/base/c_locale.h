// While one lives, what the C library writes on this thread follows the C locale, not the one that the host has set.
#pragma once

#include <locale.h>

#include <atomic>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#ifdef _WIN32
#include <string>
#endif

namespace inlay {

#ifdef _WIN32
// Numbers alone: messages of the C library are not used there. A host seldom has another locale than the C library starts with, so
// that one is looked at first.
class CLocale {
 public:
  CLocale() : changed_(std::string_view(::localeconv()->decimal_point) != ".") {
    if (!changed_) return;
    mode_ = ::_configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    before_ = ::setlocale(LC_NUMERIC, nullptr);
    ::setlocale(LC_NUMERIC, "C");
  }
  ~CLocale() {
    if (!changed_) return;
    ::setlocale(LC_NUMERIC, before_.c_str());
    ::_configthreadlocale(mode_);
  }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  bool changed_;
  int mode_ = 0;
  std::string before_;
};
#else
class CLocale {
 public:
  CLocale() : before_(::uselocale(c_locale())) {}
  ~CLocale() { ::uselocale(before_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  // Never freed: the C library keeps this one itself and hands out the same object each time.
  static locale_t c_locale() {
    static constinit std::atomic<locale_t> made{nullptr};
    locale_t c = made.load(std::memory_order_relaxed);
    if (!c) made.store(c = ::newlocale(LC_ALL_MASK, "C", nullptr), std::memory_order_relaxed);
    return c;
  }
  locale_t before_;
};
#endif

}  // namespace inlay
