// The Laplace evidence of a tiny network against its true evidence, which annealed importance sampling (Neal, 2001)
// estimates without any Gaussian approximation: chains start in the prior, the likelihood is raised to powers β from 0
// to 1, and the mean of exp Σ_k (β_k - β_{k-1}) log p(D | θ_{k-1}) is p(D | M). Knows nothing of ockham's own code.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "ockham/evidence/evidence.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::seeded;

constexpr int64_t kTemperatures = 1000, kLeapfrogs = 3, kChains = 500, kPilotChains = 100;

struct LogLikelihood {
  at::Tensor value;     // log p(D | θ) of each chain, [M]
  at::Tensor gradient;  // in θ, [M, P]
};

/// A prior N(0, 1/precision) on P weights and a likelihood of M weight vectors [M, P] at once.
struct Model {
  int64_t weights;
  double precision;
  std::function<LogLikelihood(const at::Tensor&)> likelihood;

  at::Tensor prior_energy(const at::Tensor& theta) const { return 0.5 * precision * theta.square().sum(1); }
};

at::Tensor gaussian_value(const at::Tensor& residuals, double noise) {
  const double constant = static_cast<double>(residuals.size(1)) * (std::log(noise) + 0.5 * std::log(2 * M_PI));
  return -0.5 / (noise * noise) * residuals.square().sum(1) - constant;
}

struct Annealed {
  double log_evidence = 0;
  double standard_error = 0;  // of the log evidence, by the delta method
};

/// One run of M chains, each temperature one step of Hamiltonian Monte Carlo. Without step sizes they are adapted to an
/// acceptance of three quarters: a pilot run, whose own estimate is not used because its chains share them.
Annealed anneal(const Model& model, int64_t chains, at::Generator generator, std::vector<double>& step_sizes) {
  const bool pilot = step_sizes.empty();
  double step = 0.1 / std::sqrt(model.precision), before = 0;
  at::Tensor theta = at::randn({chains, model.weights}, generator, at::kDouble) / std::sqrt(model.precision);
  LogLikelihood here = model.likelihood(theta);
  at::Tensor log_weights = at::zeros({chains}, at::kDouble);
  for (int64_t k = 1; k <= kTemperatures; ++k) {
    const double power = std::pow(static_cast<double>(k) / kTemperatures, 4);  // small steps where the prior ends
    log_weights += (power - before) * here.value;
    before = power;
    if (!pilot) step = step_sizes[k - 1];

    at::Tensor momentum = at::randn({chains, model.weights}, generator, at::kDouble), moved = theta.clone();
    const auto energy = [&](const LogLikelihood& at, const at::Tensor& position) {
      return 0.5 * momentum.square().sum(1) - power * at.value + model.prior_energy(position);
    };
    const at::Tensor start = energy(here, theta);
    // A random length, so that no chain comes back to where it was.
    const at::Tensor steps = step * (0.7 + 0.6 * at::rand({chains, 1}, generator, at::kDouble));
    LogLikelihood there = here;
    const auto kick = [&] { momentum = momentum + 0.5 * steps * (power * there.gradient - model.precision * moved); };
    for (int64_t l = 0; l < kLeapfrogs; ++l) {
      kick();
      moved = moved + steps * momentum;
      there = model.likelihood(moved);
      kick();
    }
    const at::Tensor accepted = at::rand({chains}, generator, at::kDouble).log() < start - energy(there, moved);
    theta = at::where(accepted.unsqueeze(1), moved, theta);
    here = {at::where(accepted, there.value, here.value),
            at::where(accepted.unsqueeze(1), there.gradient, here.gradient)};
    if (!pilot) continue;
    step_sizes.push_back(step);
    step *= std::exp(0.5 * (accepted.to(at::kDouble).mean().item<double>() - 0.75));
  }
  const double largest = log_weights.max().item<double>();
  const at::Tensor weights = (log_weights - largest).exp();
  const double mean = weights.mean().item<double>(), deviation = weights.std().item<double>();
  return {largest + std::log(mean), deviation / mean / std::sqrt(static_cast<double>(chains))};
}

Annealed annealed_evidence(const Model& model, uint64_t seed) {
  std::vector<double> step_sizes;
  anneal(model, kPilotChains, random_stream({seed, 0}), step_sizes);
  return anneal(model, kChains, random_stream({seed, 1}), step_sizes);
}

