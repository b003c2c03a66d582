// What the cells of uci-regression say: claims, tables and figures beside the paper's numbers.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// The sets of Table 1, by the names of their files.
const std::vector<std::string>& regression_sets();

Presentation present_uci_regression(const Settings& settings, const Results& results);

}  // namespace ockham::paper
