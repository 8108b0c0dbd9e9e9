#include "examples/server/http_parser.h"

#include <algorithm>
#include <array>

namespace inlay::server {

namespace {

constexpr size_t kChunkLineBytes = 256;  // the size and extensions, which are not looked at

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || is_letter(c) || kMarks.find(c) != kMarks.npos; });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  return lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : -1;
}

// Headers that say what a message is, or who sends it, may stand in it once.
bool may_repeat(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOnce = {
      "host", "content-length", "transfer-encoding", "content-type", "content-encoding", "authorization", "origin", "expect"};
  return std::find(kOnce.begin(), kOnce.end(), name) == kOnce.end();
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool lists_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (same_word(trimmed(list.substr(0, end)), word)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

const std::string* HttpRequest::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? nullptr : &found->value;
}

void HttpParser::reset() { *this = HttpParser(limits_); }

bool HttpParser::fail(int status, const char* reason) {
  stage_ = Stage::failed;
  status_ = status;
  reason_ = reason;
  line_ = {};
  return false;
}

size_t HttpParser::feed(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty() && (stage_ == Stage::head || stage_ == Stage::body)) {
    if (stage_ == Stage::head) {
      take_head(left);
    } else {
      take_body(left);
    }
  }
  return bytes.size() - left.size();
}

// Moves bytes to line_; true: the line is whole, and stands there without its end.
bool HttpParser::take_line(std::string_view& bytes, size_t limit, int status) {
  const size_t found = bytes.find('\n'), n = found == bytes.npos ? bytes.size() : found + 1;
  if (n > limit || line_.size() > limit - n)
    return fail(status, status == 414 ? "the request's target is too long" : "a line or the headers are too long");
  line_.append(bytes.substr(0, n));
  bytes.remove_prefix(n);
  if (found == bytes.npos) return false;
  if (line_.size() < 2 || line_[line_.size() - 2] != '\r') return fail(400, "a line does not end with CR LF");
  line_.resize(line_.size() - 2);
  if (std::any_of(line_.begin(), line_.end(), [](char c) { return is_control(c) && c != '\t'; })) return fail(400, "a line has a control character");
  return true;
}

void HttpParser::take_head(std::string_view& bytes) {
  const size_t before = bytes.size();
  const bool is_first = part_ == Part::request_line;
  const size_t room = limits_.head_bytes - std::min(limits_.head_bytes, n_head_ - line_.size());
  const bool whole = is_first ? take_line(bytes, std::min(room, limits_.target_bytes + 64), 414) : take_line(bytes, room, 431);
  n_head_ += before - bytes.size();
  if (!whole) return;
  const bool is_blank = line_.empty();
  if (is_first && is_blank && n_head_ == 2) {  // some clients write a blank line behind a body
    line_.clear();
    n_blank_ = n_head_;
    return;
  }
  if (is_first ? read_request_line() : is_blank ? end_head() : read_header()) line_.clear();
}

bool HttpParser::read_request_line() {
  const std::string_view line = line_;
  const size_t first = line.find(' '), second = first == line.npos ? first : line.find(' ', first + 1);
  if (second == line.npos) return fail(400, "the request line is not METHOD TARGET VERSION");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, second - first - 1), version = line.substr(second + 1);
  if (!is_token(method) || method.size() > 16) return fail(400, "the method is no token");
  if (target.empty() || target[0] != '/') return fail(400, "the target does not begin with a slash");
  if (target.size() > limits_.target_bytes) return fail(414, "the request's target is too long");
  if (std::any_of(target.begin(), target.end(), [](char c) { return c <= ' ' || c == '#'; }))
    return fail(400, "the target has a character that is not allowed");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return fail(400, "the version is not HTTP/1.1");
  request_.method = method;
  request_.path = target.substr(0, target.find('?'));
  request_.minor_version = version.back() - '0';
  part_ = Part::headers;
  return true;
}

bool HttpParser::read_header() {
  const std::string_view line = line_;
  const size_t colon = line.find(':');
  if (line[0] == ' ' || line[0] == '\t') return fail(400, "a header is folded");
  if (colon == line.npos || !is_token(line.substr(0, colon))) return fail(400, "a header is not NAME: VALUE");
  if (request_.headers.size() == limits_.n_headers) return fail(431, "there are too many headers");
  std::string name = lower_case(line.substr(0, colon));
  if (!may_repeat(name) && request_.header(name)) return fail(400, "a header that may stand once is there twice");
  request_.headers.push_back({std::move(name), std::string(trimmed(line.substr(colon + 1)))});
  return true;
}

