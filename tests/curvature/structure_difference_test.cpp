#include "ockham/curvature/structure_difference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/platform.h"
#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "tests/support/dense_reference.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::finite_difference_gradient;
using testing::relative_difference;

at::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

/// tanh network 3-6-3 with labels: 45 weights.
struct Problem {
  Problem() {
    std::vector<std::pair<std::string, at::Tensor>> parameters = {{"hidden.weight", normal({6, 3}, 1)},
                                                                  {"hidden.bias", normal({6}, 2)},
                                                                  {"output.weight", normal({3, 6}, 3)},
                                                                  {"output.bias", normal({3}, 4)}};
    for (auto& [name, tensor] : parameters) tensor.set_requires_grad(true);
    network = std::make_unique<Network>(parameters, [parameters](const at::Tensor& inputs) {
      const at::Tensor hidden = at::tanh(at::linear(inputs, parameters[0].second, parameters[1].second));
      return at::linear(hidden, parameters[2].second, parameters[3].second);
    });
    data = std::make_unique<Dataset>(normal({20, 3}, 5), at::arange(20).remainder(3));
    values = default_likelihood_hyperparameters(Categorical{}, 3);
    values.log_temperature.fill_(0.2);
    known_matrix = matrix();
  }

  DecomposedCurvature preconditioner(Structure structure, const Prior& prior, bool derivatives = false) const {
    CurvatureOptions options;
    options.structure = structure;
    options.root_derivatives = derivatives;
    return DecomposedCurvature(estimate_curvature(*network, Categorical{}, *data, values, options).curvature, prior);
  }
  at::Tensor matrix() const {
    return testing::brute_force_curvature(*network, data->inputs(), data->targets(), Categorical{}, values,
                                          CurvatureKind::ggn);
  }
  double log_det(const Prior& prior, const PrecisionPoint& point) const { return log_det(known_matrix, prior, point); }
  static double log_det(const at::Tensor& curvature, const Prior& prior, const PrecisionPoint& point) {
    const at::Tensor precision = point.scale * curvature + at::diag(prior.expand(point.log_prior_precision).exp());
    return std::get<1>(at::linalg_slogdet(precision)).item<double>();
  }
  CurvatureProducts products() const { return CurvatureProducts(*network, Categorical{}, *data, values, {}); }

  std::unique_ptr<Network> network;
  std::unique_ptr<Dataset> data;
  Hyperparameters values;
  at::Tensor known_matrix;  // B at these values
};

PrecisionPoint point_of(const Prior& prior) { return {1.5, 0.4 * normal({prior.size()}, 6), {}}; }

/// √P e_i: together their mean is the trace itself.
at::Tensor complete_probes(int64_t weights) {
  return at::eye(weights, at::kDouble) * std::sqrt(static_cast<double>(weights));
}

constexpr int64_t kAllSteps = 1000;  // as many as there are weights

TEST(StructureDifference, IsExactWithAllProbesAndStepsAlsoAwayFromThePass) {
  const SingleThread single;
  const Problem problem;
  const CurvatureProducts products = problem.products();
  for (Structure structure : {Structure::kronecker, Structure::diagonal}) {
    for (const Prior& prior : {Prior::scalar(problem.network->layout()), Prior::layerwise(problem.network->layout()),
                               Prior::ard(problem.network->layout())}) {
      const DecomposedCurvature approximate = problem.preconditioner(structure, prior);
      const PrecisionPoint point = point_of(prior);
      const DifferenceInput input{products, approximate, point, kAllSteps, at::kDouble, 0};
      const StructureDifference difference =
          estimate_difference(input, complete_probes(problem.network->layout().total()));
      for (double shift : {0.0, -2.0}) {
        PrecisionPoint moved = point;
        moved.scale *= std::exp(-0.5 * shift);
        moved.log_prior_precision = point.log_prior_precision + shift * normal({prior.size()}, 7);
        const StructureDifference::Value value = difference.at(moved);
        const LogDeterminant known = approximate.log_determinant(moved);
        EXPECT_NEAR(known.value + value.value, problem.log_det(prior, moved), 1e-7);
        const at::Tensor gradient = finite_difference_gradient(
            [&](const at::Tensor& logs) {
              return problem.log_det(prior, {moved.scale, logs, {}});
            },
            moved.log_prior_precision);
        EXPECT_LT(
            relative_difference(known.gradient_log_prior_precision + value.gradient_log_prior_precision, gradient),
            1e-6);
        const at::Tensor by_scale = finite_difference_gradient(
            [&](const at::Tensor& log_scale) {
              return problem.log_det(prior, {std::exp(log_scale.item<double>()), moved.log_prior_precision, {}});
            },
            at::full({1}, std::log(moved.scale), at::kDouble));
        EXPECT_LT(relative_difference(known.gradient_log_scale + value.gradient_log_scale, by_scale.item<double>()),
                  1e-6);
      }
    }
  }
}

TEST(StructureDifference, GradientIsThatOfItsOwnValueWithFewProbes) {
  const Problem problem;
  const CurvatureProducts products = problem.products();
  const Prior prior = Prior::layerwise(problem.network->layout());
  const DecomposedCurvature approximate = problem.preconditioner(Structure::kronecker, prior);
  const PrecisionPoint point = point_of(prior);
  const DifferenceInput input{products, approximate, point, 6, at::kDouble, 0};
  const StructureDifference difference = estimate_difference(input, random_signs(3, 4, 45));
  PrecisionPoint moved = point;
  moved.log_prior_precision = point.log_prior_precision + 0.5;
  const StructureDifference::Value value = difference.at(moved);
  const at::Tensor gradient = finite_difference_gradient(
      [&](const at::Tensor& logs) {
        return difference.at({moved.scale, logs, {}}).value;
      },
      moved.log_prior_precision);
  EXPECT_LT(relative_difference(value.gradient_log_prior_precision, gradient), 1e-7);
}

