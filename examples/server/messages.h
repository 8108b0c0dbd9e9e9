// The messages of a chat as the library takes them.
#pragma once

#include <string>

#include "examples/server/field_reader.h"

namespace inlay::server {

// {"messages": [...]}, with parts of text put together and the developer's messages as the system's.
void read_messages(FieldReader& fields, std::string& conversation);

}  // namespace inlay::server
