// The paper's toy figures: each trains, prints a table with its settings, and says by its last line whether the claim
// holds.
#pragma once

#include <string>

struct ToyArguments {
  std::string data;               // directory of snelson_modified_knots.csv and banana.csv
  int first_seed = 0, seeds = 3;  // data seeds and network seeds first_seed .. first_seed + seeds - 1
};

/// fig:toy_model_selection: three hidden layers have a higher evidence than one.
void compare_depths(const ToyArguments& arguments);

/// fig:toy_regression_gridsearch: the online algorithm arrives where a grid over fixed precisions is best.
void compare_with_grid(const ToyArguments& arguments);

/// fig:toy: more test accuracy and a higher evidence than a weakly regularised network has.
void compare_on_banana(const ToyArguments& arguments);
