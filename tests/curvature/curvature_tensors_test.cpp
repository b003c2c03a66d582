#include "ockham/curvature/curvature_tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "ockham/evidence/laplace_fit.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;
using Tensors = std::map<std::string, at::Tensor>;

std::vector<int64_t> sizes_of(const ParameterLayout& layout) {
  std::vector<int64_t> sizes;
  for (const ParameterSlot& slot : layout.slots()) sizes.push_back(slot.size);
  return sizes;
}

struct Case {
  ParameterLayout layout;
  Curvature curvature;
};

Case make_case(Structure structure, CurvatureOptions::DenseForm form = CurvatureOptions::DenseForm::automatic) {
  const testing::SmallProblem problem = testing::small_problems()[2];
  const Prior prior = Prior::layerwise(problem.network.layout());
  LaplaceOptions options;
  options.curvature.structure = structure;
  options.curvature.dense_form = form;
  const LaplaceFit fit =
      fit_laplace({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data, options);
  return {problem.network.layout(), fit.curvature.curvature()};
}

TEST(CurvatureTensors, ComeBackExactlyInEveryStructure) {
  using Form = CurvatureOptions::DenseForm;
  for (const Case& given :
       {make_case(Structure::full, Form::matrix), make_case(Structure::full, Form::rows), make_case(Structure::block),
        make_case(Structure::kronecker), make_case(Structure::diagonal)}) {
    const Tensors tensors = curvature_to_tensors(given.curvature);
    const Curvature back = curvature_from_tensors(tensors, given.layout);
    EXPECT_TRUE(dense(back, sizes_of(given.layout)).equal(dense(given.curvature, sizes_of(given.layout))));
    const Tensors again = curvature_to_tensors(back);
    ASSERT_EQ(again.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) EXPECT_TRUE(again.at(name).equal(tensor)) << name;
  }
}

TEST(CurvatureTensors, ABiasSharesTheFactorOfItsWeightAgain) {
  const Case given = make_case(Structure::kronecker);
  const Curvature back = curvature_from_tensors(curvature_to_tensors(given.curvature), given.layout);
  int shared = 0;
  for (const CurvatureBlock& block : back.blocks) {
    const auto* bias = std::get_if<DenseBlock>(&block);
    if (bias == nullptr) continue;
    for (const CurvatureBlock& other : back.blocks) {
      const auto* weight = std::get_if<KroneckerBlock>(&other);
      shared += weight != nullptr && weight->left.data_ptr() == bias->matrix.data_ptr();
    }
  }
  EXPECT_EQ(shared, 2);
}

TEST(CurvatureTensors, GroupedAndDiagonalFactorsAreKept) {
  const ParameterLayout layout({{"weight", {4, 3}, 0, 0}});
  KroneckerBlock block;
  block.left = at::rand({2, 2, 2}, at::kDouble);
  block.right = at::rand({2, 3}, at::kDouble);
  block.gradient_left = false;
  const Curvature back = curvature_from_tensors(curvature_to_tensors({{block}}), layout);
  const auto& read = std::get<KroneckerBlock>(back.blocks.at(0));
  EXPECT_TRUE(read.left.equal(block.left));
  EXPECT_TRUE(read.right.equal(block.right));
  EXPECT_FALSE(read.gradient_left);
}

TEST(CurvatureTensors, RefusesWhatDoesNotFit) {
  const Case kronecker = make_case(Structure::kronecker);
  const Case rows = make_case(Structure::full, CurvatureOptions::DenseForm::rows);
  const auto refused = [](const Case& given, const std::vector<std::string>& mentioned,
                          const std::function<void(Tensors&)>& spoil) {
    Tensors tensors = curvature_to_tensors(given.curvature);
    spoil(tensors);
    expect_error(ErrorKind::data, mentioned, [&] { curvature_from_tensors(tensors, given.layout); });
  };
  refused(kronecker, {"0.right", "missing"}, [](Tensors& t) { t.erase("0.right"); });
  refused(kronecker, {"0.parameters", "missing"}, [](Tensors& t) { t.erase("0.parameters"); });
  refused(kronecker, {"0.left", "Double"}, [](Tensors& t) { t["0.left"] = t["0.left"].to(at::kFloat); });
  refused(kronecker, {"0.left", "square"}, [](Tensors& t) { t["0.left"] = at::ones({1, 4, 2}, at::kDouble); });
  refused(kronecker, {"0.right", "shape"}, [](Tensors& t) { t["0.right"] = at::ones({2, 3, 3}, at::kDouble); });
  refused(kronecker, {"0.left", "weights"}, [](Tensors& t) { t["0.left"] = at::ones({1, 5, 5}, at::kDouble); });
  refused(kronecker, {"0.left", "not finite"}, [](Tensors& t) {
    t["0.left"] = at::full({1, 4, 4}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  });
  refused(kronecker, {"0.parameters", "9"}, [](Tensors& t) { t["0.parameters"] = at::full({1}, 9, at::kLong); });
  refused(kronecker, {"0.parameters", "-1"}, [](Tensors& t) { t["0.parameters"] = at::full({1}, -1, at::kLong); });
  refused(kronecker, {"0.surplus", "not known"}, [](Tensors& t) { t["0.surplus"] = at::zeros({1}); });
  refused(kronecker, {"surplus", "no block"}, [](Tensors& t) { t["surplus"] = at::zeros({1}); });
  refused(kronecker, {"block 4", "missing"}, [](Tensors& t) { t["7.diagonal"] = at::zeros({1}, at::kDouble); });
  refused(kronecker, {"0 blocks", "hidden.weight"}, [](Tensors& t) { t.clear(); });
  refused(rows, {"0.rows", "shape"}, [](Tensors& t) { t["0.rows"] = at::zeros({3, 3}, at::kDouble); });
  refused(rows, {"0.row_factors.0.left", "fit"}, [](Tensors& t) {
    t["0.row_factors.0.left"] = at::zeros({18, 7}, at::kDouble);
  });
  refused(rows, {"0.row_factors.0.left", "fit"}, [](Tensors& t) {
    t["0.row_factors.0.left"] = at::zeros({5, 4}, at::kDouble);
  });
}

}  // namespace
}  // namespace ockham
