// A conversation at a terminal: lines, commands, answers.
#pragma once

#include <functional>

#include "examples/cli/conversation.h"

namespace inlay::cli {

// Returns the exit code. `report` tells what a turn took; `reseed` makes the next answer to the same line another one.
int converse(Conversation& conversation, const std::function<void(const Turn&)>& report, const std::function<void()>& reseed);

}  // namespace inlay::cli
