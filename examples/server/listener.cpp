#include "examples/server/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace inlay::server {

namespace {

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

bool read_address(const std::string& text, uint16_t port, Address& out) {
  auto* four = reinterpret_cast<sockaddr_in*>(&out.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    out.size = sizeof *four;
  } else if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    out.size = sizeof *six;
  }
  return out.size > 0;
}

void set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

}  // namespace

int listen_on(const std::string& address, uint16_t& port, std::string& reason) {
  Address own;
  if (!read_address(address, port, own)) {
    reason = address + " is no address in numbers";
    return -1;
  }
  const int fd = socket(own.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (fd >= 0 && own.storage.ss_family == AF_INET6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&own.storage), own.size) != 0 || ::listen(fd, 256) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) {
    reason = "cannot listen on " + address + ", port " + std::to_string(port) + ": " + std::strerror(errno);
    if (fd >= 0) close(fd);
    return -1;
  }
  port = ntohs(own.storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&own.storage)->sin_port
                                                : reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_port);
  return fd;
}

void set_up_client(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

}  // namespace inlay::server
