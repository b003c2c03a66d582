// How good predictions were, as JSON and in words: for `predict` and `fit`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ockham/predict/scores.h"

namespace ockham::app {

/// Only the scores that the task has. What is not finite is null.
nlohmann::ordered_json scores_json(const PredictiveScores& scores);

/// `predictive` names where the scores with uncertainty are from, for classes. "on 77 examples: RMSE 0.512, ...": one
/// line.
std::string scores_words(const PredictiveScores& scores, const std::string& predictive = "probit");

}  // namespace ockham::app
