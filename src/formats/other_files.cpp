#include "src/formats/other_files.h"

#include <algorithm>
#include <string_view>

#include "src/base/format.h"

namespace inlay {
namespace {

using std::string_view_literals::operator""sv;

struct Beginning {
  std::string_view bytes;  // letters in lower case stand for both cases
  const char* what;
};

constexpr const char* kWebPage =
    "it is a web page, not the model: what was saved is the page that shows or refuses the file, so download the file itself";

constexpr Beginning kTexts[] = {
    {"version https://git-lfs.github.com/spec/",
     "it is a pointer of git-lfs, not the file itself: `git lfs pull` in its repository fetches the file"},
    {"<!doctype html", kWebPage},
    {"<html", kWebPage},
};

constexpr const char* kXml = "it is XML text, as servers send for an error, not the model: its text tells what went wrong";

constexpr Beginning kOthers[] = {
    {"<?xml", kXml},
    {"<error", kXml},
    {"{", "it is JSON text, as servers send for an error, not the model: its text tells what went wrong"},
    {"pk\3\4", "it is a ZIP archive, as PyTorch's checkpoints are, which are not supported"},
    {"\x1f\x8b", "it is compressed by gzip: unpack it"},
    {"\x28\xb5\x2f\xfd", "it is compressed by Zstandard: unpack it"},
    {"tjgg", "it is a file of a format before GGUF (GGJT), which is not supported"},
    {"lmgg", "it is a file of a format before GGUF (GGML), which is not supported"},
    {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv,
     "it begins with zeros only: the download is likely not complete"},
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() &&
         std::ranges::equal(text.substr(0, beginning.size()), beginning, {}, lower);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kTellingBytes)};
}

// Without what may stand before a text.
std::string_view trimmed(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

std::string find(std::span<const Beginning> beginnings, std::string_view text) {
  const auto it = std::ranges::find_if(beginnings, [&](const Beginning& b) { return begins_with(text, b.bytes); });
  return it == beginnings.end() ? std::string() : it->what;
}

// The length of a header of JSON, then the header.
bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && bytes.substr(5, 3) == "\0\0\0"sv;
}

}  // namespace

std::string what_else(std::span<const std::byte> first, ExpectedFile expected) {
  const std::string_view bytes = text_of(first), text = trimmed(bytes);
  std::string known = find(kTexts, text);
  if (!known.empty() || expected == ExpectedFile::text) return known;
  if (expected == ExpectedFile::gguf && is_safetensors(bytes))
    return "it is a safetensors file: give it a name that ends in .safetensors, in the folder of its config.json";
  if (expected == ExpectedFile::safetensors && bytes.starts_with("GGUF"))
    return "it is a GGUF file: give it a name that ends in .gguf";
  return find(kOthers, text);
}

std::string shown_magic(std::span<const std::byte> magic) {
  const auto is_letter = [](std::byte b) { return b >= std::byte{0x20} && b < std::byte{0x7F}; };
  if (std::ranges::all_of(magic, is_letter))
    return "'" + std::string(reinterpret_cast<const char*>(magic.data()), magic.size()) + "'";
  std::string out = "the bytes";
  for (const std::byte b : magic) append_format(out, " %02x", static_cast<unsigned>(b));
  return out;
}

}  // namespace inlay
