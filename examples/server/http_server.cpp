#include "examples/server/http_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "examples/server/listener.h"

namespace inlay::server {

namespace {

using State = Connection::State;

constexpr size_t kReceiveBytes = 64 << 10;
constexpr size_t kStreamRoom = 16 << 10;  // more of a stream is asked for while less than that is unsent; so much any client may leave unread

}  // namespace

HttpServer::HttpServer(Loop& loop, HttpHandler& handler, const HttpOptions& options) : loop_(loop), handler_(handler), options_(options) {}

HttpServer::~HttpServer() {
  stop_listening();
  for (const auto& [id, connection] : connections_) close(connection->fd);
}

bool HttpServer::listen(const std::string& address, uint16_t port, std::string& reason) {
  port_ = port;
  listener_ = listen_on(address, port_, reason);
  if (listener_ >= 0) listener_watch_ = loop_.watch(listener_, EPOLLIN, [this](uint32_t) { accept_some(); });
  return listener_ >= 0;
}

void HttpServer::stop_listening() {
  if (listener_ < 0) return;
  loop_.forget(listener_watch_, listener_);
  close(listener_);
  listener_ = -1;
}

void HttpServer::close_idle() {
  is_closing_ = true;
  for (const auto& [id, connection] : connections_)
    if (connection->state == State::reading) drop(*connection);
}

Connection* HttpServer::find(uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() || found->second->is_dead ? nullptr : found->second.get();
}

// ---- connections begin and end

void HttpServer::accept_some() {
  for (int i = 0; i < 64; ++i) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      add(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      loop_.change(listener_watch_, listener_, 0);
      is_paused_ = true;
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// There is no place for the connection: a word, and its end.
void HttpServer::turn_away(int fd) {
  const std::string body = error_body({503, "the server has as many connections as it takes", "", "too_many_connections"});
  const std::string text =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  std::array<char, 4096> unread;
  for (int i = 0; i < 16 && recv(fd, unread.data(), unread.size(), MSG_DONTWAIT) > 0; ++i) {
  }
  if (send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) handler_.count(503);
  shutdown(fd, SHUT_WR);
  close(fd);
}

void HttpServer::add(int fd) {
  if (connections_.size() >= options_.n_connections) return turn_away(fd);
  set_up_client(fd);
  auto connection = std::make_unique<Connection>(fd, options_.limits);
  Connection* own = connection.get();
  own->since = now_ms();
  own->events = EPOLLIN | EPOLLRDHUP;
  own->id = loop_.watch(fd, own->events, [this, own](uint32_t events) { on_events(*own, events); });
  if (own->id == 0) {
    close(fd);
    return;
  }
  connections_[own->id] = std::move(connection);
}

void HttpServer::drop(Connection& connection) {
  if (connection.is_dead) return;
  connection.is_dead = true;
  dead_.push_back(connection.id);
}

void HttpServer::count_body(Connection& connection, size_t n_bytes) {
  all_body_bytes_ += n_bytes - connection.n_body;
  connection.n_body = n_bytes;
}

void HttpServer::free_body(Connection& connection) {
  connection.parser.take_body();
  count_body(connection, 0);
}

// ---- what comes in

void HttpServer::on_events(Connection& connection, uint32_t events) {
  if (connection.is_dead) return;
  const bool reads = connection.state == State::reading || connection.state == State::lingering;
  if (events & (EPOLLERR | EPOLLHUP)) return drop(connection);
  if (reads && (events & (EPOLLIN | EPOLLRDHUP))) {
    receive(connection);
  } else if (!reads && (events & EPOLLRDHUP)) {
    return drop(connection);
  }
  if (!(events & EPOLLOUT) || connection.is_dead) return;
  flush(connection);
  if (connection.state == State::streaming && !connection.is_dead && connection.unsent() < kStreamRoom) handler_.has_room(connection);
  if (connection.state == State::reading) proceed(connection);
}

void HttpServer::receive(Connection& connection) {
  std::array<char, kReceiveBytes> bytes;
  const ssize_t n = recv(connection.fd, bytes.data(), bytes.size(), 0);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return drop(connection);
  if (n < 0 || connection.state == State::lingering) return;
  connection.in.append(bytes.data(), static_cast<size_t>(n));
  proceed(connection);
}

void HttpServer::enter(Connection& connection, State state) {
  connection.state = state;
  connection.since = now_ms();
  set_events(connection);
}

void HttpServer::set_events(Connection& connection) {
  uint32_t events = connection.unsent() > 0 ? EPOLLOUT : 0u;
  if (connection.state == State::reading || connection.state == State::lingering) events |= EPOLLIN;
  if (connection.state == State::reading || connection.state == State::answering || connection.state == State::streaming) events |= EPOLLRDHUP;
  if (events == connection.events || connection.is_dead) return;
  connection.events = events;
  loop_.change(connection.id, connection.fd, events);
}

// Reads requests from what came in, until one needs time or more bytes.
void HttpServer::proceed(Connection& connection) {
  HttpParser& parser = connection.parser;
  while (connection.state == State::reading && !connection.is_dead) {
    const bool had_begun = parser.has_begun();
    connection.in.erase(0, parser.feed(connection.in));
    if (!had_begun && parser.has_begun()) connection.since = now_ms();
    count_body(connection, parser.request().body.size());
    if (all_body_bytes_ > options_.all_body_bytes)
      return fail(connection, {503, "requests that come in take all the memory for them", "", "overloaded"});
    if (parser.stage() == HttpParser::Stage::failed) return fail(connection, {parser.status(), parser.reason(), "", ""});
    if (parser.stage() == HttpParser::Stage::head_done && !take_head(connection)) continue;
    if (parser.stage() == HttpParser::Stage::done) {
      enter(connection, State::answering);
      handler_.handle(connection);
      free_body(connection);
    } else if (connection.in.empty()) {
      return;
    }
  }
}

bool HttpServer::take_head(Connection& connection) {
  connection.is_first = false;
  if (const std::optional<Refusal> refusal = handler_.check_head(connection.request())) {
    if (connection.request().has_body) {
      fail(connection, *refusal);
    } else {
      enter(connection, State::answering);
      refuse(connection, *refusal);
    }
    return false;
  }
  connection.parser.read_body();
  connection.since = now_ms();
  if (!connection.request().expects_continue || !connection.request().has_body || !connection.in.empty()) return true;
  put(connection, "HTTP/1.1 100 Continue\r\n\r\n");
  flush(connection);
  return true;
}

// ---- what goes out

bool HttpServer::has_room_for(const Connection& connection, size_t n_bytes) const {
  return connection.unsent() + n_bytes <= kStreamRoom || all_out_bytes_ + n_bytes <= options_.all_out_bytes;
}

void HttpServer::put(Connection& connection, std::string_view bytes) {
  connection.out += bytes;
  all_out_bytes_ += bytes.size();
}

void HttpServer::forget_sent(Connection& connection) {
  connection.out.erase(0, connection.n_sent);
  all_out_bytes_ -= std::exchange(connection.n_sent, 0);
}

void HttpServer::write_head(Connection& connection, int status, const std::string& more) {
  if (!connection.request().keep_alive || is_closing_) connection.ends_after = true;
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + status_text(status) + "\r\n" + more;
  head += connection.ends_after ? "Connection: close\r\n" : "Connection: keep-alive\r\n";
  head += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  handler_.add_headers(connection.request(), head);
  put(connection, head + "\r\n");
  handler_.count(status);
}

void HttpServer::respond(Connection& connection, const Response& response) {
  if (response.status == 200 && !has_room_for(connection, response.body.size()))
    return refuse(connection, {503, "answers that clients do not read take all the memory for them", "", "overloaded"});
  std::string more;
  if (response.status != 204) more = "Content-Type: " + response.type + "\r\nContent-Length: " + std::to_string(response.body.size()) + "\r\n";
  for (const HttpRequest::Header& header : response.headers) more += header.name + ": " + header.value + "\r\n";
  write_head(connection, response.status, more);
  if (connection.request().method != "HEAD" && response.status != 204) put(connection, response.body);
  enter(connection, State::sending);
  flush(connection);
}

void HttpServer::refuse(Connection& connection, const Refusal& refusal) {
  const bool is_method = refusal.status == 405;  // `param` has those that are allowed
  Response response{refusal.status, "application/json", error_body({refusal.status, refusal.message, is_method ? "" : refusal.param, refusal.code})};
  if (refusal.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (refusal.status == 429 || refusal.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (is_method) response.headers.push_back({"Allow", refusal.param});
  respond(connection, response);
}

// A request that is not read to its end: what follows it cannot be told from it.
void HttpServer::fail(Connection& connection, const Refusal& refusal) {
  connection.in = {};
  free_body(connection);
  connection.ends_after = true;
  connection.state = State::answering;
  refuse(connection, refusal);
}

void HttpServer::begin_stream(Connection& connection, std::string_view type) {
  connection.is_chunked = connection.request().minor_version > 0;
  if (!connection.is_chunked) connection.ends_after = true;
  write_head(connection, 200, "Content-Type: " + std::string(type) + "\r\n" + (connection.is_chunked ? "Transfer-Encoding: chunked\r\n" : ""));
  enter(connection, State::streaming);
}

void HttpServer::write_stream(Connection& connection, std::string_view bytes) {
  if (bytes.empty()) return;
  if (!has_room_for(connection, bytes.size())) return drop(connection);
  if (!connection.is_chunked) return put(connection, bytes);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string size;
  for (size_t n = bytes.size(); n > 0; n /= 16) size.insert(size.begin(), kDigits[n % 16]);
  put(connection, size + "\r\n");
  put(connection, bytes);
  put(connection, "\r\n");
}

void HttpServer::end_stream(Connection& connection, bool closes) {
  if (connection.is_chunked) put(connection, "0\r\n\r\n");
  if (closes) connection.ends_after = true;
  enter(connection, State::sending);
  flush(connection);
}

void HttpServer::flush(Connection& connection) {
  while (connection.unsent() > 0 && !connection.is_dead) {
    const ssize_t n = send(connection.fd, connection.out.data() + connection.n_sent, connection.unsent(), MSG_NOSIGNAL);
    if (n > 0) {
      connection.n_sent += static_cast<size_t>(n);
      connection.since = now_ms();
    } else if (n < 0 && errno == EAGAIN) {
      if (connection.n_sent > kReceiveBytes && connection.n_sent > connection.unsent()) forget_sent(connection);
      return set_events(connection);
    } else if (n == 0 || errno != EINTR) {
      return drop(connection);
    }
  }
  if (connection.is_dead) return;
  forget_sent(connection);
  if (connection.out.capacity() > kStreamRoom) connection.out.shrink_to_fit();
  if (connection.state == State::sending) return sent_all(connection);
  set_events(connection);
}

void HttpServer::sent_all(Connection& connection) {
  handler_.has_sent(connection);
  if (connection.ends_after || is_closing_) {
    shutdown(connection.fd, SHUT_WR);
    return enter(connection, State::lingering);
  }
  connection.parser.reset();
  enter(connection, State::reading);
  if (connection.in.empty() || connection.is_ready) return;
  connection.is_ready = true;
  ready_.push_back(connection.id);
}

// ---- rounds

void HttpServer::expire(Connection& connection, int64_t now) {
  const int64_t ms = now - connection.since;
  const bool has_begun = connection.parser.has_begun();
  if (connection.unsent() > 0 && connection.state != State::reading) {
    if (ms > options_.write_ms) drop(connection);
  } else if (connection.state == State::lingering) {
    if (ms > options_.linger_ms) drop(connection);
  } else if (connection.state == State::reading && !has_begun) {
    if (ms > (connection.is_first ? options_.head_ms : options_.idle_ms)) drop(connection);
  } else if (connection.state == State::reading) {
    const bool in_head = connection.parser.stage() == HttpParser::Stage::head;
    if (ms > (in_head ? options_.head_ms : options_.body_ms)) fail(connection, {408, "the request took too long to come", "", "timeout"});
  }
}

void HttpServer::end_round() {
  for (const uint64_t id : std::exchange(ready_, {})) {
    Connection* connection = find(id);
    if (!connection) continue;
    connection->is_ready = false;
    proceed(*connection);
  }
  if (const int64_t now = now_ms(); now - last_sweep_ >= Loop::kTickMs) {
    last_sweep_ = now;
    for (const auto& [id, connection] : connections_)
      if (!connection->is_dead) expire(*connection, now);
    if (std::exchange(is_paused_, false) && listener_ >= 0) loop_.change(listener_watch_, listener_, EPOLLIN);
  }
  for (const uint64_t id : std::exchange(dead_, {})) {
    Connection& connection = *connections_.at(id);
    handler_.has_left(connection);
    count_body(connection, 0);
    all_out_bytes_ -= connection.out.size();
    loop_.forget(id, connection.fd);
    close(connection.fd);
    connections_.erase(id);
  }
}

const char* status_text(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Internal Server Error";
  }
}

}  // namespace inlay::server
