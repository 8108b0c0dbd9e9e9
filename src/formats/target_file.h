// A file that is written beside its target and takes the target's place when it is whole.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "src/base/status.h"

namespace inlay {

// Until publish() the bytes are in a file of a random name in the target's folder, "NAME.RANDOM.partial", that the
// destructor removes. Symbolic links are followed: what they name is replaced, and keeps its owner and permissions as far as
// the system permits. No child process inherits the file, and a limit of file sizes is an error, not a signal. Windows replaces no
// file that is read-only, or that a program has open which does not share it.
class TargetFile {
 public:
  // Refuses a path at which there is anything but a regular file.
  static Result<std::unique_ptr<TargetFile>> create(const std::string& path);
  TargetFile() = default;
  virtual ~TargetFile() = default;
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  virtual const std::string& path() const = 0;  // as create() got it
  virtual Status write(std::span<const std::byte> bytes) = 0;
  // Brings it to the disk and renames it; once. On an error the target is as before, but for one that says otherwise: where
  // the folder cannot be brought to the disk, the file is already in place.
  virtual Status publish() = 0;
};

}  // namespace inlay
