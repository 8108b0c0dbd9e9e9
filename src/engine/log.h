// The engine's log: a ring that can be read from any thread, and the host's sink if it gave one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/mutex.h"
#include "src/engine/options.h"

namespace inlay {

class Log {
 public:
  Log(LogLevel level, LogSink sink) : level_(level), sink_(std::move(sink)) {}

  void write(LogLevel level, std::string_view message);

  struct Record {
    LogLevel level = LogLevel::info;
    uint64_t sequence = 0;  // counts from 1
    std::string text;
  };
  // The oldest record still kept whose number is above `cursor`, which it moves. False if there is none.
  bool read(uint64_t& cursor, Record& out) const;

 private:
  static constexpr size_t kRecords = 256;
  const LogLevel level_;
  const LogSink sink_;
  mutable Mutex mutex_;
  std::array<Record, kRecords> ring_ INLAY_GUARDED_BY(mutex_);
  uint64_t n_written_ INLAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace inlay
