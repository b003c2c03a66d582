#include "ockham/predict/scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ockham/assess/classification.h"
#include "ockham/assess/regression.h"
#include "ockham/base/error.h"

namespace ockham {
namespace {

/// ∫ g(x) N(x; 0, 1) dx ≈ Σ w_k g(x_k), exact for polynomials up to degree 2n - 1: eigenvalues of the Jacobi matrix of
/// the Hermite polynomials.
struct Quadrature {
  at::Tensor nodes, log_weights;  // [n]
};
Quadrature normal_quadrature(int64_t n) {
  const at::Tensor beside = at::arange(1, n, at::kDouble).sqrt();
  const auto [values, vectors] = at::linalg_eigh(at::diag(beside, 1) + at::diag(beside, -1));
  return {values, vectors[0].square().clamp_min(1e-300).log()};
}

/// Σ over targets of log Poisson(y | exp f) with f ~ N(mean, variance), its mean over examples.
double poisson_log_likelihood(const at::Tensor& mean, const at::Tensor& variance, const at::Tensor& counts) {
  static const Quadrature rule = normal_quadrature(40);
  const at::Tensor log_rate = mean.unsqueeze(2) + variance.sqrt().unsqueeze(2) * rule.nodes;  // [N, C, n]
  const at::Tensor log_probability =
      counts.unsqueeze(2) * log_rate - log_rate.exp() - at::lgamma(counts + 1).unsqueeze(2);
  return at::logsumexp(log_probability + rule.log_weights, {2}).sum(1).mean().item<double>();
}

/// Evenly spaced examples, at most `most` of them.
at::Tensor choose_examples(int64_t examples, int64_t most) {
  if (examples <= most) return at::arange(examples, at::kLong);
  return (at::arange(most, at::kLong) * examples).floor_divide(most);
}

void add_map_scores(const at::Tensor& probabilities, const at::Tensor& classes, PredictiveScores& scores) {
  const ClassificationScores plain = score_classification(probabilities, classes);
  scores.log_likelihood = plain.mean_log_likelihood;
  scores.accuracy = plain.accuracy;
  scores.brier = plain.brier;
  scores.ece = expected_calibration_error(probabilities, classes);
}

void add_bayes_scores(const at::Tensor& probabilities, const at::Tensor& classes, PredictiveScores& scores) {
  const ClassificationScores bayes = score_classification(probabilities, classes);
  scores.nll_bayes = -bayes.mean_log_likelihood;
  scores.accuracy_bayes = bayes.accuracy;
  scores.brier_bayes = bayes.brier;
  scores.ece_bayes = expected_calibration_error(probabilities, classes);
}

void score_classes(const TrainedModel& trained, const Dataset& data, const at::Tensor& chosen,
                   const PredictOptions& predict, PredictiveScores& scores) {
  std::vector<at::Tensor> parts;
  for_each_prediction(trained, data.inputs().index_select(0, chosen), predict,
                      [&](const FunctionPredictive& chunk, int64_t first) {
                        expect_finite_predictions(chunk.covariance, first);
                        parts.push_back(predict_probit(remove_common_mode(chunk)));
                      });
  scores.linearised_rows = chosen;
  scores.linearised_probabilities = at::cat(parts);
  add_bayes_scores(scores.linearised_probabilities, data.targets().index_select(0, chosen), scores);
}

/// [N, C] in their own units.
at::Tensor targets_of(const TableEncoding& encoding, const Dataset& data) {
  const auto width = static_cast<int64_t>(encoding.targets.size());
  if (data.targets().numel() != data.size() * width)
    throw Error(ErrorKind::data, fmt::format("the targets have {} values for {} examples, but the model has {} targets",
                                             data.targets().numel(), data.size(), width));
  return target_means(encoding) + target_scales(encoding) * data.targets().to(at::kDouble).reshape({-1, width});
}

void score_numbers(const TrainedModel& trained, const Dataset& data, const at::Tensor& chosen,
                   const PredictOptions& predict, PredictiveScores& scores) {
  PredictOptions linearised = predict;
  linearised.method = PredictMethod::linearised;
  const at::Tensor targets = targets_of(trained.encoding, data).index_select(0, chosen);
  const RegressionTable bayes = predict_table(trained, data.inputs().index_select(0, chosen), linearised).regression;
  scores.coverage95 =
      at::logical_and(targets >= bayes.lower95, targets <= bayes.upper95).to(at::kDouble).mean().item<double>();
  if (!std::holds_alternative<Poisson>(trained.model.likelihood)) {
    scores.nll_bayes = -score_regression(bayes.mean, bayes.sd.square(), targets).mean_log_density;
    return;
  }
  // By the moments of a log-normal rate, back to those of its logarithm.
  const at::Tensor variance = (bayes.sd_epistemic / bayes.mean).square().log1p();
  scores.nll_bayes = -poisson_log_likelihood(bayes.mean.log() - 0.5 * variance, variance, targets);
}

}  // namespace

PredictiveScores score_outputs(const Model& model, const TableEncoding& encoding, const Dataset& data,
                               const at::Tensor& outputs) {
  expect_finite_predictions(outputs);
  PredictiveScores scores;
  scores.examples = data.size();
  scores.nll_bayes = std::numeric_limits<double>::quiet_NaN();
  if (encoding.task == Task::classification) {
    add_map_scores(class_probabilities(outputs), data.targets(), scores);
  } else {
    const at::Tensor targets = targets_of(encoding, data);
    const RegressionTable map = map_regression(model, encoding, outputs);
    const RegressionScores plain = score_regression(map.mean, map.sd.square(), targets);
    scores.rmse = plain.rmse;
    scores.log_likelihood = std::holds_alternative<Poisson>(model.likelihood)
                                ? poisson_log_likelihood(map.mean.log(), at::zeros_like(map.mean), targets)
                                : plain.mean_log_density;
  }
  scores.nll = -scores.log_likelihood;
  return scores;
}

PredictiveScores score_probabilities(const at::Tensor& map, const at::Tensor& bayes, const at::Tensor& classes) {
  PredictiveScores scores;
  scores.examples = scores.linearised_examples = classes.numel();
  add_map_scores(map, classes, scores);
  scores.nll = -scores.log_likelihood;
  scores.nll_bayes = std::numeric_limits<double>::quiet_NaN();
  if (bayes.defined()) add_bayes_scores(bayes, classes, scores);
  return scores;
}

PredictiveScores score(const TrainedModel& trained, const Dataset& data, const ScoreOptions& options) {
  const bool classes = trained.encoding.task == Task::classification;
  if (!classes) targets_of(trained.encoding, data);  // what does not fit is refused before the work
  PredictiveScores scores = score_outputs(trained.model, trained.encoding, data,
                                          predict_outputs(trained, data.inputs(), options.map_progress));
  if (options.linearised_examples == 0) return scores;
  const at::Tensor chosen = choose_examples(data.size(), options.linearised_examples);
  PredictOptions predict;
  predict.memory_budget = options.memory_budget;
  predict.progress = options.progress;
  try {
    (classes ? score_classes : score_numbers)(trained, data, chosen, predict, scores);
    scores.linearised_examples = chosen.numel();
  } catch (const ScoreOptions::LeaveOut&) {  // it came before any of them was set
  }
  return scores;
}

PredictiveScores score_map(const Model& model, const TableEncoding& encoding, const Dataset& data,
                           const std::function<void(int64_t examples_done)>& progress) {
  return score_outputs(model, encoding, data, predict_outputs(model, data.inputs(), progress));
}

}  // namespace ockham
