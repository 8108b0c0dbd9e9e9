# C# on Mono: one test builds the binding, its examples and the test programs, below the build folder.
find_program(INLAY_MCS mcs)
find_program(INLAY_MONO mono)
find_program(INLAY_MAKE make)
if(NOT INLAY_MCS OR NOT INLAY_MONO OR NOT INLAY_MAKE)
  binding_absent(csharp "no mcs, mono or make on PATH")
  return()
endif()

set(csharp_out ${INLAY_BINDINGS_BUILD}/csharp)
set(mono ${INLAY_MONO} --debug)

set(compile "${INLAY_MCS} -nologo -unsafe -langversion:7.2 -warn:4 -warnaserror -debug -r:${csharp_out}/Inlay.dll")
set(csharp_build "${INLAY_MAKE} -s -C bindings/csharp OUT=${csharp_out} MCS=${INLAY_MCS}")
foreach(program LayoutProbe Tokens CallCost)
  string(APPEND csharp_build " && ${compile} -out:${csharp_out}/${program}.exe tests/bindings/csharp/${program}.cs")
endforeach()
binding_test(csharp_build sh -c "${csharp_build}")
set_tests_properties(bindings.csharp_build PROPERTIES FIXTURES_SETUP csharp_programs)

binding_programs(csharp FIXTURE csharp_programs TOKENS ${mono} ${csharp_out}/Tokens.exe CALL_COST ${mono} ${csharp_out}/CallCost.exe)

# csharp_test(NAME COMMAND...): a test that runs what was built.
function(csharp_test name)
  binding_test(csharp_${name} ${ARGN})
  set_tests_properties(bindings.csharp_${name} PROPERTIES FIXTURES_REQUIRED csharp_programs)
endfunction()

# Layouts and numbers as the C# runtime sees them, against the generator's.
set(probe "${INLAY_MONO} ${csharp_out}/LayoutProbe.exe")
csharp_test(layout sh -c "${probe} | diff tests/capi/layout.txt -")
csharp_test(layout_refuses_other sh -c "${probe} | sed 's/offset 8 /offset 16 /' | diff tests/capi/layout.txt -")
set_tests_properties(bindings.csharp_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")
