# Go: cross-built with cgo.
find_program(INLAY_GO go)
set(reason "")
if(NOT INLAY_GO)
  set(reason "needs Go: there is none on PATH")
elseif(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(reason "needs Wine: these programs are built on Linux")
endif()
if(reason)
  windows_skip(go_build "${reason}")
  return()
endif()

set(go_folder ${PROJECT_BINARY_DIR}/bindings/go)
# Not in the library's folder, where the system looks first.
set(go_bin ${go_folder}/bin/windows)
file(MAKE_DIRECTORY ${go_folder}/bin)
add_test(NAME windows.go_build WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/go
         COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${INLAY_GO_CACHE} GOPATH=${go_folder}/path GOPROXY=off GOFLAGS=-buildvcs=false
         CC=${CMAKE_C_COMPILER} ${bindings_tests}/go/foreign.sh windows/amd64 ${INLAY_GO} ${Python3_EXECUTABLE} ${go_bin} ${go_folder}/libraries)
set_tests_properties(windows.go_build PROPERTIES FIXTURES_SETUP windows_go)

windows_prints(go ${go_bin}_tokens.exe ${go_bin}_layout.exe)

# A program finds the library that lies beside it, and says what it looked for where there is none.
set(beside ${go_folder}/beside)
windows_test(go library_beside sh -ec "mkdir -p ${beside} && cp ${go_bin}_complete.exe $<TARGET_FILE:inlay> ${beside} && unset INLAY_LIBRARY && \
                ${run} ${beside}/windows_complete.exe ${model} 'Once upon a time' 20")
set_tests_properties(windows.go_library_beside PROPERTIES PASS_REGULAR_EXPRESSION "^Once upon a time, [a-z]+ .*\n$")
windows_test(go without_library env -u INLAY_LIBRARY ${run} ${go_bin}_complete.exe ${model} "Once upon a time" 20)
set_tests_properties(windows.go_without_library PROPERTIES PASS_REGULAR_EXPRESSION "no Inlay library: cannot load libinlay.dll: error 126")

# The package's tests.
windows_test(go tests ${run} ${go_bin}_test.exe -test.v)
