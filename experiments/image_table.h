// The sets and networks of the paper's Table 2, which `images` and `damping` train with several methods.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/image_training.h"

namespace ockham::paper {

struct SetAndNetwork {
  const char *set, *word;  // "mnist", "mlp"
};
const std::vector<SetAndNetwork>& table_networks();

/// The sets in it.
const std::vector<std::string>& table_sets();

/// The beginning of the cells' names: "mnist/mlp/kron".
std::string start_of(const SetAndNetwork& problem, ImageMethod method);

/// A cell for every seed, set that is there, network and method that `concerns` it. Throws as present_sets does.
std::vector<Cell> table_cells(const Settings& settings, const ImageScale& scale,
                              const std::vector<ImageMethod>& methods,
                              const std::function<bool(const SetAndNetwork&, ImageMethod)>& concerns);

}  // namespace ockham::paper
