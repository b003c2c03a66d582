// Kronecker factors against the rules of docs/mathematics.md, written out position by position.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>

#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "tests/support/dense_reference.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_mismatch;

constexpr int64_t kExamples = 6, kOutputs = 3;
constexpr double kExact = 1e-11;

// One layer inside a network: `layer` maps inputs to the layer's outputs (one per use), `head` maps these to [N, 3].
struct Case {
  std::vector<std::pair<std::string, at::Tensor>> parameters;  // the weight first
  at::Tensor inputs;
  std::function<std::vector<at::Tensor>(const at::Tensor&)> layer;  // outputs of each use, in order
  std::function<at::Tensor(const std::vector<at::Tensor>&)> head;
  std::function<at::Tensor(const at::Tensor&, const std::vector<at::Tensor>&)> patches;  // a [N, S, Da] over all uses
  std::function<at::Tensor(const std::vector<at::Tensor>&)> gradient_rows;  // g [N, S, Dg] from output gradients
  bool gradient_left = true;
};

struct Factors {
  at::Tensor gradient, input;
};

Factors by_the_rule(const Case& layer_case, KroneckerRule rule) {
  at::AutoGradMode with_gradients(true);
  const auto outputs = layer_case.layer(layer_case.inputs);
  const at::Tensor f = layer_case.head(outputs);
  const at::Tensor a = layer_case.patches(layer_case.inputs, outputs).detach();
  const int64_t positions = a.size(1);
  Factors factors;
  for (int64_t c = 0; c < kOutputs; ++c) {  // Gaussian: the root is the identity
    at::Tensor column = at::zeros_like(f);
    column.select(1, c).fill_(1);
    const auto gradients = torch::autograd::grad({f}, outputs, {column}, true);
    const at::Tensor g = layer_case.gradient_rows(gradients);
    for (int64_t n = 0; n < kExamples; ++n) {
      at::Tensor sum;
      if (rule == KroneckerRule::expand) {
        for (int64_t s = 0; s < positions; ++s) {
          const at::Tensor outer = at::outer(g[n][s], g[n][s]) / static_cast<double>(positions);
          sum = sum.defined() ? sum + outer : outer;
        }
      } else {
        const at::Tensor total = g[n].sum(0);
        sum = at::outer(total, total);
      }
      factors.gradient = factors.gradient.defined() ? factors.gradient + sum : sum;
    }
  }
  for (int64_t n = 0; n < kExamples; ++n) {
    at::Tensor sum = at::zeros({a.size(2), a.size(2)}, at::kDouble);
    if (rule == KroneckerRule::reduce) {
      const at::Tensor mean = a[n].mean(0);
      sum = at::outer(mean, mean);
    } else {
      for (int64_t s = 0; s < positions; ++s) sum += at::outer(a[n][s], a[n][s]);
    }
    sum = sum / static_cast<double>(kExamples);
    factors.input = factors.input.defined() ? factors.input + sum : sum;
  }
  return factors;
}

void expect_rules(const Case& layer_case) {
  const Network network(layer_case.parameters,
                        [&](const at::Tensor& x) { return layer_case.head(layer_case.layer(x)); });
  const Dataset data(layer_case.inputs, at::zeros({kExamples, kOutputs}, at::kDouble));
  for (KroneckerRule rule : {KroneckerRule::expand, KroneckerRule::reduce, KroneckerRule::paper}) {
    SCOPED_TRACE(static_cast<int>(rule));
    CurvatureOptions options;
    options.kronecker_rule = rule;
    options.batch_size = 4;
    const auto estimate = estimate_curvature(network, Gaussian{}, data,
                                             default_likelihood_hyperparameters(Gaussian{}, kOutputs), options);
    const Factors expected = by_the_rule(layer_case, rule);
    bool found = false;
    for (const CurvatureBlock& block : estimate.curvature.blocks) {
      const auto* kronecker = std::get_if<KroneckerBlock>(&block);
      if (kronecker == nullptr || kronecker->parameter != 0) continue;
      found = true;
      EXPECT_EQ(kronecker->gradient_left, layer_case.gradient_left);
      at::Tensor gradient = (layer_case.gradient_left ? kronecker->left : kronecker->right)[0];
      at::Tensor input = (layer_case.gradient_left ? kronecker->right : kronecker->left)[0];
      if (input.dim() == 1) input = at::diag(input);
      EXPECT_LT(relative_mismatch(gradient, expected.gradient), kExact);
      EXPECT_LT(relative_mismatch(input, expected.input), kExact);
    }
    EXPECT_TRUE(found);
  }
}

at::Tensor normal(at::IntArrayRef shape, uint64_t key) { return at::randn(shape, random_stream({key}), at::kDouble); }

TEST(KroneckerFactors, ConvolutionInTwoDimensions) {
  const at::Tensor w = normal({3, 2, 3, 2}, 1).requires_grad_();
  Case layer_case;
  layer_case.parameters = {{"w", w}};
  layer_case.inputs = normal({kExamples, 2, 5, 6}, 2);
  layer_case.layer = [w](const at::Tensor& x) {
    return std::vector<at::Tensor>{at::conv2d(x, w, {}, {2, 1}, {1, 0}, {1, 2})};
  };
  layer_case.head = [](const std::vector<at::Tensor>& y) { return at::tanh(y[0]).mean({2, 3}); };
  layer_case.patches = [](const at::Tensor& x, const std::vector<at::Tensor>&) {
    return at::im2col(x, {3, 2}, {1, 2}, {1, 0}, {2, 1}).transpose(1, 2);
  };
  layer_case.gradient_rows = [](const std::vector<at::Tensor>& g) { return g[0].flatten(2).transpose(1, 2); };
  expect_rules(layer_case);
}

