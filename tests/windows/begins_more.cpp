// Runs more under the loader's lock than a library may: the negative control of tests/lint/check_dll_begin.py.
#include <windows.h>
// after windows.h
#include <cstdlib>
#include <string>

__declspec(dllexport) std::string begin = std::getenv("PATH");

extern "C" BOOL WINAPI DllMain(HINSTANCE, DWORD, void*) {
  Sleep(1);
  return TRUE;
}

extern "C" void NTAPI on_thread(void*, DWORD, void*) { SwitchToThread(); }
__attribute__((section(".CRT$XLD"), used)) PIMAGE_TLS_CALLBACK callback = on_thread;
