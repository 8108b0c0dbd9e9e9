# The tests of the C# binding on one runtime: csharp_tests(LANGUAGE FOLDER RUNNER SUFFIX), where RUNNER FOLDER/NAMESUFFIX runs the
# program NAME. The fixture LANGUAGE_programs builds them.

# csharp_test(LANGUAGE NAME COMMAND...): a test that runs what was built, in its folder.
function(csharp_test language name)
  binding_test(${language}_${name} ${ARGN})
  set_tests_properties(bindings.${language}_${name} PROPERTIES FIXTURES_REQUIRED ${language}_programs
                       WORKING_DIRECTORY ${INLAY_BINDINGS_BUILD}/${language})
endfunction()

function(csharp_tests language folder runner suffix)
  # Layouts and numbers as the runtime sees them, against the generator's.
  string(REPLACE ";" " " probe "${runner} ${folder}/LayoutProbe${suffix}")
  set(layout_text ${PROJECT_SOURCE_DIR}/tests/capi/layout.txt)
  csharp_test(${language} layout sh -c "${probe} | diff ${layout_text} -")
  csharp_test(${language} layout_refuses_other sh -c "${probe} | sed 's/offset 8 /offset 16 /' | diff ${layout_text} -")
  set_tests_properties(bindings.${language}_layout_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "> field .* offset 16")

  set(tests ${runner} ${folder}/Tests${suffix})
  csharp_test(${language} tests ${tests})

  # The checks themselves: all of these must fail.
  csharp_test(${language} tests_refuse_other ${tests} WrongTests)
  set_tests_properties(bindings.${language}_tests_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "0 passed, 8 failed, 0 skipped")

  # How the library is found, each case in a process of its own.
  set(cases finds_nothing/NothingIsFound given_path_only/AGivenPathIsTheOnlyOneTried another_library/AnotherLibrary
            another_major/AnotherMajor lacking_library/ALibraryThatLacksAFunction older_library/AnOlderMinor)
  set(libraries "" "" $<TARGET_FILE:capi_replaces_malloc> $<TARGET_FILE:capi_other_library> $<TARGET_FILE:capi_lacking_library>
                $<TARGET_FILE:capi_older_library>)
  foreach(case library IN ZIP_LISTS cases libraries)
    string(REPLACE "/" ";" case ${case})
    list(GET case 0 name)
    list(GET case 1 test)
    csharp_test(${language} ${name} ${CMAKE_COMMAND} -E env --unset=INLAY_LIBRARY "INLAY_TEST_OTHER=${library}" ${tests} LookupTests.${test})
  endforeach()

  csharp_test(${language} found_file ${CMAKE_COMMAND} -E env --unset=INLAY_LIBRARY "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:inlay>" ${tests}
              LookupTests.TheFileThatWasFoundIsTold)

  # The examples: what each writes.
  set(ranked "The fox ran into the forest." "A queen lived in a castle." "The fox ran into the woods." "The fox ran into the forest.")
  set(model ${INLAY_TEST_MODEL})
  csharp_test(${language} example_complete ${runner} ${folder}/complete${suffix} ${model} "Once upon a time" 16)
  csharp_test(${language} example_eight ${runner} ${folder}/eight${suffix} ${model} 8)
  csharp_test(${language} example_requests ${runner} ${folder}/requests${suffix} ${model} 8)
  csharp_test(${language} example_cancel ${runner} ${folder}/cancel${suffix} ${model} 100)
  csharp_test(${language} example_embeddings ${runner} ${folder}/embeddings${suffix} ${model} ${ranked})
  csharp_test(${language} example_game_loop ${runner} ${folder}/game_loop${suffix} ${model} 1)
  set(complete "Once upon a time, a ")
  set(eight "^Once upon a time[^\n]+\nThe old fox said[^\n]+\n([^\n]+\n)*The bear woke up[^\n]+\n$")
  set(requests "^Once upon a time[^\n]+\nThe old fox said[^\n]+\nIn a small house[^\n]+\n$")
  set(cancel "cancelled after [1-9][0-9]* tokens[^\n]*session\ncancelled after [1-9][0-9]* tokens[^\n]*token\n")
  set(game_loop "silent +60 frames.*talking +60 frames.*[1-9][0-9]+ tokens")
  set(embeddings "^1.0000  [^\n]*forest.\n0[^\n]*woods.\n0[^\n]*castle.\n$")
  foreach(example complete eight requests cancel game_loop embeddings)
    set_tests_properties(bindings.${language}_example_${example} PROPERTIES PASS_REGULAR_EXPRESSION "${${example}}")
  endforeach()
endfunction()
