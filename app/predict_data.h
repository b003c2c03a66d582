// Images of `ockham predict`, as its model takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ockham/data/dataset.h"

namespace ockham::app {

struct PredictData {
  std::string name;                // of the file, for messages
  at::Tensor inputs;               // [N, C, H, W]
  std::optional<Dataset> scored;   // the examples whose targets are known; absent when there are none
  std::vector<int64_t> places;     // which of the file each is, from 0
  std::vector<std::string> files;  // the file of each, where it has its own
  std::function<void(int64_t examples_done)> progress = {};  // how far their prediction is
};

}  // namespace ockham::app
