// The public header as the library itself must see it: everything is compiled with hidden visibility, and what the
// header declares is the exception. The version script decides in the end what leaves.
#pragma once

#pragma GCC visibility push(default)
#include "include/capi/inlay.h"
#pragma GCC visibility pop
