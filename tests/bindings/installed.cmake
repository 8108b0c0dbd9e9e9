# `cmake --install` into a prefix below the build folder, and each language's example built from there.
set(installed ${INLAY_BINDINGS_BUILD}/installed)
find_program(INLAY_PKG_CONFIG pkg-config)
set(tools CMAKE=${CMAKE_COMMAND} CC=${CMAKE_C_COMPILER} PKG_CONFIG=${INLAY_PKG_CONFIG} CARGO=${INLAY_CARGO} GO=${INLAY_GO} MAKE=${INLAY_MAKE}
          MCS=${INLAY_MCS} MONO=${INLAY_MONO} DOTNET=${INLAY_DOTNET} GOCACHE=${INLAY_GO_CACHE} CUDA_VISIBLE_DEVICES=-1)

# installed_test(NAME ARGUMENTS...)
function(installed_test name)
  binding_test(${name} Python3::Interpreter -B tests/bindings/installed.py ${ARGN})
  set_property(TEST bindings.${name} APPEND PROPERTY ENVIRONMENT ${tools})
endfunction()

installed_test(install install ${PROJECT_BINARY_DIR} ${installed})
set_tests_properties(bindings.install PROPERTIES FIXTURES_SETUP installed)
installed_test(install_sources sources ${INLAY_BINDINGS_BUILD}/installed_sources)
foreach(language ${languages})
  get_property(absent GLOBAL PROPERTY INLAY_BINDING_${language}_ABSENT)
  if(absent)
    binding_skip(installed_${language} "${absent}")
  else()
    installed_test(installed_${language} ${language} ${installed} ${INLAY_TEST_MODEL})
    set_tests_properties(bindings.installed_${language} PROPERTIES FIXTURES_REQUIRED installed)
  endif()
endforeach()
