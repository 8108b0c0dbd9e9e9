// An object file that breaks the rules that check_objects.py checks.
#include <cstdio>
#include <cstdlib>

void end_the_host(int reason);

void end_the_host(int reason) {
  if (reason == 1) throw reason;
  std::puts("the end");
  std::abort();
}
