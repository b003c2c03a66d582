// The two halves of toy-regression: does the evidence choose the depth, and does it find the prior precision?
#pragma once

#include "experiments/experiment.h"
#include "experiments/plot.h"
#include "experiments/toy_predictive.h"
#include "experiments/toy_training.h"

namespace ockham::paper {

/// fig:toy_model_selection and fig:app:toy_regression_bayes.
std::vector<Cell> depth_cells(const Settings& settings);
void present_depths(const Settings& settings, const Results& results, Presentation& out);

/// fig:toy_regression_gridsearch and fig:app:regression_gridsearch.
std::vector<Cell> precision_cells(const Settings& settings);
void present_precisions(const Settings& settings, const Results& results, Presentation& out);

/// What a cell of either half gives: the state, its scores and bands, its trace. It draws its data by `data_seed`.
Cell make_regression_cell(const Settings& settings, const std::string& name, uint64_t data_seed,
                          const ToyNetwork& network, const OnlineOptions& options, Picture picture);

/// The paper's 1000, or what the settings say.
int64_t toy_epochs(const Settings& settings);

enum class Bands { map, linearised };
/// Data, mean and ± 2 standard deviations of a cell's `bands`: of the noise alone, or of noise and model.
Plot plot_bands(const Json& bands, const std::string& title, Bands kind);

}  // namespace ockham::paper
