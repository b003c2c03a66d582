// The two toy problems of the paper's figures, drawn from files outside the repository.
#pragma once

#include <cstdint>
#include <string>

#include "ockham/data/dataset.h"
#include "ockham/probability/likelihood.h"

namespace ockham::paper {

struct ToyProblem {
  Likelihood likelihood;
  int64_t outputs;
  Dataset train, test;
};

inline constexpr double toy_noise = 0.3, toy_gap_begin = 1.5, toy_gap_end = 2.4;

/// The modified Snelson data: x uniform over the knots' range, y = f(x) + 0.3 · N(0, 1) with f the not-a-knot cubic
/// spline through `directory`/snelson_modified_knots.csv; points with 1.5 < x < 2.4 are dropped. 150 draws for
/// training, 2000 for testing, both before the gap is cut out; raw units. inputs [N, 1], targets [N, 1].
ToyProblem draw_snelson(const std::string& directory, uint64_t seed);

/// 265 rows of `directory`/banana.csv chosen at random for training, the others for testing; raw units. inputs [N, 2],
/// targets [N] classes 0 and 1.
ToyProblem draw_banana(const std::string& directory, uint64_t seed);

/// Throw Error(data), with where to get it, when the file is missing.
void check_snelson(const std::string& directory);
void check_banana(const std::string& directory);

}  // namespace ockham::paper
