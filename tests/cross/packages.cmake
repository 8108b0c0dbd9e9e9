# What tests for another system take from this machine: GoogleTest is built from its source, as Debian's package googletest has it, and
# nlohmann/json is headers alone. No other header of this machine may be found, so that these lie in a folder of their own.
set(INLAY_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "Source of GoogleTest, for tests that are built for another system")
if(NOT EXISTS ${INLAY_GOOGLETEST_SOURCE}/CMakeLists.txt)
  message(FATAL_ERROR "There is no source of GoogleTest: run examples/setup.sh --cross PRESET, or name its folder by INLAY_GOOGLETEST_SOURCE")
endif()
set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
add_subdirectory(${INLAY_GOOGLETEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)

find_path(INLAY_JSON_HEADERS nlohmann/json.hpp PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
file(CREATE_LINK ${INLAY_JSON_HEADERS}/nlohmann ${PROJECT_BINARY_DIR}/headers/nlohmann SYMBOLIC)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${PROJECT_BINARY_DIR}/headers)
