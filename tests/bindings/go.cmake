# Go: its programs and its test program are built by a test and can be carried to another machine.
find_program(INLAY_GO go)
if(NOT INLAY_GO)
  binding_absent(go "no go on PATH")
  return()
endif()

set(go_source ${CMAKE_SOURCE_DIR}/bindings/go)
set(go_bin ${CMAKE_BINARY_DIR}/bin)
set(go_programs tokens call_cost layout)
# Offline, and with nothing outside the build folder.
set(go ${CMAKE_COMMAND} -E env GOCACHE=${INLAY_BINDINGS_BUILD}/go/cache GOPATH=${INLAY_BINDINGS_BUILD}/go/path GOPROXY=off
       GOFLAGS=-buildvcs=false CGO_ENABLED=1 CC=${CMAKE_C_COMPILER})

# go_test(NAME COMMAND...): a test that runs in the package's folder.
function(go_test name)
  binding_test(go_${name} ${go} ${ARGN})
  set_tests_properties(bindings.go_${name} PROPERTIES WORKING_DIRECTORY ${go_source})
endfunction()

set(build_programs "")
foreach(program ${go_programs})
  list(APPEND build_programs "${INLAY_GO} build -o ${go_bin}/binding_go_${program} ./internal/${program}")
endforeach()
list(JOIN build_programs " && " build_programs)
go_test(build sh -c "${build_programs}")
set_tests_properties(bindings.go_build PROPERTIES FIXTURES_SETUP go_programs)

binding_programs(go FIXTURE go_programs TOKENS ${go_bin}/binding_go_tokens CALL_COST ${go_bin}/binding_go_call_cost)

# Layouts and numbers as the Go compiler sees them, against the generator's.
set(layout_text ${CMAKE_SOURCE_DIR}/tests/capi/layout.txt)
go_test(layout sh -c "${go_bin}/binding_go_layout | diff ${layout_text} -")
go_test(layout_refuses_other sh -c "${go_bin}/binding_go_layout | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
set_tests_properties(bindings.go_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")
set_tests_properties(bindings.go_layout bindings.go_layout_refuses_other PROPERTIES FIXTURES_REQUIRED go_programs)
