// The directory that a run leaves: summary, configuration, model, trace, report, and checkpoints while it is
// unfinished.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ockham/store/run_configuration.h"
#include "ockham/store/run_lock.h"

namespace ockham {

/// Raised when a file's meaning changes; directories of older formats stay readable.
inline constexpr int run_format_version = 1;

/// run.json, config.toml, model.safetensors, trace.csv, metrics.jsonl, report.html.
enum class RunFile { summary, configuration, messages, model, trace, metrics, report };

enum class RunAccess { read, write };

class RunDirectory {
 public:
  /// Makes the directory (or takes an empty one), locks it, writes its first files, and at last records the format and
  /// the configuration in format.json: killed before, it is no run and can be made again. Throws Error(data) when the
  /// path is a file, holds a run already, or holds anything else.
  static RunDirectory create(const std::string& path, const RunConfiguration& configuration,
                             const std::map<RunFile, std::string>& first_files = {});

  /// Opens a run. `write` locks it and clears away what a killed process left half-written. Throws Error(data) when the
  /// path is no run directory or of a newer format, Error(failure) when it is in use.
  static RunDirectory open(const std::string& path, RunAccess access = RunAccess::read);

  /// Throws Error(usage) saying what differs from the configuration that the run was made by: it cannot be continued.
  void expect_configuration(const RunConfiguration& now) const;

  const std::string& path() const { return path_; }
  const RunConfiguration& configuration() const { return configuration_; }
  int format_version() const { return format_version_; }

  std::string path_of(RunFile file) const;
  bool has(RunFile file) const;

  /// Atomic. A summary and messages must be JSON. Throws Error(failure) when it was opened for reading.
  void write(RunFile file, std::string_view text) const;

  /// Throws Error(data) when it is missing, or is no JSON where it must be.
  std::string read(RunFile file) const;

  /// Adds one JSON object to metrics.jsonl; `keep_metrics` goes back to the first `lines`, which a checkpoint
  /// remembers.
  void append_metrics(std::string_view line) const;
  void keep_metrics(int64_t lines) const;

  /// RUN/checkpoint/NAME.safetensors; NAME has letters, digits, dots, dashes and underscores.
  std::string checkpoint_path(const std::string& name) const;
  std::vector<std::string> checkpoint_names() const;
  void remove_checkpoints() const;

 private:
  RunDirectory(std::string path, RunLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  void expect_writable() const;
  void read_format();

  std::string path_;
  RunLock lock_;
  RunConfiguration configuration_;
  int format_version_ = run_format_version;
};

/// The file of a checkpoint in a run directory, also for processes that do not hold its lock.
std::string checkpoint_path(const std::string& run, const std::string& name);

/// A new directory PARENT/2026-01-31-235959, with -2, -3, ... where that is taken. It is made at once, empty, so that
/// no two processes get the same.
std::string new_run_path(const std::string& parent = "ockham-runs");

}  // namespace ockham
