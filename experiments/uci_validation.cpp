#include "experiments/uci_validation.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "ockham/assess/classification.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/select/map_training.h"

namespace ockham::paper {
namespace {

constexpr int64_t kSamples = 1000;
constexpr uint64_t kMeanFieldStream = 0x6d66766900000000;

double nll_of(const at::Tensor& probabilities, const Dataset& data) {
  return -score_classification(probabilities, data.targets()).mean_log_likelihood;
}

/// The lowest so far, with the scores on the test rows.
struct Best {
  double nll = std::numeric_limits<double>::infinity();
  double precision = 0;
  ClassificationScores test;
  double ece = 0;

  void offer(double validation_nll, double at_precision, const at::Tensor& test_probabilities, const Dataset& data) {
    if (!(validation_nll < nll)) return;
    nll = validation_nll;
    precision = at_precision;
    test = score_classification(test_probabilities, data.targets());
    ece = expected_calibration_error(test_probabilities, data.targets());
  }
};

}  // namespace

Json settings_of(const UciValidation& validation, const UciTable& table, int64_t split) {
  return {{"network", "mlp:50"},
          {"method", "precision by the validation rows"},
          {"precisions", validation.precisions},
          {"epochs", validation.epochs},
          {"learning_rate", validation.learning_rate},
          {"samples", kSamples},
          {"seed", validation.seed},
          {"split", split},
          {"data", table.digest}};
}

Json validate_uci(const CellContext& context, const EncodedSplit& data, const UciValidation& validation,
                  int64_t split) {
  MapTrainingOptions options;
  options.epochs = validation.epochs;
  options.optimiser.learning_rate = validation.learning_rate;
  options.optimiser.schedule = LearningRateSchedule::cosine;
  options.map.shuffle = false;
  LaplaceOptions laplace;
  laplace.curvature.structure = Structure::full;
  laplace.curvature.batch_size = 1024;
  laplace.curvature.memory_budget = validation.memory;

  Best map, bayes;
  Json map_curve = Json::array(), bayes_curve = Json::array();
  const auto count = static_cast<double>(validation.precisions.size());
  for (size_t i = 0; i < validation.precisions.size(); ++i) {
    const double precision = validation.precisions[i];
    Model model = make_uci_model(data, {validation.seed, split, 0, at::kFloat});
    model.hyperparameters.log_prior_precision.fill_(std::log(precision));
    const MapTraining training = train_map(model, data.training, options, [&](int64_t epoch) {
      const double done = static_cast<double>(i) + static_cast<double>(epoch) / static_cast<double>(validation.epochs);
      return !context.go_on || context.go_on(done / count);
    });
    if (training.interrupted) throw Interrupted();
    if (!training.failure.empty()) continue;
    // The exact posterior needs float64.
    Model exact = make_uci_model(data, {validation.seed, split, 0, at::kDouble});
    exact.network.set_flat_parameters(model.network.flat_parameters());
    exact.hyperparameters = model.hyperparameters;
    const UciPredictions all =
        predict_uci(exact, data, laplace, at::cat({data.validation->inputs(), data.test.inputs()}));
    const auto on_validation = [&](const at::Tensor& some) { return some.narrow(0, 0, data.validation->size()); };
    const auto on_test = [&](const at::Tensor& some) {
      return some.narrow(0, data.validation->size(), data.test.size());
    };
    map_curve.push_back(nll_of(on_validation(all.map), *data.validation));
    bayes_curve.push_back(nll_of(on_validation(all.bayes), *data.validation));
    map.offer(map_curve.back().get<double>(), precision, on_test(all.map), data.test);
    bayes.offer(bayes_curve.back().get<double>(), precision, on_test(all.bayes), data.test);
  }
  if (!std::isfinite(map.nll)) throw Error(ErrorKind::numerical, "the training failed at every precision of the grid");
  return {{"nll", -map.test.mean_log_likelihood},
          {"accuracy", map.test.accuracy},
          {"ece", map.ece},
          {"precision", map.precision},
          {"nll_bayes", -bayes.test.mean_log_likelihood},
          {"accuracy_bayes", bayes.test.accuracy},
          {"ece_bayes", bayes.ece},
          {"precision_bayes", bayes.precision},
          {"validation", {{"map", map_curve}, {"laplace", bayes_curve}}}};
}

Json settings_of(const MeanFieldOptions& options, const UciTable& table, int64_t split) {
  return {{"network", "mlp:50"},
          {"method", "mean-field variational inference"},
          {"epochs", options.epochs},
          {"learning_rate", options.learning_rate},
          {"first_deviation", options.first_deviation},
          {"samples", kSamples},
          {"seed", options.seed},
          {"split", split},
          {"data", table.digest}};
}

Json infer_mean_field(const CellContext& context, const EncodedSplit& data, MeanFieldOptions options, int64_t split) {
  options.seed = stream_seed({options.seed, static_cast<uint64_t>(split), kMeanFieldStream});
  bool interrupted = false;
  const MeanField fit = fit_mean_field(data.training, Categorical{}, data.outputs(), options, [&](double fraction) {
    interrupted = context.go_on && !context.go_on(fraction);
    return !interrupted;
  });
  if (interrupted) throw Interrupted();
  const at::Tensor probabilities = mean_field_probabilities(fit, data.test.inputs(), kSamples, options.seed);
  const ClassificationScores scores = score_classification(probabilities, data.test.targets());
  return {{"nll", -scores.mean_log_likelihood},
          {"accuracy", scores.accuracy},
          {"ece", expected_calibration_error(probabilities, data.test.targets())},
          {"elbo", fit.curve.back()},
          {"last_change", fit.last_change},
          {"precisions", fit.precisions},
          {"trace", {{"epoch", fit.curve_epochs}, {"elbo", fit.curve}}}};
}

}  // namespace ockham::paper
