// A strict parser of HTTP/1.1 requests that takes bytes as they come. What is ambiguous is refused: bare line feeds, folded lines,
// two lengths, a length beside chunks. Everything has a limit, and nothing beyond it is kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inlay::server {

struct HttpLimits {
  size_t head_bytes = 16 << 10;  // request line and headers; trailers of a chunked body likewise
  size_t n_headers = 64;
  size_t target_bytes = 1 << 10;
  size_t body_bytes = 1 << 20;
};

struct HttpRequest {
  struct Header {
    std::string name, value;  // the name in lower case, the value without blanks around it
  };
  std::string method, path;  // without the query
  int minor_version = 1;     // HTTP/1.0 or HTTP/1.1
  bool keep_alive = true;
  bool expects_continue = false;
  bool has_body = false;
  std::vector<Header> headers;
  std::string body;

  const std::string* header(std::string_view name) const;  // the first one; nullptr: none
};

class HttpParser {
 public:
  enum class Stage { head, head_done, body, done, failed };

  explicit HttpParser(const HttpLimits& limits) : limits_(limits) {}

  // How many bytes were taken. Stops behind the head, behind the message and at an error.
  size_t feed(std::string_view bytes);
  void read_body();  // at head_done
  void reset();      // for the next request

  Stage stage() const { return stage_; }
  bool has_begun() const { return n_head_ > n_blank_; }
  int status() const { return status_; }  // of an error
  const char* reason() const { return reason_; }
  const HttpRequest& request() const { return request_; }
  std::string take_body() { return std::move(request_.body); }

 private:
  enum class Part { request_line, headers, counted, chunk_size, chunk_data, chunk_end, trailers };

  bool fail(int status, const char* reason);
  bool take_line(std::string_view& bytes, size_t limit, int status);
  void take_head(std::string_view& bytes);
  void take_body(std::string_view& bytes);
  void take_data(std::string_view& bytes, Part next);
  bool read_request_line();
  bool read_header();
  bool end_head();
  bool read_length(const std::string& value);
  bool read_connection();
  bool read_chunk_size();

  HttpLimits limits_;
  Stage stage_ = Stage::head;
  Part part_ = Part::request_line;
  HttpRequest request_;
  std::string line_;
  size_t n_head_ = 0, n_trailer_ = 0;
  size_t n_blank_ = 0;  // bytes of the head that are the blank line before it
  size_t n_left_ = 0;   // bytes of the body or of the chunk
  bool is_chunked_ = false;
  int status_ = 0;
  const char* reason_ = "";
};

// Without regard to the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);
std::string lower_case(std::string_view text);
// Whether a list with commas between has the word.
bool lists_word(std::string_view list, std::string_view word);

}  // namespace inlay::server
