// The messages of a chat as the library takes them.
#pragma once

#include "examples/server/field_reader.h"
#include "examples/server/model.h"

namespace inlay::server {

// {"messages": [...]}, with parts of text put together and the developer's messages as the system's, and with the arguments of calls as the model's
// template takes them.
void read_messages(FieldReader& fields, const Model& model, Json& conversation);

}  // namespace inlay::server
