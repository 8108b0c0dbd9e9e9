#include "src/formats/gguf_header.h"

#include <algorithm>
#include <cinttypes>
#include <numeric>

#include "src/formats/gguf_parser.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr uint64_t kFirstRead = 256 << 10;  // of a source that gives no view
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMinAlignment = 8, kMaxAlignment = 64 << 10;

std::string name_of(const ByteSource& source) { return std::string(source.name()); }

// Points the views of entries and tensors from one copy of the header into another.
class Rebase {
 public:
  Rebase(const std::byte* from, const std::byte* to) : from_(from), to_(to) {}

  void operator()(std::string_view& text) const {
    const auto* at = reinterpret_cast<const std::byte*>(text.data());
    text = {reinterpret_cast<const char*>(to_ + (at - from_)), text.size()};
  }
  void operator()(MetaEntry& entry) const {
    (*this)(entry.key);
    MetaValue& value = entry.value;
    if (value.data != nullptr) value.data = to_ + (value.data - from_);
    if (value.type == MetaType::string) (*this)(value.text);
    for (std::string_view& text : value.texts) (*this)(text);
  }

 private:
  const std::byte* from_;
  const std::byte* to_;
};

GgufHeader take_header(GgufParser& parser, const std::byte* parsed, const ByteSource& source) {
  GgufHeader header;
  header.bytes = std::make_shared<const std::vector<std::byte>>(parsed, parsed + parser.header_bytes());
  const Rebase rebase(parsed, header.bytes->data());
  for (MetaEntry& entry : parser.entries()) rebase(entry);
  header.tensors = std::move(parser.tensors());
  for (TensorEntry& tensor : header.tensors) rebase(tensor.name);
  header.metadata = Metadata(header.bytes, std::move(parser.entries()), name_of(source));
  return header;
}

// Header bytes are read in pieces, each at most three times what the source has delivered before, so that neither a
// size nor a count that is not true makes memory grow ahead of the data.
Result<GgufHeader> parse_in_pieces(const ByteSource& source) {
  std::vector<std::byte> bytes;
  uint64_t wanted = 1;
  while (true) {
    while (bytes.size() < wanted) {
      const uint64_t have = bytes.size();
      bytes.resize(std::min(source.size(), std::max(kFirstRead, have * 4)));
      INLAY_TRY(source.read(have, std::span(bytes).subspan(have)));
      if (source.size() == 0) break;
    }
    GgufParser parser(bytes, source.size(), source.name());
    Status status = parser.parse();
    if (status.ok()) return take_header(parser, bytes.data(), source);
    wanted = parser.wanted();
    if (wanted == 0) return status;
  }
}

Result<GgufHeader> parse_view(const ByteSource& source, const std::byte* data) {
  GgufParser parser({data, source.size()}, source.size(), source.name());
  INLAY_TRY(parser.parse());
  return take_header(parser, data, source);
}

Result<uint64_t> alignment_of(const GgufHeader& header, const ByteSource& source) {
  INLAY_ASSIGN(const uint64_t alignment, header.metadata.u64_or("general.alignment", kDefaultAlignment));
  if (alignment < kMinAlignment || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0)
    return error(Code::format, "%s: general.alignment is %" PRIu64 ", expected a power of two from 8 to 65536",
                 name_of(source).c_str(), alignment);
  return alignment;
}

uint64_t capped_sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
uint64_t end_of(const TensorEntry& tensor) { return capped_sum(tensor.offset, tensor.n_bytes); }

// Offsets become those in the file.
Status place(std::span<TensorEntry> tensors, uint64_t data_begin, uint64_t alignment, const ByteSource& source) {
  const uint64_t available = source.size() > data_begin ? source.size() - data_begin : 0;
  const auto misplaced = std::ranges::find_if(tensors, [&](const TensorEntry& t) {
    return t.offset % alignment != 0 || end_of(t) > available;
  });
  if (misplaced == tensors.end()) {
    for (TensorEntry& tensor : tensors) tensor.offset += data_begin;
    return {};
  }
  if (misplaced->offset % alignment != 0)
    return error(Code::format, "%s: tensor %s has offset %" PRIu64 ", not a multiple of the alignment %" PRIu64,
                 name_of(source).c_str(), quote(misplaced->name).c_str(), misplaced->offset, alignment);
  uint64_t end = 0;
  for (const TensorEntry& tensor : tensors) end = std::max(end, end_of(tensor));
  Status s = error(Code::format,
                   "%s: the file has %" PRIu64 " bytes, but its header asks for %" PRIu64
                   ": the download is likely not complete (tensor %s of %" PRIu64 " bytes is the first to end behind the file)",
                   name_of(source).c_str(), source.size(), capped_sum(data_begin, end), quote(misplaced->name).c_str(),
                   misplaced->n_bytes);
  s.required = end_of(*misplaced);
  s.available = available;
  return s;
}

Status check_overlaps(std::span<const TensorEntry> tensors, const ByteSource& source) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return tensors[a].offset < tensors[b].offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorEntry &a = tensors[order[i - 1]], &b = tensors[order[i]];
    if (a.offset + a.n_bytes > b.offset)
      return error(Code::format,
                   "%s: tensors %s (bytes %" PRIu64 " to %" PRIu64 ") and %s (from byte %" PRIu64 ") overlap",
                   name_of(source).c_str(), quote(a.name).c_str(), a.offset, a.offset + a.n_bytes,
                   quote(b.name).c_str(), b.offset);
  }
  return {};
}

}  // namespace

Result<GgufHeader> read_gguf_header(const ByteSource& source) {
  const std::byte* data = source.view(0, source.size());
  INLAY_ASSIGN(GgufHeader header, data != nullptr ? parse_view(source, data) : parse_in_pieces(source));
  if (const MetaEntry* twice = header.metadata.duplicate())
    return error(Code::format, "%s: metadata key %s stands more than once", name_of(source).c_str(),
                 quote(twice->key).c_str());
  INLAY_ASSIGN(const uint64_t alignment, alignment_of(header, source));
  const uint64_t data_begin = (header.bytes->size() + alignment - 1) / alignment * alignment;
  INLAY_TRY(place(header.tensors, data_begin, alignment, source));
  INLAY_TRY(check_overlaps(header.tensors, source));
  return header;
}

}  // namespace inlay
