#include "ockham/observe/verified_observer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "ockham/base/error.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

std::set<std::string> names(const Network& network, const std::vector<size_t>& indices) {
  std::set<std::string> result;
  for (size_t index : indices) result.insert(network.layout()[index].name);
  return result;
}

TEST(VerifiedObserver, ExplainsWhatItShouldAndNamesTheRest) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const VerifiedObserver observer(zoo.network, zoo.inputs);
    EXPECT_EQ(names(zoo.network, observer.sample().unexplained_parameters()),
              std::set<std::string>(zoo.unexplained.begin(), zoo.unexplained.end()));
    for (size_t index : observer.sample().unexplained_parameters())
      EXPECT_FALSE(observer.sample().reason(index).empty());
  }
}

TEST(VerifiedObserver, RefusesExamplesThatMix) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const Network centred({{"w", weight}}, [weight](const at::Tensor& x) {
    const at::Tensor h = at::linear(x, weight);
    return h - h.mean(0, true);
  });
  EXPECT_THROW(VerifiedObserver(centred, at::randn({6, 3}, at::kDouble)), Error);
}

TEST(VerifiedObserver, ABatchWithAsManyExamplesAsPositionsFollowsTheVerifiedOne) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const Network network({{"w", weight}}, [weight](const at::Tensor& x) {
    return at::tanh(at::linear(x.transpose(0, 1), weight)).sum(0);  // [S, N, D]
  });
  const at::Tensor x = at::randn({32, 32, 3}, at::kDouble);
  const VerifiedObserver observer(network, x);
  const Observation observation = observer.observe(x);
  ASSERT_EQ(observation.calls().size(), 1u);
  EXPECT_EQ(observation.calls()[0].batch_dimension, 1);
}

TEST(VerifiedObserver, RefusesControlFlowThatDependsOnTheData) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const Network network({{"w", weight}}, [weight](const at::Tensor& x) {
    const at::Tensor h = at::linear(x, weight);
    return x.max().item<double>() > 50 ? at::linear(h, weight) : h;
  });
  const at::Tensor x = at::rand({6, 3}, at::kDouble);
  const VerifiedObserver observer(network, x);
  EXPECT_NO_THROW(observer.observe(x));
  EXPECT_THROW(observer.observe(x + 100), Error);
}

}  // namespace
}  // namespace ockham
