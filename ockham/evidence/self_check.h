// Second ways to the same evidence: what is computed once is computed again otherwise, and the two are compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ockham/evidence/evidence.h"

namespace ockham {

struct SelfCheck {
  std::string name;         // "batch order"
  std::string compared;     // with what, in a phrase
  double difference = 0;    // in nats; for gradients, nats for a factor e of the hyperparameter
  double allowed = 0;       // what rounding may do
  std::string not_checked;  // why; empty when it was

  bool holds() const { return !not_checked.empty() || difference <= allowed; }
};

struct SelfCheckInput {
  Model model;  // its hyperparameters are those of the evidence
  Dataset data;
  LaplaceOptions options;
  /// The same network and data in the other floating type; none: that comparison is left out.
  std::optional<Model> other_model;
  std::optional<Dataset> other_data;
};

/// The evidence against
/// - the other floating type,
/// - the examples in another order and in batches of another size,
/// - function space, the NK × NK determinant, where the structure is full and it fits (and weight space where the first
///   was in function space),
/// - central differences of the evidence for its gradient,
/// - a mode: how many nats the log posterior could still rise, ½ gᵀH⁻¹g.
std::vector<SelfCheck> check_evidence(const SelfCheckInput& input, const LaplaceFit& fit, const Evidence& known);

}  // namespace ockham
