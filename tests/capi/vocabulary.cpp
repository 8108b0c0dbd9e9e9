// How large the vocabulary is, seen from every function that takes or gives token ids: models with more rows than tokens, and
// with more tokens than rows, as folders and as GGUF files; and how many tokens a text has.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "src/formats/gguf.h"
#include "src/formats/gguf_writer.h"
#include "src/formats/metadata_builder.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "tests/capi/client.h"
#include "tests/support/hf_folder.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::test {
namespace {

using nlohmann::json;

const std::string kTokenizers = std::string(INLAY_TEST_DATA_DIR) + "/tokenizers/";

EnginePtr load_path(const std::string& path) {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_threads = 1;
  params.n_context = 64;
  params.max_sessions = 2;
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load(path.c_str(), SIZE_MAX, &params, &engine, &err), INLAY_OK) << err.message;
  return EnginePtr(engine);
}

// A llama of random weights with that many rows.
void write_folder(const TemporaryFolder& folder, const json& tokenizer, const json& config, int64_t n_rows) {
  json sizes = small_config("llama");
  sizes["vocab_size"] = n_rows;
  std::vector<HfTensor> tensors = small_tensors("llama");
  tensors[0].shape[0] = n_rows;
  folder.write("config.json", sizes.dump());
  folder.write("model.safetensors", safetensors_of(tensors));
  folder.write("tokenizer.json", tokenizer.dump());
  folder.write("tokenizer_config.json", config.dump());
}

// The same as a GGUF file with the tokenizer of `vocabulary`.
Status write_gguf(const std::string& path, MetadataBuilder keys, int64_t n_rows) {
  const std::pair<const char*, uint32_t> sizes[] = {
      {"block_count", 1},         {"context_length", 64},         {"embedding_length", 32},    {"feed_forward_length", 48},
      {"attention.head_count", 2}, {"attention.head_count_kv", 1}, {"rope.dimension_count", 16}};
  keys.text("general.architecture", "llama");
  for (const auto& [key, value] : sizes) keys.u32("llama." + std::string(key), value);
  keys.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  std::vector<GgufTensor> tensors;
  const auto add = [&](const char* name, std::array<int64_t, 2> shape) {
    const int32_t rank = shape[1] == 0 ? 1 : 2;
    tensors.push_back({.name = name, .dtype = DType::f32, .rank = rank, .shape = {shape[0], std::max<int64_t>(shape[1], 1), 1, 1}});
  };
  add("token_embd.weight", {n_rows, 32});
  for (const char* name : {"output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"}) add(name, {32, 0});
  for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_output.weight"}) add(name, {32, 32});
  for (const char* name : {"blk.0.attn_k.weight", "blk.0.attn_v.weight"}) add(name, {16, 32});
  for (const char* name : {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"}) add(name, {48, 32});
  add("blk.0.ffn_down.weight", {32, 48});
  INLAY_ASSIGN(GgufWriter writer, GgufWriter::create(path, keys.build(path), tensors));
  for (const GgufTensor& tensor : tensors) {
    const std::string bytes = random_floats(tensor.name, {tensor.shape[0], tensor.shape[1]});
    INLAY_TRY(writer.append(std::as_bytes(std::span(bytes))));
  }
  return writer.finish();
}

// Bytes 0 to 255, and three added tokens, the second of which is no special one.
constexpr int32_t kTokens = 259;

json byte_tokenizer() {
  json vocab;
  for (int byte = 0; byte < 256; ++byte) vocab[testing::byte_char(byte)] = byte;
  return {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}, {"ignore_merges", false}}},
          {"added_tokens",
           {{{"id", 256}, {"content", "<end>"}, {"special", true}},
            {{"id", 257}, {"content", "<tool>"}, {"special", false}},
            {{"id", 258}, {"content", "<image>"}, {"special", true}}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"decoder", {{"type", "ByteLevel"}}}};
}

enum class Form : uint8_t { folder, converted, gguf };

