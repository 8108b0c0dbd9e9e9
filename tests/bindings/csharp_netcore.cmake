# The C# binding on .NET Core 3.1, the oldest .NET that runs it here. The library is built from what netstandard2.0 gets, the one that NuGet
# gives to .NET before 8: for netstandard2.1, whose references come with the SDK, but without the symbol by which sources see that.
# The SDK is that on PATH, or else the one that `examples/setup.sh --tests` keeps in the cache. Without one there are none of these tests.
set(netcore_dotnet "")
if(INLAY_DOTNET AND version MATCHES "^3\\.1\\.")
  set(netcore_dotnet ${INLAY_DOTNET})
else()
  if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(netcore_cache "$ENV{XDG_CACHE_HOME}")
  elseif(NOT "$ENV{HOME}" STREQUAL "")
    set(netcore_cache "$ENV{HOME}/.cache")
  else()
    set(netcore_cache "${PROJECT_SOURCE_DIR}/.cache")
  endif()
  find_program(INLAY_NETCORE dotnet PATHS ${netcore_cache}/inlay/dotnet-3.1 NO_DEFAULT_PATH)
  mark_as_advanced(INLAY_NETCORE)
  if(INLAY_NETCORE)
    set(netcore_dotnet ${INLAY_NETCORE})
    binding_tool(netcore_absent ${CMAKE_COMMAND} -E env DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 ${netcore_dotnet} --version)
    if(netcore_absent)
      message(STATUS "C# is not tested on .NET Core: ${netcore_dotnet} does not run")
      set(netcore_dotnet "")
    endif()
  endif()
endif()
if(NOT netcore_dotnet)
  return()
endif()

