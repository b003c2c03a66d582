// What `auto` means for images. A function of sizes, never of a clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/network/network.h"
#include "ockham/select/automatic_settings.h"

namespace ockham {

/// For images [channels, height, width]: `linear`, multilayer perceptrons, and those convolutional networks that images
/// of this size are large enough for.
std::vector<std::string> automatic_image_networks(const std::vector<int64_t>& shape);

/// Multiplications with weights in one forward pass, per example: what the time of an epoch is proportional to.
/// `example` is [1, ...].
double count_multiply_adds(const Network& network, const at::Tensor& example);

/// Batches of 128, Adam with a cosine schedule, Kronecker-factored curvature ten times in a training with a hundred
/// steps each, as in the paper; as many epochs as a budget of time allows. `multiply_adds` are those of each candidate.
AutomaticSettings automatic_image_settings(const ProblemSize& problem, const std::vector<double>& multiply_adds,
                                           int64_t trainings);

/// Seconds that one epoch, with its share of a curvature pass, takes on one core; rough. Reads batch size and frequency
/// of the settings.
double estimated_image_epoch_seconds(const ProblemSize& problem, double multiply_adds,
                                     const AutomaticSettings& settings);

/// Epochs between curvature passes, for a training of that many epochs.
int64_t automatic_image_frequency(int64_t epochs);

}  // namespace ockham
