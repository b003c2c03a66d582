#include "ockham/select/automatic_settings.h"

#include <algorithm>
#include <cmath>

namespace ockham {
namespace {

constexpr int64_t kFullBatchBelow = 20'000;  // examples
constexpr int64_t kBatch = 512;
constexpr int64_t kMostEpochs = 4000, kFewestEpochs = 50;
constexpr int64_t kPasses = 200;        // curvature passes over a training: more changed nothing
constexpr double kFewestPasses = 5;     // however dear they are
constexpr double kBudgetSeconds = 150;  // of all trainings together
// Of one core, on matrices of these sizes: float32 in training, float64 in the curvature.
constexpr double kTrainingFlops = 2e10, kCurvatureFlops = 1.5e10;
constexpr double kStepSeconds = 4e-4;  // what a step costs however small the network is
constexpr double kPassSeconds = 2e-3;  // the same for a curvature pass
/// Below this much work in a step, two threads on one network are slower than two networks on a thread each.
constexpr double kSmallStepFlops = 3e8;

/// Of all trainings, in seconds of the machine.
double total_epoch_seconds(const ProblemSize& problem, const std::vector<int64_t>& parameters, int64_t trainings,
                           const AutomaticSettings& settings) {
  double seconds = 0;
  for (const int64_t count : parameters) seconds += estimated_epoch_seconds(problem, count, settings);
  return seconds * static_cast<double>(trainings) / std::max(problem.threads, 1);
}

/// Two digits: a number to remember.
int64_t rounded_down(int64_t number) {
  int64_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return number / unit * unit;
}

}  // namespace

std::vector<std::string> automatic_networks() {
  return {"linear",
          "mlp:20",
          "mlp:50",
          "mlp:20,act=tanh",
          "mlp:50,act=tanh",
          "mlp:20-20,act=tanh",
          "mlp:50-50,act=tanh",
          "mlp:20-20-20,act=tanh",
          "mlp:50-50-50,act=tanh"};
}

int64_t automatic_frequency(int64_t epochs) {
  // A short training gets fewer passes, but at least fifty.
  return std::max<int64_t>({1, epochs / kPasses, std::min<int64_t>(5, epochs / 50)});
}

int64_t affordable_frequency(const AutomaticSettings& settings, double epoch_seconds, double pass_seconds) {
  const double epochs = static_cast<double>(settings.epochs);
  const double passes = std::max(kFewestPasses, (settings.budget - epochs * epoch_seconds) / pass_seconds);
  return std::max(settings.frequency, static_cast<int64_t>(std::ceil(epochs / passes)));
}

double estimated_epoch_seconds(const ProblemSize& problem, int64_t parameters, const AutomaticSettings& settings) {
  const double examples = static_cast<double>(problem.examples), weights = static_cast<double>(parameters);
  const double batch = settings.batch_size == 0 ? examples : static_cast<double>(settings.batch_size);
  const double columns = static_cast<double>(problem.root_columns);
  // Forward and backward: 6 operations per weight and example.
  const double training = std::ceil(examples / batch) * kStepSeconds + 6 * examples * weights / kTrainingFlops;
  double pass = kPassSeconds + (4 + 6 * columns) * examples * weights / kTrainingFlops;
  if (settings.structure == Structure::full) {
    // Rows Φ [N·K, P]: their Gram matrix on the smaller side, and for each step its Cholesky factor and inverse.
    const double rows = examples * columns, side = std::min(rows, weights);
    pass +=
        (rows * weights * side + static_cast<double>(settings.hyper_steps) * (side * side * side + rows * weights)) /
        kCurvatureFlops;
  }
  return training + pass / static_cast<double>(settings.frequency);
}

AutomaticSettings automatic_settings(const ProblemSize& problem, const std::vector<int64_t>& parameters,
                                     int64_t trainings) {
  AutomaticSettings settings;
  settings.budget = kBudgetSeconds;
  settings.batch_size = problem.examples < kFullBatchBelow ? 0 : kBatch;
  settings.learning_rate = 0.03;
  settings.hyper_step_size = 0.1;
  settings.hyper_steps = 1;
  // Class labels say little: a stronger prior at the start holds the weights at zero, from where they do not come back.
  settings.prior_precision = problem.classes ? 1 : 3;
  settings.frequency = automatic_frequency(kMostEpochs);

  const int64_t largest = *std::max_element(parameters.begin(), parameters.end());
  const double batch = static_cast<double>(settings.batch_size == 0 ? problem.examples : settings.batch_size);
  const size_t jobs = parameters.size() * static_cast<size_t>(trainings);
  if (6 * batch * static_cast<double>(largest) < kSmallStepFlops)
    settings.workers = std::min(jobs, static_cast<size_t>(std::max(problem.threads, 1)));

  // Exact curvature where it is affordable; otherwise Kronecker factors, and as many epochs as the budget allows.
  const auto seconds_of = [&](Structure structure, int64_t epochs) {
    settings.structure = structure;
    settings.epochs = epochs;
    settings.frequency = automatic_frequency(epochs);
    return total_epoch_seconds(problem, parameters, trainings, settings) * static_cast<double>(epochs);
  };
  settings.seconds = seconds_of(Structure::full, kMostEpochs);
  for (int64_t epochs = kMostEpochs; settings.seconds > kBudgetSeconds && epochs >= kFewestEpochs;
       epochs = epochs * 4 / 5)
    settings.seconds = seconds_of(Structure::kronecker, rounded_down(epochs));
  return settings;
}

}  // namespace ockham
