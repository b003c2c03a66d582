// Optimisers of the weights: Adam or SGD with momentum, with a learning rate that follows the epochs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ockham {

enum class OptimiserKind { adam, sgd };
enum class LearningRateSchedule { constant, cosine, step };

struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::adam;  // betas 0.9, 0.999, eps 1e-8
  double learning_rate = 1e-3;
  double momentum = 0.9;  // SGD only
  LearningRateSchedule schedule = LearningRateSchedule::constant;
  double final_fraction = 0;                     // cosine: where the rate ends, as a fraction of its start
  std::vector<double> milestones = {0.5, 0.75};  // step: fractions of the epochs after which ...
  double step_factor = 0.1;                      // ... the rate is multiplied by this
};

/// The learning rate in epoch `epoch` (0-based) of `epochs`.
double learning_rate_at(const OptimiserOptions& options, int64_t epoch, int64_t epochs);

class Optimiser {
 public:
  Optimiser(std::vector<at::Tensor> parameters, const OptimiserOptions& options);
  ~Optimiser();
  Optimiser(Optimiser&&) noexcept;

  void set_learning_rate(double rate);
  /// What a step multiplies gradients by: SGD's learning rate. 0 for Adam, whose steps do not grow with the gradients.
  double step_per_gradient() const;
  void zero_gradients();
  void step();

  /// Everything it remembers between steps, as bytes for a checkpoint.
  std::string save() const;
  /// Throws Error(data) when the bytes are not those of an optimiser of the same kind and parameters.
  void restore(const std::string& state);

 private:
  void restore_archive(const std::string& state);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ockham
