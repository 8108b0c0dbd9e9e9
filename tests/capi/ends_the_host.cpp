// An object file that breaks the rules that check_objects.py checks.
#include <cstdio>
#include <cstdlib>
#include <string>

void end_the_host(int reason);

void end_the_host(int reason) {
  if (reason == 1) throw reason;
  std::puts("the end");
  std::abort();
}

const std::string& name_of_the_host(const char* name);

// A static object, with a guard, that is destroyed when the process ends.
const std::string& name_of_the_host(const char* name) {
  static const std::string first = name;
  return first;
}
