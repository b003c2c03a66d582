#include "experiments/uci_training.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "experiments/kept_training.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/predict/scores.h"

namespace ockham::paper {
namespace {

constexpr const char* kNetwork = "mlp:50";
constexpr int64_t kHidden = 50;
constexpr uint64_t kWeightStream = 0x7563692d77000000, kOrderStream = 0x7563692d6f000000;
constexpr size_t kTracePoints = 200;

double in_own_units(const EncodedSplit& data, double log_evidence) {
  const int64_t examples = data.training.size();
  return log_density_in_target_units(data.encoding, log_evidence, examples) / static_cast<double>(examples);
}

double noise_of(const EncodedSplit& data, const Hyperparameters& hyperparameters) {
  return hyperparameters.log_noise.numel() == 0
             ? 0
             : std::exp(hyperparameters.log_noise[0].item<double>()) * data.encoding.targets.front().sd;
}

Json trace_of(const EncodedSplit& data, const std::vector<OnlinePass>& passes) {
  Json epochs = Json::array(), evidences = Json::array(), noises = Json::array();
  const size_t stride = std::max<size_t>(1, passes.size() / kTracePoints);
  for (size_t i = 0; i < passes.size(); i += stride) {
    epochs.push_back(passes[i].epoch);
    evidences.push_back(in_own_units(data, passes[i].log_evidence));
    noises.push_back(noise_of(data, passes[i].hyperparameters));
  }
  return {{"epoch", epochs}, {"evidence", evidences}, {"noise", noises}};
}

TrainedModel with_posterior(const Model& model, const EncodedSplit& data, const LaplaceOptions& laplace) {
  return {kNetwork, "", {data.features()}, model, fit_laplace(model, data.training, laplace), data.encoding};
}

Json precisions_of(const Model& model) {
  Json precisions = Json::object();
  for (int64_t i = 0; i < model.prior.size(); ++i)
    precisions[model.prior.names()[static_cast<size_t>(i)]] =
        std::exp(model.hyperparameters.log_prior_precision[i].item<double>());
  return precisions;
}

}  // namespace

const std::vector<UciMethod>& uci_methods() {
  static const std::vector<UciMethod> methods = {
      {"full-ggn", "full GGN", Structure::full, CurvatureKind::ggn},
      {"full-ef", "full EF", Structure::full, CurvatureKind::empirical_fisher},
      {"kron", "kron", Structure::kronecker, CurvatureKind::ggn},
      {"diag-ggn", "diag GGN", Structure::diagonal, CurvatureKind::ggn},
      {"diag-ef", "diag EF", Structure::diagonal, CurvatureKind::empirical_fisher},
  };
  return methods;
}

Json settings_of(const UciTraining& training, const UciTable& table, const UciMethod& method, int64_t split) {
  return {{"network", kNetwork},
          {"method", method.name},
          {"epochs", training.epochs},
          {"frequency", training.frequency},
          {"hyper_steps", training.hyper_steps},
          {"learning_rate", training.learning_rate},
          {"seed", training.seed},
          {"split", split},
          {"float", float_type(method) == at::kDouble ? 64 : 32},
          {"data", table.digest}};
}

at::ScalarType float_type(const UciMethod& method) {
  return method.structure == Structure::full ? at::kDouble : at::kFloat;
}

Model make_uci_model(const EncodedSplit& data, const UciWeights& weights) {
  const uint64_t stream =
      stream_seed({weights.seed, static_cast<uint64_t>(weights.split), weights.restart, kWeightStream});
  const Network network = make_architecture(kNetwork, {data.features()}, data.outputs(), weights.type, stream);
  const Prior prior = Prior::layerwise(network.layout());
  const Likelihood likelihood =
      data.encoding.task == Task::classification ? Likelihood(Categorical{}) : Likelihood(Gaussian{});
  Hyperparameters start = default_likelihood_hyperparameters(likelihood, data.outputs());
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, likelihood, prior, start};
}

OnlineOptions online_options(const UciTraining& training, const UciMethod& method, int64_t split) {
  OnlineOptions options;
  options.epochs = training.epochs;
  options.frequency = training.frequency;
  options.best_after = training.epochs - training.epochs / 10;
  options.hyper.steps = training.hyper_steps;
  options.hyper.step_size = training.learning_rate;
  options.optimiser.learning_rate = training.learning_rate;
  options.map.shuffle = false;  // of a full batch the order means nothing
  options.laplace.curvature.structure = method.structure;
  options.laplace.curvature.kind = method.kind;
  options.laplace.curvature.batch_size = 1024;
  options.laplace.curvature.memory_budget = training.memory;
  options.seed = stream_seed({training.seed, static_cast<uint64_t>(split), kOrderStream});
  return options;
}

