# Cross-builds for Windows x64 with MinGW-w64 (Debian's g++-mingw-w64-x86-64-posix). A toolchain for the UCRT is taken where there is
# one; Debian 12 has that of msvcrt.dll alone. Programs run under wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

set(inlay_targets x86_64-w64-mingw32ucrt x86_64-w64-mingw32)
foreach(language IN ITEMS C CXX)
  set(compiler gcc)
  if(language STREQUAL "CXX")
    set(compiler g++)
  endif()
  set(names ${inlay_targets})
  list(TRANSFORM names REPLACE "(.+)" "\\1-${compiler}-posix;\\1-${compiler}")
  find_program(INLAY_MINGW_${language} NAMES ${names} REQUIRED)
  set(CMAKE_${language}_COMPILER ${INLAY_MINGW_${language}})
endforeach()
string(REGEX REPLACE "^.*/(x86_64-w64-mingw32[a-z]*)-.*$" "\\1" inlay_target ${INLAY_MINGW_CXX})
set(CMAKE_RC_COMPILER ${inlay_target}-windres)

set(CMAKE_FIND_ROOT_PATH /usr/${inlay_target})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(INLAY_WINE NAMES wine64 wine wine64-stable wine-stable PATHS /usr/lib/wine)
if(INLAY_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${INLAY_WINE})
endif()
