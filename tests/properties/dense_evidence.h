// The evidence from its definition, with dense matrices, autograd and none of ockham's curvature, determinants, priors
// or likelihood formulas.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "ockham/evidence/laplace_fit.h"
#include "tests/properties/random_model.h"

namespace ockham::properties {

/// Wrong on purpose, to see that the comparison notices.
enum class Mistake {
  none,
  no_likelihood_weight,  // the curvature is not weighted
  factors_swapped,       // right ⊗ left
  positions_not_meant,   // `expand` without 1/S
  noise_forgotten,       // Λ at unit noise
  prior_halved,          // log δ counts half in log p(θ)
};

class DenseEvidence {
 public:
  /// `random` is in float64.
  explicit DenseEvidence(const RandomModel& random, Mistake mistake = Mistake::none);

  /// log q(D | M) of a structure. `monte_carlo` [N, C, C] replaces Λ where the Fisher is sampled.
  double value(const LaplaceOptions& options, const Hyperparameters& at,
               const std::optional<at::Tensor>& monte_carlo = std::nullopt) const;

 private:
  at::Tensor log_likelihood(const at::Tensor& outputs, const Hyperparameters& at) const;  // [], in the graph
  at::Tensor output_curvature(CurvatureKind kind, const Hyperparameters& at) const;       // Λ [N, C, C]
  at::Tensor precisions(const Hyperparameters& at) const;                                 // δ [P]
  at::Tensor exact_curvature(const at::Tensor& lambda) const;                             // Σ JᵀΛJ [P, P]
  struct Factors {
    std::vector<at::Tensor> left, right;  // one pair a group
  };
  Factors factors(size_t parameter, KroneckerRule rule, const at::Tensor& lambda) const;
  at::Tensor bias_curvature(size_t parameter, const at::Tensor& lambda) const;
  at::Tensor structured_precision(const LaplaceOptions& options, const Hyperparameters& at,
                                  const at::Tensor& lambda) const;  // H [P, P]

  struct Use {
    size_t parameter;
    bool bias, gradient_left;
    at::Tensor inputs;     // [G, N, S, D]
    at::Tensor gradients;  // of every output, [C, G, N, S, D']
  };
  const RandomModel& random_;
  Mistake mistake_;
  at::Tensor outputs_;   // f [N, C]
  at::Tensor jacobian_;  // J [N, C, P]
  std::vector<Use> uses_;
};

}  // namespace ockham::properties
