# Go on Windows: programs and tests that cgo cross-builds, run on the library of this build. tests/windows includes this.
find_program(INLAY_GO go)
set(reason "")
if(NOT INLAY_GO)
  set(reason "needs Go: there is none on PATH")
elseif(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(reason "needs Wine: these programs are built on Linux")
endif()
if(reason)
  add_test(NAME windows.go_build COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(windows.go_build PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  return()
endif()

set(bindings_tests ${CMAKE_SOURCE_DIR}/tests/bindings)
set(go_folder ${CMAKE_BINARY_DIR}/bindings/go)
# Not in the library's folder, where the system looks first.
set(go_bin ${go_folder}/bin/windows)
file(MAKE_DIRECTORY ${go_folder}/bin)
add_test(NAME windows.go_build WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/bindings/go
         COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${go_folder}/cache GOPATH=${go_folder}/path GOPROXY=off GOFLAGS=-buildvcs=false
         CC=${CMAKE_C_COMPILER} ${bindings_tests}/go/windows.sh ${INLAY_GO} $<TARGET_FILE:Python3::Interpreter> ${go_bin} ${go_folder}/libraries)
set_tests_properties(windows.go_build PROPERTIES FIXTURES_SETUP windows_go)

# go_windows_test(NAME COMMAND...): with the environment of the bindings' tests.
function(go_windows_test name)
  add_test(NAME windows.go_${name} COMMAND ${ARGN})
  set_tests_properties(windows.go_${name} PROPERTIES FIXTURES_REQUIRED windows_go ENVIRONMENT
                       "INLAY_LIBRARY=$<TARGET_FILE:inlay>;INLAY_TEST_MODEL=${model};INLAY_TEST_LIBRARIES=${go_folder}/libraries")
endfunction()

# Tokens are those that C draws on Linux, byte for byte; layouts are the generator's.
set(run ${CMAKE_CROSSCOMPILING_EMULATOR})
set(draw "${run} ${go_bin}_tokens.exe $<TARGET_FILE:inlay> ${model} cpu ${bindings_tests}/cases.tsv")
go_windows_test(tokens sh -c "${draw} | diff ${bindings_tests}/tokens.txt -")
go_windows_test(tokens_refuse_other sh -c "${draw} | sed 's/ 11 / 12 /' | diff ${bindings_tests}/tokens.txt -")
set_tests_properties(windows.go_tokens_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "> [a-z0-9_]+ .* 12 ")
go_windows_test(layout sh -c "${run} ${go_bin}_layout.exe | diff ${CMAKE_SOURCE_DIR}/tests/capi/layout.txt -")

# A program finds the library that lies beside it, and says what it looked for where there is none.
set(beside ${go_folder}/beside)
go_windows_test(library_beside sh -ec "mkdir -p ${beside} && cp ${go_bin}_complete.exe $<TARGET_FILE:inlay> ${beside} && unset INLAY_LIBRARY && \
                ${run} ${beside}/windows_complete.exe ${model} 'Once upon a time' 20")
set_tests_properties(windows.go_library_beside PROPERTIES PASS_REGULAR_EXPRESSION "^Once upon a time, [a-z]+ .*\n$")
go_windows_test(without_library env -u INLAY_LIBRARY ${run} ${go_bin}_complete.exe ${model} "Once upon a time" 20)
set_tests_properties(windows.go_without_library PROPERTIES PASS_REGULAR_EXPRESSION "no Inlay library: cannot load libinlay.dll: error 126")

# The package's tests.
go_windows_test(tests ${run} ${go_bin}_test.exe -test.v)
