// A temporary directory that goes with all it holds.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>

#include "app/interrupt.h"

namespace ockham::app {

/// A signal ends the process only after the directory is removed, and the program that is working in it, if any, ended.
/// One at a time.
class ScratchDirectory {
 public:
  /// In TMPDIR; throws Error(failure).
  ScratchDirectory();
  /// In another directory, e.g. on the disk that its files are for; throws Error(failure).
  explicit ScratchDirectory(const std::filesystem::path& parent);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// While it is held a signal waits: what is moved out of the directory is all there, or nothing.
  std::unique_lock<std::mutex> hold() const { return std::unique_lock<std::mutex>(mutex_); }

 private:
  int make(const std::filesystem::path& pattern);  // 0, or the errno
  void remove();

  mutable std::mutex mutex_;  // held while the directory is made or removed
  std::filesystem::path path_;
  std::optional<CleanUpOnSignal> clean_up_;
};

}  // namespace ockham::app
