// Likelihoods p(y | f) of the network's outputs f [N, C]: value, gradient, and roots of their curvature Λ in f.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <variant>
#include <vector>

#include "ockham/probability/hyperparameters.h"

namespace ockham {

struct Gaussian {                 // y ~ N(f, σ²), targets [N, C] (or [N] when C = 1)
  bool noise_per_output = false;  // one σ per output; one for all is the paper's choice
};
struct Categorical {};  // y ~ softmax(f / T), integer targets [N]
struct Bernoulli {};    // y ~ sigmoid(f / T) with one logit, targets 0/1 [N] or [N, 1]
struct Poisson {};      // y ~ Poisson(exp f), targets counts [N, C] (or [N] when C = 1)

/// A variant, so that the compiler lists every place which a new likelihood must fill in.
using Likelihood = std::variant<Gaussian, Categorical, Bernoulli, Poisson>;

enum class CurvatureKind {
  ggn,               // generalised Gauss-Newton: Λ = -∇²_f log p, exact
  empirical_fisher,  // outer products of the gradients at the observed targets
  mc_fisher,         // outer products at S targets sampled from the model; its mean is the GGN
};

std::string name_of(const Likelihood& likelihood);

/// Hyperparameters that the likelihood has, at 0 on the log scale; `outputs` is C. `log_prior_precision` stays
/// undefined.
Hyperparameters default_likelihood_hyperparameters(const Likelihood& likelihood, int64_t outputs);

/// Targets brought to the form that the functions below expect: float [N, C] or int64 [N]. Throws Error(data) naming
/// the row when a target is out of range, not an integer, or of the wrong shape for `outputs` = C.
at::Tensor prepare_targets(const Likelihood& likelihood, const at::Tensor& targets, int64_t outputs,
                           at::ScalarType dtype);

/// log p(y | f) summed over the examples, with every normalising constant, in float64.
double log_likelihood(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                      const Hyperparameters& hyperparameters);

/// -∇_f log p(y | f) [N, C], "unit noise": for a Gaussian with one σ this is f - y, and `gradient_scale` is 1/σ².
at::Tensor output_gradient(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                           const Hyperparameters& hyperparameters);
/// Its derivatives with respect to the root hyperparameters (see below), one [N, C] each.
std::vector<at::Tensor> output_gradient_derivatives(const Likelihood& likelihood, const at::Tensor& outputs,
                                                    const at::Tensor& targets, const Hyperparameters& hyperparameters);
double gradient_scale(const Likelihood& likelihood, const Hyperparameters& hyperparameters);

/// Noise that enters by a scale. The curvature is kept at unit noise and multiplied by
/// `curvature_scale` = σ^-2 (GGN, MC) or σ^-4 (EF) for a Gaussian with one σ, and by 1 otherwise.
/// The exponent is what the derivative of the log scale with respect to log σ is: -2, -4 or 0.
double curvature_scale(const Likelihood& likelihood, CurvatureKind kind, const Hyperparameters& hyperparameters);
double curvature_scale_exponent(const Likelihood& likelihood, CurvatureKind kind);

/// Hyperparameters that enter through the root itself, because no scale expresses them: the temperature (through the
/// probabilities), or one σ per output. Their number M, which is also the number of derivatives below.
int64_t root_hyperparameter_count(const Likelihood& likelihood, int64_t outputs);
/// Their current values, log scale, [M].
at::Tensor root_hyperparameters(const Likelihood& likelihood, const Hyperparameters& hyperparameters);

struct OutputRoot {
  at::Tensor root;  // R [N, C, K] with R Rᵀ = Λ_n (GGN), or with gradients as columns (EF: K = 1, MC: K = S)
  std::vector<at::Tensor> derivatives;  // M times ∂R/∂η_m [N, C, K], so that ∂Λ = R Ṙᵀ + Ṙ Rᵀ; empty unless asked for
};

struct RootOptions {
  CurvatureKind kind = CurvatureKind::ggn;
  bool derivatives = false;
  int64_t mc_samples = 1;  // S
};

/// Columns K: the softmax's Λ has rank C - 1, and R has C - 1 columns (the Cholesky factor of diag p - p pᵀ in closed
/// form). `generator` is used by mc_fisher only.
OutputRoot output_root(const Likelihood& likelihood, const at::Tensor& outputs, const at::Tensor& targets,
                       const Hyperparameters& hyperparameters, const RootOptions& options, at::Generator generator);

/// Number of columns K that `output_root` will give for C outputs.
int64_t root_columns(const Likelihood& likelihood, int64_t outputs, const RootOptions& options);

}  // namespace ockham
