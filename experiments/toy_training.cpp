#include "toy_training.h"

#include <ATen/ATen.h>

#include <cmath>
#include <variant>

#include "ockham/network/architectures.h"

namespace {

double mean_nll(const ockham::Model& model, const ToyProblem& problem, const ockham::Dataset& data) {
  const at::Tensor targets = ockham::prepare_targets(model.likelihood, data.targets(), problem.outputs, at::kDouble);
  const at::Tensor outputs = model.network.forward(data.inputs());
  return -ockham::log_likelihood(model.likelihood, outputs, targets, model.hyperparameters) / data.size();
}

double accuracy(const ockham::Network& network, const ockham::Dataset& data) {
  return network.forward(data.inputs()).argmax(1).eq(data.targets()).to(at::kDouble).mean().item<double>();
}

}  // namespace

ockham::OnlineOptions paper_settings(int64_t epochs) {
  ockham::OnlineOptions options;
  options.epochs = epochs;
  options.frequency = 1;
  options.optimiser.learning_rate = 1e-2;
  options.hyper.steps = 1;
  options.hyper.step_size = 1e-2;
  options.laplace.curvature.structure = ockham::Structure::full;
  options.laplace.curvature.batch_size = 1000;
  return options;
}

ToyScores train_toy(const ToyProblem& problem, const ToyNetwork& toy, const ockham::OnlineOptions& options) {
  const ockham::Network network =
      ockham::make_architecture(toy.spec, {problem.train.inputs().size(1)}, problem.outputs, at::kDouble, toy.seed);
  const ockham::Prior prior = toy.prior == ToyPrior::scalar ? ockham::Prior::scalar(network.layout())
                                                            : ockham::Prior::layerwise(network.layout());
  ockham::Hyperparameters start = ockham::default_likelihood_hyperparameters(problem.likelihood, problem.outputs);
  start.log_prior_precision = at::full({prior.size()}, std::log(toy.precision), at::kDouble);
  ockham::Model model{network, problem.likelihood, prior, start};
  const ockham::OnlineResult result = ockham::train_online(model, problem.train, options);

  ToyScores scores;
  scores.failure = result.failure;
  if (!result.best.mode.defined()) {
    scores.log_evidence = scores.last_log_evidence = scores.precision = scores.test_nll = NAN;
    return scores;
  }
  const at::NoGradGuard no_gradients;
  model.hyperparameters = result.best.hyperparameters;
  scores.log_evidence = result.best.log_evidence;
  scores.last_log_evidence = result.state.passes.back().log_evidence;
  scores.precision = std::exp(model.hyperparameters.log_prior_precision[0].item<double>());
  scores.gradient_norm = result.gradient_norm;
  scores.test_nll = mean_nll(model, problem, problem.test);
  if (std::holds_alternative<ockham::Gaussian>(problem.likelihood)) {
    scores.noise = std::exp(model.hyperparameters.log_noise.item<double>());
  } else {
    scores.train_accuracy = accuracy(network, problem.train);
    scores.test_accuracy = accuracy(network, problem.test);
  }
  return scores;
}
