#include "src/formats/safetensors.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "src/base/format.h"
#include "src/formats/json.h"
#include "src/formats/other_files.h"
#include "src/formats/text.h"

namespace inlay {
namespace {

constexpr size_t kMaxRank = 16, kMaxNameBytes = 4096;
constexpr uint32_t kMaxDepth = 8;  // of the JSON

struct ElementSize {
  const char* dtype;
  uint64_t n_bytes;
};

constexpr ElementSize kElementSizes[] = {{"BOOL", 1},    {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                                         {"F8_E8M0", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},     {"BF16", 2},
                                         {"I32", 4},     {"U32", 4}, {"F32", 4}, {"I64", 8},     {"U64", 8},
                                         {"F64", 8},     {"C64", 8}};

struct HeaderPlace {
  uint64_t n_bytes = 0;     // of the JSON
  uint64_t data_begin = 0;  // of the tensors' bytes
  uint64_t data_bytes = 0;
};

std::string source_name(const ByteSource& source) { return std::string(source.name()); }

// `n` is what the file's first bytes say of its header.
Status wrong_length(const ByteSource& source, uint64_t n) {
  if (n <= kMaxSafetensorsHeaderBytes)
    return error(Code::format,
                 "%s: the file has %" PRIu64 " bytes, but its header alone asks for %" PRIu64
                 ": the download is likely not complete",
                 source_name(source).c_str(), source.size(), sizeof n + n);
  std::byte first[kTellingBytes];
  const std::span read = std::span(first).first(static_cast<size_t>(std::min<uint64_t>(source.size(), kTellingBytes)));
  INLAY_TRY(source.read(0, read));
  const std::string known = what_else(read, ExpectedFile::safetensors);
  if (!known.empty()) return error(Code::format, "%s: %s", source_name(source).c_str(), known.c_str());
  return error(Code::format,
               "%s: it is no safetensors file: its first 8 bytes say that its header has %" PRIu64
               " bytes, expected at most %" PRIu64,
               source_name(source).c_str(), n, kMaxSafetensorsHeaderBytes);
}

Result<HeaderPlace> read_header_place(const ByteSource& source) {
  uint64_t n = 0;
  if (source.size() < sizeof n) {
    return error(Code::format, "%s: the file has %s, too few for a safetensors file, which begins with 8 bytes of header length",
                 source_name(source).c_str(), counted(source.size(), "byte").c_str());
  }
  INLAY_TRY(source.read(0, std::as_writable_bytes(std::span(&n, 1))));
  const uint64_t left = source.size() - sizeof n;
  if (n > kMaxSafetensorsHeaderBytes || n > left) {
    Status s = wrong_length(source, n);
    s.required = n;
    s.available = left;
    return s;
  }
  return HeaderPlace{n, sizeof n + n, left - n};
}

class HeaderReader {
 public:
  HeaderReader(const ByteSource& source, const HeaderPlace& place) : source_(source), place_(place) {}

  Result<std::vector<SafetensorsEntry>> read(const JsonValue& root) {
    INLAY_ASSIGN(const JsonMembers members, root.as_object());
    entries_.reserve(members.size());
    for (const JsonMember& member : members) {
      if (member.key == "__metadata__") {
        INLAY_TRY(check_metadata(member.value));
      } else {
        INLAY_TRY(read_tensor(member));
      }
    }
    INLAY_TRY(check_ends());
    INLAY_TRY(check_coverage());
    for (SafetensorsEntry& entry : entries_) entry.offset += place_.data_begin;
    return std::move(entries_);
  }

 private:
  Status check_metadata(const JsonValue& value) const {
    INLAY_ASSIGN(const JsonMembers members, value.as_object());
    for (const JsonMember& member : members) {
      if (!member.value.is_string()) return member.value.expected("a string");
    }
    return {};
  }

  Status read_tensor(const JsonMember& member) {
    SafetensorsEntry entry;
    entry.name = member.key;
    if (entry.name.empty() || entry.name.size() > kMaxNameBytes) {
      return error(Code::format, "%s: a tensor's name has %zu bytes, expected 1 to %zu", source_name(source_).c_str(),
                   entry.name.size(), kMaxNameBytes);
    }
    INLAY_ASSIGN(const JsonValue dtype, member.value.get("dtype"));
    INLAY_ASSIGN(const std::string_view dtype_name, dtype.as_string());
    entry.dtype = dtype_name;
    INLAY_TRY(read_shape(member.value, entry));
    INLAY_ASSIGN(const uint64_t expected, bytes_of(entry));
    INLAY_TRY(read_offsets(member.value, entry));
    if (entry.n_bytes != expected) {
      return error(Code::format,
                   "%s: tensor %s has data_offsets of %" PRIu64 " bytes, but its shape and dtype %s take %" PRIu64,
                   source_name(source_).c_str(), quote(entry.name).c_str(), entry.n_bytes, entry.dtype.c_str(), expected);
    }
    entries_.push_back(std::move(entry));
    return {};
  }

  Status read_shape(const JsonValue& value, SafetensorsEntry& entry) const {
    INLAY_ASSIGN(const JsonValue shape, value.get("shape"));
    INLAY_ASSIGN(const JsonElements dims, shape.as_array());
    if (dims.size() > kMaxRank) {
      return error(Code::unsupported, "%s: tensor %s has %zu dimensions, expected at most %zu",
                   source_name(source_).c_str(), quote(entry.name).c_str(), dims.size(), kMaxRank);
    }
    for (const JsonValue dim : dims) {
      INLAY_ASSIGN(const int64_t n, dim.as_i64());
      if (n < 0) return dim.expected("a number of at least 0");
      entry.shape.push_back(n);
    }
    return {};
  }

  Result<uint64_t> bytes_of(const SafetensorsEntry& entry) const {
    const auto* size = std::find_if(std::begin(kElementSizes), std::end(kElementSizes),
                                    [&](const ElementSize& e) { return entry.dtype == e.dtype; });
    if (size == std::end(kElementSizes)) {
      return error(Code::unsupported, "%s: tensor %s has the dtype %s, which is not known", source_name(source_).c_str(),
                   quote(entry.name).c_str(), quote(entry.dtype).c_str());
    }
    uint64_t n = size->n_bytes;
    for (const int64_t dim : entry.shape) {
      const auto d = static_cast<uint64_t>(dim);
      if (d != 0 && n > static_cast<uint64_t>(INT64_MAX) / d) {
        return error(Code::format, "%s: tensor %s takes more than 2^63 - 1 bytes", source_name(source_).c_str(),
                     quote(entry.name).c_str());
      }
      n *= d;
    }
    return n;
  }

  Status read_offsets(const JsonValue& value, SafetensorsEntry& entry) const {
    INLAY_ASSIGN(const JsonValue place, value.get("data_offsets"));
    INLAY_ASSIGN(const JsonElements offsets, place.as_array());
    if (offsets.size() != 2) return place.expected("an array of two offsets");
    uint64_t ends[2];
    size_t i = 0;
    for (const JsonValue offset : offsets) {
      INLAY_ASSIGN(ends[i++], offset.as_u64());
    }
    if (ends[0] > ends[1]) return place.expected("a begin that is not behind the end");
    entry.offset = ends[0];
    entry.n_bytes = ends[1] - ends[0];
    return {};
  }

  Status check_ends() const {
    const auto end_of = [](const SafetensorsEntry& e) { return e.offset + e.n_bytes; };
    const auto behind = std::ranges::find_if(entries_, [&](const auto& e) { return end_of(e) > place_.data_bytes; });
    if (behind == entries_.end()) return {};
    const uint64_t end = end_of(*std::ranges::max_element(entries_, {}, end_of));
    Status s = error(Code::format,
                     "%s: the file has %" PRIu64 " bytes, but its header asks for %" PRIu64
                     ": the download is likely not complete (tensor %s is the first to end behind the file)",
                     source_name(source_).c_str(), source_.size(),
                     end > UINT64_MAX - place_.data_begin ? UINT64_MAX : place_.data_begin + end, quote(behind->name).c_str());
    s.required = end_of(*behind);
    s.available = place_.data_bytes;
    return s;
  }

  // Also sorts the tensors by their places.
  Status check_coverage() {
    std::sort(entries_.begin(), entries_.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.n_bytes < b.n_bytes;
    });
    uint64_t end = 0;
    for (const SafetensorsEntry& entry : entries_) {
      if (entry.offset != end) {
        return error(Code::format,
                     "%s: tensor %s begins at byte %" PRIu64 " of the data, expected %" PRIu64 ", where %s ends",
                     source_name(source_).c_str(), quote(entry.name).c_str(), entry.offset, end,
                     &entry == entries_.data() ? "the header" : quote((&entry - 1)->name).c_str());
      }
      end = entry.offset + entry.n_bytes;
    }
    if (end == place_.data_bytes) return {};
    return error(Code::format, "%s: the tensors take %" PRIu64 " bytes, but the file has %" PRIu64 " behind its header",
                 source_name(source_).c_str(), end, place_.data_bytes);
  }

  const ByteSource& source_;
  const HeaderPlace place_;
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace

Result<std::vector<SafetensorsEntry>> read_safetensors(const ByteSource& source) {
  INLAY_ASSIGN(const HeaderPlace place, read_header_place(source));
  std::string text(static_cast<size_t>(place.n_bytes), '\0');
  INLAY_TRY(source.read(sizeof(uint64_t), std::as_writable_bytes(std::span(text))));
  const JsonLimits limits = {.max_bytes = static_cast<uint32_t>(kMaxSafetensorsHeaderBytes), .max_depth = kMaxDepth};
  INLAY_ASSIGN(const JsonDocument document, JsonDocument::parse(std::move(text), source_name(source), limits));
  return HeaderReader(source, place).read(document.root());
}

}  // namespace inlay
