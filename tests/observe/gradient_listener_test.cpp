#include "ockham/observe/gradient_listener.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "ockham/base/random.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

TEST(GradientListener, HandsOnTheGradientsThatAreHeldOtherwise) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    for (uint64_t column = 0; column < 2; ++column) {
      const at::Tensor v =
          at::randn(observation.outputs().sizes(), random_stream({column}), observation.outputs().options());
      const std::vector<at::Tensor> held = observation.backward(v);
      std::vector<int> times(held.size());
      observation.backward(v, [&](size_t call, const at::Tensor& gradient) {
        ++times[call];
        EXPECT_TRUE(at::allclose(gradient, held[call], 1e-12, 1e-14)) << observation.calls()[call].operator_name;
      });
      for (size_t call = 0; call < held.size(); ++call) EXPECT_EQ(times[call], held[call].defined() ? 1 : 0);
    }
  }
}

/// Two branches, each ending in a layer with nothing below it, and a parameter that the outputs do not need.
TEST(GradientListener, BranchesHaveEndsOfTheirOwn) {
  const auto weight = [](uint64_t seed) {
    return at::randn({3, 3}, random_stream({seed}), at::kDouble).requires_grad_();
  };
  const at::Tensor a = weight(1), b = weight(2), c = weight(3);
  const Network network({{"a", a}, {"b", b}, {"c", c}}, [=](const at::Tensor& x) {
    at::linear(x, c);
    return at::linear(at::linear(x, a).tanh(), b) + at::linear(x.sin(), a);
  });
  const Observation observation = observe_forward(network, at::randn({4, 3}, random_stream({4}), at::kDouble));
  const at::Tensor v = at::ones_like(observation.outputs());
  const std::vector<at::Tensor> held = observation.backward(v);
  int heard = 0, expected = 0;
  for (const at::Tensor& gradient : held) expected += gradient.defined() ? 1 : 0;
  observation.backward(v, [&](size_t call, const at::Tensor& gradient) {
    ++heard;
    EXPECT_TRUE(at::allclose(gradient, held[call]));
  });
  EXPECT_EQ(heard, expected);
  EXPECT_EQ(heard, 3);
}

TEST(GradientListener, TheGraphMayOutliveIt) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const Network network({{"w", weight}},
                        [weight](const at::Tensor& x) { return at::linear(at::linear(x, weight).tanh(), weight); });
  at::Tensor outputs;
  {
    const Observation observation = observe_forward(network, at::randn({4, 3}, at::kDouble));
    observation.backward(at::ones_like(observation.outputs()), [](size_t, const at::Tensor&) {});
    outputs = observation.outputs();
  }
  EXPECT_TRUE(torch::autograd::grad({outputs.sum()}, {weight})[0].defined());
}

TEST(GradientListener, AnErrorOfTheReceiverGoesThrough) {
  const testing::ZooNetwork zoo = testing::layer_zoo().front();
  const Observation observation = observe_forward(zoo.network, zoo.inputs);
  const at::Tensor v = at::ones_like(observation.outputs());
  EXPECT_THROW(observation.backward(v, [](size_t, const at::Tensor&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  int heard = 0;
  observation.backward(v, [&](size_t, const at::Tensor&) { ++heard; });
  EXPECT_GT(heard, 0);
}

}  // namespace
}  // namespace ockham