TEST(StructureDifference, FollowsTheTemperatureToFirstOrder) {
  Problem problem;
  const CurvatureProducts products = problem.products();
  const Prior prior = Prior::scalar(problem.network->layout());
  const DecomposedCurvature approximate = problem.preconditioner(Structure::kronecker, prior, true);
  const PrecisionPoint point = point_of(prior);
  const DifferenceInput input{products, approximate, point, kAllSteps, at::kDouble, 0};
  const StructureDifference difference = estimate_difference(input, complete_probes(45));
  const double start = problem.values.log_temperature.item<double>();
  const StructureDifference::Value value = difference.at(point);
  const at::Tensor expected = finite_difference_gradient(
      [&](const at::Tensor& log_temperature) {
        problem.values.log_temperature = log_temperature.clone();
        return Problem::log_det(problem.matrix(), prior, point);
      },
      at::full({1}, start, at::kDouble));
  EXPECT_LT(relative_difference(approximate.log_determinant(point).gradient_root + value.gradient_root, expected),
            1e-7);
  PrecisionPoint moved = point;
  moved.root_shift = at::full({1}, 0.1, at::kDouble);
  EXPECT_NEAR(difference.at(moved).value, value.value + 0.1 * value.gradient_root.item<double>(), 1e-12);
}

TEST(StructureDifference, IntervalCoversTheTruthForMostSeeds) {
  const Problem problem;
  const CurvatureProducts products = problem.products();
  const Prior prior = Prior::scalar(problem.network->layout());
  const DecomposedCurvature approximate = problem.preconditioner(Structure::kronecker, prior);
  const PrecisionPoint point = point_of(prior);
  const double truth = problem.log_det(prior, point) - approximate.log_determinant(point).value;
  int covered = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const StructureDifference::Value value =
        estimate_difference({products, approximate, point, 25, at::kDouble, 0}, random_signs(seed, 5, 45)).at(point);
    covered += std::abs(value.value - truth) <= value.half_width ? 1 : 0;
    EXPECT_NEAR(value.half_width, 2.77645 * value.standard_error, 1e-4 * value.half_width);
  }
  EXPECT_GE(covered, 34);  // 38 are expected; 33 or fewer would happen once in 25,000 times
}

TEST(StructureDifference, LanczosBiasIsOfOneSignAndVanishesWithSteps) {
  const Problem problem;
  const CurvatureProducts products = problem.products();
  const Prior prior = Prior::scalar(problem.network->layout());
  const DecomposedCurvature approximate = problem.preconditioner(Structure::diagonal, prior);
  const PrecisionPoint point = point_of(prior);
  double before = std::numeric_limits<double>::infinity(), bias = -1;
  for (int64_t steps : {2, 4, 8, 16, 32}) {
    const StructureDifference::Value value =
        estimate_difference({products, approximate, point, steps, at::kDouble, 0}, random_signs(1, 3, 45)).at(point);
    EXPECT_LE(value.value, before + 1e-9) << steps;  // Gauss quadrature of a logarithm comes from above
    EXPECT_LE(value.lanczos_bias, 1e-9) << steps;
    before = value.value;
    bias = value.lanczos_bias;
  }
  EXPECT_NEAR(bias, 0, 1e-6);
}

TEST(StructureDifference, ProbesDependOnTheSeedAlone) {
  EXPECT_TRUE(at::equal(random_signs(5, 3, 40), random_signs(5, 8, 40).narrow(0, 0, 3)));
  EXPECT_FALSE(at::equal(random_signs(5, 3, 40), random_signs(6, 3, 40)));
  EXPECT_TRUE(at::equal(random_signs(5, 2, 40).abs(), at::ones({2, 40}, at::kChar)));
  EXPECT_LT(std::abs(random_signs(5, 2, 10000).sum().item<double>()), 600);
}

TEST(StructureDifference, ProbesShareAPassAsTheMemoryAllows) {
  const Problem problem;
  const CurvatureProducts products = problem.products();
  const Prior prior = Prior::scalar(problem.network->layout());
  const DecomposedCurvature approximate = problem.preconditioner(Structure::kronecker, prior);
  DifferenceInput input{products, approximate, point_of(prior), 10, at::kDouble, 0};
  EXPECT_EQ(passes_of_difference(input, 6), 10);
  const double together = estimate_difference(input, random_signs(1, 6, 45)).at(input.point).value;
  input.memory_budget = 2 * 45 * 18 * 8;  // two probes
  EXPECT_EQ(passes_of_difference(input, 6), 30);
  EXPECT_NEAR(estimate_difference(input, random_signs(1, 6, 45)).at(input.point).value, together, 1e-10);
  input.memory_budget = 1000;
  testing::expect_error(ErrorKind::usage, {"45 weights", "--slq-steps", "--memory"},
                        [&] { estimate_difference(input, random_signs(1, 6, 45)); });
  input.memory_budget = 0;
  testing::expect_error(ErrorKind::usage, {"two probes"}, [&] { estimate_difference(input, random_signs(1, 1, 45)); });
}

}  // namespace
}  // namespace ockham
