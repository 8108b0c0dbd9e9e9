// Connections over sockets, with a handler that knows no models: what they keep, when they end, and in how many rounds they are served.
#include "examples/server/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace inlay::server {

namespace {

constexpr size_t kMib = 1 << 20;
constexpr size_t kLarge = 32 * kMib;  // more than the system's buffers of a connection take

class Handler : public HttpHandler {
 public:
  HttpServer* http = nullptr;
  std::atomic<size_t> n_handled = 0, n_sent = 0;
  uint64_t last = 0;  // the connection that asked last

  std::optional<Refusal> check_head(const HttpRequest& request) override {
    if (request.path == "/none") return Refusal{404, "there is nothing", "", ""};
    return std::nullopt;
  }
  void handle(Connection& connection) override {
    last = connection.id;
    ++n_handled;
    const std::string& path = connection.request().path;
    if (path == "/small") return http->respond(connection, {200, "text/plain", "small"});
    if (path == "/large") return http->respond(connection, {200, "text/plain", std::string(kLarge, 'a')});
    if (path == "/refused") return http->refuse(connection, {400, "no", "", ""});
    if (path == "/stream") return http->begin_stream(connection, "text/plain");
    connection.parser.take_body();  // for an answer that comes later
  }
  void has_sent(Connection&) override { ++n_sent; }
  void has_left(Connection&) override {}
  void has_room(Connection&) override {}
  void add_headers(const HttpRequest&, std::string&) override {}
  void count(int) override {}
};

class HttpServerTest : public testing::Test {
 protected:
  void serve(const HttpOptions& options) {
    http_ = std::make_unique<HttpServer>(loop_, handler_, options);
    handler_.http = http_.get();
    std::string reason;
    ASSERT_TRUE(http_->listen("127.0.0.1", 0, reason)) << reason;
    loop_.on_round([this] {
      ++n_rounds_;
      http_->end_round();
    });
    thread_ = std::thread([this] { loop_.run(); });
  }

  void TearDown() override {
    for (const int client : clients_) close(client);
    loop_.post([this] { loop_.stop(); });
    thread_.join();
  }

