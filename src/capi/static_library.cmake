# libinlay.a: one object file of all layers, mimalloc and the C++ run-time library, in which only the C API's names are visible. A program
# may be written in C, have a C++ library of another version, and replace malloc or operator new: nothing of that meets the library's own.
include(GNUInstallDirs)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR INLAY_SANITIZE)
  message(FATAL_ERROR "INLAY_SHARED=OFF: the static library is built for Linux, and without sanitizers")
endif()
set(INLAY_LINKED_WITH pthread dl m)
if(INLAY_HAS_CUDA)
  list(APPEND INLAY_LINKED_WITH rt)
endif()
file(GLOB INLAY_CAPI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/capi/*.cpp)
list(FILTER INLAY_CAPI_SOURCES EXCLUDE REGEX "/(older_glibc|thread_storage).cpp$")  # what a shared library needs
inlay_sources_of_system(INLAY_CAPI_SOURCES)
add_library(inlay_capi OBJECT ${INLAY_CAPI_SOURCES})
inlay_unity_build(inlay_capi)
target_compile_definitions(inlay_capi PRIVATE INLAY_VERSION_STRING="${PROJECT_VERSION}")
target_link_libraries(inlay_capi PRIVATE inlay_engine)

get_property(layers GLOBAL PROPERTY INLAY_LAYERS)
list(APPEND layers inlay_kernels_cpu)
if(INLAY_HAS_CUDA)
  list(APPEND layers inlay_kernels_cuda CUDA::cudart_static)
endif()
set(linked "")
foreach(layer IN LISTS layers)
  list(APPEND linked $<TARGET_FILE:${layer}>)
endforeach()
list(APPEND linked ${INLAY_MIMALLOC_ARCHIVE})
foreach(library libstdc++.a libgcc_eh.a libgcc.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${file}")
    message(FATAL_ERROR "INLAY_SHARED=OFF: the compiler has no ${library}")
  endif()
  list(APPEND linked ${file})
endforeach()
set(objects $<TARGET_OBJECTS:inlay_capi>)
foreach(allocator inlay_operator_new inlay_mimalloc)
  if(TARGET ${allocator})
    list(APPEND objects $<TARGET_OBJECTS:${allocator}>)
  endif()
endforeach()

set(names_file ${PROJECT_BINARY_DIR}/static/names.txt)
set(exports ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
file(STRINGS ${exports} names REGEX "^ +inlay_[a-z_]+;$")
list(TRANSFORM names REPLACE "^ +(.*);$" "\\1")
list(JOIN names "\n" names)
file(CONFIGURE OUTPUT ${names_file} CONTENT "${names}\n")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exports})

# Groups of sections that several objects may have are dissolved: else the program's linker would take its own in place of ours. malloc and
# free go to src/capi/reserved_memory.cpp, as in the shared library.
set(whole ${PROJECT_BINARY_DIR}/static/inlay.o)
add_custom_command(OUTPUT ${whole} DEPENDS ${objects} ${linked} ${names_file} VERBATIM COMMAND_EXPAND_LISTS
                   COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -Wl,--force-group-allocation,--wrap=malloc,--wrap=free -o ${whole}
                           ${objects} -Wl,--start-group ${linked} -Wl,--end-group
                   COMMAND sh -c "! ${CMAKE_NM} -u '${whole}' | grep ' U _Z'"  # a name that is missing would become a null pointer by the next one
                   COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_Z* ${whole}  # only then names that the C++ library wants unique can be local
                   COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${names_file} ${whole})
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(inlay STATIC ${whole})
set_target_properties(inlay PROPERTIES LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_include_directories(inlay INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/capi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(inlay INTERFACE ${INLAY_LINKED_WITH})
add_library(Inlay::inlay ALIAS inlay)
