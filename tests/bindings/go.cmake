# Go. A test builds the programs and the test programs; all of them, bin/binding_go_*, can be carried to another machine.
binding_test(go_emitters Python3::Interpreter -B tests/bindings/test_emit_go.py)
find_program(INLAY_GO go)
set(go_absent "there is none on PATH")
if(INLAY_GO)
  binding_tool(go_absent ${INLAY_GO} version)
endif()
if(go_absent)
  set(go_absent "needs Go: ${go_absent}")
  binding_absent(go "${go_absent}")
  binding_skip(go_build "${go_absent}")
  return()
endif()

set(go_source ${PROJECT_SOURCE_DIR}/bindings/go)
set(go_tests ${CMAKE_CURRENT_LIST_DIR}/go)
set(go_bin ${PROJECT_BINARY_DIR}/bin/binding_go)
# Offline, and with nothing written outside the build folder.
set(go ${CMAKE_COMMAND} -E env GOCACHE=${INLAY_GO_CACHE} GOPATH=${INLAY_BINDINGS_BUILD}/go/path GOPROXY=off
       GOFLAGS=-buildvcs=false CGO_ENABLED=1 CC=${CMAKE_C_COMPILER})

# go_test(NAME [NEEDS_BUILD] COMMAND...): a test that runs in the folder of the package.
function(go_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "NEEDS_BUILD" "" "")
  binding_test(go_${name} ${go} ${test_UNPARSED_ARGUMENTS})
  set_tests_properties(bindings.go_${name} PROPERTIES WORKING_DIRECTORY ${go_source})
  if(test_NEEDS_BUILD)
    set_tests_properties(bindings.go_${name} PROPERTIES FIXTURES_REQUIRED go_programs)
  endif()
endfunction()

# ---- programs

# Every check of cgo's pointers is chosen by an experiment when a program is built, or, before Go 1.21, which has no such experiment,
# by GODEBUG when it runs. The one refuses the other.
set(go_experiment cgocheck2)
set(go_checked "")
execute_process(COMMAND ${go} GOEXPERIMENT=${go_experiment} ${INLAY_GO} version RESULT_VARIABLE go_refused OUTPUT_QUIET ERROR_QUIET)
if(go_refused)
  set(go_experiment "")
  set(go_checked GODEBUG=cgocheck=2)
endif()

go_test(build ${go_tests}/build.sh ${INLAY_GO} ${go_bin} ${go_experiment})
set_tests_properties(bindings.go_build PROPERTIES FIXTURES_SETUP go_programs)
binding_programs(go FIXTURE go_programs TOKENS ${go_bin}_tokens CALL_COST ${go_bin}_call_cost EXAMPLES ${go_bin}_{})

# ---- layouts and numbers as the Go compiler sees them, against the generator's

