# Links a program by LLVM's linker to the import library that MSVC and clang take, and runs it.
set(object ${CMAKE_CURRENT_BINARY_DIR}/version_of_library.obj)
set(program ${FOLDER}/windows_version_of_library.exe)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/kernel32.def "LIBRARY KERNEL32.dll\nEXPORTS\n  ExitProcess\n")
foreach(command IN ITEMS
        "${CLANG};--target=x86_64-pc-windows-msvc;-O1;-ffreestanding;-I;${HEADERS};-c;${SOURCE}/version_of_library.c;-o;${object}"
        "${DLLTOOL};-m;i386:x86-64;-d;${CMAKE_CURRENT_BINARY_DIR}/kernel32.def;-l;${CMAKE_CURRENT_BINARY_DIR}/kernel32.lib"
        "${LINK};/nodefaultlib;/entry:start;/subsystem:console;${object};${LIBRARY};${CMAKE_CURRENT_BINARY_DIR}/kernel32.lib;/out:${program}"
        "${EMULATOR};${program}")
  execute_process(COMMAND ${command} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${command}: ${code}")
  endif()
endforeach()
