#include "ockham/observe/plain_mlp.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <thread>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;

at::Tensor draw(std::vector<int64_t> shape, uint64_t key, at::ScalarType type = at::kDouble) {
  return at::randn(shape, random_stream({key}), at::kDouble).to(type);
}

/// Outputs, gradients at layer outputs and gradients of the parameters against autograd.
void expect_as_autograd(const Network& network, const at::Tensor& inputs, double tolerance) {
  std::optional<PlainMlp> mlp = PlainMlp::recognise(network, inputs);
  ASSERT_TRUE(mlp.has_value());
  const at::Tensor outputs = network.forward(inputs);
  const at::Tensor column = draw(outputs.sizes().vec(), 7, inputs.scalar_type());
  const auto expected = torch::autograd::grad({outputs}, network.parameters(), {column});
  for (int time = 0; time < 2; ++time) {  // buffers are used again
    EXPECT_LT(relative_difference(mlp->forward(inputs), outputs.detach()), tolerance);
    mlp->backward(column);
    for (const at::Tensor& parameter : network.parameters()) parameter.mutable_grad().reset();
    mlp->add_parameter_gradients();
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT(relative_difference(network.parameters()[i].grad(), expected[i]), tolerance);
    }
    mlp->add_parameter_gradients();
    EXPECT_LT(relative_difference(network.parameters()[0].grad(), 2 * expected[0]), tolerance);
  }
}

TEST(PlainMlp, EqualsAutogradForEveryActivation) {
  for (const char* activation :
       {"relu", "tanh", "gelu", "silu", "sigmoid", "elu", "selu", "softplus", "leaky_relu", "identity"}) {
    SCOPED_TRACE(activation);
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
      const std::string spec = std::string("mlp:7-5,act=") + activation;
      expect_as_autograd(make_architecture(spec, {4}, 3, type, 1), draw({11, 4}, 2, type),
                         type == at::kDouble ? 1e-13 : 1e-5);
    }
  }
  expect_as_autograd(make_architecture("linear", {4}, 3, at::kDouble, 1), draw({11, 4}, 2), 1e-13);
}

TEST(PlainMlp, TakesBatchesOfChangingSizeAndWeightsThatMove) {
  const Network network = make_architecture("mlp:6,act=tanh", {4}, 2, at::kDouble, 1);
  PlainMlp mlp = *PlainMlp::recognise(network, draw({9, 4}, 2));
  for (const int64_t examples : {9, 4, 12}) {
    network.set_flat_parameters(draw({network.layout().total()}, static_cast<uint64_t>(examples)));
    const at::Tensor inputs = draw({examples, 4}, 3);
    EXPECT_TRUE(at::allclose(mlp.forward(inputs), network.forward(inputs), 1e-13, 1e-13));
  }
}

struct Weights {
  at::Tensor w = draw({5, 4}, 1).requires_grad_(), b = draw({5}, 2).requires_grad_();
  at::Tensor v = draw({2, 5}, 3).requires_grad_(), c = draw({2}, 4).requires_grad_();
  at::Tensor square = draw({4, 4}, 5).requires_grad_(), side = draw({4}, 6).requires_grad_();

  Network network(const Network::Forward& forward) const {
    return Network({{"w", w}, {"b", b}, {"v", v}, {"c", c}}, forward);
  }
};

TEST(PlainMlp, RecognisesAddmmAndParametersInAnyOrder) {
  const Weights given;
  const auto forward = [given](const at::Tensor& x) {
    return at::addmm(given.c, at::tanh(at::addmm(given.b, x.view({-1, 4}), given.w.t())), given.v.t());
  };
  expect_as_autograd(given.network(forward), draw({8, 4}, 9), 1e-13);
  expect_as_autograd(Network({{"c", given.c}, {"b", given.b}, {"v", given.v}, {"w", given.w}}, forward),
                     draw({8, 4}, 9), 1e-13);
}

