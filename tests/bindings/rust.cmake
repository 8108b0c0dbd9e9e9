# Rust: its programs and its tests are built by a test and can be carried to another machine.
find_program(INLAY_CARGO cargo PATHS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
find_program(INLAY_RUSTC rustc PATHS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
set(rust_version "")
if(INLAY_CARGO AND INLAY_RUSTC)
  execute_process(COMMAND ${INLAY_RUSTC} --version OUTPUT_VARIABLE rust_version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" rust_version "${rust_version}")
endif()
# Blocks `unsafe extern` came with Rust 1.82.
if(NOT rust_version OR rust_version VERSION_LESS 1.82)
  set(reason "no Rust of version 1.82 or later on PATH or in ~/.cargo/bin")
  binding_absent(rust "${reason}")
  binding_test(rust_build sh -c "echo 'skipped: ${reason}'; exit 77")
  return()
endif()

set(rust_tests ${CMAKE_CURRENT_SOURCE_DIR}/rust)
set(rust_crate ${CMAKE_SOURCE_DIR}/bindings/rust)
set(rust_bin ${CMAKE_BINARY_DIR}/bin/binding_rust_)
set(rust_target ${INLAY_BINDINGS_BUILD}/rust/target)
file(MAKE_DIRECTORY ${rust_target})

binding_test(rust_build Python3::Interpreter -B ${rust_tests}/build.py ${INLAY_CARGO} ${rust_target} ${CMAKE_BINARY_DIR}/bin)
set_tests_properties(bindings.rust_build PROPERTIES FIXTURES_SETUP rust_programs)

binding_programs(rust FIXTURE rust_programs TOKENS ${rust_bin}tokens CALL_COST ${rust_bin}call_cost)

# Layouts and numbers as the Rust compiler sees them, against the generator's.
set(layout_text ${CMAKE_SOURCE_DIR}/tests/capi/layout.txt)
binding_test(rust_layout sh -c "${rust_bin}layout_probe | diff ${layout_text} -")
binding_test(rust_layout_refuses_other sh -c "${rust_bin}layout_probe | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
set_tests_properties(bindings.rust_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")
set_tests_properties(bindings.rust_layout bindings.rust_layout_refuses_other PROPERTIES FIXTURES_REQUIRED rust_programs)