set(layout_text ${PROJECT_SOURCE_DIR}/tests/capi/layout.txt)
go_test(layout NEEDS_BUILD sh -c "${go_bin}_layout | diff ${layout_text} -")
go_test(layout_refuses_other NEEDS_BUILD sh -c "${go_bin}_layout | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
set_tests_properties(bindings.go_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")

# ---- the package's tests: with every check of cgo's pointers, and under the race detector

# Libraries of other versions, made for the C tests, and one that lacks functions of the version that it claims.
set(other_libraries ${PROJECT_BINARY_DIR}/tests/capi)
add_library(bindings_go_incomplete SHARED ${go_tests}/incomplete_library.c)
set_target_properties(bindings_go_incomplete PROPERTIES OUTPUT_NAME inlay SOVERSION 1 C_VISIBILITY_PRESET default
                      LIBRARY_OUTPUT_DIRECTORY ${other_libraries}/go_incomplete_library)
set(go_environment ${CMAKE_COMMAND} -E env INLAY_TEST_LIBRARIES=${other_libraries})
go_test(tests NEEDS_BUILD ${go_environment} ${go_checked} ${go_bin}_test -test.v)
go_test(cgo_checks_are_seen NEEDS_BUILD ${CMAKE_COMMAND} -E env INLAY_TEST_CGO_CHECKS=1 ${go_checked} ${go_bin}_test
        -test.run EveryCgoCheck)
set_tests_properties(bindings.go_cgo_checks_are_seen PROPERTIES PASS_REGULAR_EXPRESSION "Go pointer stored into non-Go memory")
go_test(race NEEDS_BUILD ${go_environment} GORACE=halt_on_error=1 ${go_bin}_race -test.v)
set_tests_properties(bindings.go_tests bindings.go_race PROPERTIES PROCESSORS 2)
# With a garbage collector that comes all the time.
go_test(stress NEEDS_BUILD ${CMAKE_COMMAND} -E env GOGC=1 GORACE=halt_on_error=1 ${go_bin}_race -test.v -test.run TestStress)
go_test(race_is_seen NEEDS_BUILD ${CMAKE_COMMAND} -E env INLAY_TEST_RACE=1 ${go_bin}_race -test.run RaceDetector)
set_tests_properties(bindings.go_race_is_seen PROPERTIES PASS_REGULAR_EXPRESSION "WARNING: DATA RACE")
set(go_python $<TARGET_FILE:Python3::Interpreter> -B)
if(INLAY_BUILD_EXAMPLES)
  go_test(examples NEEDS_BUILD ${go_python} ${go_tests}/test_examples.py ${PROJECT_BINARY_DIR}/bin)
  set_tests_properties(bindings.go_examples PROPERTIES PROCESSORS 2)
endif()

go_test(example_chat NEEDS_BUILD ${go_python} ${CMAKE_CURRENT_LIST_DIR}/chat_example.py ${INLAY_TEST_MODEL} ${go_bin}_chat)
go_test(example_http NEEDS_BUILD ${go_python} ${CMAKE_CURRENT_LIST_DIR}/go_http_example.py ${go_bin}_http ${INLAY_TEST_MODEL})
go_test(example_http_race NEEDS_BUILD ${CMAKE_COMMAND} -E env GORACE=halt_on_error=1
        ${go_python} ${CMAKE_CURRENT_LIST_DIR}/go_http_example.py ${go_bin}_http_race ${INLAY_TEST_MODEL})
set_tests_properties(bindings.go_example_chat bindings.go_example_http bindings.go_example_http_race PROPERTIES PROCESSORS 2)

# ---- without cgo, on this system and others

go_test(cross NEEDS_BUILD ${go_tests}/cross.sh ${INLAY_GO})
set_tests_properties(bindings.go_cross PROPERTIES PASS_REGULAR_EXPRESSION "--- PASS: TestWithoutCgo")
go_test(cross_refuses_errors NEEDS_BUILD ${go_tests}/cross.sh ${INLAY_GO} no/such)
set_tests_properties(bindings.go_cross_refuses_errors PROPERTIES PASS_REGULAR_EXPRESSION "unsupported GOOS/GOARCH")

# ---- the form of the sources

cmake_path(GET INLAY_GO PARENT_PATH go_folder)
find_program(INLAY_GOFMT gofmt HINTS ${go_folder})
set(check_form ${go_tests}/form.sh ${INLAY_GO} ${INLAY_GOFMT})
go_test(form NEEDS_BUILD ${check_form} ${go_source})
go_test(form_refuses_bad_format NEEDS_BUILD ${check_form} ${go_tests}/wrong/format)
set_tests_properties(bindings.go_form_refuses_bad_format PROPERTIES PASS_REGULAR_EXPRESSION "badly formatted: wrong.go")
go_test(form_refuses_bad_calls NEEDS_BUILD ${check_form} ${go_tests}/wrong/call)
set_tests_properties(bindings.go_form_refuses_bad_calls PROPERTIES PASS_REGULAR_EXPRESSION "Printf format %d has arg")