EnginePtr load_with_rows(Form form, int64_t n_rows) {
  const TemporaryFolder folder;
  const std::string file = folder.path("model.gguf");
  if (form == Form::gguf) {
    testing::VocabularyFile v;
    v.merges.emplace();
    for (int byte = 0; byte < 256; ++byte) v.add(testing::byte_char(byte));
    v.add("<end>", testing::kControl), v.add("<tool>", testing::kUserDefined), v.add("<image>", testing::kControl);
    v.numbers = {{"eos_token_id", 256}, {"bos_token_id", UINT32_MAX}};
    const auto bytes = testing::image_of(v).build();
    const auto vocabulary = read_gguf(borrow_memory(bytes, "vocabulary"));
    EXPECT_TRUE(vocabulary.ok()) << vocabulary.status().message;
    MetadataBuilder keys;
    for (const MetaEntry& entry : vocabulary->metadata().entries()) keys.copy(entry);
    const Status written = write_gguf(file, keys, n_rows);
    EXPECT_TRUE(written.ok()) << written.message;
    return load_path(file);
  }
  write_folder(folder, byte_tokenizer(), {{"eos_token", "<end>"}}, n_rows);
  if (form == Form::folder) return load_path(folder.path());
  inlay_convert_params params = sized<inlay_convert_params>();
  params.type = INLAY_CONVERT_F32;
  inlay_error err;
  EXPECT_EQ(inlay_convert(folder.path().c_str(), SIZE_MAX, file.c_str(), SIZE_MAX, &params, &err), INLAY_OK) << err.message;
  return load_path(file);
}

// What becomes of an id that a function is given.
using Use = std::function<inlay_status(const EnginePtr&, int32_t id, inlay_error*)>;

inlay_status use_bias(const EnginePtr& engine, int32_t id, bool later, inlay_error* err) {
  const inlay_logit_bias bias = {id, 1e9f};
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.bias = &bias;
  sampler.n_bias = 1;
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = later ? nullptr : &sampler;
  inlay_session* session = nullptr;
  inlay_status status = inlay_session_create(engine.get(), &params, &session, err);
  const SessionPtr owner(session);
  if (status == INLAY_OK && later) status = inlay_session_set_sampler(session, &sampler, err);
  if (status != INLAY_OK) return status;
  prefill(owner, {72});
  EXPECT_EQ(step(owner).token, id);
  return status;
}

// All functions that take ids of the model, by the name under which the description has them.
const std::map<std::string, Use>& uses_of_the_model() {
  static const std::map<std::string, Use> all = {
      {"inlay_prefill",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const SessionPtr session = new_session(engine);
         const int32_t ids[] = {72, id};
         return inlay_prefill(session.get(), ids, 2, nullptr, err);
       }},
      {"inlay_session_accept",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const SessionPtr session = new_session(engine);
         prefill(session, {72});
         return inlay_session_accept(session.get(), &id, 1, nullptr, err);
       }},
      {"inlay_embed_input",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id};
         const inlay_embed_input inputs[] = {{ids, 1, nullptr, 0}, {ids + 1, 1, nullptr, 0}};
         inlay_embed_params params = sized<inlay_embed_params>();
         params.pooling = INLAY_POOLING_MEAN;
         std::vector<float> out(64);
         return inlay_embed(engine.get(), inputs, 2, sizeof *inputs, &params, out.data(), out.size(), nullptr, err);
       }},
      {"inlay_score",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         inlay_token_score scores[3];
         return inlay_score(engine.get(), engine.get(), ids, 3, nullptr, 0, nullptr, scores, sizeof *scores, nullptr, 0, err);
       }},
      {"inlay_compare_text",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         size_t needed = 0;
         return inlay_compare_text(engine.get(), engine.get(), ids, 3, 1, nullptr, nullptr, 0, &needed, err);
       }},
      {"inlay_request",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id};
         inlay_queue* queue = nullptr;
         inlay_status status = inlay_queue_create(engine.get(), nullptr, &queue, err);
         inlay_request request = sized<inlay_request>();
         request.tokens = ids;
         request.n_tokens = 2;
         uint64_t number = 0;
         inlay_run_info info = sized<inlay_run_info>();
         if (status == INLAY_OK) status = inlay_submit(queue, &request, &number, err);
         if (status == INLAY_OK) status = inlay_run(engine.get(), nullptr, &info, err);
         inlay_queue_free(queue);
         return status;
       }},
      {"inlay_session_set_stop_tokens",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const SessionPtr session = new_session(engine);
         return inlay_session_set_stop_tokens(session.get(), &id, 1, err);
       }},
      {"inlay_logit_bias", [](const EnginePtr& engine, int32_t id,
                              inlay_error* err) { return use_bias(engine, id, false, err); }},
      {"inlay_session_set_sampler", [](const EnginePtr& engine, int32_t id,
                                       inlay_error* err) { return use_bias(engine, id, true, err); }},
  };
  return all;
}

