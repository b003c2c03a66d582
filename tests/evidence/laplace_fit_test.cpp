#include "ockham/evidence/laplace_fit.h"

#include <gtest/gtest.h>

#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::small_problems;
using testing::SmallProblem;

TEST(LaplaceFit, HoldsTheModeAndWhereItWasMade) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  Hyperparameters values = problem.at(prior);
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, {});
  EXPECT_TRUE(at::equal(fit.mode, problem.network.flat_parameters()));
  EXPECT_EQ(fit.data_fit.examples(), problem.data.size());
  EXPECT_GT(fit.seconds_curvature, 0);
  EXPECT_GT(fit.seconds_decompose, 0);
  const double before = fit.fitted_at.log_noise.item<double>();
  values.log_noise.add_(1);  // the fit keeps a copy
  EXPECT_EQ(fit.fitted_at.log_noise.item<double>(), before);
}

TEST(LaplaceFit, RefusesWrongOptions) {
  const SmallProblem problem = small_problems()[0];
  const Prior prior = Prior::layerwise(problem.network.layout());
  const auto fit = [&](const Hyperparameters& values, const LaplaceOptions& options) {
    fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  };
  LaplaceOptions options;
  options.likelihood_weight = 0;
  testing::expect_error(ErrorKind::usage, {"likelihood weight"}, [&] { fit(problem.at(prior), options); });
  options.likelihood_weight = 1;
  options.damping = true;
  options.curvature.structure = Structure::diagonal;
  testing::expect_error(ErrorKind::usage, {"Damping"}, [&] { fit(problem.at(prior), options); });
  Hyperparameters values = problem.at(prior);
  values.log_prior_precision = at::zeros({2}, at::kDouble);
  testing::expect_error(ErrorKind::usage, {"2 prior precisions", "4 groups"}, [&] { fit(values, {}); });
  values.log_prior_precision = at::Tensor();
  testing::expect_error(ErrorKind::usage, {"prior precisions"}, [&] { fit(values, {}); });
  const Prior other = Prior::scalar(testing::small_network(1).layout());
  testing::expect_error(ErrorKind::usage, {"21 weights", "26"}, [&] {
    fit_laplace({problem.network, problem.likelihood, other, problem.at(other)}, problem.data, {});
  });
}

}  // namespace
}  // namespace ockham