set(netcore_out ${INLAY_BINDINGS_BUILD}/netcore)
file(MAKE_DIRECTORY ${netcore_out}/openssl)
# Old SDKs know no --artifacts-path. Each program has a folder of its own for its project and for the binding's.
set(netcore_folders "\$(MSBuildProjectName)\$(Program)\$(Example)\$(InlayTargets)")
file(WRITE ${netcore_out}/folders.props "<Project>
  <PropertyGroup>
    <BaseIntermediateOutputPath>${netcore_out}/made/${netcore_folders}/</BaseIntermediateOutputPath>
  </PropertyGroup>
</Project>
")
# No ICU, no certificate, and nothing outside of the build folder.
set(netcore_environment "export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1 DOTNET_CLI_UI_LANGUAGE=en
export DOTNET_GENERATE_ASPNET_CERTIFICATE=false DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
export DOTNET_CLI_HOME=${netcore_out}/home LD_LIBRARY_PATH=${netcore_out}/openssl")
set(netcore_openssl "")
find_library(INLAY_OPENSSL3 libssl.so.3)
mark_as_advanced(INLAY_OPENSSL3)
if(INLAY_OPENSSL3)
  set(netcore_openssl
      "${CMAKE_C_COMPILER} -shared -fPIC -o ${netcore_out}/openssl/libssl.so.10 tests/bindings/csharp/openssl.c -Wl,--no-as-needed ${INLAY_OPENSSL3}\n")
endif()
set(netcore_options "-p:TreatWarningsAsErrors=true -p:InvariantGlobalization=true -p:DirectoryBuildPropsPath=${netcore_out}/folders.props")
string(APPEND netcore_options " -p:UseSharedCompilation=false -nodeReuse:false -v quiet") # no process stays behind
set(netcore_build "set -e
${netcore_environment}
${netcore_openssl}build() {
  ${netcore_dotnet} build $1 ${netcore_options} -p:$3=$2 -p:InlayTargets=netstandard2.1 -p:DisableImplicitFrameworkDefines=true -o ${netcore_out}
}
")
foreach(program LayoutProbe Tokens Tests)
  string(APPEND netcore_build "build tests/bindings/csharp/Program.csproj ${program} Program\n")
endforeach()
foreach(example complete eight requests cancel game_loop embeddings)
  string(APPEND netcore_build "build bindings/csharp/examples/Examples.csproj ${example} Example\n")
endforeach()
file(WRITE ${netcore_out}/build.sh "${netcore_build}")
binding_test(netcore_build sh ${netcore_out}/build.sh)
set_tests_properties(bindings.netcore_build PROPERTIES FIXTURES_SETUP netcore_programs)

csharp_tests(netcore ${netcore_out} ${netcore_dotnet} .dll)

# What the other languages have by binding_programs, which would also have it built from an installed prefix.
get_property(c_tokens GLOBAL PROPERTY INLAY_BINDING_c_TOKENS)
set(netcore_tokens ${netcore_dotnet} ${netcore_out}/Tokens.dll)
set(netcore_cases ${CMAKE_CURRENT_SOURCE_DIR}/cases.tsv)
if(c_tokens)
  csharp_test(netcore tokens Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/compare_tokens.py ${INLAY_LIBRARY} ${INLAY_TEST_MODEL} cpu ${netcore_cases}
              ${c_tokens} ${netcore_tokens})
endif()
csharp_test(netcore refuses_libraries Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/refused_libraries.py ${INLAY_TEST_MODEL} ${netcore_cases}
            $<TARGET_SONAME_FILE:capi_older_library> $<TARGET_SONAME_FILE:capi_lacking_library> $<TARGET_SONAME_FILE:capi_other_library> ${netcore_tokens})

# With a garbage collector that comes often, and with one that runs beside many threads.
csharp_test(netcore gc_server ${CMAKE_COMMAND} -E env COMPlus_gcServer=1 ${netcore_dotnet} ${netcore_out}/Tests.dll)
csharp_test(netcore gc_conserve ${CMAKE_COMMAND} -E env COMPlus_GCgen0size=10000 COMPlus_gcConcurrent=0 ${netcore_dotnet} ${netcore_out}/Tests.dll)

# Built for .NET Core itself: what takes and fills spans, asynchronous streams, and the README's program of these.
file(WRITE ${netcore_out}/spans.sh "set -e
${netcore_environment}
${netcore_dotnet} build tests/bindings/csharp/Program.csproj ${netcore_options} -p:Program=Tests -p:InlayTargets=netcoreapp3.1 -o ${netcore_out}/spans
${netcore_dotnet} ${netcore_out}/spans/Tests.dll SpanTests
${netcore_dotnet} ${netcore_out}/spans/Tests.dll RequestStreamTests
${Python3_EXECUTABLE} -B tests/bindings/csharp_readme.py --extract Streamed ${netcore_out}/Streamed.cs
${netcore_dotnet} build tests/bindings/csharp/Program.csproj ${netcore_options} -p:Program=Streamed -p:Source=${netcore_out}/Streamed.cs \
  -p:InlayTargets=netcoreapp3.1 -o ${netcore_out}/spans
${netcore_dotnet} ${netcore_out}/spans/Streamed.dll ${INLAY_TEST_MODEL} | tee ${netcore_out}/streamed.txt
grep -q '^12 tokens, MaxTokens$' ${netcore_out}/streamed.txt
")
csharp_test(netcore spans sh ${netcore_out}/spans.sh)

# The package for Microsoft.Extensions.AI, against declarations of the tests' own in place of others' packages.
set(netcore_abstractions ${CMAKE_CURRENT_SOURCE_DIR}/extensions/abstractions/Abstractions.csproj)
file(WRITE ${netcore_out}/extensions.sh "set -e
${netcore_environment}
${netcore_dotnet} build tests/bindings/extensions/Extensions.csproj ${netcore_options} -p:InlayTargets=netcoreapp3.1 -p:InlayAbstractions=${netcore_abstractions} \
  -o ${netcore_out}/extensions
exec ${netcore_dotnet} ${netcore_out}/extensions/ExtensionTests.dll
")
csharp_test(netcore extensions sh ${netcore_out}/extensions.sh)
set_tests_properties(bindings.netcore_spans bindings.netcore_extensions PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
