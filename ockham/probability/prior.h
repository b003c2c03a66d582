// Gaussian priors θ_i ~ N(0, 1/δ_i): which log precision governs which weight.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "ockham/network/parameter_layout.h"

namespace ockham {

enum class PriorKind { scalar, layerwise, diagonal, ard, groups };

/// How the weights of one parameter tensor share precisions. `first` indexes Hyperparameters::log_prior_precision.
struct PriorSlot {
  enum class Pattern {
    uniform,           // one precision for the whole tensor: log_prior_precision[first]
    per_input_column,  // one per index of the tensor's second dimension (input feature or channel)
    per_element,       // one per weight
  };
  Pattern pattern = Pattern::uniform;
  int64_t first = 0;
};

class Prior {
 public:
  static Prior scalar(const ParameterLayout& layout);
  static Prior layerwise(const ParameterLayout& layout);  // weights and biases are groups of their own
  static Prior diagonal(const ParameterLayout& layout);
  /// One precision per input column of the first parameter with two or more dimensions; layerwise elsewhere.
  static Prior ard(const ParameterLayout& layout);
  /// Named groups of parameters; every parameter must be in exactly one, else Error(usage) names it.
  static Prior grouped(const ParameterLayout& layout,
                       const std::vector<std::pair<std::string, std::vector<std::string>>>& groups);

  PriorKind kind() const { return kind_; }
  int64_t size() const { return static_cast<int64_t>(names_.size()); }  // G
  const std::vector<std::string>& names() const { return names_; }
  const PriorSlot& slot(size_t parameter) const { return slots_[parameter]; }
  const ParameterLayout& layout() const { return layout_; }

  /// Values per group [G] to one per weight of parameter `index`, flattened [p].
  at::Tensor expand(size_t index, const at::Tensor& by_group) const;
  /// The same for all weights, [P].
  at::Tensor expand(const at::Tensor& by_group) const;
  /// Adds values per weight of parameter `index` [p] into their groups: by_group [G] is changed in place.
  void accumulate(size_t index, const at::Tensor& by_weight, at::Tensor& by_group) const;

  /// log p(θ) = Σ_i ½ log δ_i - ½ log 2π - ½ δ_i θ_i², from the statistics below, and its gradient in log δ [G].
  struct Statistics {
    at::Tensor squared_norm;  // Σ θ_i² per group [G]
    at::Tensor count;         // weights per group [G]
  };
  Statistics statistics(const at::Tensor& theta) const;
  static double log_density(const Statistics& statistics, const at::Tensor& log_precision);
  static at::Tensor log_density_gradient(const Statistics& statistics, const at::Tensor& log_precision);

 private:
  Prior(PriorKind kind, const ParameterLayout& layout) : kind_(kind), layout_(layout) {}
  PriorKind kind_;
  ParameterLayout layout_;
  std::vector<PriorSlot> slots_;
  std::vector<std::string> names_;
};

}  // namespace ockham
