// Writes the seeds of the fuzz targets: make_corpus CORPUS_FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "tests/fuzz/vocabularies.h"
#include "tests/unit/chat_messages.h"
#include "tests/unit/gguf_image.h"

namespace {

namespace fs = std::filesystem;
using inlay::MetaType;
using inlay::testing::GgufImage;
using inlay::testing::pattern;
using inlay::testing::small_image;
using Bytes = GgufImage::Bytes;

bool write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.good()) std::fprintf(stderr, "cannot write %s\n", path.string().c_str());
  return out.good();
}

template <class T>
Bytes with(const GgufImage& image, const char* field, T value) {
  Bytes bytes = image.build();
  std::memcpy(bytes.data() + image.at(field), &value, sizeof(value));
  return bytes;
}

// "valid-" files must open, "refused-" files must not.
bool write_gguf(const fs::path& folder) {
  const GgufImage small = small_image();
  GgufImage wide(3, 64);
  wide.u32("general.alignment", 64).tensor("q4_k", {256, 1, 1, 2}, 12, pattern(288, 3));
  wide.tensor("bf16", {3, 5, 2}, 30, pattern(60, 7));
  Bytes cut = small.build();
  cut.resize(cut.size() - 20);
  return write(folder / "valid-version3.gguf", small.build()) &&
         write(folder / "valid-version2.gguf", small_image(2).build()) &&
         write(folder / "valid-alignment64.gguf", wide.build()) &&
         write(folder / "valid-empty.gguf", GgufImage().build()) &&
         write(folder / "valid-vocabulary-bpe.gguf", inlay::fuzz::bpe_vocabulary("gpt-2").build()) &&
         write(folder / "valid-vocabulary-spm.gguf", inlay::fuzz::spm_vocabulary().build()) &&
         write(folder / "refused-cut.gguf", cut) &&
         write(folder / "refused-nested-array.gguf", with(small, "element_type:a.texts", uint32_t{9})) &&
         write(folder / "refused-q2_k.gguf", with(small, "tensor:w.q8_0.type", uint32_t{10})) &&
         write(folder / "refused-huge-count.gguf", with(small, "count:a.texts", uint64_t{1} << 61)) &&
         write(folder / "refused-split.gguf", GgufImage()
                                                  .scalar("split.no", MetaType::u16, uint16_t{1})
                                                  .scalar("split.count", MetaType::u16, uint16_t{2})
                                                  .build());
}

bool write_template(const fs::path& folder) {
  const char* templates[] = {
      "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m.content|trim + '\\n' }}{% endfor %}",
      "{%- if not tools is defined %}{% set tools = none %}{%- endif -%}{{ bos_token }}{{ tools|tojson(indent=2) }}",
      "{% set ns = namespace(n=0, s='') %}{% for m in messages[::-1] %}{% set ns.n = ns.n + loop.index0 %}{% endfor "
      "%}{{ ns }}",
      "{% macro m(a, b=1) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}{{ m(b=2, a=3, c=4) }}",
      "{% for k, v in messages[0].items() recursive %}{{ loop.cycle('a', 'b') }}{{ loop.changed(k) }}{% else %}-{% "
      "endfor %}",
      "{{ messages|selectattr('role', 'in', ['user'])|map(attribute='content')|join(', ')|upper|indent(2)|replace('A', "
      "'b') }}",
      "{{ 'a b'.split(' ')[-1].strip('b').center(9)[1:7:2] ~ '%s-%03d' % ('a', 7) }}{{ '{} {x}'.format(1, x=2) }}",
      "{{ numbers|sort|list }}{{ numbers|sum / 3 }}{{ 7 // -2 ** 3 % 5 }}{{ numbers[0]|abs|round(2)|string|length }}",
      "{% set x %} a {{ 1.5e3 }} {% endset %}{% filter upper %}{{ x }}{% endfilter %}{% with y = x %}{{ y }}{% endwith "
      "%}",
      "{# c #}{%- raw -%} {{ x }} {%- endraw %}\n  {%+ if 1 < 2 <= 3 and not 'a' in 'b' %}y{% elif 1 %}n{% endif -%}\n "
      "z",
      "{% call(u) m() %}{{ u }}{% endcall %}{% macro m() %}{{ caller(1) }}{% endmacro %}",
      "{% generation %}{{ 'y' if messages|length > 1 else 'n' }}{% endgeneration %}{{ {'a': (1, 2.0, none)}|tojson }}",
      "{{ raise_exception('no: ' ~ numbers) }}{{ strftime_now('%d %b %Y') }}{{ range(9)|batch(2)|list }}",
      "{% set c = cycler('a', 'b') %}{% set j = joiner() %}{% for i in range(3) if i is odd %}{{ c.next() }}{{ j() "
      "}}{% break %}{% endfor %}",
      "{{ messages|groupby('role')|list }}{{ messages|dictsort }}{{ {'b': 1, 'A': 2}|dictsort(by='value', "
      "reverse=true) }}",
      "{{ '<a>'|e ~ '<b>' }}{{ '<p>x</p> y'|striptags|urlencode|title|capitalize|truncate(9) }}{{ 'x' is sameas 'x' }}",
  };
  bool ok = true;
  for (size_t i = 0; i < std::size(templates); ++i) {
    std::string text = templates[i];
    text += '\0';
    text += " caf\xC3\xA9\n\xF0\x9F\x98\x80 <think>x</think>";
    ok = ok && write(folder / ("template" + std::to_string(i)), std::as_bytes(std::span(text)));
  }
  return ok;
}

