#include "ockham/observe/stacked_columns.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

/// Whether columns went back together; if so, all gradients are those of one column after the other.
bool goes_together(const Network& network, const at::Tensor& inputs) {
  const Observation observation = observe_forward(network, inputs);
  std::vector<int64_t> shape = observation.outputs().sizes().vec();
  shape.insert(shape.begin(), 3);
  const at::Tensor columns = at::randn(shape, random_stream({9}), observation.outputs().options());
  std::vector<at::Tensor> together(observation.calls().size());
  const bool went = observation.backward_together(
      columns, [&](size_t call, const at::Tensor& gradients) { together[call] = gradients; });
  if (!went) return false;
  for (int64_t k = 0; k < 3; ++k) {
    const std::vector<at::Tensor> alone = observation.backward(columns[k]);
    for (size_t call = 0; call < alone.size(); ++call) {
      EXPECT_EQ(alone[call].defined(), together[call].defined());
      if (!alone[call].defined()) continue;
      EXPECT_TRUE(at::allclose(together[call][k], alone[call], 1e-10, 1e-12));
    }
  }
  return true;
}

TEST(StackedColumns, EqualSingleOnesForPlainMlps) {
  const at::Tensor inputs = at::randn({7, 5}, random_stream({1}), at::kDouble);
  for (const char* spec : {"mlp:8", "mlp:8-6-4", "mlp:8-6,act=tanh", "mlp:8-6,act=gelu", "mlp:8-6,act=silu",
                           "mlp:8-6,act=sigmoid", "mlp:8-6,act=elu", "mlp:8-6,act=softplus"}) {
    SCOPED_TRACE(spec);
    EXPECT_TRUE(goes_together(make_architecture(spec, {5}, 4, at::kDouble, 2), inputs));
  }
}

/// Whatever a network is made of: equal, or not taken.
TEST(StackedColumns, EqualOrRefusedForEveryKindOfLayer) {
  int taken = 0;
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    taken += goes_together(zoo.network, zoo.inputs) ? 1 : 0;
  }
  EXPECT_GT(taken, 0);
}

TEST(StackedColumns, ForksAndOtherLayersAreRefused) {
  const auto weight = [](uint64_t seed) {
    return at::randn({5, 5}, random_stream({seed}), at::kDouble).requires_grad_();
  };
  const at::Tensor a = weight(1), b = weight(2);
  const at::Tensor inputs = at::randn({7, 5}, random_stream({3}), at::kDouble);
  const auto network = [&](const auto& forward) { return Network({{"a", a}, {"b", b}}, forward); };
  EXPECT_TRUE(
      goes_together(network([=](const at::Tensor& x) { return at::linear(at::linear(x, a).tanh(), b); }), inputs));
  EXPECT_FALSE(goes_together(network([=](const at::Tensor& x) {
                               const at::Tensor y = at::linear(x, a);
                               return y + at::linear(y.tanh(), b);
                             }),
                             inputs));
  EXPECT_FALSE(
      goes_together(network([=](const at::Tensor& x) { return at::linear(x, a).matmul(at::linear(b, a)); }), inputs));
  EXPECT_FALSE(goes_together(make_architecture("cnn:3c3d", {1, 12, 12}, 3, at::kDouble, 1),
                             at::randn({2, 1, 12, 12}, random_stream({4}), at::kDouble)));
}

}  // namespace
}  // namespace ockham