/// y = X θ + noise.
Model linear_model(const at::Tensor& inputs, const at::Tensor& targets, double precision, double noise) {
  return {inputs.size(1), precision, [=](const at::Tensor& theta) {
            const at::Tensor residuals = targets - theta.mm(inputs.t());
            return LogLikelihood{gaussian_value(residuals, noise), residuals.mm(inputs) / (noise * noise)};
          }};
}

/// f(x) = Σ_h v_h tanh(w_h x + b_h) + c with θ = (w, b, v, c), the order of the network's parameters.
Model tanh_model(const at::Tensor& inputs, const at::Tensor& targets, double precision, double noise) {
  constexpr int64_t hidden = 2;
  return {3 * hidden + 1, precision, [=](const at::Tensor& theta) {
            const auto part = [&](int64_t first) { return theta.narrow(1, first, hidden).unsqueeze(2); };
            const at::Tensor units = at::tanh(part(0) * inputs + part(hidden)), out = part(2 * hidden);  // [M, H, N]
            const at::Tensor residuals = targets - (out * units).sum(1) - theta.narrow(1, 3 * hidden, 1);
            const at::Tensor slope = (residuals / (noise * noise)).unsqueeze(1);
            const at::Tensor inner = out * slope * (1 - units.square());
            return LogLikelihood{
                gaussian_value(residuals, noise),
                at::cat({(inner * inputs).sum(2), inner.sum(2), (slope * units).sum(2), slope.sum(2)}, 1)};
          }};
}

/// The best of many Adam runs from the prior, in parallel: [P].
at::Tensor find_mode(const Model& model, int64_t restarts, uint64_t seed) {
  constexpr int64_t steps = 3000;
  at::Tensor theta = at::randn({restarts, model.weights}, random_stream({seed}), at::kDouble);
  at::Tensor first = at::zeros_like(theta), second = at::zeros_like(theta);
  for (int64_t i = 1; i <= steps; ++i) {
    const at::Tensor gradient = model.likelihood(theta).gradient - model.precision * theta;
    first.mul_(0.9).add_(gradient, 0.1);
    second.mul_(0.999).addcmul_(gradient, gradient, 0.001);
    const double remaining = 1 - static_cast<double>(i - 1) / steps;
    const double debias = std::sqrt(1 - std::pow(0.999, i)) / (1 - std::pow(0.9, i));
    theta = theta + 0.05 * remaining * remaining * debias * first / (second.sqrt() + 1e-12);
  }
  return theta[(model.likelihood(theta).value - model.prior_energy(theta)).argmax().item<int64_t>()];
}

Network tanh_network(const at::Tensor& theta) {
  const auto part = [&](int64_t first, std::vector<int64_t> shape) {
    return theta.narrow(0, first, shape[0] * (shape.size() > 1 ? shape[1] : 1))
        .reshape(shape)
        .clone()
        .set_requires_grad(true);
  };
  const at::Tensor w = part(0, {2, 1}), b = part(2, {2}), v = part(4, {1, 2}), c = part(6, {1});
  return Network({{"hidden.weight", w}, {"hidden.bias", b}, {"output.weight", v}, {"output.bias", c}},
                 [=](const at::Tensor& x) { return at::linear(at::tanh(at::linear(x, w, b)), v, c); });
}

// The reference is checked first: the evidence of Bayesian linear regression is N(y; 0, X Xᵀ/δ + σ² I).
TEST(AnnealedImportance, ReproducesTheExactEvidenceOfLinearRegression) {
  const int64_t examples = 12;
  const double precision = 0.5, noise = 0.3;
  const at::Tensor inputs = seeded({examples, 5}, 31);
  const at::Tensor targets = inputs.mv(seeded({5}, 32)) + noise * seeded({examples}, 33);
  const at::Tensor covariance = inputs.mm(inputs.t()) / precision + noise * noise * at::eye(examples, at::kDouble);
  const double exact =
      -0.5 * (at::dot(targets, at::linalg_solve(covariance, targets)) + at::logdet(covariance)).item<double>() -
      0.5 * examples * std::log(2 * M_PI);
  const Annealed annealed = annealed_evidence(linear_model(inputs, targets, precision, noise), 34);
  std::printf("linear regression: annealed %.3f +- %.3f, exact %.3f\n", annealed.log_evidence, annealed.standard_error,
              exact);
  EXPECT_LT(annealed.standard_error, 0.1) << "too vague a reference";
  EXPECT_NEAR(annealed.log_evidence, exact, 4 * annealed.standard_error);
}

