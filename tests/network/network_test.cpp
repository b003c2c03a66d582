#include "ockham/network/network.h"

#include <ATen/ATen.h>

#include <limits>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

at::Tensor weight(std::vector<int64_t> shape, at::ScalarType type = at::kDouble) {
  return at::randn(shape, at::kDouble).to(type).set_requires_grad(true);
}

const Network::Forward identity = [](const at::Tensor& x) { return x; };

TEST(Network, LaysOutParametersInOrder) {
  const at::Tensor a = weight({2, 3}), b = weight({4});
  const Network network({{"a", a}, {"b", b}}, identity);
  EXPECT_EQ(network.layout().total(), 10);
  EXPECT_EQ(network.layout()[1].offset, 6);
  EXPECT_EQ(network.layout().index_of("b"), 1u);
  EXPECT_TRUE(network.flat_parameters().equal(at::cat({a.detach().flatten(), b.detach()})));
  expect_error(ErrorKind::usage, {"'c'", "a, b"}, [&] { network.layout().index_of("c"); });
}

TEST(Network, WritesParametersBackInPlaceAndInTheirOwnType) {
  const at::Tensor a = weight({2, 2}, at::kFloat);
  const Network network({{"a", a}}, identity);
  const Network copy = network;
  copy.set_flat_parameters(at::tensor({1.0, 2.0, 3.0, 0.1}, at::kDouble));
  EXPECT_EQ(network.dtype(), at::kFloat);
  EXPECT_FLOAT_EQ(a.detach()[1][1].item<float>(), 0.1f);
  EXPECT_TRUE(a.requires_grad() && a.is_leaf());
  expect_error(ErrorKind::usage, {"4 weights", "[3]"}, [&] { network.set_flat_parameters(at::zeros({3})); });
}

TEST(Network, FrozenParametersAreNoPartAndTiedOnesCountOnce) {
  const at::Tensor a = weight({2}), frozen = at::ones({5}, at::kDouble);
  const Network network({{"frozen", frozen}, {"a", a}, {"again", a}}, identity);
  EXPECT_EQ(network.layout().count(), 1u);
  EXPECT_EQ(network.layout()[0].name, "a");
  expect_error(ErrorKind::data, {"frozen"}, [&] { Network({{"frozen", frozen}}, identity); });
  expect_error(ErrorKind::data, {"no parameters"}, [&] { Network({}, identity); });
}

TEST(Network, RefusesWeightsThatAreNotFiniteByName) {
  at::Tensor bad = at::zeros({3}, at::kDouble);
  bad[1] = std::numeric_limits<double>::quiet_NaN();
  bad.set_requires_grad(true);
  expect_error(ErrorKind::data, {"'layer.bias'", "not finite"}, [&] {
    Network({{"a", weight({2})}, {"layer.bias", bad}}, identity);
  });
}

TEST(Network, RefusesMixedTypes) {
  expect_error(ErrorKind::data, {"'b'", "'a'", "same type"}, [] {
    Network({{"a", weight({2})}, {"b", weight({2}, at::kFloat)}}, identity);
  });
}

TEST(Network, SaysInOneSentenceWhyAForwardPassFailed) {
  const at::Tensor a = weight({3, 4});
  const Network network({{"a", a}}, [a](const at::Tensor& x) { return at::linear(x, a); });
  expect_error(ErrorKind::data, {"[2, 5]", "cannot be multiplied"}, [&] {
    network.forward(at::zeros({2, 5}, at::kDouble));
  });
}

}  // namespace
}  // namespace ockham
