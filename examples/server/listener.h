// A socket that listens, and what is set on those that come of it.
#pragma once

#include <cstdint>
#include <string>

namespace inlay::server {

// -1: `reason` says why. `port` becomes the one that was taken.
int listen_on(const std::string& address, uint16_t& port, std::string& reason);

// Pieces go out at once, and a client that vanished without a word is found within a minute.
void set_up_client(int fd);

}  // namespace inlay::server
