#include "ockham/curvature/plan.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/error.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

CurvaturePlan plan_for(const testing::ZooNetwork& zoo, const CurvatureOptions& options, int64_t derivatives = 0) {
  const Observation observation = observe_forward(zoo.network, zoo.inputs);
  return plan_curvature({zoo.network, observation, zoo.inputs.size(0), 3, 3, derivatives}, options);
}

testing::ZooNetwork named(const std::string& name) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    if (zoo.name == name) return zoo;
  }
  throw Error(ErrorKind::usage, "no such network in the zoo: " + name);
}

TEST(PlanCurvature, RefusesWhatDoesNotFitAndSaysWhatWould) {
  CurvatureOptions options;
  options.structure = Structure::full;
  options.memory_budget = 3000;
  try {
    plan_for(named("addmm"), options);
    FAIL() << "was not refused";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(text.find("bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("diag"), std::string::npos) << text;
  }
  options.structure = Structure::diagonal;
  EXPECT_NO_THROW(plan_for(named("addmm"), options));
}

// With nearly as many rows as weights, the rows and their Gram matrices take more memory than the matrix.
TEST(PlanCurvature, TakesTheMatrixWhereRowsDoNotFit) {
  const testing::ZooNetwork zoo = named("addmm");
  const Observation observation = observe_forward(zoo.network, zoo.inputs);
  const int64_t weights = zoo.network.layout().total();
  const PlanInput input{zoo.network, observation, weights - 1, 1, 3, 0};
  CurvatureOptions options;
  options.structure = Structure::full;
  options.memory_budget = int64_t{1} << 30;
  const int64_t by_rows = plan_curvature(input, options).bytes;
  options.memory_budget = by_rows - 1;
  const int64_t as_matrix = plan_curvature(input, options).bytes;
  EXPECT_LT(as_matrix, by_rows);
  options.memory_budget = as_matrix - 1;
  EXPECT_THROW(plan_curvature(input, options), Error);
}

TEST(PlanCurvature, ABiasSharesItsLayersFactor) {
  const CurvaturePlan plan = plan_for(named("addmm"), {});
  EXPECT_EQ(plan.accumulators.size(), 2u);  // two weights, each with its bias
  EXPECT_TRUE(plan.messages.empty());
}

TEST(PlanCurvature, KeepsTheJacobianOnlyWhereRootHyperparametersMoveAndItFits) {
  CurvatureOptions options;
  options.structure = Structure::full;
  EXPECT_FALSE(plan_for(named("addmm"), options).keep_jacobian);
  EXPECT_TRUE(plan_for(named("addmm"), options, 1).keep_jacobian);
  options.kind = CurvatureKind::mc_fisher;
  EXPECT_FALSE(plan_for(named("addmm"), options, 1).keep_jacobian);
  options.kind = CurvatureKind::ggn;
  options.structure = Structure::kronecker;
  EXPECT_FALSE(plan_for(named("addmm"), options, 1).keep_jacobian);
}

TEST(PlanCurvature, NamesWhatHasNoKroneckerForm) {
  for (const auto& [network, parameter] :
       {std::pair{"tied_embedding", "'e'"}, std::pair{"unused", "'nothing'"}, std::pair{"divided", "'d'"}}) {
    const CurvaturePlan plan = plan_for(named(network), {});
    ASSERT_EQ(plan.messages.size(), 1u) << network;
    EXPECT_NE(plan.messages[0].find(parameter), std::string::npos) << plan.messages[0];
  }
}

}  // namespace
}  // namespace ockham
