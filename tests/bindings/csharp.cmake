# C# on Mono: one test builds the binding, its examples and the test programs, below the build folder.
binding_test(csharp_emitter Python3::Interpreter -B tests/bindings/test_emit_csharp.py)

find_program(INLAY_MCS mcs)
find_program(INLAY_MONO mono)
find_program(INLAY_MAKE make)
set(csharp_absent "no mcs, mono or make on PATH")
if(INLAY_MCS AND INLAY_MONO AND INLAY_MAKE)
  binding_tool(csharp_absent ${INLAY_MCS} --version)
endif()
if(csharp_absent)
  binding_absent(csharp "${csharp_absent}")
  return()
endif()

set(csharp_out ${INLAY_BINDINGS_BUILD}/csharp)
file(MAKE_DIRECTORY ${csharp_out})
set(mono ${INLAY_MONO} --debug)

set(compile "${INLAY_MCS} -nologo -unsafe -langversion:7.2 -warn:4 -warnaserror -debug -r:System.Core -r:${csharp_out}/Inlay.dll")
set(csharp_build "${INLAY_MAKE} -s -C bindings/csharp OUT=${csharp_out} MCS=${INLAY_MCS}")
foreach(program LayoutProbe Tokens CallCost)
  string(APPEND csharp_build " && ${compile} -out:${csharp_out}/${program}.exe tests/bindings/csharp/${program}.cs")
endforeach()
string(APPEND csharp_build " && ${compile} -out:${csharp_out}/Tests.exe tests/bindings/csharp/tests/*.cs")
binding_test(csharp_build sh -c "${csharp_build}")
set_tests_properties(bindings.csharp_build PROPERTIES FIXTURES_SETUP csharp_programs)

binding_programs(csharp FIXTURE csharp_programs TOKENS ${mono} ${csharp_out}/Tokens.exe CALL_COST ${mono} ${csharp_out}/CallCost.exe)

# csharp_test(NAME COMMAND...): a test that runs what was built, in the build folder: Mono leaves its crash reports where it ran.
function(csharp_test name)
  binding_test(csharp_${name} ${ARGN})
  set_tests_properties(bindings.csharp_${name} PROPERTIES FIXTURES_REQUIRED csharp_programs WORKING_DIRECTORY ${csharp_out})
endfunction()

# Layouts and numbers as the C# runtime sees them, against the generator's.
set(probe "${INLAY_MONO} ${csharp_out}/LayoutProbe.exe")
set(layout_text ${CMAKE_SOURCE_DIR}/tests/capi/layout.txt)
csharp_test(layout sh -c "${probe} | diff ${layout_text} -")
csharp_test(layout_refuses_other sh -c "${probe} | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
set_tests_properties(bindings.csharp_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")

# The tests, as they are and with a garbage collector that comes all the time: small nurseries, a collection before many an
# allocation, freed objects overwritten, the heap verified, threads stopped by signals. Mono checks mark bits rightly with the
# serial collector only.
set(tests ${mono} ${csharp_out}/Tests.exe)
csharp_test(tests ${tests})
set(environment ${CMAKE_COMMAND} -E env INLAY_TEST_DROPPED=2000)
csharp_test(gc_small_nursery ${environment} MONO_GC_PARAMS=nursery-size=64k MONO_THREADS_SUSPEND=preemptive ${tests})
csharp_test(gc_before_allocations ${environment} MONO_GC_PARAMS=nursery-size=64k
            MONO_GC_DEBUG=collect-before-allocs=50,clear-at-gc,nursery-canaries ${tests})
csharp_test(gc_verified ${environment} MONO_GC_PARAMS=major=marksweep
            MONO_GC_DEBUG=verify-before-collections,check-mark-bits,clear-at-gc ${tests})

# The checks themselves: all of these must fail.
csharp_test(tests_refuse_other ${tests} WrongTests)
set_tests_properties(bindings.csharp_tests_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "0 passed, 8 failed, 0 skipped")

# How the library is found, each case in a process of its own.
function(csharp_lookup name test library)
  csharp_test(${name} ${CMAKE_COMMAND} -E env --unset=INLAY_LIBRARY "INLAY_TEST_OTHER=${library}" ${tests} LookupTests.${test})
endfunction()
csharp_lookup(finds_nothing NothingIsFound "")
csharp_lookup(given_path_only AGivenPathIsTheOnlyOneTried "")
csharp_lookup(another_library AnotherLibrary $<TARGET_FILE:capi_replaces_malloc>)
csharp_lookup(another_major AnotherMajor $<TARGET_FILE:capi_other_library>)
csharp_lookup(lacking_library ALibraryThatLacksAFunction $<TARGET_FILE:capi_lacking_library>)
csharp_lookup(older_library AnOlderMinor $<TARGET_FILE:capi_older_library>)

# csharp_example(NAME TEXT ARGUMENTS...): an example writes this.
function(csharp_example name text)
  csharp_test(example_${name} ${INLAY_MONO} ${csharp_out}/${name}.exe ${INLAY_TEST_MODEL} ${ARGN})
  set_tests_properties(bindings.csharp_example_${name} PROPERTIES PASS_REGULAR_EXPRESSION "${text}")
endfunction()
csharp_example(complete "Once upon a time, a " "Once upon a time" 16)
csharp_example(eight "8 sessions, [0-9]+ steps" 16)
csharp_example(cancel "cancelled by token after [0-9]+ tokens.*cancelled by session after [0-9]+ events")
csharp_example(game_loop "silent +60 frames.*talking +60 frames.*[1-9][0-9]+ tokens" 1)
