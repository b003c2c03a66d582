#include "ockham/select/automatic_image_settings.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/observe/observe_forward.h"

namespace ockham {
namespace {

constexpr int64_t kBatch = 128;
constexpr int64_t kMostEpochs = 100, kFewestEpochs = 5;
constexpr int64_t kPasses = 10;             // curvature passes over a training
constexpr double kBudgetSeconds = 20 * 60;  // of all trainings together
constexpr double kFlops = 4e10;             // of one core, in convolutions and products of these sizes
constexpr double kStepSeconds = 1e-3;       // what a step costs however small the network is
/// Below this much work in a step, two threads on one network are slower than two networks on a thread each.
constexpr double kSmallStepFlops = 3e8;

}  // namespace

std::vector<std::string> automatic_image_networks(const std::vector<int64_t>& shape) {
  const int64_t side = std::min(shape.at(1), shape.at(2));
  std::vector<std::string> networks = {"linear", "mlp:50", "mlp:200", "mlp:200-200"};
  if (side >= 8) networks.insert(networks.end(), {"cnn:width=8,depth=2"});
  if (side >= 16) networks.insert(networks.end(), {"cnn:width=16,depth=3"});
  if (side >= 28) networks.insert(networks.end(), {"cnn:3c3d"});
  return networks;
}

double count_multiply_adds(const Network& network, const at::Tensor& example) {
  const Observation observation = observe_forward(network, example);
  double count = 0;
  for (const LayerCall& call : observation.calls()) {
    double outputs = 1;
    for (const int64_t size : call.output_shape) outputs *= static_cast<double>(size);
    for (const ParameterUse& use : call.uses) {
      const auto* matrix = std::get_if<MatrixUse>(&use.how);
      if (matrix == nullptr || matrix->kind == MatrixUse::Operator::embedding) continue;
      const at::Tensor& weight = network.parameters()[use.parameter];
      const int64_t width = weight.size(matrix->gradient_left ? 0 : 1);
      count += outputs * static_cast<double>(weight.numel()) / static_cast<double>(width);
    }
  }
  return count / static_cast<double>(example.size(0));
}

double estimated_image_epoch_seconds(const ProblemSize& problem, double multiply_adds,
                                     const AutomaticSettings& settings) {
  const double examples = static_cast<double>(problem.examples), columns = static_cast<double>(problem.root_columns);
  const double batch = settings.batch_size == 0 ? examples : static_cast<double>(settings.batch_size);
  const double steps = std::ceil(examples / batch);
  // Two operations for each; forward, and backward to weights and inputs.
  const double training = steps * kStepSeconds + 6 * examples * multiply_adds / kFlops;
  // Forward, and for each column backward and the products of gradients.
  const double pass = (2 + 4 * columns) * examples * multiply_adds / kFlops;
  return training + pass / static_cast<double>(settings.frequency);
}

int64_t automatic_image_frequency(int64_t epochs) { return std::max<int64_t>(1, epochs / kPasses); }

AutomaticSettings automatic_image_settings(const ProblemSize& problem, const std::vector<double>& multiply_adds,
                                           int64_t trainings) {
  AutomaticSettings settings;
  settings.budget = kBudgetSeconds;
  settings.structure = Structure::kronecker;
  settings.batch_size = std::min(kBatch, problem.examples);
  settings.learning_rate = 1e-3;
  settings.hyper_step_size = 0.1;
  settings.hyper_steps = 100;
  settings.prior_precision = 1;
  const double largest = *std::max_element(multiply_adds.begin(), multiply_adds.end());
  if (6 * static_cast<double>(settings.batch_size) * largest < kSmallStepFlops)
    settings.workers = std::min(multiply_adds.size() * static_cast<size_t>(trainings),
                                static_cast<size_t>(std::max(problem.threads, 1)));
  for (settings.epochs = kMostEpochs;; settings.epochs = std::max(kFewestEpochs, settings.epochs * 4 / 5)) {
    settings.frequency = automatic_image_frequency(settings.epochs);
    settings.seconds = 0;
    for (const double work : multiply_adds) settings.seconds += estimated_image_epoch_seconds(problem, work, settings);
    settings.seconds *= static_cast<double>(settings.epochs * trainings) / std::max(problem.threads, 1);
    if (settings.seconds <= kBudgetSeconds || settings.epochs == kFewestEpochs) return settings;
  }
}

}  // namespace ockham
