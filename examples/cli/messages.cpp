#include "examples/cli/messages.h"

#include <algorithm>
#include <utility>

#include "examples/cli/json_line.h"

namespace inlay::cli {
namespace {

struct Message {
  std::string role, content;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool read(std::vector<Message>& messages) {
    if (!take('[')) return expected("the [ of an array of messages");
    for (bool first = true; !take(']'); first = false) {
      if (!first && !take(',')) return expected("a comma or ] behind a message");
      if (!read(messages.emplace_back())) return false;
    }
    skip_blanks();
    return at_ == text_.size() || expected("the end of the file behind the ]");
  }

  const std::string& reason() const { return reason_; }

 private:
  bool read(Message& message) {
    if (!take('{')) return expected("the { of a message");
    bool has_role = false, has_content = false;
    for (bool first = true; !take('}'); first = false) {
      std::string key;
      if (!first && !take(',')) return expected("a comma or } behind a value");
      if (!read(key, "a key")) return false;
      bool& has = key == "role" ? has_role : has_content;
      if (key != "role" && key != "content") return fail("a message has role and content here, and no key " + json_text(key));
      if (has) return fail("a message has the key " + key + " twice");
      has = true;
      if (!take(':')) return expected("a colon behind " + key);
      if (!read(key == "role" ? message.role : message.content, (key + ", a string").c_str())) return false;
    }
    if (!has_role || !has_content) return fail(std::string("a message has no ") + (has_role ? "content" : "role"));
    return true;
  }

  bool read(std::string& value, const char* what) {
    if (!take('"')) return expected(what);
    while (at_ < text_.size() && text_[at_] != '"') {
      const size_t n = utf8_character_bytes(text_.substr(at_));
      if (n == 0) return fail("a string has a byte that is no UTF-8");
      if (n == 1 && static_cast<unsigned char>(text_[at_]) < 32) return fail("a string has a control character; JSON writes it with a backslash");
      if (text_[at_] == '\\') {
        if (!read_escape(value)) return false;
        continue;
      }
      value += text_.substr(at_, n);
      at_ += n;
    }
    return at_++ < text_.size() || fail("the file ends within a string");
  }

  bool read_escape(std::string& value) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    at_ += 2;
    if (const size_t i = kNames.find(name); i != std::string_view::npos) {
      value += kCharacters[i];
      return true;
    }
    uint32_t code = 0, low = 0;
    if (name != 'u' || !read_code(code)) return fail("a backslash begins no character here");
    if (code >= 0xD800 && code < 0xDC00) {
      if (text_.substr(std::min(at_, text_.size()), 2) != "\\u") return fail("half of a pair of surrogates stands alone");
      at_ += 2;
      if (!read_code(low) || low < 0xDC00 || low > 0xDFFF) return fail("half of a pair of surrogates stands alone");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return fail("half of a pair of surrogates stands alone");
    }
    const auto add = [&](uint32_t byte) { value += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
    } else {
      const int n_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      add((0xFF00u >> (n_more + 1) & 0xFFu) | code >> 6 * n_more);
      for (int i = n_more - 1; i >= 0; --i) add(0x80 | (code >> 6 * i & 0x3F));
    }
    return true;
  }

  bool read_code(uint32_t& code) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    if (text_.size() - std::min(at_, text_.size()) < 4) return false;
    for (const size_t end = at_ + 4; at_ < end; ++at_) {
      const char c = text_[at_];
      const size_t digit = kDigits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + ('a' - 'A')) : c);
      if (digit == std::string_view::npos) return false;
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool expected(const std::string& what) { return fail(what + " is expected"); }

  bool fail(const std::string& what) {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    reason_ = "line " + std::to_string(1 + std::count(text_.begin(), end, '\n')) + ": " + what;
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string reason_;
};

}  // namespace

bool read_messages(std::string_view text, Messages& messages, std::string& reason) {
  Reader reader(text);
  std::vector<Message> all;
  if (!reader.read(all)) {
    reason = reader.reason();
    return false;
  }
  Messages found;
  const size_t n_system = !all.empty() && all[0].role == "system" ? 1 : 0;
  if (n_system > 0) found.system = std::move(all[0].content);
  for (size_t i = n_system; i < all.size(); ++i) {
    const bool answers = (i - n_system) % 2 == 1;
    const char* wanted = answers ? "assistant" : "user";
    if (all[i].role != wanted) {
      reason = "message " + std::to_string(i + 1) + " is of " + json_text(all[i].role) + " where one of " + wanted + " is expected";
      return false;
    }
    if (answers)
      found.turns.back().answer = std::move(all[i].content);
    else
      found.turns.push_back({.line = std::move(all[i].content), .answer = {}});
  }
  if ((all.size() - n_system) % 2 == 1) {
    reason = "message " + std::to_string(all.size()) + ", the last one, is of user and has no answer";
    return false;
  }
  messages = std::move(found);
  return true;
}

}  // namespace inlay::cli
