// Connections of HTTP/1.1 on a loop: requests come in whole, answers go out whole or piece by piece, and a client that leaves is
// noticed while its answer is made. Every connection has a limit of bytes and of time at each stage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "examples/server/http_parser.h"
#include "examples/server/loop.h"
#include "examples/server/refusal.h"

namespace inlay::server {

struct HttpOptions {
  HttpLimits limits;
  size_t n_connections = 512;
  size_t all_body_bytes = 64 << 20;  // of all requests that come in
  size_t all_out_bytes = 256 << 20;  // of all answers that clients have not yet taken
  int64_t head_ms = 10'000;          // for the whole head, from its first byte, and for the first byte of a connection
  int64_t body_ms = 30'000;          // for the whole body
  int64_t idle_ms = 60'000;          // between two requests
  int64_t write_ms = 30'000;         // without a byte that the client takes
  int64_t linger_ms = 2'000;         // for a refused client to read why
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<HttpRequest::Header> headers = {};
};

struct Connection {
  enum class State { reading, answering, streaming, sending, lingering };

  Connection(int descriptor, const HttpLimits& limits) : fd(descriptor), parser(limits) {}
  const HttpRequest& request() const { return parser.request(); }
  size_t unsent() const { return out.size() - n_sent; }

  int fd;
  uint64_t id = 0;  // the loop's
  HttpParser parser;
  State state = State::reading;
  std::string in, out;
  size_t n_sent = 0;
  bool ends_after = false;  // the answer is the last one
  bool is_dead = false;     // closed at the end of the round, as all that is
  bool is_chunked = false;
  bool is_first = true;   // no request has come yet
  bool is_ready = false;  // the next request may lie in `in`
  size_t n_body = 0;      // bytes that count as the connection's
  uint32_t events = 0;
  int64_t since = 0;  // the state's beginning, or the last byte sent
  uint64_t work = 0;       // the handler's
  bool has_place = false;  // the handler's
};

// What is made of requests. Nothing in it may destroy a connection; http_server.cpp does at the end of a round.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual std::optional<Refusal> check_head(const HttpRequest& request) = 0;  // before the body is read
  virtual void handle(Connection& connection) = 0;                            // answers now, or later
  virtual void has_sent(Connection& connection) = 0;                          // its answer, to the last byte
  virtual void has_left(Connection& connection) = 0;                          // the client, at whatever stage
  virtual void has_room(Connection& connection) = 0;                          // for more of a stream
  virtual void add_headers(const HttpRequest& request, std::string& head) = 0;
  virtual void count(int status) = 0;
};

class HttpServer {
 public:
  HttpServer(Loop& loop, HttpHandler& handler, const HttpOptions& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // ADDRESS is one in numbers. Port 0: any that is free. False: `reason` says why.
  bool listen(const std::string& address, uint16_t port, std::string& reason);
  uint16_t port() const { return port_; }
  void stop_listening();
  void close_idle();  // and let no other request come in
  size_t n_connections() const { return connections_.size(); }
  Connection* find(uint64_t id);

  void respond(Connection& connection, const Response& response);
  void refuse(Connection& connection, const Refusal& refusal);
  void begin_stream(Connection& connection, std::string_view type);
  void write_stream(Connection& connection, std::string_view bytes);  // goes out with flush()
  void end_stream(Connection& connection, bool closes = false);
  void flush(Connection& connection);

  void end_round();  // times that are over, connections that are dead

 private:
  void accept_some();
  void turn_away(int fd);
  void add(int fd);
  void on_events(Connection& connection, uint32_t events);
  void receive(Connection& connection);
  void proceed(Connection& connection);
  void fail(Connection& connection, const Refusal& refusal);
  bool take_head(Connection& connection);
  void write_head(Connection& connection, int status, const std::string& more);
  void count_body(Connection& connection, size_t n_bytes);
  void free_body(Connection& connection);
  bool has_room_for(const Connection& connection, size_t n_bytes) const;
  void put(Connection& connection, std::string_view bytes);
  void forget_sent(Connection& connection);
  void sent_all(Connection& connection);
  void enter(Connection& connection, Connection::State state);
  void expire(Connection& connection, int64_t now);
  void set_events(Connection& connection);
  void drop(Connection& connection);

  Loop& loop_;
  HttpHandler& handler_;
  HttpOptions options_;
  int listener_ = -1;
  uint64_t listener_watch_ = 0;
  bool is_paused_ = false;  // no descriptors were left
  bool is_closing_ = false;
  uint16_t port_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::vector<uint64_t> dead_, ready_;
  size_t all_body_bytes_ = 0, all_out_bytes_ = 0;
  int64_t last_sweep_ = 0;
};

const char* status_text(int status);

}  // namespace inlay::server
