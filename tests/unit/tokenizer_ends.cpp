// Which tokens are special: what a file states counts, and names are looked at only where it states nothing.
#include <algorithm>

#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/json_tokenizer.h"
#include "tests/unit/tokenizer_fixtures.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

constexpr const char* kKeys[] = {"bos", "eos",    "eot",     "eom",     "unknown", "padding",
                                 "cls", "seperator", "mask", "fim_pad", "fim_rep", "fim_sep"};

bool is_remarked(const Tokenizer& t, std::string_view words) {
  return std::ranges::any_of(t.remarks(), [&](const std::string& r) { return r.find(words) != r.npos; });
}

std::vector<std::string> all_names() {
  std::vector<std::string> out;
  for (const EndName& name : gguf_end_names()) out.emplace_back(name.text);
  return out;
}

// Names that no text has, so that they count whatever the file says.
bool is_no_text(std::string_view name) {
  for (const EndName& end : gguf_end_names())
    if (end.text == name && std::string_view(end.key).starts_with("fim_")) return false;
  return is_turn_mark(name);
}

// The bytes, and a token of that name and type.
VocabularyFile with_name(const std::string& name, int32_t type) {
  VocabularyFile v;
  v.merges.emplace();
  for (int byte = 0; byte < 256; ++byte) v.add(byte_char(byte));
  v.add(name, type);
  v.add("<other>", kControl);
  return v;
}

TEST(GgufEnds, NamesCountWhereTheFileStatesNothing) {
  for (const std::string& name : all_names()) {
    SCOPED_TRACE(name);
    for (const int32_t type : {kControl, kUserDefined}) {
      const auto t = load_good(with_name(name, type));
      EXPECT_TRUE(t->is_end_of_generation(256));
      EXPECT_TRUE(is_remarked(*t, "taken as ends of generation by their names"));
    }
    VocabularyFile v = with_name(name, kNormal);
    EXPECT_EQ(load_good(v)->is_end_of_generation(256), is_no_text(name)) << "the file says that it is text";
    v.with_types = false;
    EXPECT_TRUE(load_good(v)->is_end_of_generation(256)) << "the file says nothing of types";
  }
}

TEST(GgufEnds, WhereAKeyNamesTheTokenOthersOfThatNameAreText) {
  for (const std::string& name : all_names()) {
    SCOPED_TRACE(name);
    VocabularyFile v = with_name(name, kUserDefined);
    for (const EndName& end : gguf_end_names())
      if (end.text == name) v.numbers = {{std::string(end.key) + "_token_id", 257}};
    const auto t = load_good(v);
    EXPECT_TRUE(t->is_end_of_generation(257));
    EXPECT_EQ(t->is_end_of_generation(256), is_no_text(name));
    if (is_no_text(name)) continue;
    EXPECT_EQ(t->kind(256), TokenKind::user_defined);
    EXPECT_TRUE(t->remarks().empty()) << t->remarks()[0];
    v.types[256] = kControl;
    EXPECT_TRUE(load_good(v)->is_end_of_generation(256)) << "a control token is no text";
  }
}

// A fine-tune whose file has its turns' tokens as text and names the base model's end.
TEST(TurnTokens, CountByNameAndTemplateWhateverTheirType) {
  const struct {
    const char* name;
    const char* chat_template;  // null: none
    int32_t type;
    bool is_control, is_end;
  } cases[] = {
      {"<|im_start|>", "{{ '<|im_start|>' }}", kNormal, true, false},
      {"<|im_start|>", "<|im_start|>", kUserDefined, false, false},  // is taken whole as it is
      {"<|im_start|>", "<|im_end|>", kNormal, false, false},
      {"<|im_start|>", nullptr, kNormal, false, false},
      {"<|im_end|>", "<|im_end|>", kNormal, true, true},
      {"<|im_end|>", nullptr, kNormal, true, true},
      {"<|im_end|>", nullptr, kUserDefined, true, true},
      {"<start_of_turn>", "<start_of_turn>", kNormal, true, false},
      {"<end_of_turn>", nullptr, kNormal, true, true},
      {"<|eot_id|>", nullptr, kNormal, true, true},
      {"<|start_header_id|>", "<|start_header_id|>", kNormal, true, false},
      {"<\xEF\xBD\x9CUser\xEF\xBD\x9C>", "<\xEF\xBD\x9CUser\xEF\xBD\x9C>", kNormal, true, false},
      {"[INST]", "[INST]", kNormal, true, false},
      // What texts have stays text, although a template writes it.
      {"</s>", "</s>", kNormal, false, false},
      {"<div>", "<div>", kNormal, false, false},
      {"[PAD]", "[PAD]", kNormal, false, false},
      {"<| |>", "<| |>", kNormal, false, false},
      {"<|fim_pad|>", nullptr, kNormal, false, false},
      {"user", "user", kNormal, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name) + " in " + (c.chat_template ? c.chat_template : "no template") + ", type " + std::to_string(c.type));
    VocabularyFile v = with_name(c.name, c.type);
    v.numbers = {{"eos_token_id", 257}, {"fim_pad_token_id", 257}};
    GgufImage image = image_of(v);
    if (c.chat_template) image.text("tokenizer.chat_template", c.chat_template);
    const GgufImage::Bytes bytes = image.build();
    const auto file = read_gguf(borrow_memory(bytes, "vocabulary"));
    ASSERT_TRUE(file.ok()) << file.status().message;
    const auto t = taken(Tokenizer::from_metadata(file->metadata()));
    EXPECT_EQ(t->kind(256) == TokenKind::control, c.is_control);
    EXPECT_EQ(t->is_end_of_generation(256), c.is_end);
    EXPECT_TRUE(t->is_end_of_generation(257));
    EXPECT_EQ(is_remarked(*t, "taken as control tokens, though the file has them as text"), c.is_control);
    EXPECT_EQ(text_of(*t, {256}), c.is_control ? "" : text_of(*t, {256}, true));
    if (c.is_control) {
      EXPECT_EQ(ids_of(*t, "a" + std::string(c.name), {.add_special = false, .parse_special = true}), (Ids{'a', 256}));
    }
  }
}

