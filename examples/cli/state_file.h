// A session in a file, and behind it the conversation that it is of.
#pragma once

#include <string>

#include "examples/cli/engine.h"

namespace inlay::cli {

// Ends the program where the file could not be written, before anything is computed for it.
void check_writable(const std::string& path);

// `said`: the conversation, as Conversation::as_json() writes it; empty where the text goes on as it stands. The file is there whole or
// as it was before.
void save_state(inlay_session* session, const std::string& said, const std::string& path);

struct SavedState {
  SessionPtr session;
  std::string said;
};
// Of a model that is loaded. Where the file is none of its saved sessions, or is cut off, the program ends.
SavedState load_state(const inlay_engine* engine, const std::string& path);

}  // namespace inlay::cli
