# What `cmake --install BUILD --prefix PREFIX` puts below the prefix, which can be moved as a whole: library and headers, what
# pkg-config and find_package(Inlay) read, and the sources of the other languages' packages in share/inlay/LANGUAGE.
include(CMakePackageConfigHelpers)
set(INLAY_PC_LINKED_WITH "")
foreach(library IN LISTS INLAY_LINKED_WITH)
  string(APPEND INLAY_PC_LINKED_WITH " -l${library}")
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Inlay)

install(TARGETS inlay EXPORT InlayTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(WIN32)
  install(FILES ${INLAY_IMPORT_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/capi/inlay.h include/capi/inlay_dl.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(RELATIVE_PATH INLAY_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" INLAY_PC_TO_PREFIX "${INLAY_PC_TO_PREFIX}")
configure_file(src/capi/inlay.pc.in ${PROJECT_BINARY_DIR}/package/inlay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/inlay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT InlayTargets NAMESPACE Inlay:: DESTINATION ${package_dir})
set(INLAY_LIBRARY_FOLDER ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(src/capi/InlayConfig.cmake.in ${PROJECT_BINARY_DIR}/package/InlayConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS INLAY_LIBRARY_FOLDER)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/InlayConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/InlayConfig.cmake ${PROJECT_BINARY_DIR}/package/InlayConfigVersion.cmake
        DESTINATION ${package_dir})

install(DIRECTORY examples/c DESTINATION ${CMAKE_INSTALL_DATADIR}/inlay)
foreach(language rust go csharp)
  install(DIRECTORY bindings/${language} DESTINATION ${CMAKE_INSTALL_DATADIR}/inlay PATTERN target EXCLUDE
          PATTERN build EXCLUDE PATTERN bin EXCLUDE PATTERN obj EXCLUDE)
endforeach()