TEST(PlainMlp, LeavesEverythingElseToAutograd) {
  const Weights given;
  const auto hidden = [given](const at::Tensor& x) { return at::linear(x, given.w, given.b); };
  const auto output = [given](const at::Tensor& x) { return at::linear(x, given.v, given.c); };
  const std::vector<std::pair<const char*, Network::Forward>> others = {
      {"relu6", [=](const at::Tensor& x) { return output(at::relu6(hidden(x))); }},
      {"in place", [=](const at::Tensor& x) { return output(hidden(x).relu_()); }},
      {"clamped", [=](const at::Tensor& x) { return output(hidden(x).clamp(-1e6, 1e6)); }},
      {"another slope", [=](const at::Tensor& x) { return output(at::leaky_relu(hidden(x), 0.2)); }},
      {"gelu by tanh", [=](const at::Tensor& x) { return output(at::gelu(hidden(x), "tanh")); }},
      {"two activations", [=](const at::Tensor& x) { return output(hidden(x).tanh().relu()); }},
      {"activation at the end", [=](const at::Tensor& x) { return output(hidden(x).tanh()).tanh(); }},
      {"activation first", [=](const at::Tensor& x) { return output(hidden(x.tanh()).tanh()); }},
      {"scaled", [=](const at::Tensor& x) { return output(hidden(x).tanh()) * 2; }},
      {"scaled in place", [=](const at::Tensor& x) { return output(hidden(x).tanh()).mul_(2); }},
      {"around", [=](const at::Tensor& x) { return output(hidden(x).tanh()) + x.narrow(1, 0, 2); }},
      {"one without a bias", [=](const at::Tensor& x) { return at::linear(hidden(x).tanh(), given.v) + given.c; }},
      {"scaled weight", [=](const at::Tensor& x) { return output(at::linear(x, given.w * 2, given.b).tanh()); }},
      {"unused", [=](const at::Tensor& x) { return hidden(x); }},
      {"twice", [=](const at::Tensor& x) { return output(hidden(x).tanh()) + output(hidden(x).tanh()); }},
      {"in rows", [=](const at::Tensor& x) {
         return at::cat({output(hidden(x.narrow(0, 0, 3)).tanh()), output(hidden(x.narrow(0, 3, 5)).tanh())});
       }}};
  for (const auto& [name, forward] : others) {
    EXPECT_FALSE(PlainMlp::recognise(given.network(forward), draw({8, 4}, 9)).has_value()) << name;
  }
  const Network tied({{"w", given.square}, {"b", given.side}}, [given](const at::Tensor& x) {
    return at::linear(at::linear(x, given.square, given.side).tanh(), given.square, given.side);
  });
  EXPECT_FALSE(PlainMlp::recognise(tied, draw({8, 4}, 9)).has_value());
  const Network convolutions = make_architecture("cnn:width=2,depth=1", {1, 8, 8}, 2, at::kDouble, 1);
  EXPECT_FALSE(PlainMlp::recognise(convolutions, draw({3, 1, 8, 8}, 9)).has_value());
}

TEST(HandmadePasses, AreForTheirNetworkThreadAndLifeOnly) {
  const Network network = make_architecture("mlp:5", {4}, 1, at::kFloat, 1);
  const Network other = make_architecture("mlp:5", {4}, 1, at::kFloat, 1);
  const at::Tensor inputs = draw({8, 4}, 1, at::kFloat);
  EXPECT_EQ(HandmadePasses::of(network), nullptr);
  {
    const HandmadePasses passes(network, inputs);
    EXPECT_NE(HandmadePasses::of(network), nullptr);
    EXPECT_EQ(HandmadePasses::of(other), nullptr);
    std::thread([&] { EXPECT_EQ(HandmadePasses::of(network), nullptr); }).join();
    {
      const HandmadePasses inner(other, inputs);
      EXPECT_NE(HandmadePasses::of(other), nullptr);
      EXPECT_EQ(HandmadePasses::of(network), nullptr);
    }
    EXPECT_NE(HandmadePasses::of(network), nullptr);
  }
  EXPECT_EQ(HandmadePasses::of(network), nullptr);
  const at::Tensor factor = draw({}, 1).requires_grad_();
  const Network scalar({{"factor", factor}}, [factor](const at::Tensor& x) { return x * factor; });
  const HandmadePasses nothing(scalar, draw({8, 4}, 1));
  EXPECT_EQ(HandmadePasses::of(scalar), nullptr);
  const Network large = make_architecture("mlp:300-300", {4}, 1, at::kFloat, 1);
  const HandmadePasses none(large, inputs);
  EXPECT_EQ(HandmadePasses::of(large), nullptr);
}

}  // namespace
}  // namespace ockham
