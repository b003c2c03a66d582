// The images of which a network is surest and least sure, for the report.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "ockham/data/dataset.h"
#include "ockham/report/run_report.h"

namespace ockham::app {

/// Chooses among images [n, C, H, W] with classes, which are the `places` [n] of their data, by their predicted
/// probabilities [n, classes]. Replaces what the report has. Class names are those of its classification.
void add_image_samples(const Dataset& images, const at::Tensor& places, const at::Tensor& probabilities,
                       const std::string& split, RunReport& report);

}  // namespace ockham::app