// And of the tokenizer.
const std::map<std::string, Use>& uses_of_the_tokenizer() {
  static const std::map<std::string, Use> all = {
      {"inlay_constraint_params",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         inlay_constraint_params params = sized<inlay_constraint_params>();
         params.kind = INLAY_CONSTRAINT_MESSAGE;
         params.text = "{}";
         params.text_len = 2;
         params.prompt = ids;
         params.n_prompt = 3;
         inlay_constraint* constraint = nullptr;
         const inlay_status status = inlay_constraint_create(engine.get(), &params, &constraint, err);
         inlay_constraint_free(constraint);
         return status;
       }},
      {"inlay_chat_parser_append",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         inlay_chat_parser* parser = nullptr;
         inlay_status status = inlay_chat_parser_create(engine.get(), nullptr, &parser, err);
         if (status == INLAY_OK) status = inlay_chat_parser_append(parser, ids, 3, err);
         inlay_chat_parser_free(parser);
         return status;
       }},
      {"inlay_chat_parser_params",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         inlay_chat_parser_params params = sized<inlay_chat_parser_params>();
         params.prompt = ids;
         params.n_prompt = 3;
         inlay_chat_parser* parser = nullptr;
         const inlay_status status = inlay_chat_parser_create(engine.get(), &params, &parser, err);
         inlay_chat_parser_free(parser);
         return status;
       }},
      {"inlay_token_get_info",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         inlay_token_info info = sized<inlay_token_info>();
         return inlay_token_get_info(engine.get(), id, &info, err);
       }},
      {"inlay_detokenize",
       [](const EnginePtr& engine, int32_t id, inlay_error* err) {
         const int32_t ids[] = {72, id, 73};
         size_t needed = 0;
         return inlay_detokenize(engine.get(), ids, 3, 0, nullptr, 0, &needed, err);
       }},
  };
  return all;
}

// Every function and every struct of the description that takes ids is one of those that are tried here.
TEST(VocabularySize, AllThatTakesIdsIsTried) {
  const json api = json::parse(file_bytes(INLAY_SOURCE_DIR "/bindings/api/inlay.json"));
  std::set<std::string> described, tried = {"inlay_session_set_sampler"};
  for (const json& function : api["functions"])
    for (const json& p : function["params"])
      if ((p["name"] == "token" || p["name"] == "tokens") && p["direction"] == "in") described.insert(function["name"]);
  for (const json& type : api["structs"])
    for (const json& field : type["fields"])
      if ((field["name"] == "token" || field["name"] == "tokens" || field["name"] == "prompt") && type["use"] == "in") described.insert(type["name"]);
  described.insert("inlay_session_set_sampler");  // takes a struct with ids later
  for (const auto* uses : {&uses_of_the_model(), &uses_of_the_tokenizer()})
    for (const auto& [name, use] : *uses) tried.insert(name);
  EXPECT_EQ(described, tried);
  EXPECT_GE(described.size(), 7u);
}

class VocabularySizeOf : public ::testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, VocabularySizeOf, ::testing::Values(Form::folder, Form::converted, Form::gguf), [](const auto& form) {
  return form.param == Form::folder ? "folder" : form.param == Form::converted ? "converted" : "gguf";
});

