// What inlay_dl.h takes of the Windows SDK, as Microsoft documents it, for the check of its syntax where there is no SDK.
#pragma once

#include <stddef.h>

typedef unsigned long DWORD;
typedef unsigned int UINT;
typedef int BOOL;
typedef struct HINSTANCE__* HMODULE;
typedef long long(__stdcall* FARPROC)(void);

#define CP_UTF8 65001
#define MB_ERR_INVALID_CHARS 8
#define ERROR_NOT_ENOUGH_MEMORY 8L

#ifdef __cplusplus
extern "C" {
#else
typedef unsigned short wchar_t;
#endif
__declspec(dllimport) DWORD __stdcall GetLastError(void);
#ifndef INLAY_TEST_OTHER_SDK
__declspec(dllimport) HMODULE __stdcall LoadLibraryW(const wchar_t* name);
#endif
__declspec(dllimport) BOOL __stdcall FreeLibrary(HMODULE module);
__declspec(dllimport) FARPROC __stdcall GetProcAddress(HMODULE module, const char* name);
__declspec(dllimport) int __stdcall MultiByteToWideChar(UINT page, DWORD flags, const char* text, int n, wchar_t* wide, int n_wide);
#ifdef __cplusplus
}
#endif