TEST(TurnTokens, ABosOfTheTypeOfTextIsOneAllTheSame) {
  VocabularyFile v = with_name("<bos>", kNormal);
  EXPECT_EQ(load_good(v)->kind(256), TokenKind::normal);
  v.numbers = {{"bos_token_id", 256}};
  EXPECT_EQ(load_good(v)->kind(256), TokenKind::control);
  EXPECT_TRUE(is_remarked(*load_good(v), "tokenizer.ggml.bos_token_id"));
  v.tokens[256] = "word";
  EXPECT_EQ(load_good(v)->kind(256), TokenKind::normal);
}

// Phi 3 states <|endoftext|>; its user-defined </s> still ends a text that begins with <s>.
TEST(GgufEnds, AUserDefinedCounterpartOfBosEnds) {
  for (const auto& [begin, end] : {std::pair{"<s>", "</s>"}, {"<bos>", "<eos>"}, {"[BOS]", "[EOS]"}}) {
    VocabularyFile v = with_name(end, kUserDefined);
    v.numbers = {{"bos_token_id", static_cast<uint32_t>(v.add("<other>", kControl))}, {"eos_token_id", 257}};
    EXPECT_FALSE(load_good(v)->is_end_of_generation(256)) << end;
    v.tokens.back() = begin;
    EXPECT_TRUE(load_good(v)->is_end_of_generation(256)) << end;
    EXPECT_EQ(load_good(v)->kind(256), TokenKind::control);
    v.types[256] = kNormal;
    EXPECT_FALSE(load_good(v)->is_end_of_generation(256)) << end << ": the file says that it is text";
  }
}

// A vocabulary whose file has the list of ends that our converter writes.
Result<std::unique_ptr<Tokenizer>> load_with_list(const VocabularyFile& v, const std::vector<int32_t>& ends) {
  const GgufImage::Bytes bytes =
      image_of(v).array("tokenizer.inlay.end_token_ids", MetaType::i32, ends).build();
  INLAY_ASSIGN(Checkpoint file, read_gguf(borrow_memory(bytes, "vocabulary")));
  return Tokenizer::from_metadata(file.metadata());
}

TEST(GgufEnds, TheListOfTheConverterIsAllThatCounts) {
  for (const std::string& name : all_names()) {
    SCOPED_TRACE(name);
    VocabularyFile v = with_name(name, kControl);
    v.numbers = {{"eos_token_id", 65}};
    for (const std::vector<int32_t>& ends : {std::vector<int32_t>{}, {66, 67}}) {
      const auto t = load_with_list(v, ends);
      ASSERT_TRUE(t.ok()) << t.status().message;
      for (int32_t id = 0; id < (*t)->n_tokens(); ++id)
        EXPECT_EQ((*t)->is_end_of_generation(id), std::ranges::count(ends, id) > 0) << id;
      EXPECT_EQ((*t)->eos(), 65);
    }
  }
  const auto t = load_with_list(with_name("x", kControl), {-1, 66, 300});
  ASSERT_TRUE(t.ok()) << t.status().message;
  EXPECT_TRUE((*t)->is_end_of_generation(66));
  EXPECT_TRUE(is_remarked(**t, "tokenizer.inlay.end_token_ids is 300"));
}