int32_t n_vocab_of(const EnginePtr& engine) {
  inlay_engine_info info = sized<inlay_engine_info>();
  EXPECT_EQ(inlay_engine_get_info(engine.get(), &info, nullptr), INLAY_OK);
  return info.n_vocab;
}

TEST_P(VocabularySizeOf, EveryRowIsTakenEverywhere) {
  constexpr int32_t kRows = kTokens + 11;
  const EnginePtr engine = load_with_rows(GetParam(), kRows);
  ASSERT_TRUE(engine);
  ASSERT_EQ(n_vocab_of(engine), kRows);
  for (const auto* uses : {&uses_of_the_model(), &uses_of_the_tokenizer()}) {
    for (const auto& [name, use] : *uses) {
      SCOPED_TRACE(name);
      inlay_error err;
      for (const int32_t id : {0, kTokens - 1, kTokens, kRows - 1}) EXPECT_EQ(use(engine, id, &err), INLAY_OK) << err.message;
      for (const int32_t id : {-1, kRows, INT32_MAX, INT32_MIN}) EXPECT_EQ(use(engine, id, &err), INLAY_INVALID_ARGUMENT) << id;
    }
  }
  for (int32_t id = kTokens; id < kRows; ++id) {
    inlay_token_info info = sized<inlay_token_info>();
    ASSERT_EQ(inlay_token_get_info(engine.get(), id, &info, nullptr), INLAY_OK);
    EXPECT_EQ(info.kind, INLAY_TOKEN_UNUSED);
    EXPECT_EQ(info.flags, 0u);
  }
  char text[8] = {};
  size_t needed = 0;
  const int32_t ids[] = {'H', kTokens + 3, 'I'};
  for (const inlay_detokenize_flags flags : {0u, unsigned{INLAY_DETOKENIZE_SHOW_SPECIAL}}) {
    EXPECT_EQ(inlay_detokenize(engine.get(), ids, 3, flags, text, sizeof text, &needed, nullptr), INLAY_OK);
    EXPECT_EQ(std::string(text, needed), "HI");
  }
  const SessionPtr session = new_session(engine);
  prefill(session, {72});
  EXPECT_EQ(text_of(force(session, kTokens + 3)), "");
}

TEST_P(VocabularySizeOf, TokensWithoutARowAreRefusedByName) {
  for (const int32_t n_rows : {kTokens - 1, kTokens - 2}) {
    const EnginePtr engine = load_with_rows(GetParam(), n_rows);
    ASSERT_TRUE(engine);
    ASSERT_EQ(n_vocab_of(engine), n_rows);
    inlay_error err;
    for (int32_t id = n_rows; id < kTokens; ++id) {
      SCOPED_TRACE(id);
      const std::string name = id == 258 ? "'<image>' (258)" : "'<tool>' (257)";
      for (const auto& [function, use] : uses_of_the_tokenizer()) EXPECT_EQ(use(engine, id, &err), INLAY_OK) << function;
      for (const auto& [function, use] : uses_of_the_model()) {
        EXPECT_EQ(use(engine, id, &err), INLAY_INVALID_ARGUMENT) << function;
        const bool is_bias = function == "inlay_logit_bias" || function == "inlay_session_set_sampler" ||
                             function == "inlay_session_set_stop_tokens";
        EXPECT_NE(std::string(err.message).find(is_bias ? std::to_string(id) : name), std::string::npos) << function << err.message;
      }
      // Every id that a text gives can be run.
      const std::string text = "a" + std::string(id == 258 ? "<image>" : "<tool>") + "b";
      size_t n = 99;
      EXPECT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), INLAY_TOKENIZE_PARSE_SPECIAL, nullptr, 0, &n, &err),
                INLAY_INVALID_ARGUMENT);
      EXPECT_NE(std::string(err.message).find(name), std::string::npos) << err.message;
    }
    for (const auto& [function, use] : uses_of_the_tokenizer()) EXPECT_EQ(use(engine, kTokens, &err), INLAY_INVALID_ARGUMENT);
    const SessionPtr session = new_session(engine);
    int32_t ids[16];
    size_t n = 0;
    ASSERT_EQ(inlay_tokenize(engine.get(), "a<image", SIZE_MAX, INLAY_TOKENIZE_PARSE_SPECIAL, ids, 16, &n, &err), INLAY_OK);
    EXPECT_EQ(inlay_prefill(session.get(), ids, n, nullptr, &err), INLAY_OK) << err.message;
    EXPECT_LT(step(session).token, n_rows);
    uint64_t cursor = 0;
    std::string log;
    for (char line[512]; inlay_log_read(engine.get(), &cursor, nullptr, line, sizeof line, &n, nullptr) == INLAY_OK;)
      log += std::string(line, n) + "\n";
    EXPECT_NE(log.find("more than the model, which cannot run them"), std::string::npos) << log;
  }
}

