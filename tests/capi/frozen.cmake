# Frozen versions of the ABI: their clients run on this library, and clients of this version meet an older library.
set(complete ${INLAY_EMULATOR} $<TARGET_FILE:example_complete> ${PROJECT_SOURCE_DIR}/examples/model/tales.gguf)

if(NOT WIN32)
  capi_test(abi_dump ${Python3_EXECUTABLE} -B tests/capi/test_abi_dump.py)
  set_tests_properties(capi.abi_dump PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT CC=${CMAKE_C_COMPILER})
endif()
if(NOT INLAY_SANITIZE AND NOT WIN32)
  capi_test(abi_is_kept ${Python3_EXECUTABLE} -B bindings/abi_dump.py --check ${INLAY_LIBRARY})
  capi_test(abi_is_kept_refuses_other ${Python3_EXECUTABLE} -B bindings/abi_dump.py --check $<TARGET_FILE:capi_replaces_malloc>)
  set_tests_properties(capi.abi_is_kept_refuses_other PROPERTIES PASS_REGULAR_EXPRESSION "32 Removed functions")
  set_tests_properties(capi.abi_is_kept capi.abi_is_kept_refuses_other PROPERTIES SKIP_RETURN_CODE 77
                       ENVIRONMENT "CC=${CMAKE_C_COMPILER};STRIP=${CMAKE_STRIP}")
endif()

# frozen_sources(JSON FOLDER [CLAIMED]): FOLDER/inlay.h and FOLDER/library.c of a version.
function(frozen_sources json folder)
  add_custom_command(OUTPUT ${folder}/inlay.h ${folder}/library.c VERBATIM
                     COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/frozen_sources.py ${json} ${folder} ${ARGN}
                     DEPENDS ${json} frozen_sources.py ${PROJECT_SOURCE_DIR}/bindings/emit/frozen_header.py
                             ${PROJECT_SOURCE_DIR}/bindings/emit/empty_library.py)
endfunction()

# A client of each frozen version writes what a client of this version does.
file(GLOB frozen_versions CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/api/abi/*.json)
foreach(json ${frozen_versions})
  cmake_path(GET json FILENAME version)
  string(REPLACE ".json" "" version ${version})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/abi_${version})
  frozen_sources(${json} ${folder})
  add_executable(capi_frozen_client_${version} frozen_client.c ${folder}/inlay.h)
  target_compile_options(capi_frozen_client_${version} PRIVATE -I${folder} -Wall -Wextra -Werror)
  target_link_libraries(capi_frozen_client_${version} PRIVATE inlay_flags $<TARGET_LINKER_FILE:inlay>)
  add_dependencies(capi_frozen_client_${version} inlay)
  add_dependencies(inlay_fast_tests capi_frozen_client_${version})
  set(client ${INLAY_EMULATOR} $<TARGET_FILE:capi_frozen_client_${version}> ${PROJECT_SOURCE_DIR}/examples/model/tales.gguf)
  list(JOIN client " " client)
  list(JOIN complete " " expected)
  if(TARGET example_complete)
    add_dependencies(inlay_fast_tests example_complete)
    capi_test(frozen_client_${version} sh -c "${client} 'Once upon a time' 24 >${folder}/text && ${expected} 'Once upon a time' 24 | diff - ${folder}/text")
    capi_test(frozen_client_${version}_differs sh -c "${client} 'Once upon a time' 23 >${folder}/short && ${expected} 'Once upon a time' 24 | diff - ${folder}/short")
    set_tests_properties(capi.frozen_client_${version}_differs PROPERTIES PASS_REGULAR_EXPRESSION "1c1")
  endif()
endforeach()

# older_library(NAME [CLAIMED]): version 1.0 in a folder of its own, as the programs look for it.
function(older_library name)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  frozen_sources(${PROJECT_SOURCE_DIR}/bindings/api/abi/1.0.json ${folder} ${ARGN})
  add_library(capi_${name} SHARED ${folder}/library.c)
  target_compile_options(capi_${name} PRIVATE -I${folder} -w -fvisibility=default)
  if(NOT WIN32)
    file(WRITE ${folder}/exports.map "INLAY_1 { global: inlay_*; local: *; };\n")
    target_link_options(capi_${name} PRIVATE -Wl,--version-script=${folder}/exports.map)
  endif()
  set_target_properties(capi_${name} PROPERTIES OUTPUT_NAME inlay SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${folder}
                        RUNTIME_OUTPUT_DIRECTORY ${folder} ARCHIVE_OUTPUT_DIRECTORY ${folder})
  add_dependencies(inlay_fast_tests capi_${name})
endfunction()
older_library(older_library)
older_library(lacking_library 1.9999)
older_library(other_library 2.0)

# A client of this version that opens one of these is told what is wrong; one that is linked does not start.
if(TARGET example_call_cost)
  add_dependencies(inlay_fast_tests example_call_cost)
  foreach(case "older_library:offers ABI 1.0, the program needs 1.[1-9]" "lacking_library:lacks the function inlay_" "other_library:offers ABI 2.0")
    string(REGEX MATCH "^[a-z_]+" library ${case})
    string(REGEX REPLACE "^[a-z_]+:" "" message ${case})
    set(file $<TARGET_SONAME_FILE:capi_${library}>)
    if(WIN32)
      set(file $<TARGET_FILE:capi_${library}>)
    endif()
    capi_test(opened_${library} example_call_cost ${file} ${PROJECT_SOURCE_DIR}/examples/model/tales.gguf)
    set_tests_properties(capi.opened_${library} PROPERTIES PASS_REGULAR_EXPRESSION ${message})
  endforeach()
endif()
if(TARGET inlay_cli AND NOT WIN32)
  add_dependencies(inlay_fast_tests inlay_cli)
  capi_test(linked_older_library inlay_cli --version)
  set_tests_properties(capi.linked_older_library PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=$<TARGET_FILE_DIR:capi_older_library>
                       PASS_REGULAR_EXPRESSION "version .INLAY_1_1. not found")
endif()
