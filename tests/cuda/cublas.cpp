// Opening cuBLASLt: where it is missing, broken or something else, there is a reason and nothing worse. Runs without a
// GPU.
#include "src/backend/cuda/cublas.h"

#include <gtest/gtest.h>

#include "src/base/dynamic_library.h"
#include "src/base/environment.h"
#include "tests/support/temporary_folder.h"

namespace inlay {
namespace {

TEST(Cublas, SaysWhyThereIsNone) {
  const test::TemporaryFolder folder;
  const auto api = Cublas::open_library(folder.path());
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.status().code, Code::not_found);
  EXPECT_NE(api.status().message.find(folder.path()), std::string::npos) << api.status().message;
}

TEST(Cublas, RefusesAFileThatIsNoLibrary) {
  const test::TemporaryFolder folder;
  for (const char* name : {"libcublasLt.so.13", "cublasLt64_13.dll"})
    folder.write(name, "not a library");
  const auto api = Cublas::open_library(folder.path());
  ASSERT_FALSE(api.ok());
  EXPECT_FALSE(api.status().message.empty());
}

// A library of the right name without the functions: INLAY_EMPTY_CUBLAS_DIR has one.
TEST(Cublas, NamesTheFunctionThatIsMissing) {
  const auto api = Cublas::open_library(INLAY_EMPTY_CUBLAS_DIR);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.status().code, Code::unsupported);
  EXPECT_NE(api.status().message.find("cublasLtCreate"), std::string::npos) << api.status().message;
}

TEST(Cublas, OpensWhatTheMachineHas) {
  std::string name;
  const auto api = Cublas::open_library(environment().cublas_directory, &name);
  if (!api.ok()) GTEST_SKIP() << "needs cuBLAS: " << api.status().message;
  EXPECT_NE(name.find("cublasLt"), std::string::npos);
  EXPECT_GE(api->cublasLtGetVersion(), 110000u);
  // Without a device this fails by a Status.
  const auto cublas = Cublas::create(*api, nullptr);
  if (cublas.ok()) {
    EXPECT_FALSE(cublas->version().empty());
  } else {
    EXPECT_FALSE(cublas.status().message.empty());
  }
}

TEST(DynamicLibrary, KnowsItsSymbols) {
  const char* const names[] = {"inlay-no-such-library.so", "libm.so.6"};
  const auto library = DynamicLibrary::open(names, "");
  ASSERT_TRUE(library.ok()) << library.status().message;
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_NE(library->symbol("cos"), nullptr);
  EXPECT_EQ(library->symbol("inlay_no_such_symbol"), nullptr);
}

}  // namespace
}  // namespace inlay
