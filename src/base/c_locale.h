// While one lives, what the C library writes on this thread follows the C locale, not the one that the host has set.
#pragma once

#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace inlay {

class CLocale {
 public:
  CLocale() : before_(::uselocale(c_locale())) {}
  ~CLocale() { ::uselocale(before_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  // Never freed: the C library keeps this one itself and hands out the same object each time.
  static locale_t c_locale() {
    static const locale_t c = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return c;
  }
  locale_t before_;
};

}  // namespace inlay
