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

  Status encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const override {
    std::string repaired, normalized;
    text = well_formed(text, repaired);
    Words words(*pipeline_.model, out);
    EncodingPulse& pulse = words.scratch.pulse;
    Status status;
    const auto token = [&](int32_t id) {
      out.push_back(id);
      return pulse.work(1);
    };
    const auto add = [&](const std::vector<int32_t>& ids) { out.insert(out.end(), ids.begin(), ids.end()); };
    if (options.add_special) add(pipeline_.before);
    pipeline_.raw_added.split(
        text, options.parse_special, options.plain,
        [&](size_t from, size_t to) {
          const std::string_view raw = text.substr(from, to - from);
          const auto applied = pipeline_.normalizer.apply(raw, pulse, normalized);
          if (!applied.ok()) return status = applied.status(), false;
          const std::string_view part = *applied;
          pipeline_.normalized_added.split(
              part, options.parse_special, normalized_ranges(raw, from, part, options.plain, pulse),
              [&](size_t begin, size_t end) {
                pipeline_.splitter.split({part.substr(begin, end - begin), from == 0 && begin == 0}, words);
                return pulse.status().ok();
              },
              token);
          return pulse.status().ok();
        },
        token);
    if (options.add_special) add(pipeline_.after);
    return status.ok() ? pulse.status() : status;
  }

 private:
  // The ranges of a part of the text, where they are once it is normalized. Each is as long as what its beginning makes
  // longer; where a normalizer looks further than that, the whole part is one.
  std::vector<TextRange> normalized_ranges(std::string_view raw, size_t at, std::string_view normalized,
                                           std::span<const TextRange> ranges, EncodingPulse& pulse) const {
    std::vector<TextRange> out;
    if (ranges.empty() || !pipeline_.normalized_added.has_special()) return out;
    std::string room;
    bool is_exact = true;
    const auto place = [&](size_t end) {
      if (raw == normalized) return end;
      if (end == 0 || end == raw.size()) return end == 0 ? 0 : normalized.size();
      const auto beginning = pipeline_.normalizer.apply(raw.substr(0, end), pulse, room);
      is_exact = is_exact && beginning.ok() && normalized.starts_with(*beginning);
      return beginning.ok() ? beginning->size() : 0;
    };
    for (auto range = range_behind(ranges, at); range != ranges.end() && range->begin < at + raw.size(); ++range) {
      const size_t begin = place(std::max(range->begin, at) - at);
      out.push_back({begin, place(std::min(range->end, at + raw.size()) - at)});
    }
    if (!is_exact) out.assign(1, {0, normalized.size()});
    return out;
  }

  struct Words final : PartSink {
    Words(const TextModel& m, std::vector<int32_t>& o) : model(m), out(o) {}
    void take(const TextPart& part) override {
      if (scratch.pulse.work(part.text.size())) model.append(part.text, scratch, out);
    }
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
