// bcryptprimitives.dll with the one function that Rust's standard library calls: Wine 8 has none.
#include <windows.h>
// after windows.h
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE into, SIZE_T n);
BOOL WINAPI ProcessPrng(PBYTE into, SIZE_T n) { return RtlGenRandom(into, (ULONG)n); }
