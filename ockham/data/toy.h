// Built-in data: small tables drawn from a seed, for demonstrations, tests and the paper's illustrations.
#pragma once

#include <cstdint>

#include "ockham/data/csv.h"

namespace ockham {

/// A smooth curve on [0, 6]: two waves of different length around a slope.
double evaluate_toy_curve(double x);

struct ToyCurveOptions {
  int64_t rows = 150;
  double noise = 0.3;      // standard deviation of y around the curve
  double gap_begin = 1.5;  // no inputs between these, where an honest error bar grows
  double gap_end = 2.4;
};

/// Columns x, y: x uniform on [0, 6] without the gap, y = curve(x) + noise · N(0, 1). In the manner of the paper's
/// one-dimensional regression.
CsvTable make_toy_curve(uint64_t seed, const ToyCurveOptions& options = {});

struct ToyArcsOptions {
  int64_t rows = 265;   // the paper's banana has as many for training
  double noise = 0.35;  // standard deviation around the arcs, in both directions; their radius is 1
};

/// Columns x1, x2, class (0 or 1, in turn): two half circles that reach into one another, so noisy that they overlap.
CsvTable make_toy_arcs(uint64_t seed, const ToyArcsOptions& options = {});

}  // namespace ockham
