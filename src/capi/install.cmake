# What `cmake --install BUILD --prefix PREFIX` puts below the prefix, which can be moved as a whole: library and headers, what
# pkg-config and find_package(Inlay) read, and the sources of the other languages' packages in share/inlay/LANGUAGE. The target `archive`
# packs the same into one file: docs/platforms.md.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Inlay)

install(TARGETS inlay EXPORT InlayTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(WIN32)
  install(FILES ${INLAY_IMPORT_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/capi/inlay.h include/capi/inlay_dl.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(RELATIVE_PATH INLAY_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" INLAY_PC_TO_PREFIX "${INLAY_PC_TO_PREFIX}")
configure_file(src/capi/inlay.pc.in ${CMAKE_BINARY_DIR}/package/inlay.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/inlay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT InlayTargets NAMESPACE Inlay:: DESTINATION ${package_dir})
set(INLAY_LIBRARY_FOLDER ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(src/capi/InlayConfig.cmake.in ${CMAKE_BINARY_DIR}/package/InlayConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS INLAY_LIBRARY_FOLDER)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/InlayConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/InlayConfig.cmake ${CMAKE_BINARY_DIR}/package/InlayConfigVersion.cmake
        DESTINATION ${package_dir})

install(DIRECTORY examples/c DESTINATION ${CMAKE_INSTALL_DATADIR}/inlay)
foreach(language rust go csharp)
  install(DIRECTORY bindings/${language} DESTINATION ${CMAKE_INSTALL_DATADIR}/inlay PATTERN target EXCLUDE
          PATTERN build EXCLUDE PATTERN bin EXCLUDE PATTERN obj EXCLUDE)
endforeach()

# ---- notices: what the library contains of others

set(INLAY_NOTICES ${CMAKE_BINARY_DIR}/package/NOTICES.txt)
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
install(FILES ${INLAY_NOTICES} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- the archive

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
set(INLAY_ARCHIVE ${CMAKE_BINARY_DIR}/${name}.$<IF:$<BOOL:${WIN32}>,zip,tar.gz>)
add_custom_target(archive DEPENDS inlay VERBATIM WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
                  COMMAND ${CMAKE_COMMAND} -E rm -rf package/${name} ${INLAY_ARCHIVE}
                  COMMAND ${CMAKE_COMMAND} --install . --prefix package/${name} --strip
                  COMMAND ${CMAKE_COMMAND} -E chdir package ${CMAKE_COMMAND} -E tar $<IF:$<BOOL:${WIN32}>,cf,czf> ${INLAY_ARCHIVE}
                          $<$<BOOL:${WIN32}>:--format=zip> ${name}
                  COMMAND ${CMAKE_COMMAND} -E sha256sum ${INLAY_ARCHIVE}
                  COMMAND_EXPAND_LISTS)
if(WIN32)
  add_dependencies(archive inlay_import_library)
endif()
