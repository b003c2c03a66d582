// A trained model as a TorchScript file that needs nothing of ockham: scaling, network and likelihood in one function.
#pragma once

#include <string>

#include "ockham/predict/trained_model.h"

namespace ockham {

/// Writes a file that torch.jit.load reads. Its forward maps x [N, D] to float64 [N, C]: the features of
/// `feature_names(encoding)` in that order, numbers in their own units and categories as 0 and 1, any floating type;
/// for a regression to the mean in the target's own units, for a classification to probabilities at the model's
/// temperature. Of images x is [N, channels, height, width], bytes or floating values from 0 to 255, and input_mean,
/// input_sd are [channels, 1, 1]. What predictions by `map` are, without the table. The module has the attributes
///   task, network_name                       text
///   feature_names, target_names, class_names lists of text (class_names is empty for a regression)
///   noise_sd [C]                             of a Gaussian, in the target's own units; else empty
///   input_mean, input_sd [D], target_mean, target_sd [C], temperature []
///   network                                  the network itself, on scaled inputs
/// The module is compared with the network before it is written, atomically. Throws Error(failure).
void export_torchscript(const TrainedModel& trained, const std::string& path);

}  // namespace ockham
