#include "src/formats/gguf.h"

#include <cinttypes>

#include "src/formats/gguf_header.h"
#include "src/base/format.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr uint64_t kMaxFiles = 99999;  // five digits in the file names

struct Split {
  uint64_t index = 0;  // of this file, from 0
  uint64_t count = 1;  // of files
};

Result<Split> split_of(const GgufHeader& header, const ByteSource& source) {
  Split split;
  INLAY_ASSIGN(split.count, header.metadata.u64_or("split.count", 1));
  INLAY_ASSIGN(split.index, header.metadata.u64_or("split.no", 0));
  const std::string name(source.name());
  if (split.count > kMaxFiles)
    return error(Code::format, "%s: split.count is %" PRIu64 ", expected at most 99999", name.c_str(), split.count);
  if (split.count == 0) split.count = 1;  // written by converters for a model in one file
  if (split.index >= split.count)
    return error(Code::format, "%s: split.no is %" PRIu64 ", but split.count is %" PRIu64, name.c_str(), split.index,
                 split.count);
  return split;
}

// "-00002-of-00003.gguf" for the second of three files.
std::string split_suffix(uint64_t index, uint64_t count) {
  std::string text;
  append_format(text, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", index + 1, count);
  return text;
}

// The union of files under construction.
struct Union {
  Metadata metadata;
  std::vector<TensorEntry> tensors;
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> headers;

  void add(GgufHeader header, std::unique_ptr<ByteSource> source) {
    const auto index = static_cast<uint32_t>(sources.size());
    if (index == 0) metadata = std::move(header.metadata);
    for (TensorEntry& tensor : header.tensors) {
      tensor.source = index;
      tensors.push_back(tensor);
    }
    headers.push_back(std::move(header.bytes));
    sources.push_back(std::move(source));
  }
};

Result<Checkpoint> finish(Union parts) {
  const char* where = parts.sources.size() > 1 ? " in the files of the split model" : "";
  Checkpoint checkpoint(std::move(parts.metadata), std::move(parts.tensors), std::move(parts.sources),
                        std::move(parts.headers));
  if (const TensorEntry* twice = checkpoint.duplicate())
    return error(Code::format, "%s: tensor %s stands more than once%s",
                 std::string(checkpoint.source_name(*twice)).c_str(), quote(twice->name).c_str(), where);
  return checkpoint;
}

Status check_tensor_count(const Union& parts) {
  INLAY_ASSIGN(const uint64_t expected, parts.metadata.u64_or("split.tensors.count", parts.tensors.size()));
  if (expected == parts.tensors.size()) return {};
  Status s = error(Code::format, "%s: split.tensors.count is %" PRIu64 ", but the files hold %zu tensors",
                   std::string(parts.sources[0]->name()).c_str(), expected, parts.tensors.size());
  s.required = expected;
  s.available = parts.tensors.size();
  return s;
}

Result<std::unique_ptr<ByteSource>> open_part(const std::string& path, uint64_t n_files) {
  Result<std::unique_ptr<ByteSource>> source = open_file(path);
  if (source.ok() || source.status().code != Code::not_found) return source;
  Status absent = std::move(source).status();
  append_format(absent.message, "; the model is split into %" PRIu64 " files, which all have to be in one folder", n_files);
  return absent;
}

Result<Checkpoint> open_split(const std::string& path, const Split& given) {
  const std::string suffix = split_suffix(given.index, given.count);
  if (!path.ends_with(suffix))
    return error(Code::format,
                 "%s: file %" PRIu64 " of a split model of %" PRIu64 " files must have a name that ends in '%s'",
                 path.c_str(), given.index + 1, given.count, suffix.c_str());
  const std::string stem = path.substr(0, path.size() - suffix.size());
  Union parts;
  for (uint64_t i = 0; i < given.count; ++i) {
    const std::string part_path = stem + split_suffix(i, given.count);
    INLAY_ASSIGN(std::unique_ptr<ByteSource> source, open_part(part_path, given.count));
    INLAY_ASSIGN(GgufHeader header, read_gguf_header(*source));
    INLAY_ASSIGN(const Split split, split_of(header, *source));
    if (split.index != i || split.count != given.count)
      return error(Code::format,
                   "%s: split.no is %" PRIu64 " and split.count %" PRIu64 ", expected %" PRIu64 " and %" PRIu64
                   " from the file's name",
                   part_path.c_str(), split.index, split.count, i, given.count);
    parts.add(std::move(header), std::move(source));
  }
  INLAY_TRY(check_tensor_count(parts));
  return finish(std::move(parts));
}

Result<Checkpoint> finish_single(GgufHeader header, std::unique_ptr<ByteSource> source) {
  Union parts;
  parts.add(std::move(header), std::move(source));
  return finish(std::move(parts));
}

}  // namespace

Result<Checkpoint> open_gguf(const std::string& path) {
  INLAY_ASSIGN(std::unique_ptr<ByteSource> source, open_file(path));
  INLAY_ASSIGN(GgufHeader header, read_gguf_header(*source));
  INLAY_ASSIGN(const Split split, split_of(header, *source));
  if (split.count > 1) return open_split(path, split);
  return finish_single(std::move(header), std::move(source));
}

Result<Checkpoint> read_gguf(std::unique_ptr<ByteSource> source) {
  INLAY_ASSIGN(GgufHeader header, read_gguf_header(*source));
  INLAY_ASSIGN(const Split split, split_of(header, *source));
  if (split.count > 1)
    return error(Code::unsupported,
                 "%s: this is file %" PRIu64 " of a split model of %" PRIu64 " files, which can only be opened by path",
                 std::string(source->name()).c_str(), split.index + 1, split.count);
  return finish_single(std::move(header), std::move(source));
}

}  // namespace inlay
