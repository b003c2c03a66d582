// log p(D | θ) as a function of the likelihood's hyperparameters, without the data: sufficient statistics of one pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/probability/likelihood.h"

namespace ockham {

/// Gaussian: squared residuals per output. Categorical and Bernoulli: the outputs and targets, kept only when
/// `keep_outputs` (a temperature that moves needs them), else the value at the temperature of the pass. Poisson: the
/// value.
class DataFit {
 public:
  DataFit(Likelihood likelihood, Hyperparameters at, bool keep_outputs);

  void add(const at::Tensor& outputs, const at::Tensor& targets);  // one batch

  struct Value {
    double log_likelihood = 0;            // before the likelihood weight
    at::Tensor gradient_log_noise;        // like Hyperparameters::log_noise
    at::Tensor gradient_log_temperature;  // like Hyperparameters::log_temperature
  };
  /// Throws Error(usage) when the temperature differs from the pass's and outputs were not kept.
  Value evaluate(const Hyperparameters& hyperparameters) const;

  int64_t examples() const { return examples_; }
  int64_t outputs() const { return outputs_; }
  /// All outputs [N, C] and targets in float64, when kept.
  at::Tensor kept_outputs() const;
  at::Tensor kept_targets() const;

  /// What `evaluate` needs: written down with a model and taken up again, or summed over parts of the data. Without
  /// kept outputs no temperature may move.
  struct Summary {
    int64_t examples = 0, outputs = 0;
    double value = 0, temperature_gradient = 0;  // at the pass's temperature; 0 for a Gaussian
    at::Tensor squared_residuals;                // [C] float64 for a Gaussian, else undefined
    at::Tensor kept_outputs, kept_targets;       // [N, C] and targets, when they were kept; else undefined
  };
  Summary summary() const;
  DataFit(Likelihood likelihood, Hyperparameters at, const Summary& summary);

 private:
  Likelihood likelihood_;
  Hyperparameters at_;
  bool keep_outputs_;
  int64_t examples_ = 0;
  int64_t outputs_ = 0;
  double value_ = 0;                 // at the pass's hyperparameters
  double temperature_gradient_ = 0;  // at the pass's temperature
  at::Tensor squared_residuals_;     // [C]
  std::vector<at::Tensor> output_batches_, target_batches_;
};

}  // namespace ockham