json folder_tokenizer(const std::string& name, bool is_added, bool special) {
  json vocab;
  for (int byte = 0; byte < 256; ++byte) vocab[byte_char(byte)] = byte;
  json added = json::array({{{"id", 257}, {"content", "<stop>"}, {"special", true}}});
  if (is_added)
    added.push_back({{"id", 256}, {"content", name}, {"special", special}});
  else
    vocab[name] = 256;
  return {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}}},
          {"added_tokens", added},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}}};
}

TEST(FolderEnds, NamesNeverCount) {
  for (const std::string& name : all_names()) {
    SCOPED_TRACE(name);
    for (const bool is_added : {false, true}) {
      const auto t = taken(read_tokenizer_json({.tokenizer = folder_tokenizer(name, is_added, false).dump(), .end_ids = {257}}));
      EXPECT_TRUE(t->is_end_of_generation(257));
      EXPECT_FALSE(t->is_end_of_generation(256));
      EXPECT_EQ(t->kind(256), is_added ? TokenKind::user_defined : TokenKind::normal);
      const std::string text = "a" + name + "b";
      for (const bool parse : {false, true})
        EXPECT_EQ(text_of(*t, ids_of(*t, text, {.add_special = false, .parse_special = parse})), text);
      EXPECT_EQ(ids_of(*t, text) == (Ids{'a', 256, 'b'}), is_added);
    }
    const auto control = taken(read_tokenizer_json({.tokenizer = folder_tokenizer(name, true, true).dump(), .end_ids = {}}));
    EXPECT_FALSE(control->is_end_of_generation(256)) << "the folder states no ends";
    EXPECT_EQ(control->kind(256), TokenKind::control) << "it states that this is a special token";
    const auto stated = taken(read_tokenizer_json({.tokenizer = folder_tokenizer(name, true, false).dump(), .end_ids = {256}}));
    EXPECT_TRUE(stated->is_end_of_generation(256));
  }
}

TEST(SpecialIds, OutsideTheVocabularyTheyMeanNone) {
  for (const VocabularyFile& good : {bpe_vocabulary(), spm_vocabulary()}) {
    for (const char* name : kKeys) {
      const std::string key = std::string(name) + "_token_id";
      const auto n = static_cast<uint32_t>(good.tokens.size());
      for (const uint32_t id : {n, n + 1000, UINT32_MAX}) {
        SCOPED_TRACE(key + " " + std::to_string(id));
        VocabularyFile v = good;
        std::erase_if(v.numbers, [&](const auto& number) { return number.first == key; });
        v.numbers.emplace_back(key, id);
        const auto t = load_good(v);
        ASSERT_TRUE(t);
        EXPECT_TRUE(name != std::string("bos") || t->bos() == -1);
        EXPECT_TRUE(name != std::string("eos") || t->eos() == -1);
        EXPECT_TRUE(is_remarked(*t, "tokenizer.ggml." + key + " is " + std::to_string(id)));
        EXPECT_FALSE(ids_of(*t, "hello", {.add_special = true}).empty());
      }
    }
  }
}

TEST(SpecialIds, HaveTheirNames) {
  const std::pair<const char*, const char*> roles[] = {{"bos", "bos_token"}, {"eos", "eos_token"}, {"unknown", "unk_token"}, {"padding", "pad_token"},
                                                       {"seperator", "sep_token"}, {"cls", "cls_token"}, {"mask", "mask_token"}};
  for (const auto& [key, name] : roles) {
    for (const uint32_t id : {uint32_t{300}, uint32_t{'x'}}) {
      VocabularyFile v = bpe_vocabulary();
      v.numbers = {{std::string(key) + "_token_id", id}};
      const auto t = load_good(v);
      if (id == 300) {
        EXPECT_TRUE(t->special_names().empty()) << name;
        continue;
      }
      ASSERT_EQ(t->special_names().size(), 1u) << name;
      EXPECT_EQ(t->special_names()[0].name, name);
      EXPECT_EQ(t->special_names()[0].texts, std::vector<std::string>{"x"});
    }
  }
}

// Every integer type in which a file may write -1.
TEST(SpecialIds, MinusOneOfEveryTypeMeansNone) {
  const auto eos = [](auto put) {
    VocabularyFile v = spm_vocabulary();
    std::erase_if(v.numbers, [](const auto& number) { return number.first == "eos_token_id"; });
    GgufImage image = image_of(v);
    put(image, "tokenizer.ggml.eos_token_id");
    const GgufImage::Bytes bytes = image.build();
    const auto file = read_gguf(borrow_memory(bytes, "vocabulary"));
    EXPECT_TRUE(file.ok()) << file.status().message;
    const auto t = Tokenizer::from_metadata(file->metadata());
    EXPECT_TRUE(t.ok()) << t.status().message;
    return t.ok() ? (*t)->eos() : -2;
  };
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::i8, int8_t{-1}); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::i16, int16_t{-1}); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::i32, int32_t{-1}); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::i64, int64_t{-1}); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::u32, UINT32_MAX); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::u64, UINT64_MAX); }), -1);
  EXPECT_EQ(eos([](GgufImage& i, const char* key) { i.scalar(key, MetaType::i32, int32_t{7}); }), 7);
}