// What a folder calls plain text is that, whatever its name: it is drawn, gives its text and ends nothing, from the converted
// file too. A token of that name that the folder states to be an end is one.
TEST(NamesOfEnds, DoNotCountWhereAFolderStatesItsEnds) {
  ASSERT_GE(gguf_end_names().size(), 30u);
  for (const EndName& name : gguf_end_names()) {
    SCOPED_TRACE(name.text);
    for (const bool is_stated : {false, true}) {
      const TemporaryFolder folder;
      json tokenizer = byte_tokenizer();
      tokenizer["added_tokens"][1]["content"] = std::string(name.text);
      write_folder(folder, tokenizer, json::object(), kTokens);
      folder.write("generation_config.json", json{{"eos_token_id", is_stated ? json{256, 257} : json(256)}}.dump());
      const std::string file = folder.path("model.gguf");
      ASSERT_EQ(inlay_convert(folder.path().c_str(), SIZE_MAX, file.c_str(), SIZE_MAX, nullptr, nullptr), INLAY_OK);
      for (const std::string& path : {folder.path(), file}) {
        const EnginePtr engine = load_path(path);
        ASSERT_TRUE(engine);
        const SessionPtr session = new_session(engine);
        prefill(session, {72});
        const inlay_event event = force(session, 257);
        EXPECT_EQ(event.finish_reason, is_stated ? INLAY_FINISH_END_OF_GENERATION : INLAY_FINISH_NONE);
        EXPECT_EQ(text_of(event), is_stated ? "" : name.text);
        prefill(session, {72});
        EXPECT_EQ(force(session, 256).finish_reason, INLAY_FINISH_END_OF_GENERATION);
        const int32_t ids[] = {'a', 257, 'b'};
        char text[64];
        size_t n = 0;
        ASSERT_EQ(inlay_detokenize(engine.get(), ids, 3, 0, text, sizeof text, &n, nullptr), INLAY_OK);
        EXPECT_EQ(std::string(text, n), "a" + std::string(name.text) + "b");
      }
    }
  }
}

// Texts that are no UTF-8, or that normalizers and byte tokens make longer.
std::vector<std::string> hostile_texts() {
  std::string latin1, all, mixed;
  for (int byte = 0xE0; byte < 0x100; ++byte) latin1 += static_cast<char>(byte);
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (int i = 0; i < 50; ++i) mixed += "caf\xE9 \xC3 \xED\xA0\x80 ";
  std::string expanding;  // U+FDFA is 18 characters in the forms KC and KD
  for (int i = 0; i < 20; ++i) expanding += "\xEF\xB7\xBA\xE2\x80\xA6\xC4\xB0";
  return {"", "a", "\xE9", latin1, all, mixed, expanding, std::string(300, '\xFF'), std::string(100, '\0'), std::string(64, '\x80')};
}

