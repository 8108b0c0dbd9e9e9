// A shared library of the machine, opened while the program runs.
#pragma once

#include <span>
#include <string>

#include "src/base/status.h"

namespace inlay {

// Once opened it stays until the process ends: drivers keep pointers into libraries that bring device code along.
class DynamicLibrary {
 public:
  // The first of `names` that opens, in `directory` or, if that is empty, on the loader's path. The error names the
  // last one tried.
  static Result<DynamicLibrary> open(std::span<const char* const> names, const std::string& directory);

  void* symbol(const char* name) const;  // null if there is none
  const std::string& name() const { return name_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace inlay
