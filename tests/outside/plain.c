/* A C program that links the library, without any C++ library of its own. */
#include <stdio.h>

#include "inlay.h"

int main(void) {
  printf("%s\n", inlay_version_string());
  return inlay_device_count() > 0 ? 0 : 1;
}
