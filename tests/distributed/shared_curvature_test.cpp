// evidence/shared_curvature: the fit of several ranks is that of one process.
#include "ockham/evidence/shared_curvature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/evidence/evidence.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/run_ranks.h"

namespace ockham {
namespace {

using testing::relative_difference;
using testing::run_ranks;
using testing::small_problems;
using testing::SmallProblem;

constexpr double kSame = 1e-10;

Prior make_prior(const SmallProblem& problem) { return Prior::layerwise(problem.network.layout()); }

struct Result {
  Evidence here;       // at the values of the fit
  Evidence elsewhere;  // after root hyperparameters, noise and precisions have moved
};

Result evaluate(const SmallProblem& problem, LaplaceOptions options, Communicator* ranks) {
  const Prior prior = make_prior(problem);
  const Hyperparameters values = problem.at(prior);
  options.communicator = ranks;
  const LaplaceFit fit = fit_laplace({problem.network, problem.likelihood, prior, values}, problem.data, options);
  Hyperparameters moved = values.clone();
  moved.log_prior_precision = moved.log_prior_precision + 0.3;
  if (options.curvature.root_derivatives || problem.name == "gaussian") moved.log_noise = moved.log_noise + 0.2;
  if (options.curvature.root_derivatives) moved.log_temperature = moved.log_temperature + 0.1;
  const EvidenceOptions how{options.curvature.likelihood_gradient};
  return {evidence(fit, values, how), evidence(fit, moved, how)};
}

void expect_same(const Evidence& one, const Evidence& other) {
  EXPECT_LT(relative_difference(one.value, other.value), kSame);
  EXPECT_LT(relative_difference(one.log_det, other.log_det), kSame);
  EXPECT_LT(relative_difference(one.log_likelihood, other.log_likelihood), kSame);
  EXPECT_LT(relative_difference(one.gradient.log_prior_precision, other.gradient.log_prior_precision), kSame);
  ASSERT_EQ(one.gradient.log_noise.sizes(), other.gradient.log_noise.sizes());
  ASSERT_EQ(one.gradient.log_temperature.sizes(), other.gradient.log_temperature.sizes());
  if (one.gradient.log_noise.numel() > 0) {
    EXPECT_LT(relative_difference(one.gradient.log_noise, other.gradient.log_noise), kSame);
  }
  if (one.gradient.log_temperature.numel() > 0) {
    EXPECT_LT(relative_difference(one.gradient.log_temperature, other.gradient.log_temperature), kSame);
  }
}

std::vector<std::pair<std::string, LaplaceOptions>> all_options() {
  using Form = CurvatureOptions::DenseForm;
  std::vector<std::pair<std::string, LaplaceOptions>> cases;
  for (const Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal})
    for (const CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher, CurvatureKind::mc_fisher})
      for (const bool derivatives : {false, true})
        for (const Form form : {Form::matrix, Form::rows}) {
          if (form == Form::rows && structure != Structure::full && structure != Structure::block) continue;
          LaplaceOptions options;
          options.curvature.structure = structure;
          options.curvature.kind = kind;
          options.curvature.root_derivatives = derivatives;
          options.curvature.likelihood_gradient = derivatives;
          options.curvature.dense_form = form;
          options.curvature.batch_size = 2;
          cases.emplace_back("structure " + std::to_string(static_cast<int>(structure)) + ", kind " +
                                 std::to_string(static_cast<int>(kind)) + ", form " +
                                 std::to_string(static_cast<int>(form)) + (derivatives ? ", derivatives" : ""),
                             options);
        }
  for (const bool derivatives : {false, true}) {
    LaplaceOptions estimated;
    estimated.curvature.structure = Structure::full;
    estimated.curvature.root_derivatives = derivatives;
    estimated.slq = SlqOptions{3, 6, Structure::kronecker, 1};
    cases.emplace_back(std::string("Lanczos quadrature") + (derivatives ? ", derivatives" : ""), estimated);
  }
  return cases;
}

TEST(SharedCurvature, EveryStructureAndLikelihoodGivesTheEvidenceOfOneProcess) {
  const auto options = all_options();
  std::vector<std::vector<Result>> alone;
  for (const SmallProblem& problem : small_problems()) {
    alone.emplace_back();
    for (const auto& [name, one] : options) alone.back().push_back(evaluate(problem, one, nullptr));
  }
  for (const int64_t count : {2, 3})
    run_ranks(count, [&](Communicator& ranks) {
      const std::vector<SmallProblem> problems = small_problems();  // networks of its own
      for (size_t p = 0; p < problems.size(); ++p)
        for (size_t o = 0; o < options.size(); ++o) {
          SCOPED_TRACE(problems[p].name + ", " + options[o].first + ", ranks " + std::to_string(count));
          const Result mine = evaluate(problems[p], options[o].second, &ranks);
          expect_same(mine.here, alone[p][o].here);
          expect_same(mine.elsewhere, alone[p][o].elsewhere);
        }
    });
}

TEST(SharedCurvature, AnErrorOfOneRankIsThatOfAll) {
  run_ranks(2, [](Communicator& ranks) {
    SmallProblem problem = small_problems()[0];
    // The outputs of the last example alone overflow, and it is rank 1's.
    at::Tensor inputs = at::zeros_like(problem.data.inputs());
    inputs[8][0] = 5;
    problem.data = Dataset(inputs, problem.data.targets());
    at::Tensor theta = at::ones({problem.network.layout().total()}, at::kDouble);
    theta.narrow(0, problem.network.layout()[1].offset, 4).zero_();
    theta.narrow(0, problem.network.layout()[2].offset, 8).fill_(1e308);
    problem.network.set_flat_parameters(theta);
    testing::expect_error(ErrorKind::numerical, {"rank 1", "example 8"}, [&] { evaluate(problem, {}, &ranks); });
  });
}

TEST(SharedCurvature, MoreRanksThanExamplesAreRefused) {
  run_ranks(3, [](Communicator& ranks) {
    SmallProblem problem = small_problems()[0];
    const Batch two = problem.data.slice(0, 2);
    problem.data = Dataset(two.inputs, two.targets);
    testing::expect_error(ErrorKind::usage, {"2 examples", "3 ranks"}, [&] { evaluate(problem, {}, &ranks); });
  });
}

TEST(SharedCurvature, DecompositionsAreSharedByCostAndComeBackToAll) {
  EXPECT_EQ(share_by_cost({1, 5, 2, 2}, 2), (std::vector<int64_t>{1, 0, 1, 1}));
  EXPECT_EQ(share_by_cost({1, 1}, 3), (std::vector<int64_t>{0, 1}));
  std::vector<at::Tensor> matrices;
  for (const int64_t n : {3, 400, 320, 10}) {
    const at::Tensor root = testing::seeded({n, n}, static_cast<uint64_t>(n));
    matrices.push_back(root.mm(root.t()));
  }
  const std::vector<SymmetricEigen> expected = symmetric_eigen(matrices, true);
  run_ranks(2, [&](Communicator& ranks) {
    for (const bool vectors : {true, false}) {
      const std::vector<SymmetricEigen> found = share_decompositions(ranks)(matrices, vectors);
      for (size_t i = 0; i < matrices.size(); ++i) {
        EXPECT_LT(relative_difference(found[i].values, expected[i].values), kSame);
        ASSERT_EQ(found[i].vectors.defined(), vectors);
        if (!vectors) continue;
        const at::Tensor rebuilt = (found[i].vectors * found[i].values).mm(found[i].vectors.t());
        EXPECT_LT(relative_difference(rebuilt, matrices[i]), kSame);
      }
    }
  });
}

}  // namespace
}  // namespace ockham
