// A careful host: it looks at what every call promises, and uses an engine from its load to its end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "include/capi/inlay_dl.h"
#include "tests/abuse/generator.h"

namespace inlay::abuse {

// The library, opened as hosts do that start without it. In a child process only.
extern inlay_dl lib;
bool open_library(std::string& why);

template <class T>
T sized() {
  T out = {};
  out.struct_size = sizeof(T);
  return out;
}

class Host {
 public:
  explicit Host(Case& the_case) : the_case_(the_case) {}

  // True if the call worked. A violation: a status that the function's documentation does not name, INTERNAL, an error
  // without a message, a message without an error.
  bool check(const char* function, inlay_status status, const inlay_error& err);
  // Likewise, of a call that gives a handle, which has to be NULL exactly if it failed.
  // By reference: it is looked at after the call.
  template <class T>
  bool check(const char* function, inlay_status status, const inlay_error& err, T* const& made) {
    if ((status == INLAY_OK) != (made != nullptr))
      violated(std::string(function) + ": a handle beside an error, or none without one");
    return check(function, status, err);
  }
  // Also a violation: any error that is not one of these.
  void expect_only(std::vector<inlay_status> errors) {
    limited_ = true;
    allowed_ = std::move(errors);
  }
  // Called before the n-th call from here on.
  void before_call(int n, void (*hook)(Case&)) {
    until_hook_ = n;
    hook_ = hook;
  }
  void violated(const std::string& what) { the_case_.violated(what); }

  bool refused() const { return worst_ != INLAY_OK; }
  inlay_status worst() const { return worst_; }
  fuzz::Random& random() { return the_case_.random; }

 private:
  Case& the_case_;
  int until_hook_ = 0;
  void (*hook_)(Case&) = nullptr;
  bool limited_ = false;
  std::vector<inlay_status> allowed_;
  inlay_status worst_ = INLAY_OK;  // the first error
};

// Few threads, a short context: what many engines a second can be made with.
inlay_load_params small_params(fuzz::Random& random);

inlay_engine* load_file(Host& host, const std::string& path, const inlay_load_params& params);
inlay_engine* load_memory(Host& host, const void* data, size_t size, const inlay_load_params& params);

// Calls nearly every function of an engine and its sessions, and frees it: text, metadata, two sessions of some tokens.
void use_and_free(Host& host, inlay_engine* engine);
// The tokens that a greedy session draws after a prompt; the engine stays.
std::vector<int32_t> draw(Host& host, const inlay_engine* engine, const std::vector<int32_t>& prompt, int n_tokens);

std::vector<uint8_t> bytes_of_file(const std::filesystem::path& path);
bool write_file(const std::string& path, const void* data, size_t size);

}  // namespace inlay::abuse
