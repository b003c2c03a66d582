// ockham fit: its flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/log_det_flags.h"
#include "app/minibatch_flags.h"
#include "app/rank_flags.h"
#include "app/table_flags.h"

namespace ockham::app {

enum class TaskChoice { automatic, regression, classification };
enum class OptimizerChoice { unset, adam, sgd };
enum class ScheduleChoice { unset, constant, cosine, step };
enum class BaselineChoice { none, holdout, folds };
enum class AugmentChoice { none, flip, crop, crop_flip };
enum class PresetChoice { none, paper_images, paper_architectures };

/// An absent value is `auto`: chosen from the size of the problem (fit_plan.h), printed, and recorded.
struct FitFlags {
  CommonFlags common;
  // The data.
  std::string data;                 // CSV file, "-" for standard input; or a directory of images
  std::string inputs, targets;      // .npy files instead
  std::vector<std::string> target;  // columns to predict; empty: the last
  TaskChoice task = TaskChoice::automatic;
  TableFlags table;
  bool impute = false;
  std::vector<std::string> categorical, drop;
  std::string test;  // reported only
  double test_fraction = 0;
  bool no_test = false;                   // images: leave the layout's own test set alone
  int64_t train_size = 0, test_size = 0;  // images: so many, drawn by the seed; 0: all
  // The candidates.
  std::vector<std::string> networks;  // empty: auto
  int64_t restarts = 1;
  std::optional<int64_t> workers;
  bool eliminate = false;
  BaselineChoice baseline = BaselineChoice::none;
  // The online algorithm.
  std::optional<int64_t> epochs, batch_size, hyper_steps, frequency, burn_in,
      best_after;                            // batch size 0: all examples at once
  PresetChoice preset = PresetChoice::none;  // fills what is absent, before `auto` does
  OptimizerChoice optimizer = OptimizerChoice::unset;
  std::optional<double> lr, hyper_lr;
  double momentum = 0.9;
  ScheduleChoice lr_schedule = ScheduleChoice::unset;
  std::vector<double> lr_milestones;  // fractions of the epochs; empty: auto
  int64_t patience = 0;               // passes without a rise of the evidence; 0: all epochs
  // Model and curvature.
  LikelihoodChoice likelihood = LikelihoodChoice::unset;
  StructureChoice structure = StructureChoice::unset;
  LogDetFlags log_det;
  CurvatureChoice curvature = CurvatureChoice::ggn;
  KroneckerChoice kronecker = KroneckerChoice::expand;
  bool kronecker_given = false;
  int64_t mc_samples = 1;
  double ggn_tolerance = 0;
  MinibatchFlags minibatch;
  PriorChoice prior = PriorChoice::layerwise;
  std::vector<double> prior_precision;  // where the online algorithm starts; empty: auto
  std::vector<double> noise;            // in the target's own units; empty: auto
  bool learn_temperature = false;
  std::optional<double> likelihood_weight;  // auto: 1, more with augmentation
  AugmentChoice augment = AugmentChoice::none;
  // The run.
  std::string out;
  bool resume = false;
  double checkpoint_interval = 10;  // seconds
  RankFlags ranks;                  // no part of the settings: a run can go on with another number
};

const char* word_of(AugmentChoice choice);
const char* word_of(PresetChoice choice);

void declare_fit(CLI::App& app, FitFlags& flags);

/// In the engine (fit.cpp).
int run_fit(const FitFlags& flags);

}  // namespace ockham::app
