// A ResNet-20 on small images against brute force: gradients of one example at a time, factors by their formulas.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>

#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/network/fixup_resnet.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;

constexpr int64_t kExamples = 3, kClasses = 4;

struct Problem {
  Network network = make_fixup_resnet({20, 4}, {3, 8, 8}, kClasses, at::kDouble, 1);
  at::Tensor images = at::randn({kExamples, 3, 8, 8}, random_stream({2}), at::kDouble);
  at::Tensor labels = at::tensor({2, 0, 3}, at::kLong);

  Problem() {  // away from the start, where half of the layers are zero
    const at::Tensor theta = network.flat_parameters();
    network.set_flat_parameters(theta + 0.2 * at::randn(theta.sizes(), random_stream({3}), at::kDouble));
  }
  CurvatureEstimate estimate(const CurvatureOptions& options) const {
    return estimate_curvature(network, Categorical{}, Dataset(images, labels),
                              default_likelihood_hyperparameters(Categorical{}, kClasses), options);
  }
};

TEST(ResNet20Curvature, DiagonalEmpiricalFisherIsTheSumOfSquaredGradients) {
  const Problem problem;
  at::Tensor expected = at::zeros({problem.network.layout().total()}, at::kDouble);
  for (int64_t n = 0; n < kExamples; ++n) {
    const at::Tensor loss =
        at::cross_entropy_loss(problem.network.forward(problem.images.narrow(0, n, 1)), problem.labels.narrow(0, n, 1));
    std::vector<at::Tensor> flat;
    for (const at::Tensor& gradient : torch::autograd::grad({loss}, problem.network.parameters()))
      flat.push_back(gradient.reshape(-1));
    expected += at::cat(flat).square();
  }
  CurvatureOptions options;
  options.structure = Structure::diagonal;
  options.kind = CurvatureKind::empirical_fisher;
  options.batch_size = 2;
  const Curvature curvature = problem.estimate(options).curvature;
  ASSERT_EQ(curvature.blocks.size(), 1u);
  EXPECT_LT(relative_difference(std::get<DiagonalBlock>(curvature.blocks[0]).diagonal, expected), 1e-10);
}

/// The same network written out here, its convolutions as products of weights with windows, whose results are kept so
/// that gradients at them can be asked for.
struct Written {
  std::map<std::string, at::Tensor> windows;   // [in·9, S], by the weight's name
  std::map<std::string, at::Tensor> products;  // [out, S]
  at::Tensor logits;

  Written(const Network& network, const at::Tensor& image) {
    const auto parameter = [&](const std::string& name) {
      return network.parameters()[network.layout().index_of(name)];
    };
    const auto convolve = [&](const at::Tensor& x, const std::string& name, int64_t stride) {
      const at::Tensor weight = parameter(name);
      windows[name] = at::im2col(x, {3, 3}, {1, 1}, {1, 1}, {stride, stride})[0];
      products[name] = weight.flatten(1).mm(windows[name]);
      const int64_t side = x.size(2) / stride;
      return products[name].reshape({1, -1, side, side});
    };
    at::Tensor x = (convolve(image, "conv.weight", 1) + parameter("bias1")).relu();
    for (int stage = 1; stage <= 3; ++stage) {
      for (int block = 1; block <= 3; ++block) {
        const std::string at = "stage" + std::to_string(stage) + ".block" + std::to_string(block) + ".";
        const int64_t stride = stage > 1 && block == 1 ? 2 : 1;
        const at::Tensor shifted = x + parameter(at + "bias1a");
        at::Tensor shortcut = x;
        if (stride == 2) {
          shortcut = at::avg_pool2d(shifted, {1, 1}, {2, 2});
          shortcut = at::cat({shortcut, at::zeros_like(shortcut)}, 1);
        }
        at::Tensor y = (convolve(shifted, at + "conv1.weight", stride) + parameter(at + "bias1b")).relu();
        y = convolve(y + parameter(at + "bias2a"), at + "conv2.weight", 1);
        x = (y * parameter(at + "scale") + parameter(at + "bias2b") + shortcut).relu();
      }
    }
    const at::Tensor features = x.mean({2, 3}) + parameter("bias2");
    windows["output.weight"] = features.t();
    products["output.weight"] = features.mm(parameter("output.weight").t()).t();
    logits = products["output.weight"].t() + parameter("output.bias");
  }
};