TEST(KroneckerFactors, TransposedConvolutionSwapsTheRoles) {
  const at::Tensor w = normal({2, 3, 3, 2}, 3).requires_grad_();
  Case layer_case;
  layer_case.gradient_left = false;
  layer_case.parameters = {{"w", w}};
  layer_case.inputs = normal({kExamples, 2, 3, 4}, 4);
  layer_case.layer = [w](const at::Tensor& x) {
    return std::vector<at::Tensor>{at::conv_transpose2d(x, w, {}, {2, 1}, {1, 0})};
  };
  layer_case.head = [](const std::vector<at::Tensor>& y) { return at::tanh(y[0]).mean({2, 3}); };
  layer_case.patches = [](const at::Tensor& x, const std::vector<at::Tensor>&) { return x.flatten(2).transpose(1, 2); };
  layer_case.gradient_rows = [](const std::vector<at::Tensor>& g) {
    return at::im2col(g[0], {3, 2}, {1, 1}, {1, 0}, {2, 1}).transpose(1, 2);
  };
  expect_rules(layer_case);
}

TEST(KroneckerFactors, LinearLayerOnPositions) {
  const at::Tensor w = normal({3, 4}, 5).requires_grad_();
  Case layer_case;
  layer_case.parameters = {{"w", w}};
  layer_case.inputs = normal({kExamples, 2, 3, 4}, 6);
  layer_case.layer = [w](const at::Tensor& x) { return std::vector<at::Tensor>{at::linear(x, w)}; };
  layer_case.head = [](const std::vector<at::Tensor>& y) { return at::tanh(y[0]).mean({1, 2}); };
  layer_case.patches = [](const at::Tensor& x, const std::vector<at::Tensor>&) { return x.flatten(1, 2); };
  layer_case.gradient_rows = [](const std::vector<at::Tensor>& g) { return g[0].flatten(1, 2); };
  expect_rules(layer_case);
}

TEST(KroneckerFactors, UsesOfASharedWeightAreFurtherPositions) {
  const at::Tensor w = normal({3, 3}, 7).requires_grad_();
  Case layer_case;
  layer_case.parameters = {{"w", w}};
  layer_case.inputs = normal({kExamples, 3}, 8);
  layer_case.layer = [w](const at::Tensor& x) {
    const at::Tensor first = at::linear(x, w);
    return std::vector<at::Tensor>{first, at::linear(at::tanh(first), w)};
  };
  layer_case.head = [](const std::vector<at::Tensor>& y) { return y[1]; };
  layer_case.patches = [](const at::Tensor& x, const std::vector<at::Tensor>& y) {
    return at::stack({x, at::tanh(y[0])}, 1);
  };
  layer_case.gradient_rows = [](const std::vector<at::Tensor>& g) { return at::stack({g[0], g[1]}, 1); };
  expect_rules(layer_case);
}

TEST(KroneckerFactors, EmbeddingCountsItsRows) {
  const at::Tensor w = normal({5, 3}, 9).requires_grad_();
  Case layer_case;
  layer_case.gradient_left = false;
  layer_case.parameters = {{"w", w}};
  layer_case.inputs = at::randint(0, 5, {kExamples, 4}, random_stream({10}), at::kLong);
  layer_case.layer = [w](const at::Tensor& x) { return std::vector<at::Tensor>{at::embedding(w, x)}; };
  layer_case.head = [](const std::vector<at::Tensor>& y) { return at::tanh(y[0]).sum(1); };
  layer_case.patches = [](const at::Tensor& x, const std::vector<at::Tensor>&) {
    return at::one_hot(x, 5).to(at::kDouble);
  };
  layer_case.gradient_rows = [](const std::vector<at::Tensor>& g) { return g[0]; };
  expect_rules(layer_case);
}

TEST(KroneckerFactors, EveryGroupOfAConvolutionIsAConvolutionOfItsOwn) {
  const at::Tensor w = normal({4, 1, 3}, 11).requires_grad_();
  const at::Tensor x = normal({kExamples, 2, 7}, 12);
  const auto head = [](const at::Tensor& y) { return at::tanh(y).mean(2).narrow(1, 0, kOutputs); };
  const Network grouped({{"w", w}}, [=](const at::Tensor& x) {
    return head(at::conv1d(x, w, {}, /*stride=*/1, at::IntArrayRef{0}, 1, /*groups=*/2));
  });
  const at::Tensor first = w.detach().narrow(0, 0, 2).clone().requires_grad_();
  const at::Tensor second = w.detach().narrow(0, 2, 2).clone().requires_grad_();
  const Network apart({{"a", first}, {"b", second}}, [=](const at::Tensor& x) {
    return head(at::cat({at::conv1d(x.narrow(1, 0, 1), first), at::conv1d(x.narrow(1, 1, 1), second)}, 1));
  });
  const Dataset data(x, at::zeros({kExamples, kOutputs}, at::kDouble));
  for (KroneckerRule rule : {KroneckerRule::expand, KroneckerRule::reduce, KroneckerRule::paper}) {
    CurvatureOptions options;
    options.kronecker_rule = rule;
    const auto hyperparameters = default_likelihood_hyperparameters(Gaussian{}, kOutputs);
    const auto one = estimate_curvature(grouped, Gaussian{}, data, hyperparameters, options);
    const auto two = estimate_curvature(apart, Gaussian{}, data, hyperparameters, options);
    EXPECT_LT(relative_mismatch(dense(one.curvature, {12}), dense(two.curvature, {6, 6})), kExact);
  }
}

}  // namespace
}  // namespace ockham
