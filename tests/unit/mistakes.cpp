// What people new to models do wrong, and what the library says to it: a row a mistake. Each message names the file once.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "src/engine/engine.h"
#include "tests/support/hf_folder.h"
#include "tests/support/test_data.h"
#include "tests/unit/gguf_image.h"

namespace inlay {
namespace {

using test::TemporaryFolder;

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 1073741824\n";
const std::string kPage = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Sign in</title></head></html>\n";

std::string tales() {
  std::ifstream file(test::model_file("tales"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string tensors() { return test::safetensors_of(test::small_tensors("llama")); }

// A folder whose config.json is right.
void write_config(const TemporaryFolder& folder) { folder.write("config.json", test::small_config("llama").dump()); }

// Writes the path to load under `folder`; "" is the folder.
using Make = std::function<void(const TemporaryFolder& folder)>;
// Rows are copied, and every test of the program makes them when it begins.
std::shared_ptr<const std::string> share(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }
Make file(const char* name, std::string bytes) {
  return [=, shared = share(std::move(bytes))](const TemporaryFolder& folder) { folder.write(name, *shared); };
}
Make in_folder(const char* name, std::string bytes) {
  return [=, shared = share(std::move(bytes))](const TemporaryFolder& folder) {
    write_config(folder);
    folder.write(name, *shared);
  };
}

struct Mistake {
  const char* name;
  Make make;
  const char* loaded;  // in the folder
  Code code;
  std::vector<const char*> holds;
  std::vector<const char*> lacks = {};
  int32_t n_context = 0;
};

std::ostream& operator<<(std::ostream& out, const Mistake& m) { return out << m.name; }

const std::string kZip("PK\3\4\x14\0\0\0\x08\0", 10);

std::vector<Mistake> mistakes() {
  static const std::string whole = tales(), half = whole.substr(0, whole.size() / 2), header = whole.substr(0, 3000);
  static const std::string st = tensors(), st_half = st.substr(0, st.size() - 1000), st_header = st.substr(0, 40);
  static std::vector<std::string> numbers;
  numbers.reserve(16);
  const auto bytes = [&](const std::string& s) {
    return numbers.emplace_back("the file has " + std::to_string(s.size()) + " bytes").c_str();
  };
  const auto asked = [&](const std::string& s) {
    return numbers.emplace_back("asks for " + std::to_string(s.size()) + ":").c_str();
  };
  const auto of_part = testing::GgufImage().u32("split.no", 0).u32("split.count", 2).build();
  const std::string part(reinterpret_cast<const char*>(of_part.data()), of_part.size());
  const auto of_vision = testing::GgufImage().text("general.architecture", "clip").text("general.type", "mmproj").build();
  const std::string vision(reinterpret_cast<const char*>(of_vision.data()), of_vision.size());
  const char* likely = "the download is likely not complete";
  return {
      {"pointer", file("m.gguf", kPointer), "m.gguf", Code::format, {"a pointer of git-lfs", "`git lfs pull`"}, {"magic", "'vers'"}},
      {"pointer_windows", file("m.gguf", "version https://git-lfs.github.com/spec/v1\r\n"), "m.gguf", Code::format, {"`git lfs pull`"}},
      {"page", file("m.gguf", kPage), "m.gguf", Code::format, {"a web page", "download the file itself"}, {"magic", "'<!DO'"}},
      {"page_after_blanks", file("m.gguf", "\xEF\xBB\xBF\n  <html>"), "m.gguf", Code::format, {"a web page"}},
      {"xml", file("m.gguf", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"), "m.gguf", Code::format, {"XML text"}},
      {"xml_error", file("m.gguf", "<Error><Code>AccessDenied</Code></Error>"), "m.gguf", Code::format, {"XML text"}},
      {"json", file("m.gguf", R"({"error":"Repository not found"})"), "m.gguf", Code::format, {"JSON text"}, {"not complete"}},
      {"zip", file("pytorch_model.bin", kZip), "pytorch_model.bin", Code::format, {"ZIP archive", "PyTorch"}},
      {"gzip", file("m.gguf", "\x1f\x8b\x08 and more"), "m.gguf", Code::format, {"gzip"}},
      {"before_gguf", file("m.bin", "tjgg\3  and more"), "m.bin", Code::format, {"GGJT"}},
      {"zeros", file("m.gguf", std::string(5000, '\0')), "m.gguf", Code::format, {"zeros", likely}},
      {"safetensors_as_gguf", file("m.gguf", st), "m.gguf", Code::format, {"a safetensors file", ".safetensors"}},
      {"letters", file("m.gguf", "Once upon a time"), "m.gguf", Code::format, {"no GGUF file", "begins with 'Once'"}, {"\\x", "bytes 4f"}},
      {"no_letters", file("m.gguf", "\x7f" "ELF\2\1\1"), "m.gguf", Code::format, {"no GGUF file", "the bytes 7f 45 4c 46"}, {"\\x"}},
      {"empty", file("m.gguf", ""), "m.gguf", Code::format, {"the file is empty"}, {"magic"}},
      {"half", file("m.gguf", half), "m.gguf", Code::format, {bytes(half), asked(whole), likely}},
      {"all_but_a_byte", file("m.gguf", whole.substr(0, whole.size() - 1)), "m.gguf", Code::format, {asked(whole), likely}},
      {"half_a_header", file("m.gguf", header), "m.gguf", Code::format, {"cut off"}},
      {"pointer_tensors", in_folder("model.safetensors", kPointer), "", Code::format, {"model.safetensors: it is a pointer", "`git lfs pull`"}},
      {"page_tensors", in_folder("model.safetensors", kPage), "", Code::format, {"model.safetensors: it is a web page"}},
      {"half_tensors", in_folder("model.safetensors", st_half), "", Code::format, {bytes(st_half), asked(st), likely}},
      {"header_of_tensors", in_folder("model.safetensors", st_header), "", Code::format, {"the file has 40 bytes", "header alone", likely}},
      {"gguf_as_safetensors", in_folder("model.safetensors", whole), "", Code::format, {"it is a GGUF file", ".gguf"}},
      {"pointer_tokenizer",
       [=](const TemporaryFolder& folder) {
         in_folder("model.safetensors", st)(folder);
         folder.write("tokenizer.json", kPointer);
       },
       "", Code::format, {"tokenizer.json: it is a pointer", "`git lfs pull`"}, {"line 1"}},
      {"page_config", file("config.json", kPage), "", Code::format, {"config.json: it is a web page"}, {"line 1"}},
      {"folder_of_gguf", file("m.Q4_K_M.gguf", half), "", Code::not_found,
       {"has no config.json, but it holds m.Q4_K_M.gguf: give the path of that file"}},
      {"folder_of_two",
       [=](const TemporaryFolder& folder) {
         folder.write("b.gguf", half);
         folder.write("a.gguf", half);
       },
       "", Code::not_found, {"it holds a.gguf and b.gguf: give the path of one of them"}},
      {"folder_of_five",
       [=](const TemporaryFolder& folder) {
         for (const char* name : {"e.gguf", "d.gguf", "c.gguf", "b.gguf", "a.gguf"}) folder.write(name, half);
       },
       "", Code::not_found, {"it holds a.gguf, b.gguf, c.gguf and 2 more GGUF files"}, {"d.gguf"}},
      {"folder_of_nothing", file("readme.md", "A model"), "", Code::not_found, {"no config.json and no GGUF file"}, {"readme"}},
      {"config_and_gguf", in_folder("m.gguf", whole), "", Code::not_found,
       {"neither model.safetensors nor", "it holds m.gguf: give the path of that file"}},
      {"one_part_of_two", file("m-00001-of-00002.gguf", part), "m-00001-of-00002.gguf", Code::not_found,
       {"m-00002-of-00002.gguf: cannot open the file", "split into 2 files, which all have to be in one folder"}},
      {"vision_part", file("mmproj.gguf", vision), "mmproj.gguf", Code::unsupported,
       {"the part of a model for pictures or sound", "load the file of its text model"}, {"supported are"}},
      {"one_shard_of_two",
       [=](const TemporaryFolder& folder) {
         in_folder("a.safetensors", st)(folder);
         folder.write("model.safetensors.index.json", R"({"weight_map":{"x":"b.safetensors"}})");
       },
       "", Code::not_found, {"b.safetensors: cannot open the file", "model.safetensors.index.json names it"}},
      {"context", file("m.gguf", whole), "m.gguf", Code::invalid_argument,
       {"n_context is 4096", "trained for contexts of at most 512 tokens"}, {"expected 0 to"}, 4096},
  };
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
  const Mistake& m = GetParam();
  TemporaryFolder folder;
  m.make(folder);
  const auto loaded = Engine::load(folder.path(m.loaded), {.device = DeviceKind::cpu, .n_context = m.n_context, .n_threads = 1});
  ASSERT_FALSE(loaded.ok());
  const std::string& message = loaded.status().message;
  EXPECT_EQ(loaded.status().code, m.code) << message;
  for (const char* part : m.holds) EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  for (const char* part : m.lacks) EXPECT_EQ(message.find(part), std::string::npos) << message << "\nholds: " << part;
  EXPECT_EQ(count(message, folder.path()), m.n_context > 0 ? 0u : 1u) << message;
}

INSTANTIATE_TEST_SUITE_P(Rows, Mistakes, ::testing::ValuesIn(mistakes()),
                         [](const auto& row) { return std::string(row.param.name); });

// The files that the rows damage load when they are whole.
TEST(Mistakes, NoneIsSeenInWholeFiles) {
  TemporaryFolder folder;
  folder.write("m.gguf", tales());
  const EngineOptions options = {.device = DeviceKind::cpu, .n_context = 512, .n_threads = 1};
  const auto loaded = Engine::load(folder.path("m.gguf"), options);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message;
  TemporaryFolder other;
  in_folder("model.safetensors", tensors())(other);
  other.write("m.gguf", kPointer);
  const auto of_folder = Engine::load(other.path(), {.device = DeviceKind::cpu, .n_threads = 1});
  EXPECT_TRUE(of_folder.ok()) << of_folder.status().message;
}

struct Prompt {
  size_t n_before, n_asked;
  const char* message;
};

constexpr Prompt kPrompts[] = {
    {0, 4500, "the prompt has 4500 tokens, too many for the context of 512 tokens"},
    {1, 512, "the sequence has 1 token, and the context of 512 tokens has room for 511 more, not for 512"},
    {500, 13, "the sequence has 500 tokens, and the context of 512 tokens has room for 12 more, not for 13"},
    {512, 1, "the context of 512 tokens is full"},
};

TEST(Mistakes, AContextIsFullOnlyWhereItIs) {
  const auto engine = Engine::load(test::model_file("tales"), {.device = DeviceKind::cpu, .n_context = 512, .n_threads = 2});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  for (const Prompt& p : kPrompts) {
    const auto session = (*engine)->create_session({});
    ASSERT_TRUE(session.ok());
    size_t n_done = 0;
    if (p.n_before > 0) {
      ASSERT_TRUE((*session)->prefill(std::vector<int32_t>(p.n_before, 9), n_done).ok());
    }
    const Status status = (*session)->prefill(std::vector<int32_t>(p.n_asked, 9), n_done);
    EXPECT_EQ(status.code, Code::context_full);
    EXPECT_EQ(status.message, p.message);
    EXPECT_EQ(status.required, p.n_before + p.n_asked);
    EXPECT_EQ(status.available, 512u);
  }
}

}  // namespace
}  // namespace inlay
