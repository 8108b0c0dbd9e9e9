// A locale whose decimal point is a comma.
#pragma once

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace inlay::test {

// setlocale() takes NAME while the object is there. On Linux it is made for the object, as the machine may have none.
class GermanLocale {
 public:
#ifdef _WIN32
  static constexpr const char* kName = "German";
  GermanLocale() : is_there_(takes_name()) {}
  ~GermanLocale() { std::setlocale(LC_ALL, "C"); }
#else
  static constexpr const char* kName = "de_DE.UTF-8";
  GermanLocale() {
    (void)!std::system(("localedef -i de_DE -f UTF-8 " + folder_.path(kName) + " >/dev/null 2>&1").c_str());
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    is_there_ = takes_name();
  }
  ~GermanLocale() {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
#endif
  bool is_there() const { return is_there_; }

 private:
  static bool takes_name() {
    const bool took = std::setlocale(LC_ALL, kName) != nullptr;
    std::setlocale(LC_ALL, "C");
    return took;
  }
#ifndef _WIN32
  TemporaryFolder folder_;
#endif
  bool is_there_ = false;
};

}  // namespace inlay::test