/// Reports value + log 8 - truth, in nats.
double report_gap(const std::string& name, double value, const Annealed& truth) {
  const double gap = value + std::log(8.0) - truth.log_evidence;
  ::testing::Test::RecordProperty("gap_" + name, std::to_string(gap));
  std::printf("  %s: log evidence + log 8 - truth = %+.3f\n", name.c_str(), gap);
  return gap;
}

/// log|-∇² log p(D, θ)|, by finite differences.
double log_det_hessian(const Model& model, const at::Tensor& mode) {
  std::vector<at::Tensor> rows;
  for (int64_t i = 0; i < model.weights; ++i) {
    const auto slope = [&](const at::Tensor& theta) {
      return -model.likelihood(theta.unsqueeze(0)).gradient[0][i].item<double>();
    };
    rows.push_back(testing::finite_difference_gradient(slope, mode));
  }
  return at::logdet(at::stack(rows) + model.precision * at::eye(model.weights, at::kDouble)).item<double>();
}

// A bump needs both hidden units, so no unit is pruned and the 2^H H! = 8 modes that sign flips and permutations of the
// hidden units make are apart: the evidence is 8 times what the Laplace approximation sees at one of them.
TEST(AnnealedImportance, TheFullLaplaceEvidenceOfATinyNetworkIsNearTheTruth) {
  const int64_t examples = 12;
  const double precision = 0.3;
  const at::Tensor inputs = at::linspace(-2, 2, examples, at::kDouble);
  const at::Tensor bump = at::tanh(2 * (inputs + 1)) - at::tanh(2 * (inputs - 1)) - 1;
  for (double noise : {0.2, 0.1}) {
    const at::Tensor targets = bump + noise * seeded({examples}, 41);
    const Model model = tanh_model(inputs, targets, precision, noise);
    const Annealed truth = annealed_evidence(model, 42);
    const std::string label = noise == 0.2 ? "_noise_0.2" : "_noise_0.1";
    std::printf("tiny network, noise %.1f: annealed log evidence %.3f +- %.3f\n", noise, truth.log_evidence,
                truth.standard_error);
    ::testing::Test::RecordProperty("log_evidence" + label, std::to_string(truth.log_evidence));
    ::testing::Test::RecordProperty("standard_error" + label, std::to_string(truth.standard_error));
    EXPECT_LT(truth.standard_error, 0.2) << "too vague a reference";

    const at::Tensor mode = find_mode(model, /*restarts=*/32, 43);
    const Network network = tanh_network(mode);
    const Dataset data(inputs.unsqueeze(1), targets);
    const Hyperparameters values{at::full({1}, std::log(precision), at::kDouble),
                                 at::full({1}, std::log(noise), at::kDouble), at::zeros({0}, at::kDouble)};
    const auto laplace = [&](Structure structure) {
      LaplaceOptions options;
      options.curvature.structure = structure;
      options.curvature.likelihood_gradient = true;
      const Prior prior = Prior::scalar(network.layout());
      return evidence(fit_laplace({network, Gaussian{}, prior, values}, data, options), values, {true});
    };
    const Evidence full = laplace(Structure::full);
    // Both sides speak of the same model, and θ is a mode.
    EXPECT_NEAR(full.log_likelihood, model.likelihood(mode.unsqueeze(0)).value.item<double>(), 1e-10);
    EXPECT_LT(full.correction, 1e-6);

    // What remains is the shape of the posterior (third derivatives and on), the GGN in the place of the Hessian, which
    // differ by the residuals' share, and the sampler's error: over data sets drawn this way some tenths of a nat each.
    // One nat is far below what a wrong term would show: log 8 = 2.1, (P/2) log 2π = 6.4, a factor of 2 in the
    // curvature ½ P log 2 = 2.4. With the Hessian itself the second part is gone and half a nat is left.
    EXPECT_LT(std::abs(report_gap("full_ggn" + label, full.value, truth)), 1.0);
    const double with_hessian = full.value + 0.5 * (full.log_det - log_det_hessian(model, mode));
    EXPECT_LT(std::abs(report_gap("full_hessian" + label, with_hessian, truth)), 0.5 + 2 * truth.standard_error);
    report_gap("block_ggn" + label, laplace(Structure::block).value, truth);
    report_gap("kronecker_ggn" + label, laplace(Structure::kronecker).value, truth);
    report_gap("diagonal_ggn" + label, laplace(Structure::diagonal).value, truth);
  }
}

}  // namespace
}  // namespace ockham
