// The linearised (GLM) predictive: f(x) ~ N(f(x, θ), J H⁻¹ Jᵀ), and what it says about y.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "ockham/evidence/laplace_fit.h"
#include "ockham/network/network.h"

namespace ockham {

/// For likelihoods with a temperature, mean and covariance are those of f / T.
struct FunctionPredictive {
  at::Tensor mean;        // [N, C] float64
  at::Tensor covariance;  // [N, C, C]
};

FunctionPredictive predict_function(const Network& network, const LaplaceFit& fit,
                                    const Hyperparameters& hyperparameters, const at::Tensor& inputs,
                                    int64_t batch_size = 128);

/// Gaussian: covariance of y = epistemic (the function's) + noise (σ² on the diagonal), [N, C, C].
struct RegressionPredictive {
  at::Tensor mean, epistemic, total;
};
RegressionPredictive predict_regression(const FunctionPredictive& function, const Hyperparameters& hyperparameters);

/// softmax(mean / sqrt(1 + π/8 · diag covariance)) [N, C]; one logit: sigmoid, as two columns.
at::Tensor predict_probit(const FunctionPredictive& function);
/// Mean over S samples of the class probabilities.
at::Tensor predict_sampled(const FunctionPredictive& function, int64_t samples, at::Generator generator);

}  // namespace ockham
