// The data of `ockham fit`: read, divided, encoded and checked before anything is written.
#pragma once

#include <optional>
#include <string>

#include "app/fit_flags.h"
#include "app/messages.h"
#include "ockham/data/dataset.h"
#include "ockham/data/image_set.h"
#include "ockham/data/table_encoding.h"

namespace ockham::app {

struct FitData {
  std::string name;        // of the file or directory
  TableEncoding encoding;  // of images: the task and the names of the classes, nothing else
  Dataset training;  // inputs [N, D] and targets, encoded, float64; images: bytes [N, C, H, W], or floats from NPY
  std::optional<Dataset> test;         // reported only
  std::string checksum;                // of what the result depends on: encoding and training data
  std::optional<ImageScaling> images;  // present for images: the first step of every network

  std::vector<int64_t> input_shape() const { return training.inputs().sizes().slice(1).vec(); }
  int64_t features() const { return training.inputs().numel() / training.size(); }
  bool is_regression() const { return encoding.task == Task::regression; }
  /// Numbers that the network gives: targets, or classes.
  int64_t outputs() const {
    return static_cast<int64_t>(is_regression() ? encoding.targets.size() : encoding.classes.size());
  }
};

/// Images when DATA is a directory, or --inputs an array of three or more dimensions; else a table. Throws Error(data)
/// or Error(usage), naming file, line and column or the flag.
FitData read_fit_data(const FitFlags& flags, Messages& messages);

/// The checksum of encoded data.
std::string data_checksum(TableEncoding encoding, const Dataset& data);

}  // namespace ockham::app