TEST(SpecialIds, ATokenThatIsNoneIsNotAdded) {
  VocabularyFile v = bpe_vocabulary();
  v.numbers = {{"bos_token_id", UINT32_MAX}, {"eos_token_id", UINT32_MAX}};
  v.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
  const auto t = load_good(v);
  EXPECT_EQ(ids_of(*t, "b", {.add_special = true}), Ids{'b'});
  EXPECT_TRUE(is_remarked(*t, "tokenizer.ggml.add_bos_token is true"));
}

TEST(SpecialIds, OfAFolderToo) {
  const json config = {{"bos_token", "<none>"}};
  const auto t = taken(read_tokenizer_json({.tokenizer = folder_tokenizer("x", true, true).dump(),
                                            .config = config.dump(),
                                            .end_ids = {-1, INT64_MAX, 258, 257},
                                            .end_ids_name = "generation_config.json: eos_token_id"}));
  EXPECT_EQ(t->bos(), -1);
  EXPECT_TRUE(t->is_end_of_generation(257));
  EXPECT_TRUE(is_remarked(*t, "bos_token is '<none>', which is no token"));
  EXPECT_TRUE(is_remarked(*t, "generation_config.json: eos_token_id is -1, none of the 258 token ids"));
  EXPECT_TRUE(is_remarked(*t, "eos_token_id is 258,"));
}

// Rows of the model that have no token, with each of the vocabularies.
TEST(Padding, RowsWithoutATokenAreUnusedAndEmpty) {
  const auto check = [](const Tokenizer& padded, const Tokenizer& plain) {
    const int32_t n = plain.n_tokens();
    ASSERT_EQ(padded.n_tokens(), n + 40);
    for (int32_t id = n; id < n + 40; ++id) {
      EXPECT_EQ(padded.kind(id), TokenKind::unused);
      EXPECT_EQ(padded.piece(id), "");
      EXPECT_EQ(padded.score(id), 0.0f);
      EXPECT_FALSE(padded.is_end_of_generation(id));
    }
    EXPECT_EQ(text_of(padded, {n + 39}, true), "");
    for (const char* text : {"Hello world", "", "a\xFF"})
      EXPECT_EQ(ids_of(padded, text, {.add_special = true, .parse_special = true}),
                ids_of(plain, text, {.add_special = true, .parse_special = true}));
    for (int32_t id = 0; id < n; ++id) {
      EXPECT_EQ(padded.piece(id), plain.piece(id));
      EXPECT_EQ(padded.is_end_of_generation(id), plain.is_end_of_generation(id));
    }
  };
  int n_files = 0;
  std::string last;
  for (const json& entry : own_entries()) {
    const auto name = entry.at("file").get<std::string>();
    if (name == last) continue;
    last = name;
    ++n_files;
    SCOPED_TRACE(name);
    const auto plain = load_own(entry);
    if (is_gguf(entry)) {
      const auto file = open_gguf(kOwnTokenizers + name);
      ASSERT_TRUE(file.ok());
      check(*taken(Tokenizer::from_metadata(file->metadata(), plain->n_tokens() + 40)),
            *taken(Tokenizer::from_metadata(file->metadata())));
    } else {
      const std::string text = read_file(kOwnTokenizers + name);
      check(*taken(read_tokenizer_json({.tokenizer = text, .end_ids = {}, .n_rows = plain->n_tokens() + 40})),
            *taken(read_tokenizer_json({.tokenizer = text, .end_ids = {}})));
    }
  }
  EXPECT_GE(n_files, 9);
}

TEST(Padding, ARowWithoutATokenCanBeAnEnd) {
  VocabularyFile v = bpe_vocabulary();
  const auto n = static_cast<int32_t>(v.tokens.size());
  v.numbers = {{"eos_token_id", static_cast<uint32_t>(n + 2)}};
  const GgufImage::Bytes bytes = image_of(v).build();
  const auto file = read_gguf(borrow_memory(bytes, "vocabulary"));
  ASSERT_TRUE(file.ok());
  const auto t = taken(Tokenizer::from_metadata(file->metadata(), n + 3));
  EXPECT_EQ(t->eos(), n + 2);
  EXPECT_TRUE(t->is_end_of_generation(n + 2));
}

}  // namespace
}  // namespace inlay::testing
