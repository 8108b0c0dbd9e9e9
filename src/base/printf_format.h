// Lets the compiler check the arguments of functions that take a format as printf does.
#pragma once

// A function whose parameter number `format_at` is printf's format, and whose arguments begin at number `first`. MinGW's own format is
// that of msvcrt, but the C++ library writes as others do.
#if defined(__MINGW32__)
#define INLAY_PRINTF(format_at, first) __attribute__((format(gnu_printf, format_at, first)))
#else
#define INLAY_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#endif
