// A file that is written beside its target and takes the target's place when it is whole.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/status.h"

namespace inlay {

// Until publish() the bytes are in a file of a random name in the target's folder, "NAME.RANDOM.partial", that the
// destructor removes. Symbolic links are followed: what they name is replaced, and keeps its owner and permissions as far as
// the system permits. No child process inherits the file, and a limit of file sizes is an error, not a signal.
class TargetFile {
 public:
  // Refuses a path at which there is anything but a regular file.
  static Result<std::unique_ptr<TargetFile>> create(const std::string& path);
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  const std::string& path() const { return path_; }  // as create() got it
  Status write(std::span<const std::byte> bytes);
  // Brings it to the disk and renames it; once. On an error the target is as before, but for one that says otherwise: where
  // the folder cannot be brought to the disk, the file is already in place.
  Status publish();

 private:
  explicit TargetFile(std::string path) : path_(std::move(path)) {}
  Status resolve();
  Status check_kind(std::optional<struct stat>& found) const;
  Status open();
  Status failed(int number, const char* action) const;

  std::string path_;
  std::string target_, partial_;  // links followed; empty: there is no file of this name
  int fd_ = -1;
};

}  // namespace inlay
