# The NuGet packages of the C# binding: made, checked, and added to a fresh project outside the repository, which runs in each form.
# What a form needs from NuGet stays in the build folder; a form that cannot have it is skipped.
if(dotnet_absent)
  binding_skip(dotnet_packages "${dotnet_absent}")
  return()
endif()

# packages_test(NAME ACTION [ARGUMENT...]): they share one project, so only one runs at a time.
function(packages_test name action)
  binding_test(${name} Python3::Interpreter -B tests/bindings/packages.py ${action} ${INLAY_BINDINGS_BUILD}/packages ${ARGN})
  set_property(TEST bindings.${name} APPEND PROPERTY ENVIRONMENT DOTNET=${INLAY_DOTNET} CC=${CMAKE_C_COMPILER} OBJCOPY=${CMAKE_OBJCOPY}
               READELF=${CMAKE_READELF})
  set_tests_properties(bindings.${name} PROPERTIES RESOURCE_LOCK dotnet_packages)
endfunction()

packages_test(dotnet_packages pack ${PROJECT_VERSION} ${INLAY_LIBRARY})
set_tests_properties(bindings.dotnet_packages PROPERTIES FIXTURES_SETUP dotnet_packages)
packages_test(dotnet_packages_removed remove)
set_tests_properties(bindings.dotnet_packages_removed PROPERTIES FIXTURES_CLEANUP dotnet_packages)
foreach(form run publish trimmed single_file one_file aot trimmed_refuses_warning aot_refuses_warning without_native)
  packages_test(dotnet_packages_${form} ${form} ${INLAY_TEST_MODEL})
  set_tests_properties(bindings.dotnet_packages_${form} PROPERTIES FIXTURES_REQUIRED dotnet_packages)
endforeach()
