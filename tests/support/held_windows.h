// What a process holds on Windows: Wine's GetProcessHandleCount() and PrivateUsage are always 0, these are not. C and C++.
#pragma once

#include <windows.h>
// after windows.h
#include <psapi.h>
#include <stdlib.h>

// One row of the system's table of handles.
typedef struct inlay_test_handle {
  void* object;
  ULONG_PTR process, handle;
  ULONG access;
  USHORT backtrace, type;
  ULONG attributes, reserved;
} inlay_test_handle;

static inline size_t inlay_test_n_handles(void) {
  typedef LONG(NTAPI * Query)(ULONG, void*, ULONG, ULONG*);
  const ULONG kExtendedHandles = 64;
  const LONG kTooShort = (LONG)0xC0000004;
  const Query query = (Query)(void*)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation");
  ULONG size = 1u << 20, needed = 0;
  ULONG_PTR* table = NULL;
  LONG status = kTooShort;
  size_t n = 0;
  while (status == kTooShort) {
    free(table);
    table = (ULONG_PTR*)malloc(size);
    status = table ? query(kExtendedHandles, table, size, &needed) : -1;
    size *= 2;
  }
  if (status == 0) {
    const inlay_test_handle* row = (const inlay_test_handle*)(table + 2);
    for (ULONG_PTR i = 0; i < table[0]; ++i) n += row[i].process == GetCurrentProcessId();
  }
  free(table);
  return n;
}

static inline size_t inlay_test_private_bytes(void) {
  PROCESS_MEMORY_COUNTERS own;
  own.cb = sizeof own;
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &own, sizeof own) ? own.PagefileUsage : 0;
}
