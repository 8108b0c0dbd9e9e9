// The one library of the process: every call of package raw goes through its table of functions.
#ifndef INLAY_GO_LOADER_H
#define INLAY_GO_LOADER_H

#include "inlay_dl.h"

// The table; all of its functions are NULL until inlay_go_open has succeeded. Any thread.
const inlay_dl* inlay_go_api(void);

// Loads the library, which stays until the process ends. Not from two threads at once. Returns 0, or -1 and a message.
// The version becomes the library's ABI, 0 where it has none.
int inlay_go_open(const char* path, uint32_t* version, char* message, size_t n);

// What a function that the table does not have comes to.
inlay_status inlay_go_missing(const char* function, inlay_error* err);

#endif
