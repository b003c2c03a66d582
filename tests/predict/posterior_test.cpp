#include "ockham/predict/posterior.h"

#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

TEST(SamplePosterior, HasTheModeAsItsMeanAndTheLinearisedCovariance) {
  const testing::SmallProblem problem = testing::small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Hyperparameters values = problem.at(prior);
  LaplaceOptions options;
  options.curvature.structure = Structure::full;
  options.likelihood_weight = 1.5;
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  const int64_t samples = 20000, weights = problem.network.layout().total();
  const at::Tensor centred = sample_posterior(fit, values, samples, random_stream({1})) - fit.mode;
  const double scale = 1.5 * std::exp(-2 * values.log_noise.item<double>());
  const at::Tensor inverse = fit.curvature.output_covariance({scale, values.log_prior_precision, {}},
                                                             at::eye(weights, at::kDouble).unsqueeze(0))[0];
  const at::Tensor whitened = centred.mm(at::linalg_cholesky(at::linalg_inv(inverse)));
  EXPECT_LT((whitened.t().mm(whitened) / samples - at::eye(weights, at::kDouble)).abs().max().item<double>(), 0.06);
  EXPECT_TRUE(at::equal(sample_posterior(fit, values, 3, random_stream({4})),
                        sample_posterior(fit, values, 3, random_stream({4}))));
  testing::expect_error(ErrorKind::usage, {"samples"}, [&] { sample_posterior(fit, values, 0, random_stream({1})); });
}

}  // namespace
}  // namespace ockham
