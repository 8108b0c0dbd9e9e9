// In every test program for Windows: lines end as on other systems, so that what reads the output needs to know one kind.
#include <fcntl.h>
#include <io.h>
#include <stdio.h>

namespace {
[[maybe_unused]] const int kBefore = (_setmode(_fileno(stdout), _O_BINARY), _setmode(_fileno(stderr), _O_BINARY));
}  // namespace