  // A client whose system keeps little for it.
  int connect() {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int n_bytes = 4096;
    const timeval patience = {60, 0};
    setsockopt(client, SOL_SOCKET, SO_RCVBUF, &n_bytes, sizeof n_bytes);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(http_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    clients_.push_back(client);
    return client;
  }

  static void send_all(int client, const std::string& text) {
    for (size_t n = 0; n < text.size();) {
      const ssize_t n_now = send(client, text.data() + n, text.size() - n, MSG_NOSIGNAL);
      ASSERT_GT(n_now, 0);
      n += static_cast<size_t>(n_now);
    }
  }

  // Until there are so many bytes, or the end of the connection. "timed out": neither came.
  static std::string receive(int client, size_t n_bytes) {
    std::string got(n_bytes, '\0');
    size_t n = 0;
    while (n < n_bytes) {
      const ssize_t n_now = recv(client, got.data() + n, n_bytes - n, 0);
      if (n_now < 0) return "timed out";
      if (n_now == 0) break;
      n += static_cast<size_t>(n_now);
    }
    got.resize(n);
    return got;
  }

  int ask(const std::string& path, const std::string& body = "", const std::string& headers = "") {
    const int client = connect();
    const std::string length = body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send_all(client, "POST " + path + " HTTP/1.1\r\n" + headers + length + "\r\n" + body);
    return client;
  }
  std::string status(const std::string& path, const std::string& body = "") { return receive(ask(path, body), 12); }

  // Of the loop's thread.
  template <class Call>
  auto in_loop(const Call& call) {
    std::promise<decltype(call())> result;
    loop_.post([&] { result.set_value(call()); });
    return result.get_future().get();
  }
  Connection& last() { return *http_->find(handler_.last); }

  template <class Call>
  bool comes_true(const Call& call) {
    for (int i = 0; i < 6000; ++i) {
      if (in_loop(call)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  Loop loop_;
  Handler handler_;
  std::unique_ptr<HttpServer> http_;
  std::thread thread_;
  std::vector<int> clients_;
  std::atomic<size_t> n_rounds_ = 0;
};

TEST_F(HttpServerTest, AnswersThatNobodyReadsHaveALimitTogether) {
  HttpOptions options;
  options.all_out_bytes = kLarge * 3 / 2;
  serve(options);
  const int unread = ask("/large");
  EXPECT_EQ(receive(unread, 12), "HTTP/1.1 200");
  const std::string refused = receive(ask("/large", "", "Connection: close\r\n"), 1 << 16);
  EXPECT_EQ(refused.substr(0, 12), "HTTP/1.1 503");
  EXPECT_NE(refused.find("do not read"), refused.npos);
  EXPECT_EQ(status("/small"), "HTTP/1.1 200");
  const int streaming = ask("/stream");
  ASSERT_TRUE(comes_true([&] { return handler_.n_handled == 4; }));
  in_loop([&] {
    http_->write_stream(last(), std::string(kLarge, 'b'));
    return true;
  });
  const std::string cut = receive(streaming, 1 << 16);
  EXPECT_EQ(cut.substr(0, 12), "HTTP/1.1 200");
  EXPECT_EQ(cut.substr(cut.size() - 4), "\r\n\r\n") << "the head alone, and the connection's end";
  close(unread);
  clients_.erase(std::find(clients_.begin(), clients_.end(), unread));
  ASSERT_TRUE(comes_true([&] { return http_->n_connections() == 1; })) << "the small answer's";
  EXPECT_EQ(status("/large"), "HTTP/1.1 200");
}

TEST_F(HttpServerTest, WhatIsSentIsNotKept) {
  serve({});
  const int client = ask("/large");
  EXPECT_EQ(receive(client, kLarge * 3 / 4).size(), kLarge * 3 / 4);
  EXPECT_TRUE(comes_true([&] { return last().out.size() <= kLarge / 2 + kMib; }));
  EXPECT_EQ(handler_.n_sent, 0u);
  EXPECT_EQ(receive(client, kLarge / 4).size(), kLarge / 4);
}

TEST_F(HttpServerTest, BodiesThatTheHandlerHasDoNotCount) {
  HttpOptions options;
  options.all_body_bytes = 1000;
  serve(options);
  for (int i = 0; i < 4; ++i) ask("/later", std::string(600, 'a'));
  EXPECT_TRUE(comes_true([&] { return handler_.n_handled == 4; }));
  EXPECT_EQ(status("/later", std::string(1001, 'a')), "HTTP/1.1 503");
}

TEST_F(HttpServerTest, BodiesThatAreRefusedAreFreed) {
  HttpOptions options;
  options.linger_ms = 1 << 30;
  serve(options);
  const int whole = ask("/refused", std::string(kMib, ' '), "Connection: close\r\n");
  EXPECT_EQ(receive(whole, 12), "HTTP/1.1 400");
  EXPECT_TRUE(in_loop([&] { return last().request().body.capacity() < 1000; }));
  const int half = ask("/later");  // whose second request is malformed
  ASSERT_TRUE(comes_true([&] { return handler_.n_handled == 2; }));
  in_loop([&] {
    http_->respond(last(), {200, "text/plain", ""});
    return true;
  });
  send_all(half, "POST /later HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n" + std::string(kMib / 2, ' ') + "\r\nno size\r\n");
  ASSERT_TRUE(comes_true([&] { return last().parser.stage() == HttpParser::Stage::failed; }));
  EXPECT_TRUE(in_loop([&] { return last().request().body.capacity() < 1000; }));
}

TEST_F(HttpServerTest, AConnectionEndsWithItsAnswerWhenTheServerCloses) {
  serve({});
  const int client = ask("/stream");
  ASSERT_TRUE(comes_true([&] { return handler_.n_handled == 1; }));
  in_loop([&] {
    http_->close_idle();
    http_->write_stream(last(), "text");
    http_->end_stream(last());
    return true;
  });
  const std::string got = receive(client, 1 << 16);
  EXPECT_NE(got.find("4\r\ntext\r\n0\r\n\r\n"), got.npos) << got;
  EXPECT_EQ(handler_.n_sent, 1u);
}

TEST_F(HttpServerTest, RefusedRequestsInARowTakeNoRoundEach) {
  serve({});
  constexpr size_t kRequests = 60;
  std::string requests;
  for (size_t i = 0; i < kRequests; ++i) requests += "GET /none HTTP/1.1\r\n\r\n";
  const int client = connect();
  const size_t n_before = n_rounds_;
  send_all(client, requests + "GET /small HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string got = receive(client, kMib);
  size_t n_refused = 0;
  for (size_t at = got.find(" 404 "); at != got.npos; at = got.find(" 404 ", at + 1)) ++n_refused;
  EXPECT_EQ(n_refused, kRequests);
  EXPECT_LT(n_rounds_ - n_before, kRequests / 2);
}

}  // namespace

}  // namespace inlay::server
