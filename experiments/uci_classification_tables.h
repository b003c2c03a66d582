// What the cells of uci-classification say: claims, tables and figures beside the paper's numbers.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// The sets of the appendix's table, by the names of their files.
const std::vector<std::string>& classification_sets();

Presentation present_uci_classification(const Settings& settings, const Results& results);

}  // namespace ockham::paper
