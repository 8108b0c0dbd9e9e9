// A shared library in place of cuBLASLt that has none of its functions.
extern "C" int inlay_empty_library;
int inlay_empty_library = 1;
