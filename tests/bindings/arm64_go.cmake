# Go on ARM64 Linux: cross-built with cgo, run under qemu on the library of this build. tests/cross includes this. Continuous integration, whose part
# is named cross.*, leaves these out: they take minutes.
find_program(INLAY_GO go)
if(NOT INLAY_GO OR NOT CMAKE_CROSSCOMPILING_EMULATOR)
  add_test(NAME arm64.go_build COMMAND ${CMAKE_COMMAND} -E echo "skipped: needs Go: and qemu, which runs what it builds")
  set_tests_properties(arm64.go_build PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  return()
endif()
set(bindings_tests ${PROJECT_SOURCE_DIR}/tests/bindings)
set(go_folder ${PROJECT_BINARY_DIR}/bindings/go)
set(go_bin ${go_folder}/bin/arm64)
set(model ${PROJECT_SOURCE_DIR}/examples/model/tales.gguf)
file(MAKE_DIRECTORY ${go_folder}/bin)
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " run)

# go_test(NAME COMMAND...)
function(go_test name)
  add_test(NAME arm64.go_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/go COMMAND ${ARGN})
  set_tests_properties(arm64.go_${name} PROPERTIES TIMEOUT ${INLAY_PATIENCE} ENVIRONMENT
                       "INLAY_LIBRARY=$<TARGET_FILE:inlay>;INLAY_TEST_MODEL=${model};INLAY_TEST_LIBRARIES=${go_folder}/libraries")
endfunction()

go_test(build ${CMAKE_COMMAND} -E env GOCACHE=${INLAY_GO_CACHE} GOPATH=${go_folder}/path GOPROXY=off GOFLAGS=-buildvcs=false CC=${CMAKE_C_COMPILER}
        ${bindings_tests}/go/foreign.sh linux/arm64 ${INLAY_GO} ${Python3_EXECUTABLE} ${go_bin} ${go_folder}/libraries)
set(draw "${run} ${go_bin}_tokens $<TARGET_FILE:inlay> ${model} cpu ${bindings_tests}/cases.tsv")
go_test(tokens sh -c "${draw} | diff ${bindings_tests}/tokens.txt -")
go_test(tokens_refuse_other sh -c "${draw} | sed 's/ 11 / 12 /' | diff ${bindings_tests}/tokens.txt -")
set_tests_properties(arm64.go_tokens_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "> [a-z0-9_]+ .* 12 ")
go_test(layout sh -c "${run} ${go_bin}_layout | diff ${PROJECT_SOURCE_DIR}/tests/capi/layout.txt -")
go_test(complete sh -c "${run} ${go_bin}_complete ${model} 'Once upon a time' 20")
set_tests_properties(arm64.go_complete PROPERTIES PASS_REGULAR_EXPRESSION "^Once upon a time, [a-z]+ .*\n$")
# Of the package's tests those that take an emulator seconds. Others take it minutes, or start this program again, which then has no emulator.
set(names
    TestAQueueKeepsItsEngine TestAccept TestAllAndChannel TestAllIsAnIterator TestAllOfAnAnswerIsAnIterator TestAnyOrderOfClose
    TestBOSOnlyAtTheBeginning TestBufferTooSmall TestBusy TestCancelARequest TestChatErrors TestChatFormatsAreNamed TestChatGoesOnFromMessages
    TestChatHasOneAnswerAtATime TestChatTakesALineBack TestChatUnderAConstraint TestEveryCgoCheckSeesAGoPointerInCMemory TestExplain
    TestStopAndSampler)
list(JOIN names "|" names)
go_test(tests ${CMAKE_CROSSCOMPILING_EMULATOR} ${go_bin}_test -test.v -test.run "^(${names})$")
set_tests_properties(arm64.go_build PROPERTIES FIXTURES_SETUP arm64_go)
foreach(name tokens tokens_refuse_other layout complete tests)
  set_property(TEST arm64.go_${name} APPEND PROPERTY FIXTURES_REQUIRED arm64_go)
endforeach()
