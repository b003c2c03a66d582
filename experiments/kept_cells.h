// The results of cells on disk: one file each, whole or not there.
#pragma once

#include <optional>
#include <string>

#include "experiments/experiment.h"

namespace ockham::paper {

/// What one cell gave: its numbers, or the sentence of its failure.
struct KeptCell {
  Json settings;
  Json result;          // null when it failed
  std::string failure;  // empty when it did not
  bool final = true;    // false: another start tries a failed cell again
  double seconds = 0;
  std::string version;  // of ockham
};

class KeptCells {
 public:
  /// Makes `directory`/cells, and `directory`/working for what is being computed; removes what killed processes left.
  explicit KeptCells(const std::string& directory);

  /// None when the file is missing or damaged.
  std::optional<KeptCell> read(const std::string& name) const;
  void write(const std::string& name, const KeptCell& cell) const;
  std::string path_of(const std::string& name) const;  // .../cells/energy__full-ggn__split-3.json

  /// The directory for a cell's checkpoints; what a cell of other settings left there is removed.
  std::string prepare_working_directory(const std::string& name, const Json& settings) const;
  void remove_working_directory(const std::string& name) const;
  /// Of a kept cell: what a process that was killed left, unless another one is computing it.
  void clear_away(const std::string& name) const;

 private:
  std::string working_path(const std::string& name) const;
  std::string directory_;
};

/// The right to compute a cell: one process at a time has it, and the system takes it back when the process ends.
class CellLock {
 public:
  /// `taken` is false when another process has it.
  CellLock(const std::string& directory, const std::string& name);
  ~CellLock();
  CellLock(const CellLock&) = delete;
  CellLock& operator=(const CellLock&) = delete;
  bool taken() const { return taken_; }

 private:
  std::string path_;
  int file_ = -1;
  bool taken_ = false;
};

}  // namespace ockham::paper