/// Columns of a root of diag(p) - ppᵀ.
at::Tensor root_of(const at::Tensor& logits) {
  const at::Tensor p = at::softmax(logits.detach().reshape(-1), 0);
  return at::diag(p.sqrt()) - at::outer(p, p.sqrt());
}

TEST(ResNet20Curvature, KroneckerFactorsFollowTheirFormulas) {
  const Problem problem;
  CurvatureOptions options;
  options.batch_size = 2;
  const CurvatureEstimate estimate = problem.estimate(options);
  std::map<std::string, at::Tensor> inputs, gradients;  // A [in·9, in·9], B [out, out]
  for (int64_t n = 0; n < kExamples; ++n) {
    const Written written(problem.network, problem.images.narrow(0, n, 1));
    ASSERT_LT(relative_difference(written.logits, problem.network.forward(problem.images.narrow(0, n, 1))), 1e-12);
    const at::Tensor root = root_of(written.logits);
    for (const auto& [name, windows] : written.windows) {
      const at::Tensor outer = windows.mm(windows.t()).detach() / kExamples;
      inputs[name] = inputs.count(name) > 0 ? inputs[name] + outer : outer;
    }
    for (int64_t r = 0; r < root.size(1); ++r) {
      for (const auto& [name, product] : written.products) {
        const at::Tensor g = torch::autograd::grad({written.logits}, {product}, {root.select(1, r).unsqueeze(0)},
                                                   /*retain_graph=*/true)[0];
        const at::Tensor outer = g.mm(g.t()) / static_cast<double>(g.size(1));
        gradients[name] = gradients.count(name) > 0 ? gradients[name] + outer : outer;
      }
    }
  }
  size_t found = 0;
  for (const CurvatureBlock& block : estimate.curvature.blocks) {
    if (const auto* dense = std::get_if<DenseBlock>(&block)) {  // Fixup's scalars, and the class layer's bias
      for (size_t index : dense->parameters)
        EXPECT_TRUE(problem.network.layout()[index].size == 1 || problem.network.layout()[index].name == "output.bias");
      continue;
    }
    const auto& kronecker = std::get<KroneckerBlock>(block);
    const std::string& name = problem.network.layout()[kronecker.parameter].name;
    SCOPED_TRACE(name);
    ASSERT_EQ(inputs.count(name), 1u);
    EXPECT_LT(relative_difference(kronecker.right[0], inputs[name]), 1e-10);
    EXPECT_LT(relative_difference(kronecker.left[0], gradients[name]), 1e-10);
    ++found;
  }
  EXPECT_EQ(found, 20u);  // 19 convolutions and the class layer
}

TEST(ResNet20Curvature, ScalarsAreExactBlocks) {
  const Problem problem;
  const CurvatureEstimate estimate = problem.estimate(CurvatureOptions());
  at::Tensor outputs = problem.network.forward(problem.images);
  for (const CurvatureBlock& block : estimate.curvature.blocks) {
    const auto* dense = std::get_if<DenseBlock>(&block);
    if (dense == nullptr || problem.network.layout()[dense->parameters[0]].size != 1) continue;
    double expected = 0;
    for (int64_t n = 0; n < kExamples; ++n) {
      const at::Tensor root = root_of(outputs[n]);
      for (int64_t r = 0; r < root.size(1); ++r) {
        const double g = torch::autograd::grad({outputs[n]}, {problem.network.parameters()[dense->parameters[0]]},
                                               {root.select(1, r)}, /*retain_graph=*/true)[0]
                             .item<double>();
        expected += g * g;
      }
    }
    ASSERT_EQ(dense->parameters.size(), 1u);
    const double scale = dense->factor;
    const double value = dense->matrix.defined() ? dense->matrix.item<double>() * scale
                                                 : scale * dense->rows.square().sum().item<double>();
    EXPECT_NEAR(value, expected, 1e-10 * (1e-6 + expected)) << problem.network.layout()[dense->parameters[0]].name;
  }
}

}  // namespace
}  // namespace ockham
