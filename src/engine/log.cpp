#include "src/engine/log.h"

#include <algorithm>

#include "src/base/printable.h"

namespace inlay {

void Log::write(LogLevel level, std::string_view message) {
  if (level > level_) return;
  const std::string text = printable(message);
  {
    const Lock lock(mutex_);
    Record& record = ring_[n_written_ % kRecords];
    record.level = level;
    record.sequence = ++n_written_;
    record.text.assign(text);
  }
  if (sink_) sink_(level, text);
}

bool Log::read(uint64_t& cursor, Record& out) const {
  const Lock lock(mutex_);
  if (cursor >= n_written_) return false;
  const uint64_t oldest = n_written_ > kRecords ? n_written_ - kRecords : 0;  // records before it are overwritten
  out = ring_[std::max(cursor, oldest) % kRecords];
  cursor = out.sequence;
  return true;
}

}  // namespace inlay