// What the header says of the number: it can be asked for, it is the same for the same text, and it is room enough.
void expect_promise(const EnginePtr& engine, std::string_view text, inlay_tokenize_flags flags, bool& exceeds_bytes) {
  inlay_error err;
  size_t n = 99;
  ASSERT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), flags, nullptr, 0, &n, &err), INLAY_OK) << err.message;
  exceeds_bytes |= n > text.size() + 2;
  constexpr int32_t kUntouched = -77;
  Tokens tokens(n + 1, kUntouched);
  size_t n_given = 0;
  ASSERT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), flags, tokens.data(), n, &n_given, &err), INLAY_OK) << err.message;
  EXPECT_EQ(n_given, n);
  EXPECT_EQ(tokens.back(), kUntouched);
  EXPECT_EQ(std::ranges::count(tokens, kUntouched), 1);
  if (n == 0) return;
  EXPECT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), flags, tokens.data(), n - 1, &n_given, &err), INLAY_BUFFER_TOO_SMALL);
  EXPECT_EQ(n_given, n);
  EXPECT_EQ(err.required, n);
}

TEST(NumberOfTokens, CanBeAskedForWithEveryVocabulary) {
  const json index = json::parse(file_bytes(kTokenizers + "index.json"));
  int n_exceeding = 0;
  for (const json& entry : index["vocabularies"]) {
    SCOPED_TRACE(entry["name"].get<std::string>());
    const TemporaryFolder folder;
    const auto name = entry["file"].get<std::string>();
    EnginePtr engine;
    if (name.ends_with(".gguf")) {
      const auto file = open_gguf(kTokenizers + name);
      ASSERT_TRUE(file.ok());
      MetadataBuilder keys;
      for (const MetaEntry& old : file->metadata().entries()) keys.copy(old);
      for (const auto& [key, value] : entry["set"].items()) {
        if (value.is_string())
          keys.text(key, value.get<std::string>());
        else
          keys.boolean(key, value.get<bool>());
      }
      const Status written = write_gguf(folder.path("model.gguf"), keys, 2048);
      ASSERT_TRUE(written.ok()) << written.message;
      engine = load_path(folder.path("model.gguf"));
    } else {
      json tokenizer = json::parse(file_bytes(kTokenizers + name));
      for (const auto& [key, value] : entry["set"].items()) tokenizer[key] = value;
      const std::string config = name.substr(0, name.size() - 5) + "_config.json";
      write_folder(folder, tokenizer, json::parse(file_bytes(kTokenizers + config)), 2048);
      engine = load_path(folder.path());
    }
    ASSERT_TRUE(engine);
    bool exceeds_bytes = false;
    for (const std::string& text : hostile_texts())
      for (const inlay_tokenize_flags flags : {0u, unsigned{INLAY_TOKENIZE_NO_BOS_EOS}, unsigned{INLAY_TOKENIZE_PARSE_SPECIAL}})
        expect_promise(engine, text, flags, exceeds_bytes);
    n_exceeding += exceeds_bytes;
  }
  EXPECT_GE(n_exceeding, 30) << "these texts do not show that bytes + 2 is no bound";
}

// A vocabulary that no number of bytes bounds: a letter becomes a hundred, and four tokens stand around each text.
TEST(NumberOfTokens, NormalizersAndTemplatesMayAddAny) {
  json tokenizer = byte_tokenizer();
  tokenizer["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100, 'b')}};
  const json special = {{"SpecialToken", {{"id", "<end>"}, {"type_id", 0}}}}, text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  tokenizer["post_processor"] = {{"type", "TemplateProcessing"},
                                 {"single", {special, special, text, special, special}},
                                 {"special_tokens", {{"<end>", {{"id", "<end>"}, {"ids", {256}}, {"tokens", {"<end>"}}}}}}};
  const TemporaryFolder folder;
  write_folder(folder, tokenizer, json::object(), kTokens);
  const EnginePtr engine = load_path(folder.path());
  ASSERT_TRUE(engine);
  bool exceeds_bytes = false;
  for (const char* input : {"", "a", "aaaa"}) expect_promise(engine, input, 0, exceeds_bytes);
  EXPECT_TRUE(exceeds_bytes);
  size_t n = 0;
  EXPECT_EQ(inlay_tokenize(engine.get(), "a", 1, 0, nullptr, 0, &n, nullptr), INLAY_OK);
  EXPECT_EQ(n, 104u);
}

}  // namespace
}  // namespace inlay::test
