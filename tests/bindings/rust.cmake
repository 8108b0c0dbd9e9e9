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
  set(reason "needs Rust 1.82 or later: there is none on PATH or in ~/.cargo/bin")
  binding_absent(rust "${reason}")
  binding_skip(rust_build "${reason}")
  return()
endif()

set(rust_tests ${CMAKE_CURRENT_SOURCE_DIR}/rust)
set(rust_crate ${PROJECT_SOURCE_DIR}/bindings/rust)
set(rust_bin ${PROJECT_BINARY_DIR}/bin/binding_rust_)
set(rust_target ${INLAY_BINDINGS_BUILD}/rust/target)
file(MAKE_DIRECTORY ${rust_target})

binding_test(rust_build Python3::Interpreter -B ${rust_tests}/build.py ${INLAY_CARGO} ${rust_target} ${PROJECT_BINARY_DIR}/bin)
set_tests_properties(bindings.rust_build PROPERTIES FIXTURES_SETUP rust_programs)

binding_programs(rust FIXTURE rust_programs TOKENS ${rust_bin}tokens CALL_COST ${rust_bin}call_cost EXAMPLES ${rust_bin}{})

# Layouts and numbers as the Rust compiler sees them, against the generator's.
set(layout_text ${PROJECT_SOURCE_DIR}/tests/capi/layout.txt)
binding_test(rust_layout sh -c "${rust_bin}layout_probe | diff ${layout_text} -")
binding_test(rust_layout_refuses_other sh -c "${rust_bin}layout_probe | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
set_tests_properties(bindings.rust_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")
set_tests_properties(bindings.rust_layout bindings.rust_layout_refuses_other PROPERTIES FIXTURES_REQUIRED rust_programs)

# rust_program_test(NAME COMMAND...): runs programs that the build made.
function(rust_program_test name)
  binding_test(rust_${name} ${ARGN})
  set_tests_properties(bindings.rust_${name} PROPERTIES FIXTURES_REQUIRED rust_programs)
endfunction()

# The crate's own tests, built from its package: the unit tests are named after the crate.
file(GLOB rust_crate_tests CONFIGURE_DEPENDS RELATIVE ${rust_crate}/tests ${rust_crate}/tests/*.rs)
list(TRANSFORM rust_crate_tests REPLACE "\\.rs$" "")
foreach(name inlay ${rust_crate_tests})
  rust_program_test(${name} ${rust_bin}${name})
endforeach()

rust_program_test(tests_say_what_they_need env -u INLAY_TEST_MODEL ${rust_bin}owned)
set_tests_properties(bindings.rust_tests_say_what_they_need PROPERTIES PASS_REGULAR_EXPRESSION "INLAY_TEST_MODEL is not set")

# The oldest Rust that Cargo.toml promises, where rustup has it; INLAY_RUST_OLDEST is the path of a rustc to use instead.
binding_test(rust_oldest Python3::Interpreter -B ${rust_tests}/oldest.py ${INLAY_CARGO} ${rust_target}-oldest)
set_tests_properties(bindings.rust_oldest PROPERTIES SKIP_RETURN_CODE 77)

# The examples; each prints what its test asks for; a dot stands for what CMake would take for the end of an element.
set(tale "^Once upon a time, [a-z]+ .*\n$")
set(words "^Once upon a time[^\n]+\nThe old fox said[^\n]+\n([^\n]+\n)*The bear woke up[^\n]+\n$")
set(frames "silent +60 frames, ms: p50 .*. 0 bytes shown\ntalking +60 frames, ms: p50 .*. [1-9][0-9]+ bytes shown\n[1-9][0-9]* tokens")
rust_program_test(complete ${rust_bin}complete ${INLAY_TEST_MODEL} "Once upon a time" 20)
set_tests_properties(bindings.rust_complete PROPERTIES PASS_REGULAR_EXPRESSION "${tale}")
rust_program_test(eight ${rust_bin}eight ${INLAY_TEST_MODEL} 8)
set_tests_properties(bindings.rust_eight PROPERTIES PASS_REGULAR_EXPRESSION "${words}")
rust_program_test(characters ${rust_bin}characters ${INLAY_TEST_MODEL} 8)
set_tests_properties(bindings.rust_characters PROPERTIES PASS_REGULAR_EXPRESSION "${words}")
rust_program_test(cancel ${rust_bin}cancel ${INLAY_TEST_MODEL} 100)
set_tests_properties(bindings.rust_cancel PROPERTIES PASS_REGULAR_EXPRESSION "cancelled after [1-9][0-9]* tokens")
rust_program_test(game_loop ${rust_bin}game_loop ${INLAY_TEST_MODEL} 1)
set_tests_properties(bindings.rust_game_loop PROPERTIES PASS_REGULAR_EXPRESSION "${frames}")
rust_program_test(embeddings ${rust_bin}embeddings ${INLAY_TEST_MODEL} "The fox ran into the forest." "A queen lived in a castle."
                  "The fox ran into the woods." "The fox ran into the forest.")
set_tests_properties(bindings.rust_embeddings PROPERTIES PASS_REGULAR_EXPRESSION "^1.0000  [^\n]*forest.\n0[^\n]*woods.\n0[^\n]*castle.\n$")
# Those that are talked with.
foreach(name chat http)
  rust_program_test(example_${name} Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/rust_${name}_example.py ${INLAY_TEST_MODEL} ${rust_bin}${name})
endforeach()
set_tests_properties(bindings.rust_example_http PROPERTIES PROCESSORS 2)

# Without the library a program starts and says what it tried; one that is linked with it does not look for it.
set(without env -u LD_LIBRARY_PATH)
rust_program_test(says_what_it_tried ${without} -u INLAY_LIBRARY ${rust_bin}complete ${INLAY_TEST_MODEL} "Once")
rust_program_test(says_so_of_an_empty_name ${without} INLAY_LIBRARY= ${rust_bin}complete ${INLAY_TEST_MODEL} "Once")
set_tests_properties(bindings.rust_says_what_it_tried bindings.rust_says_so_of_an_empty_name PROPERTIES PASS_REGULAR_EXPRESSION
                     "INLAY_LIBRARY is not set. cannot load libinlay.so.1: .*. cannot load libinlay.so: ")
rust_program_test(says_what_was_named ${without} INLAY_LIBRARY=no/such.so ${rust_bin}complete ${INLAY_TEST_MODEL} "Once")
set_tests_properties(bindings.rust_says_what_was_named PROPERTIES PASS_REGULAR_EXPRESSION
                     "INLAY_LIBRARY is no/such.so: cannot load no/such.so: ")
rust_program_test(linked ${without} INLAY_LIBRARY=no/such.so ${rust_bin}linked_complete ${INLAY_TEST_MODEL} "Once upon a time" 20)
set_tests_properties(bindings.rust_linked PROPERTIES PASS_REGULAR_EXPRESSION "${tale}")

# What the compiler refuses, and that it accepts the crate without a warning in each edition.
binding_test(rust_compile_cases Python3::Interpreter -B ${rust_tests}/compile_cases.py ${INLAY_RUSTC})
binding_test(rust_dependent Python3::Interpreter -B ${rust_tests}/dependent.py ${INLAY_CARGO} ${rust_target})
binding_test(rust_emitters ${CMAKE_COMMAND} -E env RUSTC=${INLAY_RUSTC} ${Python3_EXECUTABLE} -B tests/bindings/test_emit_rust.py)

# The build says what it misses, without the library and with a folder that has none.
foreach(name unset other)
  set(lib_dir -u INLAY_LIB_DIR)
  if(name STREQUAL other)
    set(lib_dir INLAY_LIB_DIR=${rust_tests})
  endif()
  binding_test(rust_link_says_what_it_misses_${name} env ${lib_dir} PKG_CONFIG_LIBDIR=${rust_tests} PKG_CONFIG_PATH= RUSTC=${INLAY_RUSTC}
               CARGO_TARGET_DIR=${rust_target}-missing ${INLAY_CARGO} check --offline --locked --no-default-features --features=link
               --manifest-path=${rust_crate}/Cargo.toml)
endforeach()
set_tests_properties(bindings.rust_link_says_what_it_misses_unset PROPERTIES PASS_REGULAR_EXPRESSION
                     "the feature .link. needs the Inlay library: INLAY_LIB_DIR is not set.* pkg-config does not know it")
set_tests_properties(bindings.rust_link_says_what_it_misses_other PROPERTIES PASS_REGULAR_EXPRESSION "INLAY_LIB_DIR is .*: it has no libinlay.so")
set_property(TEST bindings.rust_link_says_what_it_misses_unset bindings.rust_link_says_what_it_misses_other PROPERTY RESOURCE_LOCK rust_missing)

binding_test(rust_examples_everywhere Python3::Interpreter -B tests/bindings/test_rust_examples.py)
foreach(check format clippy documentation package)
  binding_test(rust_${check} ${rust_tests}/check_sources.sh ${check} ${INLAY_CARGO} ${rust_target})
  # They have one target folder, in which rust_build may replace what the examples of the documentation are being linked with.
  set_tests_properties(bindings.rust_${check} PROPERTIES FIXTURES_REQUIRED rust_programs)
endforeach()