bool HttpParser::end_head() {
  const std::string *length = request_.header("content-length"), *coding = request_.header("transfer-encoding");
  if (length && coding) return fail(400, "the request has both Content-Length and Transfer-Encoding");
  if (coding && (request_.minor_version == 0 || !same_word(*coding, "chunked"))) return fail(400, "the Transfer-Encoding is not chunked");
  if (length && !read_length(*length)) return false;
  if (!read_connection()) return false;
  is_chunked_ = coding != nullptr;
  request_.has_body = is_chunked_ || n_left_ > 0;
  stage_ = Stage::head_done;
  return true;
}

bool HttpParser::read_length(const std::string& value) {
  if (value.empty() || value.size() > 19 || !std::all_of(value.begin(), value.end(), is_digit)) return fail(400, "the Content-Length is no number");
  size_t n = 0;
  for (const char c : value) n = 10 * n + static_cast<size_t>(c - '0');
  if (n > limits_.body_bytes) return fail(413, "the body is too large");
  n_left_ = n;
  return true;
}

bool HttpParser::read_connection() {
  const std::string* expect = request_.header("expect");
  const bool is_old = request_.minor_version == 0;
  const auto says = [this](std::string_view word) {
    return std::any_of(request_.headers.begin(), request_.headers.end(),
                       [&](const HttpRequest::Header& header) { return header.name == "connection" && lists_word(header.value, word); });
  };
  request_.keep_alive = !says("close") && (!is_old || says("keep-alive"));
  if (expect && !same_word(*expect, "100-continue")) return fail(417, "the expectation is not 100-continue");
  request_.expects_continue = expect != nullptr && !is_old;
  return true;
}

void HttpParser::read_body() {
  if (stage_ != Stage::head_done) return;
  part_ = is_chunked_ ? Part::chunk_size : Part::counted;
  stage_ = request_.has_body ? Stage::body : Stage::done;
}

void HttpParser::take_data(std::string_view& bytes, Part next) {
  const size_t n = std::min(n_left_, bytes.size());
  request_.body.append(bytes.substr(0, n));
  bytes.remove_prefix(n);
  n_left_ -= n;
  if (n_left_ == 0) part_ = next;
}

void HttpParser::take_body(std::string_view& bytes) {
  const size_t before = bytes.size();
  switch (part_) {
    case Part::counted:
      take_data(bytes, Part::counted);
      if (n_left_ == 0) stage_ = Stage::done;
      return;
    case Part::chunk_size:
      if (take_line(bytes, kChunkLineBytes, 400) && read_chunk_size()) line_.clear();
      return;
    case Part::chunk_data:
      take_data(bytes, Part::chunk_end);
      return;
    case Part::chunk_end:
      if (!take_line(bytes, 2, 400)) return;
      part_ = Part::chunk_size;
      return;
    default:  // trailers, which are not looked at
      if (n_trailer_ >= limits_.head_bytes) {
        fail(431, "the trailers are too long");
        return;
      }
      const bool whole = take_line(bytes, limits_.head_bytes, 431);
      n_trailer_ += before - bytes.size();
      if (!whole) return;
      if (line_.empty()) stage_ = Stage::done;
      line_.clear();
  }
}

bool HttpParser::read_chunk_size() {
  size_t n = 0, n_digits = 0;
  while (n_digits < line_.size() && hex_value(line_[n_digits]) >= 0) {
    if (n_digits == 8) return fail(400, "a chunk's size has too many digits");
    n = 16 * n + static_cast<size_t>(hex_value(line_[n_digits++]));
  }
  const bool is_number = n_digits > 0 && (n_digits == line_.size() || line_[n_digits] == ';');
  if (!is_number) return fail(400, "a chunk's size is no hexadecimal number");
  if (n > limits_.body_bytes - request_.body.size()) return fail(413, "the body is too large");
  n_left_ = n;
  part_ = n > 0 ? Part::chunk_data : Part::trailers;
  return true;
}

}  // namespace inlay::server
