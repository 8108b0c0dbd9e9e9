# What is given to others: notices of what the library contains, and the target `archive`, which packs all that is installed into one file
# (docs/platforms.md).
set(INLAY_NOTICES ${PROJECT_BINARY_DIR}/package/NOTICES.txt)
set(contents "Inlay ${PROJECT_VERSION} contains parts of other works.\n")
# inlay_notice(NAME FILES...): the text of the first file that there is.
function(inlay_notice name)
  foreach(file ${ARGN})
    if(EXISTS ${file})
      file(READ ${file} text)
      set(contents "${contents}\n======== ${name}\n\n${text}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(WARNING "no notice of ${name} for the archive: there is none of ${ARGN}")
endfunction()
if(INLAY_HAS_MIMALLOC)
  inlay_notice("mimalloc, the memory allocator" ${INLAY_MIMALLOC_SOURCE}/LICENSE /usr/share/doc/libmimalloc-dev/copyright)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  string(REGEX MATCH "^[0-9]+" major ${CMAKE_CXX_COMPILER_VERSION})
  inlay_notice("GCC's run-time libraries" /usr/share/doc/gcc-${major}-base/copyright /usr/share/doc/libgcc-s1/copyright
               /usr/share/doc/gcc/copyright)
endif()
if(MINGW)
  inlay_notice("MinGW-w64's run-time libraries" /usr/share/doc/mingw-w64-x86-64-dev/copyright /usr/share/doc/mingw-w64-common/copyright)
endif()
if(INLAY_HAS_CUDA)
  string(APPEND contents "\n======== CUDA's run-time library\n\nIt is linked in, under NVIDIA's CUDA Toolkit End User License Agreement: "
         "https://docs.nvidia.com/cuda/eula\n")
endif()
file(WRITE ${INLAY_NOTICES} "${contents}")
install(FILES ${INLAY_NOTICES} ${PROJECT_SOURCE_DIR}/docs/api.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(platform linux-x64)
if(WIN32)
  set(platform win-x64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(platform linux-arm64)
endif()
if(INLAY_HAS_CUDA)
  string(APPEND platform -cuda)
endif()
set(name inlay-${PROJECT_VERSION}-${platform})
set(INLAY_ARCHIVE ${PROJECT_BINARY_DIR}/${name}.$<IF:$<BOOL:${WIN32}>,zip,tar.gz>)
add_custom_target(archive DEPENDS inlay VERBATIM WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
                  COMMAND ${CMAKE_COMMAND} -E rm -rf package/${name} ${INLAY_ARCHIVE}
                  COMMAND ${CMAKE_COMMAND} --install . --prefix package/${name} --strip
                  COMMAND ${CMAKE_COMMAND} -E chdir package ${CMAKE_COMMAND} -E tar $<IF:$<BOOL:${WIN32}>,cf,czf> ${INLAY_ARCHIVE}
                          $<$<BOOL:${WIN32}>:--format=zip> ${name}
                  COMMAND ${CMAKE_COMMAND} -E sha256sum ${INLAY_ARCHIVE}
                  COMMAND_EXPAND_LISTS)
if(WIN32)
  add_dependencies(archive inlay_import_library)
endif()
