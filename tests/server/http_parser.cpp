// The parser of requests alone: however a message is cut, it is the same message, and nothing beyond a limit is kept.
#include "examples/server/http_parser.h"

#include <gtest/gtest.h>

#include "examples/server/access.h"

namespace inlay::server {

namespace {

using Stage = HttpParser::Stage;

constexpr HttpLimits kLimits = {512, 8, 64, 32};

struct Outcome {
  Stage stage = Stage::head;
  int status = 0;
  std::string method, path, body, headers;
  size_t n_taken = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const HttpParser& parser, size_t n_taken) {
  Outcome out{parser.stage(), parser.status(), parser.request().method, parser.request().path, parser.request().body, "", n_taken};
  for (const HttpRequest::Header& header : parser.request().headers) out.headers += header.name + "=" + header.value + ";";
  return out;
}

// Feeds pieces of `n_bytes`.
Outcome parse(std::string_view text, size_t n_bytes) {
  HttpParser parser(kLimits);
  size_t n_taken = 0;
  for (size_t begin = 0; begin < text.size(); begin += n_bytes) {
    std::string_view piece = text.substr(begin, n_bytes);
    while (!piece.empty() && parser.stage() != Stage::failed && parser.stage() != Stage::done) {
      const size_t n = parser.feed(piece);
      piece.remove_prefix(n);
      n_taken += n;
      parser.read_body();
    }
  }
  return outcome_of(parser, n_taken);
}

const std::string kHead = "POST /a?b HTTP/1.1\r\nHost: x\r\nX-Y:  a b \t\r\n";

const std::string kMessages[] = {
    "GET / HTTP/1.1\r\n\r\n",
    "\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    kHead + "Content-Length: 5\r\n\r\nhellomore",
    kHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00a;x=y\r\n0123456789\r\n0\r\nTrailer: z\r\n\r\nmore",
    kHead + "Content-Length: 33\r\n\r\n",
    kHead + "Transfer-Encoding: chunked\r\n\r\n20\r\n" + std::string(32, 'a') + "\r\n1\r\na",
    kHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
    kHead + "Transfer-Encoding: chunked\r\n\r\n" + std::string(400, '0'),
    kHead + std::string("Z: ") + std::string(600, 'a'),
    "GET /" + std::string(100, 'a') + " HTTP/1.1\r\n",
    std::string(1000, 'a'),
    "GET / HTTP/1.1\n\n",
};

TEST(HttpParserTest, CutsChangeNothing) {
  for (const std::string& message : kMessages) {
    const Outcome whole = parse(message, message.size());
    EXPECT_TRUE(whole.stage == Stage::done || whole.stage == Stage::failed) << message;
    for (size_t n = 1; n < message.size(); ++n) {
      Outcome cut = parse(message, n);
      if (whole.stage == Stage::failed) cut.n_taken = whole.n_taken;  // an overlong line is refused where the limit is passed, or before
      EXPECT_EQ(cut, whole) << message << " in pieces of " << n << ": " << cut.status << " " << whole.status;
    }
  }
}

TEST(HttpParserTest, ReadsWhatIsThere) {
  const Outcome counted = parse(kMessages[2], 1000), chunked = parse(kMessages[3], 1000);
  EXPECT_EQ(counted.body, "hello");
  EXPECT_EQ(counted.n_taken, kMessages[2].size() - 4);
  EXPECT_EQ(counted.path, "/a");
  EXPECT_EQ(counted.headers, "host=x;x-y=a b;content-length=5;");
  EXPECT_EQ(chunked.body, "abc0123456789");
  EXPECT_EQ(chunked.n_taken, kMessages[3].size() - 4);
}

TEST(HttpParserTest, LimitsHoldToTheByte) {
  const auto body = [](size_t n) { return parse("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(n) + "\r\n\r\n" + std::string(n, 'a'), 7); };
  EXPECT_EQ(body(32).stage, Stage::done);
  EXPECT_EQ(body(33).status, 413);
  const auto head = [](size_t n) { return parse("GET / HTTP/1.1\r\nX: " + std::string(n - 23, 'a') + "\r\n\r\n", 7); };
  EXPECT_EQ(head(512).stage, Stage::done);
  EXPECT_EQ(head(513).status, 431);
  const auto target = [](size_t n) { return parse("GET /" + std::string(n - 1, 'a') + " HTTP/1.1\r\n\r\n", 7); };
  EXPECT_EQ(target(64).stage, Stage::done);
  EXPECT_EQ(target(65).status, 414);
  const auto headers = [](int n) {
    std::string text = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < n; ++i) text += "X: a\r\n";
    return parse(text + "\r\n", 7);
  };
  EXPECT_EQ(headers(8).stage, Stage::done);
  EXPECT_EQ(headers(9).status, 431);
}

TEST(HttpParserTest, ConnectionsStayOrEnd) {
  const auto stays = [](const std::string& text) {
    HttpParser parser(kLimits);
    parser.feed(text + "\r\n");
    EXPECT_EQ(parser.stage(), Stage::head_done) << text;
    return parser.request().keep_alive;
  };
  EXPECT_TRUE(stays("GET / HTTP/1.1\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nConnection: Upgrade , CLOSE\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.0\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: x\r\nConnection: Keep-Alive\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nConnection: keep-alive\r\nConnection: close\r\n"));
}

TEST(HttpParserTest, ABlankLineBehindABodyBeginsNothing) {
  HttpParser parser(kLimits);
  EXPECT_EQ(parser.feed("\r\n"), 2u);
  EXPECT_FALSE(parser.has_begun());
  parser.feed("G");
  EXPECT_TRUE(parser.has_begun());
  parser.reset();
  parser.feed("\r\n\r\n");
  EXPECT_EQ(parser.status(), 400) << "one line alone";
}

TEST(HttpAccessTest, HostNames) {
  const std::pair<const char*, const char*> kHosts[] = {
      {"localhost", "localhost"}, {"localhost:80", "localhost"}, {"[::1]", "::1"}, {"[::1]:80", "::1"}, {"a:", "a"}, {"a:b", ""}, {"a:123456", ""}, {"[::1", ""},
      {"[::1]x", ""},             {"::1", ""},                   {"", ""},         {":80", ""}};
  for (const auto& [host, name] : kHosts) EXPECT_EQ(host_name(host), name) << host;
}

TEST(HttpAccessTest, KnownHostsAndOrigins) {
  const AccessRules rules{"", {"llm.example"}, {"https://app.example"}};
  const auto status = [&](const char* host, const char* origin) {
    HttpRequest request;
    request.headers.push_back({"host", host});
    if (origin) request.headers.push_back({"origin", origin});
    const std::optional<Refusal> refusal = check_host(request, rules);
    return refusal ? refusal->status : 200;
  };
  EXPECT_EQ(status("LocalHost:1", nullptr), 200);
  EXPECT_EQ(status("192.168.1.5:1", "http://192.168.1.5:1"), 200);
  EXPECT_EQ(status("llm.example", "https://llm.example"), 200);
  EXPECT_EQ(status("llm.example", "https://app.example"), 200);
  EXPECT_EQ(status("llm.example", "http://app.example"), 403);
  EXPECT_EQ(status("localhost", "http://localhost:1"), 403);
  EXPECT_EQ(status("localhost", "localhost"), 403);
  EXPECT_EQ(status("llm.example.", nullptr), 403);
  EXPECT_EQ(status("0x7f.1", nullptr), 403);
  EXPECT_EQ(status("a:b:c", nullptr), 403);
}

}  // namespace

}  // namespace inlay::server
