// The folder of a model while it is read: opened once, and all files found in that one, wherever its path leads meanwhile. A link that is
// switched to another revision, a folder that is renamed, a change of the working directory then mix nothing.
#pragma once

#include <string>

#ifdef _WIN32
#include "src/base/windows_api.h"
#endif

namespace inlay {

class HeldFolder {
 public:
  // `path`: a folder, or a file in one. Where the folder cannot be opened none is held; whoever opens a file there gets the reason.
  explicit HeldFolder(const std::string& path);
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;
#ifndef _WIN32
  ~HeldFolder();
#endif

  // While one lives, paths of its thread that begin as the folder's are in that folder; null: none are.
  class Use {
   public:
    explicit Use(const HeldFolder* folder);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const HeldFolder* const before_;
  };
  static const HeldFolder* used();  // by the calling thread

  // How the system is to be asked for a path.
#ifdef _WIN32
  static std::string place_of(const std::string& path);
#else
  struct Place {
    int folder;  // a descriptor, or AT_FDCWD
    std::string name;
  };
  static Place place_of(const std::string& path);
#endif

 private:
  // The part of a path behind the folder's; false where it does not begin so.
  bool has(const std::string& path, std::string& rest) const;

  std::string path_;  // as it was given; empty: the working directory
#ifdef _WIN32
  Handle folder_;
  std::string place_;  // where it really is
#else
  int folder_ = -1;
#endif
};

}  // namespace inlay
