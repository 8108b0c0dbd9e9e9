// The load parameter `tuning`: settings that only tune, as text. Keys may come and go in any version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/engine/options.h"

namespace inlay {

// "key=value" pairs with blanks or commas between. INVALID_ARGUMENT names what is unknown, and the known ones.
Status apply_tuning(std::string_view text, EngineOptions& out);

std::string_view isa_name(cpu::Isa isa);

// A line of the log for each given key that changes nothing on the device.
std::vector<std::string> unused_tuning(const EngineOptions& options, DeviceKind device);

}  // namespace inlay
