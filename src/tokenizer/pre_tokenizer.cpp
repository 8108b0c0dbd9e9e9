#include "src/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <utility>

namespace inlay {
namespace {

// Parts that patterns share
#define CONTRACTION "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CASED_WORD(tail) \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" tail R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" tail
#define ASCII_SIGN_WORD R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
#define MARKED_WORD R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
// kimi-k2: the cased word without Han characters
#define NOT_HAN_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define NOT_HAN_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"

constexpr std::string_view kThreeDigits =
    CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES;
constexpr std::string_view kOneDigit =
    CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES;
constexpr std::string_view kMarkedWords =
    CONTRACTION R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACES;
constexpr std::string_view kCased = CASED_WORD(CONTRACTION "?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;
constexpr std::string_view kCasedOneDigit = CASED_WORD(CONTRACTION "?") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;
constexpr std::string_view kTekken = CASED_WORD("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;
constexpr std::string_view kSignWords = ASCII_SIGN_WORD "|" MARKED_WORD R"(| ?[\p{P}\p{S}]+[\r\n]*|)" SPACES;
constexpr std::string_view kChinese = R"([\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+)";
constexpr std::string_view kEastAsian = R"([\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+)";
constexpr std::string_view kSentence = R"( ?[^(\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+)";
// The cased letters that DeepSeek LLM's tokenizer.json lists.
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF)"
    R"(\u0370-\u0373\u0376-\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5)"
    R"(\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF)"
    R"(\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57)"
    R"(\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3)"
    R"(\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124)"
    R"(\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183-\u2184\u2C00-\u2C7B)"
    R"(\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2-\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E)"
    R"(\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
// Its list of signs, but for U+3000, which the list has and the reference ids show to count as white space only.
constexpr std::string_view kDeepSeekSigns = R"(\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3001-\u3002]+)";

// Sources: the `pre_tokenizer` of the models' tokenizer.json; the names are those that GGUF converters write.
// Contractions match in ASCII only, as where GGUF files are in use already.
constexpr PreTokenizer kPreTokenizers[] = {
    {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0",
      "mellum", "trillion", "granite-docling", "exaone4", "modern-bert"},
     {kGpt2Words}},
    {{"jina-v1-en", "jina-v2-code", "roberta-bpe"}, {kGpt2Words}},
    {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
     {kThreeDigits},
     true,
     true},
    {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {kThreeDigits}},
    {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "kormo", "grok-2", "solar-open", "f2llmv2"},
     {kOneDigit}},
    {{"qwen35"}, {kMarkedWords}},
    {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"},
     {R"(\p{N})", kGpt2Words}},
    {{"deepseek-llm"}, {R"([\r\n])", kDeepSeekLetters, kDeepSeekSigns, R"(\s+$)", kEastAsian, R"(\p{N}+)"}},
    {{"deepseek-coder"}, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian, R"(\p{N})"}},
    {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, {R"(\p{N}{1,3})", kChinese, kSignWords}},
    {{"spark2_5"},
     {R"(\p{N}{1,3})", kChinese, ASCII_SIGN_WORD "|" MARKED_WORD R"(| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)",
      R"(\p{N})"}},
    {{"youtu"},
     {R"([\uAC00-\uD7A3\u3131-\u318E]+|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014)"
      R"(\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+)",
      kCasedOneDigit},
     true},
    {{"falcon"}, {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Words, "[0-9][0-9][0-9]"}},
    {{"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Words, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
    {{"tekken"}, {kTekken}, true, true},
    {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {kCased}},
    {{"granite-embed-multi-97m"}, {kCased}, true},
    {{"tiny_aya", "cohere2moe"}, {R"(\d{1,3}(?=(?:\d{3})*\b))", kCased}},
    {{"kimi-k2"},
     {R"(\p{Han}+|[^\r\n\p{L}\p{N}]?)" NOT_HAN_UPPER "*" NOT_HAN_LOWER "+" CONTRACTION
      R"(?|[^\r\n\p{L}\p{N}]?)" NOT_HAN_UPPER "+" NOT_HAN_LOWER "*" CONTRACTION
      R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES}},
    {{"superbpe"}, {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}},
    {{"bailingmoe", "bailingmoe2", "llada-moe"},
     {R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n])"
      R"(|\s+(?!\S)|\s+)"}},
    {{"seed-coder"}, {CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACES}},
    {{"ufakzeka"}, {R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES}},
    {{"afmoe"},
     {R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|\z)))",
      R"([\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u3040-\u309F\u30A0-\u30FF)"
      R"(\uFF65-\uFF9F\u2F00-\u2FDF\u0E40-\u0E7F\u0E80-\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F)"
      R"(\uA9E0-\uA9FF\uAC00-\uD7AF\u1100-\u11FF]+)",
      kSignWords}},
    {{"laguna"}, {R"([^\n]+|[\n]+)", kOneDigit}},
    {{"exaone-moe"},
     {CONTRACTION R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n])"
                  R"(|\s+(?!\S)|\s+)"}},
    {{"minicpm5"},
     {R"(\p{N}{1,3})", CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES},
     true},
    {{"jais-2"},
     {CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|)"
                  R"(\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|)"
                  R"(\s{1,2}(?!\S)|\s)"}},
    {{"chameleon"},
     {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"([\t\n]|    |  )", R"(\p{N})",
      R"([\p{P}!-/:-@\[-`{-~])", kGpt2Words},
     false,
     true},
    {{"poro-chat", "bloom", "gpt3-finnish"}, {kSentence}},
    {{"viking"}, {kSentence, R"(\p{N})"}},
};

// Characters to insert, remove or change that make one text of the other.
size_t n_edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) return nullptr;  // unused entries of `names` are empty
  for (const PreTokenizer& row : kPreTokenizers)
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row;
  return nullptr;
}

std::vector<std::string_view> pre_tokenizer_names() {
  std::vector<std::string_view> out;
  for (const PreTokenizer& row : kPreTokenizers) {
    for (const std::string_view name : row.names)
      if (!name.empty()) out.push_back(name);
  }
  return out;
}

std::string similar_pre_tokenizers(std::string_view name) {
  constexpr size_t kFew = 6, kLongest = 64;
  std::vector<std::pair<size_t, std::string_view>> found;
  for (const std::string_view known : pre_tokenizer_names()) found.emplace_back(n_edits(name.substr(0, kLongest), known), known);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (size_t i = 0; i < kFew; ++i) out += (i == 0 ? "" : ", ") + std::string(found[i].second);
  return out;
}

Result<WordSplitter> WordSplitter::compile(const PreTokenizer& rules) {
  WordSplitter out;
  for (const std::string_view pattern : rules.patterns) {
    if (pattern.empty()) break;
    INLAY_ASSIGN(Regex stage, Regex::compile(pattern));
    out.stages_.push_back(std::move(stage));
  }
  return out;
}

}  // namespace inlay
