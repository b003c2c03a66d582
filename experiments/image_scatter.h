// Trained architectures as points of evidence and accuracy: their rank correlations and figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/image_architectures.h"

namespace ockham::paper {

/// What the seeds of one architecture gave, in the mean.
struct TrainedArchitecture {
  Architecture what;
  double accuracy = 0;  // 0 … 1
  double evidence = 0;  // per image
  double log_likelihood = 0;
  double parameters = 0;
  double width = 0, depth = 0;  // of `what`, for correlations
};

/// "architectures/cifar-10/resnet-w16-d20", before the seed.
std::string start_of(const Architecture& architecture);

/// Those of the lists of these sets whose results are there.
std::vector<TrainedArchitecture> trained_architectures(const Results& results, const std::vector<std::string>& sets,
                                                       ArchitectureList list);

std::vector<TrainedArchitecture> those(const std::vector<TrainedArchitecture>& all, const std::string& set,
                                       std::optional<Family> family = std::nullopt);

/// Spearman's rho of two numbers; empty for fewer than three points, and where one number is the same for all.
std::optional<double> correlate(const std::vector<TrainedArchitecture>& points, double TrainedArchitecture::*first,
                                double TrainedArchitecture::*second);

/// Evidence against accuracy, a panel for each set: coloured by parameters, width and depth; and the ResNets of
/// CIFAR-100 alone.
std::vector<Figure> architecture_figures(const std::vector<TrainedArchitecture>& all,
                                         const std::vector<std::string>& sets);

}  // namespace ockham::paper
