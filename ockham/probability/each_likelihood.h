// One set of overloads per likelihood; `likelihood.cpp` chooses between them. Outputs [N, C] are detached, targets
// prepared.
#pragma once

#include "ockham/probability/likelihood.h"

namespace ockham::each {

/// log p(y | f) summed, and its derivative with respect to log T (0 without a temperature); outputs in float64.
struct DataTerm {
  double value = 0;
  double gradient_log_temperature = 0;
};
DataTerm data_term(const Gaussian&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
DataTerm data_term(const Categorical&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
DataTerm data_term(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
DataTerm data_term(const Poisson&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);

/// -∇_f log p(y | f) at unit noise and its M derivatives; see `output_gradient`.
at::Tensor gradient(const Gaussian&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
at::Tensor gradient(const Categorical&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
at::Tensor gradient(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);
at::Tensor gradient(const Poisson&, const at::Tensor& outputs, const at::Tensor& targets, const Hyperparameters&);

using Tensors = std::vector<at::Tensor>;
Tensors gradient_derivatives(const Gaussian&, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters&);
Tensors gradient_derivatives(const Categorical&, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters&);
Tensors gradient_derivatives(const Bernoulli&, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters&);
Tensors gradient_derivatives(const Poisson&, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters&);

/// R with R Rᵀ = Λ exactly.
OutputRoot exact_root(const Gaussian&, const at::Tensor& outputs, const Hyperparameters&, bool derivatives);
OutputRoot exact_root(const Categorical&, const at::Tensor& outputs, const Hyperparameters&, bool derivatives);
OutputRoot exact_root(const Bernoulli&, const at::Tensor& outputs, const Hyperparameters&, bool derivatives);
OutputRoot exact_root(const Poisson&, const at::Tensor& outputs, const Hyperparameters&, bool derivatives);

/// S gradients / √S at targets drawn from the model; the mean of R Rᵀ is Λ, that of R Ṙᵀ + Ṙ Rᵀ is ∂Λ.
OutputRoot sampled_root(const Gaussian&, const at::Tensor& outputs, const Hyperparameters&, const RootOptions&,
                        at::Generator);
OutputRoot sampled_root(const Categorical&, const at::Tensor& outputs, const Hyperparameters&, const RootOptions&,
                        at::Generator);
OutputRoot sampled_root(const Bernoulli&, const at::Tensor& outputs, const Hyperparameters&, const RootOptions&,
                        at::Generator);
OutputRoot sampled_root(const Poisson&, const at::Tensor& outputs, const Hyperparameters&, const RootOptions&,
                        at::Generator);

/// T from Hyperparameters::log_temperature; throws Error(usage) when that is not [1].
double temperature_of(const Hyperparameters&);
/// log σ as [1] or, with one per output, [C]; throws Error(usage) when it is of another size.
at::Tensor log_noise_of(const Gaussian&, const Hyperparameters&, int64_t outputs);

}  // namespace ockham::each
