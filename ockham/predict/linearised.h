// The linearised (GLM) predictive: f(x) ~ N(f(x, θ), J H⁻¹ Jᵀ), and what it says about y.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "ockham/evidence/laplace_fit.h"
#include "ockham/network/network.h"

namespace ockham {

/// For likelihoods with a temperature, mean and covariance are those of f / T.
struct FunctionPredictive {
  at::Tensor mean;        // [N, C] float64
  at::Tensor covariance;  // [N, C, C]
};

/// Which parameters are uncertain: all, or those of the last linear layer alone while the others stay at the mode
/// (curvature/restrict_curvature.h). The latter costs a forward pass.
enum class PosteriorScope { whole, last_layer };

struct FunctionOptions {
  PosteriorScope scope = PosteriorScope::whole;
  int64_t batch_size = 128;                             // at most; fewer where the budget asks for it
  int64_t memory_budget = 0;                            // bytes; 0: default_memory_budget()
  std::function<void(int64_t examples_done)> progress;  // after each batch; may throw to interrupt
};

/// Block by block from layer calls, never with the whole Jacobian [N, C, P] (curvature/output_gradients.h). Float64,
/// except what is made from the gradients of a float32 network of more than 2^16 weights. Throws Error(usage) when the
/// scope is the last layer and the network has no linear one.
FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    const FunctionOptions& options);
FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    int64_t batch_size = 128);

/// Gaussian: covariance of y = epistemic (the function's) + noise (σ² on the diagonal), [N, C, C].
struct RegressionPredictive {
  at::Tensor mean, epistemic, total;
};
RegressionPredictive predict_regression(const FunctionPredictive& function, const Hyperparameters& hyperparameters);

/// softmax(logits) [..., C]; one logit f stands for (0, f): the probabilities of the classes 0 and 1.
at::Tensor class_probabilities(const at::Tensor& logits);
/// softmax(mean / sqrt(1 + π/8 · diag covariance)) [N, C]; one logit: sigmoid, as two columns.
at::Tensor predict_probit(const FunctionPredictive& function);
/// The logits without what is common to all of them, which a softmax does not see but `predict_probit` would take for
/// uncertainty (only the prior limits it, and it can be a hundred times the rest): with M = I - 11ᵀ/C, mean M mean and
/// covariance C/(C-1) · M covariance M. The factor leaves independent logits of equal variance as they are. One logit
/// stays as it is.
FunctionPredictive remove_common_mode(const FunctionPredictive& logits);
/// Mean over S samples of the class probabilities.
at::Tensor predict_sampled(const FunctionPredictive& function, int64_t samples, at::Generator generator);

}  // namespace ockham