UciPredictions predict_uci(const Model& model, const EncodedSplit& data, const LaplaceOptions& laplace,
                           const at::Tensor& inputs) {
  const TrainedModel trained = with_posterior(model, data, laplace);
  PredictOptions options;
  options.method = PredictMethod::map;
  UciPredictions predictions;
  predictions.map = predict_table(trained, inputs, options).probabilities;
  options.method = PredictMethod::sampled;
  options.samples = 1000;
  predictions.bayes = predict_table(trained, inputs, options).probabilities;
  return predictions;
}

Json score_uci(const Model& model, const EncodedSplit& data, const LaplaceOptions& laplace) {
  if (data.encoding.task == Task::regression) {
    const PredictiveScores test = score(with_posterior(model, data, laplace), data.test);
    const PredictiveScores fit = score_map(model, data.encoding, data.training);
    return {{"nll", test.nll},
            {"nll_bayes", test.nll_bayes},
            {"rmse", test.rmse.value()},
            {"train_nll", fit.nll},
            {"train_rmse", fit.rmse.value()}};
  }
  const UciPredictions predictions = predict_uci(model, data, laplace, data.test.inputs());
  const PredictiveScores test = score_probabilities(predictions.map, predictions.bayes, data.test.targets());
  const PredictiveScores fit = score_map(model, data.encoding, data.training);
  return {{"nll", test.nll},
          {"nll_bayes", test.nll_bayes},
          {"accuracy", test.accuracy.value()},
          {"accuracy_bayes", test.accuracy_bayes.value()},
          {"ece", test.ece.value()},
          {"ece_bayes", test.ece_bayes.value()},
          {"train_nll", fit.nll},
          {"train_accuracy", fit.accuracy.value()}};
}

Json train_uci(const CellContext& context, const EncodedSplit& data, const UciTraining& training,
               const UciMethod& method, int64_t split) {
  Model model = make_uci_model(data, {training.seed, split, 0, float_type(method)});
  const OnlineOptions options = online_options(training, method, split);
  const OnlineResult result = train_kept(context, model, data.training, options);
  if (!result.best.mode.defined()) throw Error(ErrorKind::numerical, result.failure);
  model.hyperparameters = result.best.hyperparameters;
  Json numbers = score_uci(model, data, options.laplace);
  numbers["evidence"] = in_own_units(data, result.best.log_evidence);
  numbers["last_evidence"] = in_own_units(data, result.state.passes.back().log_evidence);
  numbers["best_epoch"] = result.best.epoch;
  numbers["gradient_norm"] = result.gradient_norm;
  numbers["precisions"] = precisions_of(model);
  if (data.encoding.task == Task::regression) numbers["noise"] = noise_of(data, model.hyperparameters);
  if (!result.failure.empty()) numbers["ended_early"] = result.failure;
  numbers["trace"] = trace_of(data, result.state.passes);
  numbers["seconds_training"] = result.state.seconds_training;
  numbers["seconds_curvature"] = result.state.seconds_curvature;
  return numbers;
}

double uci_cost(const UciTraining& training, const UciTable& table, const UciMethod& method, int64_t outputs) {
  const auto rows = static_cast<double>(table.rows()), wide = static_cast<double>(outputs);
  const double weights = static_cast<double>(kHidden) * (static_cast<double>(table.features()) + 1 + wide) + wide;
  const auto epochs = static_cast<double>(training.epochs);
  const double passes = epochs / static_cast<double>(training.frequency);
  const bool fisher = method.kind == CurvatureKind::empirical_fisher;
  const double columns = fisher ? 1 : std::max(1.0, wide - (wide > 1 ? 1 : 0)), lines = rows * columns;
  double pass = 4 * lines * weights;
  if (method.structure == Structure::kronecker) pass += 2e6;
  if (method.structure == Structure::full) {
    const double small = std::min(lines, weights), large = std::max(lines, weights);
    pass += small * small * large + small * small * small;
  }
  return 1e-9 * (epochs * (6 * rows * weights + 2e5) + passes * (pass + 5e5));
}

}  // namespace ockham::paper
