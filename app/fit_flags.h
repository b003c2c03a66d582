// ockham fit: its flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/model_flags.h"
#include "app/table_flags.h"

namespace ockham::app {

enum class TaskChoice { automatic, regression, classification };
enum class OptimizerChoice { adam, sgd };
enum class ScheduleChoice { unset, constant, cosine, step };
enum class BaselineChoice { none, holdout, folds };

/// An absent value is `auto`: chosen from the size of the problem (fit_plan.h), printed, and recorded.
struct FitFlags {
  CommonFlags common;
  // The data.
  std::string data;                 // CSV file, "-" for standard input
  std::string inputs, targets;      // .npy files instead
  std::vector<std::string> target;  // columns to predict; empty: the last
  TaskChoice task = TaskChoice::automatic;
  TableFlags table;
  bool impute = false;
  std::vector<std::string> categorical, drop;
  std::string test;  // reported only
  double test_fraction = 0;
  // The candidates.
  std::vector<std::string> networks;  // empty: auto
  int64_t restarts = 1;
  std::optional<int64_t> workers;
  bool eliminate = false;
  BaselineChoice baseline = BaselineChoice::none;
  // The online algorithm.
  std::optional<int64_t> epochs, batch_size, hyper_steps, frequency, burn_in,
      best_after;  // batch size 0: all examples at once
  OptimizerChoice optimizer = OptimizerChoice::adam;
  std::optional<double> lr, hyper_lr;
  double momentum = 0.9;
  ScheduleChoice lr_schedule = ScheduleChoice::unset;
  int64_t patience = 0;  // passes without a rise of the evidence; 0: all epochs
  // Model and curvature.
  LikelihoodChoice likelihood = LikelihoodChoice::unset;
  StructureChoice structure = StructureChoice::unset;
  CurvatureChoice curvature = CurvatureChoice::ggn;
  KroneckerChoice kronecker = KroneckerChoice::expand;
  int64_t mc_samples = 1;
  PriorChoice prior = PriorChoice::layerwise;
  std::vector<double> prior_precision;  // where the online algorithm starts; empty: auto
  std::vector<double> noise;            // in the target's own units; empty: auto
  bool learn_temperature = false;
  double likelihood_weight = 1;
  // The run.
  std::string out;
  bool resume = false;
  double checkpoint_interval = 10;  // seconds
};

void declare_fit(CLI::App& app, FitFlags& flags);

/// In the engine (fit.cpp).
int run_fit(const FitFlags& flags);

}  // namespace ockham::app
