// A temporary directory that goes with all it holds.
#pragma once

#include <filesystem>

namespace ockham::app {

class ScratchDirectory {
 public:
  /// In TMPDIR; throws Error(failure).
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ockham::app
