#include "experiments/toy_predictive.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/assess/classification.h"
#include "ockham/assess/regression.h"
#include "ockham/base/random.h"
#include "ockham/evidence/laplace_fit.h"
#include "ockham/predict/linearised.h"

namespace ockham::paper {
namespace {

constexpr int64_t kBandPoints = 161, kChunk = 512;
constexpr double kMargin = 0.15;  // of the data's range, around bands and maps
constexpr double kNear = 0.5, kFar = 1;
constexpr uint64_t kSampleStream = 55;

Json list_of(const at::Tensor& values) {
  Json list = Json::array();
  const at::Tensor flat = values.to(at::kDouble).contiguous().view({-1});
  const double* value = flat.data_ptr<double>();
  for (int64_t i = 0; i < flat.numel(); ++i) list.push_back(rounded(value[i]));
  return list;
}

Json shares_of(const at::Tensor& probabilities) { return list_of((probabilities * 1000).round() / 1000); }

// Evenly spaced over a column's range and a little more.
at::Tensor spread_over(const at::Tensor& column, int64_t count) {
  const double first = column.min().item<double>(), last = column.max().item<double>();
  const double margin = kMargin * (last - first);
  return at::linspace(first - margin, last + margin, count, at::kDouble);
}

double mean_log_density(const at::Tensor& mean, const at::Tensor& variance, const Dataset& data) {
  return score_regression(mean, variance, data.targets()).mean_log_density;
}

at::Tensor map_probabilities(const Model& model, const at::Tensor& inputs) {
  const at::Tensor temperature = model.hyperparameters.log_temperature.exp();
  return class_probabilities(model.network.forward(inputs).detach() / temperature);
}

// In pieces: a sample of f for every input at once would take much memory.
at::Tensor sampled_probabilities(const Network& network, const LaplaceFit& fit, const Hyperparameters& hyperparameters,
                                 const at::Tensor& inputs, const ClassificationOptions& more) {
  at::Generator stream = random_stream({more.seed, kSampleStream});
  std::vector<at::Tensor> pieces;
  for (int64_t first = 0; first < inputs.size(0); first += kChunk) {
    const at::Tensor piece = inputs.narrow(0, first, std::min(kChunk, inputs.size(0) - first));
    pieces.push_back(predict_sampled(predict_function(network, fit, hyperparameters, piece), more.samples, stream));
  }
  return at::cat(pieces);
}

at::Tensor plane(const at::Tensor& x, const at::Tensor& y) {  // [y·x, 2], row by row
  return at::stack({x.repeat({y.numel()}), y.repeat_interleave(x.numel())}, 1);
}

double mean_confidence(const at::Tensor& probabilities, const at::Tensor& chosen) {
  const at::Tensor confidence = std::get<0>(probabilities.max(1)).masked_select(chosen);
  return confidence.numel() > 0 ? confidence.mean().item<double>() : NAN;
}

}  // namespace

Json regression_scores(const ToyRun& run, const ToyProblem& problem, const OnlineOptions& options, Picture picture) {
  const Model& model = run.model;
  const double noise = std::exp(model.hyperparameters.log_noise.item<double>());
  const auto map_scores = [&](const Dataset& data) {
    const at::Tensor mean = model.network.forward(data.inputs()).detach();
    return score_regression(mean, at::full_like(mean, noise * noise), data.targets());
  };
  const LaplaceFit fit = fit_laplace(model, problem.train, options.laplace);
  const auto linearised = [&](const at::Tensor& inputs) {
    return predict_regression(predict_function(model.network, fit, model.hyperparameters, inputs),
                              model.hyperparameters);
  };
  const RegressionScores train = map_scores(problem.train), test = map_scores(problem.test);
  const RegressionPredictive bayes = linearised(problem.test.inputs());
  const at::Tensor x = spread_over(problem.train.inputs(), kBandPoints);
  const RegressionPredictive line = linearised(x.view({-1, 1}));
  const at::Tensor epistemic = line.epistemic.view({-1}).clamp_min(0).sqrt();
  const at::Tensor in_gap = x.gt(toy_gap_begin).logical_and(x.lt(toy_gap_end));
  const at::Tensor on_data = x.ge(problem.train.inputs().min())
                                 .logical_and(x.le(problem.train.inputs().max()))
                                 .logical_and(in_gap.logical_not());
  const auto mean_over = [&](const at::Tensor& places) {
    return epistemic.masked_select(places).mean().item<double>();
  };
  Json scores = {{"train_nll", -train.mean_log_density},
                 {"test_nll", -test.mean_log_density},
                 {"test_nll_bayes", -mean_log_density(bayes.mean, bayes.total.view({-1, 1}), problem.test)},
                 {"train_rmse", train.rmse},
                 {"test_rmse", test.rmse},
                 {"epistemic_gap", mean_over(in_gap)},
                 {"epistemic_data", mean_over(on_data)}};
  if (picture == Picture::kept)
    scores["bands"] = {{"x", list_of(x)},
                       {"mean", list_of(line.mean)},
                       {"epistemic", list_of(epistemic)},
                       {"noise", noise},
                       {"point_x", list_of(problem.train.inputs())},
                       {"point_y", list_of(problem.train.targets())}};
  return scores;
}

Json classification_scores(const ToyRun& run, const ToyProblem& problem, const OnlineOptions& options,
                           const ClassificationOptions& more) {
  const Model& model = run.model;
  const LaplaceFit fit = fit_laplace(model, problem.train, options.laplace);
  const auto linearised = [&](const at::Tensor& inputs) {
    return sampled_probabilities(model.network, fit, model.hyperparameters, inputs, more);
  };
  const auto score = [](const at::Tensor& probabilities, const Dataset& data) {
    return score_classification(probabilities, data.targets());
  };
  const ClassificationScores train = score(map_probabilities(model, problem.train.inputs()), problem.train);
  const ClassificationScores test = score(map_probabilities(model, problem.test.inputs()), problem.test);
  const ClassificationScores bayes = score(linearised(problem.test.inputs()), problem.test);

  const at::Tensor points = problem.train.inputs();
  const at::Tensor x = spread_over(points.select(1, 0), more.map_size);
  const at::Tensor y = spread_over(points.select(1, 1), more.map_size);
  const at::Tensor places = plane(x, y);
  const at::Tensor map = map_probabilities(model, places), map_bayes = linearised(places);
  const at::Tensor distance = std::get<0>(at::cdist(places, points).min(1));
  const at::Tensor near = distance.lt(kNear), far = distance.gt(kFar);
  Json scores = {{"train_accuracy", train.accuracy},
                 {"test_accuracy", test.accuracy},
                 {"train_nll", -train.mean_log_likelihood},
                 {"test_nll", -test.mean_log_likelihood},
                 {"test_accuracy_bayes", bayes.accuracy},
                 {"test_nll_bayes", -bayes.mean_log_likelihood},
                 {"confidence_near", mean_confidence(map, near)},
                 {"confidence_far", mean_confidence(map, far)},
                 {"confidence_near_bayes", mean_confidence(map_bayes, near)},
                 {"confidence_far_bayes", mean_confidence(map_bayes, far)}};
  if (more.picture == Picture::kept)
    scores["maps"] = {{"x", list_of(x)},
                      {"y", list_of(y)},
                      {"map", shares_of(map.select(1, 1))},
                      {"bayes", shares_of(map_bayes.select(1, 1))},
                      {"point_x", list_of(points.select(1, 0))},
                      {"point_y", list_of(points.select(1, 1))},
                      {"point_class", list_of(problem.train.targets())}};
  return scores;
}

}  // namespace ockham::paper
