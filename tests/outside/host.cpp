// A C++ program around the library: with operators new and delete of its own, exceptions, and strings. Prints the tokens that it drew.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "inlay.h"

namespace {
bool in_library = false;
int n_taken_inside = 0;
}  // namespace

void* operator new(size_t n) {
  n_taken_inside += in_library;
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  n_taken_inside += in_library;
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  n_taken_inside += in_library;
  std::free(p);
}

namespace {

void check(inlay_status status, const inlay_error& err) {
  in_library = false;
  if (status != INLAY_OK) throw std::runtime_error(std::string(inlay_status_name(status)) + ": " + err.message);
}

std::vector<int32_t> draw(const std::string& model) {
  inlay_error err;
  inlay_load_params params = {};
  params.struct_size = sizeof(params);
  params.device = INLAY_DEVICE_CPU;
  inlay_engine* engine = nullptr;
  inlay_session* session = nullptr;
  in_library = true;
  check(inlay_load(model.data(), model.size(), &params, &engine, &err), err);
  in_library = true;
  check(inlay_session_create(engine, nullptr, &session, &err), err);
  const std::vector<int32_t> prompt = {1, 2, 3};
  in_library = true;
  check(inlay_prefill(session, prompt.data(), prompt.size(), nullptr, &err), err);
  std::vector<int32_t> out;
  for (int i = 0; i < 8; ++i) {
    inlay_event event;
    in_library = true;
    check(inlay_decode_step(&session, 1, &event, sizeof(event), &err), err);
    out.push_back(event.token);
  }
  in_library = true;
  inlay_session_free(session);
  inlay_free(engine);
  in_library = false;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    (void)draw("no such file");
    return std::printf("a file that is not there was loaded\n"), 1;
  } catch (const std::runtime_error& error) {
    if (std::string(error.what()).find("NOT_FOUND") != 0) return std::printf("%s\n", error.what()), 1;
  }
  try {
    for (const int32_t token : draw(argv[1])) std::printf("%d ", token);
    std::printf("\n");
  } catch (const std::runtime_error& error) {
    return std::printf("%s\n", error.what()), 1;
  }
  if (n_taken_inside > 0) return std::printf("the library called the host's operator new or delete %d times\n", n_taken_inside), 1;
  return 0;
}