bool write_tokenizer(const fs::path& folder) {
  const char* texts[] = {
      " the thing's  other\n\n\tthing 12345 don't ELSE'LL   ",
      "caf\xC3\xA9 \xE2\x82\xAC\xF0\x9F\x98\x80 \xE2\x96\x81 \xE4\xB8\xAD\xE6\x96\x87 \xD0\x9F\xD1\x80 e\xCC\x81",
      "<|begin|>aaaaaaa<user><us<|endoftext|> <s></s><unk><0x41>",
      "bad \xFF\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82 \xF0\x9F\x98",
  };
  bool ok = true;
  for (size_t i = 0; i < std::size(texts); ++i)
    for (const unsigned options : {0x00u, 0x1Fu, 0x2Eu, 0x01u}) {
      Bytes bytes = {static_cast<std::byte>(options)};
      for (const char* c = texts[i]; *c; ++c) bytes.push_back(static_cast<std::byte>(*c));
      ok = ok && write(folder / ("text" + std::to_string(i) + "-" + std::to_string(options)), bytes);
    }
  const auto vocabulary = [&](const char* name, const GgufImage& image) {
    Bytes bytes = image.build();
    bytes.insert(bytes.begin(), std::byte{0x80});
    return write(folder / name, bytes);
  };
  return ok && vocabulary("vocabulary-bpe", inlay::fuzz::bpe_vocabulary("llama-bpe")) &&
         vocabulary("vocabulary-spm", inlay::fuzz::spm_vocabulary()) &&
         vocabulary("vocabulary-unigram", inlay::fuzz::unigram_vocabulary()) &&
         vocabulary("vocabulary-wordpiece", inlay::fuzz::word_piece_vocabulary());
}

// One message of each format, with its markers as tokens and as text, and a format of the input's own.
bool write_chat(const fs::path& folder) {
  const auto names = inlay::chat_format_names();
  bool ok = true;
  const auto add = [&](const std::string& name, uint8_t first, std::string_view text) {
    Bytes bytes = {static_cast<std::byte>(first)};
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    ok = ok && write(folder / name, bytes);
  };
  size_t number = 0;
  for (const auto* rows : {&inlay::test::kMessages[0], &inlay::test::kMalformed[0]}) {
    const size_t n = rows == inlay::test::kMessages ? std::size(inlay::test::kMessages) : std::size(inlay::test::kMalformed);
    for (size_t i = 0; i < n; ++i) {
      const auto which = std::find(names.begin(), names.end(), rows[i].format) - names.begin();
      add("message" + std::to_string(number++), static_cast<uint8_t>(which | (i % 2 ? 0x60 : 0x40)), rows[i].tail + std::string(1, '\0') + rows[i].text);
    }
  }
  const std::string own = R"({"name": "own", "reasoning": {"begin": "<t>", "end": "</t>"}, "calls": {"written": "named", "begin": ["<c>", "f"],
"end": "</c>", "id_begin": "#", "arguments_begin": ":", "section_begin": "<s>", "section_end": "</s>", "separator": ","}})";
  add("own-named", 0x5F, own + std::string(2, '\0') + "<t>a</t>b<s><c> f weather#1:{\"a\": \"\\u00e9\"}</c>,<c>f now:[]</c></s>c");
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const fs::path folder = argv[1];
  fs::create_directories(folder / "gguf");
  fs::create_directories(folder / "template");
  fs::create_directories(folder / "tokenizer");
  fs::create_directories(folder / "chat");
  const bool ok = write_gguf(folder / "gguf") && write_template(folder / "template") && write_tokenizer(folder / "tokenizer") && write_chat(folder / "chat");
  return ok ? 0 : 1;
}
