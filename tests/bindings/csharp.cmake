# C# on Mono: one test builds the binding, its examples and the test programs, below the build folder.
binding_test(csharp_emitter Python3::Interpreter -B tests/bindings/test_emit_csharp.py)
binding_test(csharp_plain Python3::Interpreter -B tests/bindings/test_plain_csharp.py)

find_program(INLAY_MCS mcs)
find_program(INLAY_MONO mono)
find_program(INLAY_MAKE make)
set(csharp_absent "mcs, mono or make is not on PATH")
if(INLAY_MCS AND INLAY_MONO AND INLAY_MAKE)
  binding_tool(csharp_absent ${INLAY_MCS} --version)
endif()
if(csharp_absent)
  binding_absent(csharp "needs Mono: ${csharp_absent}")
  return()
endif()

set(csharp_out ${INLAY_BINDINGS_BUILD}/csharp)
file(MAKE_DIRECTORY ${csharp_out})
set(mono ${INLAY_MONO} --debug)

set(compile "${INLAY_MCS} -nologo -unsafe -langversion:7.2 -warn:4 -warnaserror -debug -r:System.Core -r:${csharp_out}/Inlay.dll")
set(csharp_build "${INLAY_MAKE} -s -C bindings/csharp OUT=${csharp_out} MCS=${INLAY_MCS} PYTHON=${Python3_EXECUTABLE}")
foreach(program LayoutProbe Tokens CallCost)
  string(APPEND csharp_build " && ${compile} -out:${csharp_out}/${program}.exe tests/bindings/csharp/${program}.cs")
endforeach()
string(APPEND csharp_build " && ${compile} -out:${csharp_out}/Tests.exe tests/bindings/csharp/tests/*.cs")
binding_test(csharp_build sh -c "${csharp_build}")
set_tests_properties(bindings.csharp_build PROPERTIES FIXTURES_SETUP csharp_programs)

binding_programs(csharp FIXTURE csharp_programs TOKENS ${mono} ${csharp_out}/Tokens.exe CALL_COST ${mono} ${csharp_out}/CallCost.exe
                 EXAMPLES ${mono} ${csharp_out}/{}.exe)

# Mono leaves its crash reports where it ran.
csharp_tests(csharp ${csharp_out} "${INLAY_MONO};--debug" .exe)
set(tests ${mono} ${csharp_out}/Tests.exe)

# The programs of the README.
set(readme Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/csharp_readme.py ${INLAY_MCS} ${INLAY_MONO} ${csharp_out} ${INLAY_TEST_MODEL})
csharp_test(csharp readme_programs ${readme})
csharp_test(csharp readme_refuses_other ${readme} WRONG)
set_tests_properties(bindings.csharp_readme_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "Tales does not compile:.*Submitx")
# Both write the same files.
set_tests_properties(bindings.csharp_readme_programs bindings.csharp_readme_refuses_other PROPERTIES RESOURCE_LOCK csharp_readme)

# With a garbage collector that comes all the time: small nurseries, a collection before many an allocation, freed objects
# overwritten, the heap verified, threads stopped by signals. Mono checks mark bits rightly with the serial collector only.
set(environment ${CMAKE_COMMAND} -E env INLAY_TEST_DROPPED=2000)
csharp_test(csharp gc_small_nursery ${environment} MONO_GC_PARAMS=nursery-size=64k MONO_THREADS_SUSPEND=preemptive ${tests})
# Where such a collection leaves no room for an array in one piece, Mono 6.8 fails an assertion of its own (sgen-alloc.c:162): with 64 KB,
# and with 128 KB in tests of 50 tasks. The size does not change how often it collects.
csharp_test(csharp gc_before_allocations ${environment} MONO_GC_PARAMS=nursery-size=512k
            MONO_GC_DEBUG=collect-before-allocs=50,clear-at-gc,nursery-canaries ${tests})
csharp_test(csharp gc_verified ${environment} MONO_GC_PARAMS=major=marksweep
            MONO_GC_DEBUG=verify-before-collections,check-mark-bits,clear-at-gc ${tests})
