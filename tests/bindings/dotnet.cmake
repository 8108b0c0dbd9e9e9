# The C# binding on .NET: the same sources as on Mono, built by the SDK without any package, below the build folder.
find_program(INLAY_DOTNET dotnet)
set(dotnet_absent "needs .NET 8 or later: dotnet is not on PATH")
if(INLAY_DOTNET)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 ${INLAY_DOTNET} --version
                  OUTPUT_VARIABLE version ERROR_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(dotnet_absent "")
  if(NOT version MATCHES "^[0-9]+\\.[0-9]+" OR version VERSION_LESS 8)
    set(dotnet_absent "needs .NET 8 or later: dotnet has no such SDK")
  endif()
endif()
include(csharp_netcore.cmake)
if(dotnet_absent)
  binding_absent(dotnet "${dotnet_absent}")
  return()
endif()

set(dotnet_out ${INLAY_BINDINGS_BUILD}/dotnet)
file(MAKE_DIRECTORY ${dotnet_out})
string(REGEX MATCH "^[0-9]+\\.[0-9]+" dotnet_runtime "${version}")
# IsAotCompatible asks for a package.
set(dotnet_build "set -e; export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1")
foreach(program LayoutProbe Tokens CallCost Annotations Tests)
  string(APPEND dotnet_build "\nbuild tests/bindings/csharp/Program.csproj ${program} Program")
endforeach()
foreach(example complete eight requests cancel game_loop embeddings chat)
  string(APPEND dotnet_build "\nbuild bindings/csharp/examples/Examples.csproj ${example} Example")
endforeach()
string(REPLACE "set -e;" "set -e\nbuild() {
  ${INLAY_DOTNET} build $1 -p:$3=$2 -p:InlayTargets=net${dotnet_runtime} -p:IsAotCompatible=false -p:TreatWarningsAsErrors=true \
    --artifacts-path ${dotnet_out}/made/$2 -o ${dotnet_out} -v quiet -nodeReuse:false
}
" dotnet_build "${dotnet_build}")
file(WRITE ${dotnet_out}/build.sh "${dotnet_build}\n")
binding_test(dotnet_build sh ${dotnet_out}/build.sh)
set_tests_properties(bindings.dotnet_build PROPERTIES FIXTURES_SETUP dotnet_programs)

# What may be null: a program compiled with these checks as errors, and lines that they refuse.
csharp_test(dotnet annotations ${INLAY_DOTNET} ${dotnet_out}/Annotations.dll ${INLAY_TEST_MODEL})
set(wrong "${INLAY_DOTNET} build tests/bindings/csharp/Program.csproj -p:Program=Annotations -p:Wrong=true -p:InlayTargets=net${dotnet_runtime}")
string(APPEND wrong " -p:IsAotCompatible=false --artifacts-path ${dotnet_out}/made/Wrong -nodeReuse:false")
binding_test(dotnet_annotations_refuse_other sh -c "${wrong} | grep -o '([0-9]*,[0-9]*): error CS[0-9]*' | sort -u | grep -o 'CS[0-9]*' | sort | xargs")
set_tests_properties(bindings.dotnet_annotations_refuse_other PROPERTIES PASS_REGULAR_EXPRESSION "^CS8602 CS8602 CS8602 CS8602 CS8625 CS8625\n$")

binding_programs(dotnet FIXTURE dotnet_programs TOKENS ${INLAY_DOTNET} ${dotnet_out}/Tokens.dll CALL_COST ${INLAY_DOTNET} ${dotnet_out}/CallCost.dll
                 EXAMPLES ${INLAY_DOTNET} ${dotnet_out}/{}.dll)
csharp_tests(dotnet ${dotnet_out} ${INLAY_DOTNET} .dll)

# The examples that Mono does not have.
csharp_test(dotnet example_chat Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/chat_example.py ${INLAY_TEST_MODEL} ${INLAY_DOTNET} ${dotnet_out}/chat.dll)

# It needs packages and ASP.NET Core, so it is built apart.
set(web ${CMAKE_CURRENT_SOURCE_DIR}/web_example.py)
binding_test(dotnet_web_build Python3::Interpreter -B ${web} build ${INLAY_DOTNET} ${dotnet_out}/web ${INLAY_TEST_MODEL})
binding_test(dotnet_web Python3::Interpreter -B ${web} http ${INLAY_DOTNET} ${dotnet_out}/web ${INLAY_TEST_MODEL})
binding_test(dotnet_web_browser Python3::Interpreter -B ${web} browser ${INLAY_DOTNET} ${dotnet_out}/web ${INLAY_TEST_MODEL})
set_tests_properties(bindings.dotnet_web_build PROPERTIES FIXTURES_SETUP dotnet_web)
set_tests_properties(bindings.dotnet_web bindings.dotnet_web_browser PROPERTIES FIXTURES_REQUIRED dotnet_web)

csharp_test(dotnet resolver ${CMAKE_COMMAND} -E env --unset=INLAY_LIBRARY "INLAY_TEST_OTHER=${INLAY_LIBRARY}"
            ${INLAY_DOTNET} ${dotnet_out}/Tests.dll LookupTests.TheHostsResolverIsAsked)

csharp_test(dotnet stress ${CMAKE_COMMAND} -E env INLAY_TEST_GENERATIONS=10000 ${INLAY_DOTNET} ${dotnet_out}/Tests.dll StreamTests.Stress)

# With a garbage collector that moves more, and that runs beside many threads.
csharp_test(dotnet gc_server ${CMAKE_COMMAND} -E env DOTNET_gcServer=1 ${INLAY_DOTNET} ${dotnet_out}/Tests.dll)
csharp_test(dotnet gc_conserve ${CMAKE_COMMAND} -E env DOTNET_GCgen0size=10000 DOTNET_gcConcurrent=0 ${INLAY_DOTNET} ${dotnet_out}/Tests.dll)

# The package for Microsoft.Extensions.AI, which needs packages of others: its tests are skipped where no NuGet source has them.
set(extensions_out ${INLAY_BINDINGS_BUILD}/dotnet_extensions)
file(MAKE_DIRECTORY ${extensions_out})
file(WRITE ${extensions_out}/test.sh "set -e
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
project=tests/bindings/extensions/Extensions.csproj
options='-p:InlayTargets=net${dotnet_runtime} --artifacts-path ${extensions_out}/made'
if ! ${INLAY_DOTNET} restore $project $options >${extensions_out}/restore.txt 2>&1; then
  cat ${extensions_out}/restore.txt
  # NU1301: a source is out of reach. NU1100 to NU1103: no source has the package, or this version of it.
  grep -q 'error NU1301\\|error NU110[0-3]' ${extensions_out}/restore.txt || exit 1
  echo 'skipped: needs NuGet: no source gives Microsoft.Extensions.AI'
  exit 77
fi
${INLAY_DOTNET} build $project $options --no-restore -p:TreatWarningsAsErrors=true -o ${extensions_out} -v quiet -nodeReuse:false
exec ${INLAY_DOTNET} ${extensions_out}/ExtensionTests.dll
")
binding_test(dotnet_extensions sh ${extensions_out}/test.sh)
