# Rust: built for x86_64-pc-windows-gnu, whose standard library rustup has and Debian does not.
find_program(INLAY_CARGO cargo PATHS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
find_program(INLAY_RUSTC rustc PATHS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
set(rust_windows x86_64-pc-windows-gnu)
set(rust_version "")
set(rust_std "")
if(INLAY_CARGO AND INLAY_RUSTC)
  execute_process(COMMAND ${INLAY_RUSTC} --version OUTPUT_VARIABLE rust_version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" rust_version "${rust_version}")
  execute_process(COMMAND ${INLAY_RUSTC} --print=target-libdir --target=${rust_windows} OUTPUT_VARIABLE rust_libraries ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB rust_std ${rust_libraries}/libstd-*)
endif()
set(reason "")
if(NOT rust_version OR rust_version VERSION_LESS 1.82)
  set(reason "needs Rust 1.82 or later: there is none on PATH or in ~/.cargo/bin")
elseif(NOT rust_std)
  set(reason "needs Rust for Windows: rustup target add ${rust_windows}")
elseif(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(reason "needs Wine: these programs are built on Linux")
endif()
if(reason)
  windows_skip(rust_build "${reason}")
  return()
endif()

# The linked program finds the library beside itself.
set(rust_folder ${PROJECT_BINARY_DIR}/bindings/rust)
set(rust_bin ${rust_folder}/bin)
add_library(windows_bcryptprimitives SHARED ${bindings_tests}/rust/bcryptprimitives.c)
set_target_properties(windows_bcryptprimitives PROPERTIES PREFIX "" OUTPUT_NAME bcryptprimitives RUNTIME_OUTPUT_DIRECTORY ${rust_bin}
                      ARCHIVE_OUTPUT_DIRECTORY ${rust_folder})
target_link_libraries(windows_bcryptprimitives PRIVATE advapi32)
add_custom_command(TARGET windows_bcryptprimitives POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:inlay> ${rust_bin})
add_dependencies(windows_bcryptprimitives inlay)

add_test(NAME windows.rust_build COMMAND ${Python3_EXECUTABLE} -B ${bindings_tests}/rust/build.py ${INLAY_CARGO} ${rust_folder}/target ${rust_bin}
         --target=${rust_windows})
set_tests_properties(windows.rust_build PROPERTIES FIXTURES_SETUP windows_rust ENVIRONMENT
                     "INLAY_LIBRARY=$<TARGET_FILE:inlay>;RUSTC=${INLAY_RUSTC};INLAY_LIB_DIR=$<TARGET_LINKER_FILE_DIR:inlay>;CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=${CMAKE_C_COMPILER}")
windows_prints(rust ${rust_bin}/binding_rust_tokens.exe ${rust_bin}/binding_rust_layout_probe.exe)
windows_test(rust linked env INLAY_LIBRARY=no/such.dll ${run} ${rust_bin}/binding_rust_linked_complete.exe ${model} "Once upon a time" 20)
set_tests_properties(windows.rust_linked PROPERTIES PASS_REGULAR_EXPRESSION "^Once upon a time, [a-z]+ .*\n$")

# The build says which import library it misses.
windows_test(rust names_import_library env INLAY_LIB_DIR=${rust_folder} RUSTC=${INLAY_RUSTC} CARGO_TARGET_DIR=${rust_folder}/target-without
             ${INLAY_CARGO} build --offline --locked --target=${rust_windows} --no-default-features --features=link
             --manifest-path=${PROJECT_SOURCE_DIR}/bindings/rust/Cargo.toml)
set_tests_properties(windows.rust_names_import_library PROPERTIES PASS_REGULAR_EXPRESSION "it has no libinlay.dll.a or inlay.lib")

# The crate's own tests: the unit tests are named after the crate.
file(GLOB rust_crate_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bindings/rust/tests ${PROJECT_SOURCE_DIR}/bindings/rust/tests/*.rs)
list(TRANSFORM rust_crate_tests REPLACE "\\.rs$" "")
foreach(name inlay ${rust_crate_tests})
  windows_test(rust ${name} ${run} ${rust_bin}/binding_rust_${name}.exe)
endforeach()
