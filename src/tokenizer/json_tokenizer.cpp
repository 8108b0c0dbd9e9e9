#include "src/tokenizer/json_tokenizer.h"

#include "src/tokenizer/json_vocabulary.h"
#include "src/tokenizer/utf8.h"
#include "src/tokenizer/vocabulary_tokenizer.h"

namespace inlay {
namespace {

class JsonTokenizer final : public VocabularyTokenizer {
 public:
  JsonTokenizer(Vocabulary vocabulary, JsonPipeline pipeline)
      : VocabularyTokenizer(std::move(vocabulary)), pipeline_(std::move(pipeline)) {}

  void encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const override {
    std::string repaired, normalized;
    text = well_formed(text, repaired);
    Words words(*pipeline_.model, out);
    const auto token = [&](int32_t id) { out.push_back(id); };
    const auto add = [&](const std::vector<int32_t>& ids) { out.insert(out.end(), ids.begin(), ids.end()); };
    if (options.add_special) add(pipeline_.before);
    pipeline_.raw_added.split(
        text, options.parse_special,
        [&](size_t from, size_t to) {
          const std::string_view part = pipeline_.normalizer.apply(text.substr(from, to - from), normalized);
          pipeline_.normalized_added.split(
              part, options.parse_special,
              [&](size_t begin, size_t end) {
                pipeline_.splitter.split({part.substr(begin, end - begin), from == 0 && begin == 0}, words);
              },
              token);
        },
        token);
    if (options.add_special) add(pipeline_.after);
  }

 private:
  struct Words final : PartSink {
    Words(const TextModel& m, std::vector<int32_t>& o) : model(m), out(o) {}
    void take(const TextPart& part) override { model.append(part.text, scratch, out); }
    const TextModel& model;
    std::vector<int32_t>& out;
    MergeScratch scratch;
  };

  const JsonPipeline pipeline_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> read_tokenizer_json(TokenizerFiles files) {
  Vocabulary vocabulary;
  INLAY_ASSIGN(JsonPipeline pipeline, read_json_pipeline(std::move(files), vocabulary));
  return std::unique_ptr<Tokenizer>(new JsonTokenizer(std::move(vocabulary), std::move(pipeline)));
}

}  // namespace inlay
