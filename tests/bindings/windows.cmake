# The languages on Windows: programs and tests that are built on Linux, run on the library of this build. tests/windows includes this.
set(run ${CMAKE_CROSSCOMPILING_EMULATOR})
set(bindings_tests ${PROJECT_SOURCE_DIR}/tests/bindings)
set(layout_text ${PROJECT_SOURCE_DIR}/tests/capi/layout.txt)

# windows_test(LANGUAGE NAME COMMAND...): with the environment of the bindings' tests, after the language's build.
function(windows_test language name)
  add_test(NAME windows.${language}_${name} COMMAND ${ARGN})
  set_tests_properties(windows.${language}_${name} PROPERTIES FIXTURES_REQUIRED windows_${language} ENVIRONMENT
                       "INLAY_LIBRARY=$<TARGET_FILE:inlay>;INLAY_TEST_MODEL=${model};INLAY_TEST_LIBRARIES=${PROJECT_BINARY_DIR}/bindings/go/libraries")
endfunction()

# windows_prints(LANGUAGE TOKENS LAYOUT): the programs that every language has. Tokens are those that C draws on Linux, byte for byte;
# layouts are the generator's.
function(windows_prints language tokens layout)
  set(draw "${run} ${tokens} $<TARGET_FILE:inlay> ${model} cpu ${bindings_tests}/cases.tsv")
  windows_test(${language} tokens sh -c "${draw} | diff ${bindings_tests}/tokens.txt -")
  windows_test(${language} tokens_refuse_other sh -c "${draw} | sed 's/ 11 / 12 /' | diff ${bindings_tests}/tokens.txt -")
  set_tests_properties(windows.${language}_tokens_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "> [a-z0-9_]+ .* 12 ")
  windows_test(${language} layout sh -c "${run} ${layout} | diff ${layout_text} -")
endfunction()

include(${bindings_tests}/windows_go.cmake)
include(${bindings_tests}/windows_rust.cmake)
