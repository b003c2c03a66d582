// The data of `ockham fit`: read, divided, encoded and checked before anything is written.
#pragma once

#include <optional>
#include <string>

#include "app/fit_flags.h"
#include "app/messages.h"
#include "ockham/data/dataset.h"
#include "ockham/data/table_encoding.h"

namespace ockham::app {

struct FitData {
  std::string name;  // of the file
  TableEncoding encoding;
  Dataset training;             // inputs [N, D] and targets, encoded, float64
  std::optional<Dataset> test;  // reported only
  std::string checksum;         // of what the result depends on: encoding and training data

  int64_t features() const { return training.inputs().size(1); }
  bool is_regression() const { return encoding.task == Task::regression; }
  /// Numbers that the network gives: targets, or classes.
  int64_t outputs() const {
    return static_cast<int64_t>(is_regression() ? encoding.targets.size() : encoding.classes.size());
  }
};

/// Throws Error(data) or Error(usage), naming file, line and column or the flag.
FitData read_fit_data(const FitFlags& flags, Messages& messages);

}  // namespace ockham::app
