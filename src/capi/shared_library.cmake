# libinlay.so.1: the C API over the static layers. Only what the generated version script names leaves the library, and it needs
# nothing but the C library. tests/capi checks both.
include(GNUInstallDirs)
set(INLAY_LINKED_WITH "")  # by whoever links it
file(GLOB INLAY_CAPI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/capi/*.cpp)
if(NOT UNIX OR APPLE OR INLAY_SANITIZE)  # where the C++ library is linked statically
  list(FILTER INLAY_CAPI_SOURCES EXCLUDE REGEX "/reserved_memory.cpp$")
endif()
if(NOT INLAY_OLDER_GLIBC)
  list(FILTER INLAY_CAPI_SOURCES EXCLUDE REGEX "/older_glibc.cpp$")
endif()
inlay_sources_of_system(INLAY_CAPI_SOURCES)
add_library(inlay SHARED ${INLAY_CAPI_SOURCES})
inlay_unity_build(inlay)
set(INLAY_EXPORTS ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
set_target_properties(inlay PROPERTIES SOVERSION 1 LINK_DEPENDS ${INLAY_EXPORTS})
if(WIN32)  # the same names, as linkers for Windows take them
  set(INLAY_DEFINITIONS ${PROJECT_BINARY_DIR}/inlay.def)
  file(STRINGS ${INLAY_EXPORTS} names REGEX "^ +inlay_[a-z_]+;$")
  list(TRANSFORM names REPLACE "^ +(.*);$" "  \\1")
  list(JOIN names "\n" names)
  file(CONFIGURE OUTPUT ${INLAY_DEFINITIONS} CONTENT "LIBRARY libinlay.dll\nEXPORTS\n${names}\n")
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${INLAY_EXPORTS})
endif()
target_compile_definitions(inlay PRIVATE INLAY_VERSION_STRING="${PROJECT_VERSION}")
target_include_directories(inlay INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/capi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(inlay PRIVATE inlay_engine)
add_library(Inlay::inlay ALIAS inlay)
if(TARGET inlay_private_allocator)  # src/base/mimalloc.cmake
  target_link_libraries(inlay PRIVATE inlay_private_allocator)
  if(EXISTS ${INLAY_WITHOUT_MIMALLOC})
    add_custom_command(TARGET inlay POST_BUILD COMMAND ${CMAKE_COMMAND} -E cat ${INLAY_WITHOUT_MIMALLOC} VERBATIM)
  endif()
endif()

# inlay_link_options(TARGET): how the library is linked, also one that tests make.
function(inlay_link_options target)
  if(WIN32)
    target_link_options(${target} PRIVATE ${INLAY_DEFINITIONS} -Wl,--exclude-all-symbols)
    return()
  elseif(NOT UNIX OR APPLE)
    return()
  endif()
  # Values that are made once stay, and functions are registered for the ends of threads, for forks and for the exit: the library stays mapped
  # after dlclose.
  target_link_options(${target} PRIVATE -Wl,--version-script=${INLAY_EXPORTS} -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,relro
                      -Wl,--as-needed -Wl,-z,nodelete)
  if(NOT INLAY_SANITIZE)
    # A sanitizer's run-time library must be shared with the host program and stays unresolved here.
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,-z,defs -Wl,--wrap=malloc -Wl,--wrap=free)
  endif()
  if(INLAY_OLDER_GLIBC)
    inlay_link_older_glibc(${target})
  endif()
endfunction()

# inlay_take_thread_storage(TARGET): src/capi/thread_storage.cpp gives the memory of thread-local variables.
function(inlay_take_thread_storage target)
  target_link_options(${target} PRIVATE -Wl,--wrap=__tls_get_addr -Wl,--wrap=calloc -Wl,--wrap=realloc)
endfunction()

inlay_link_options(inlay)
if(WIN32)
  # CMake's import library is MinGW's; MSVC and clang take one by their own name, from LLVM's tool or else from binutils.
  set(INLAY_IMPORT_LIBRARY ${PROJECT_BINARY_DIR}/lib/inlay.lib)
  find_program(INLAY_DLLTOOL NAMES llvm-dlltool llvm-dlltool-14 llvm-dlltool-16 llvm-dlltool-19)
  set(import_tool ${INLAY_DLLTOOL} -m i386:x86-64)
  if(NOT INLAY_DLLTOOL)
    set(import_tool ${CMAKE_DLLTOOL})
  endif()
  add_custom_command(OUTPUT ${INLAY_IMPORT_LIBRARY} DEPENDS ${INLAY_DEFINITIONS} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/lib
                     COMMAND ${import_tool} -d ${INLAY_DEFINITIONS} -l ${INLAY_IMPORT_LIBRARY})
  add_custom_target(inlay_import_library ALL DEPENDS ${INLAY_IMPORT_LIBRARY})
endif()
if(INLAY_THREAD_STORAGE)
  inlay_take_thread_storage(inlay)
endif()
