#include "ockham/observe/observe_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "ockham/base/error.h"
#include "ockham/observe/verified_observer.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

std::set<std::string> names(const Network& network, const std::vector<size_t>& indices) {
  std::set<std::string> result;
  for (size_t index : indices) result.insert(network.layout()[index].name);
  return result;
}

TEST(ObserveForward, ExplainsWhatItShouldAndNamesTheRest) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const VerifiedObserver observer(zoo.network, zoo.inputs);
    EXPECT_EQ(names(zoo.network, observer.sample().unexplained_parameters()),
              std::set<std::string>(zoo.unexplained.begin(), zoo.unexplained.end()));
    for (size_t index : observer.sample().unexplained_parameters()) EXPECT_FALSE(observer.sample().reason(index).empty());
  }
}

TEST(ObserveForward, VerificationPassesForEveryExplainedParameter) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    const auto failed = names(zoo.network, verify_calls(observation, zoo.network));
    for (const std::string& name : failed) {
      // Only a use that autograd does not see may look explained at first and be caught here.
      EXPECT_EQ(zoo.name, "detached_use") << name;
    }
  }
}

TEST(ObserveForward, RefusesExamplesThatMix) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const Network centred({{"w", weight}}, [weight](const at::Tensor& x) {
    const at::Tensor h = at::linear(x, weight);
    return h - h.mean(0, true);
  });
  EXPECT_THROW(VerifiedObserver(centred, at::randn({6, 3}, at::kDouble)), Error);
}

TEST(ObserveForward, RefusesTrainingMode) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const at::Tensor x = at::randn({6, 3}, at::kDouble);
  const Network dropout({{"w", weight}}, [weight](const at::Tensor& x) { return at::dropout(at::linear(x, weight), 0.5, true); });
  const Network batch_norm({{"w", weight}}, [weight](const at::Tensor& x) {
    return at::batch_norm(at::linear(x, weight), {}, {}, at::zeros({3}, at::kDouble), at::ones({3}, at::kDouble), true, 0.1, 1e-5, false);
  });
  const Network noise({{"w", weight}}, [weight](const at::Tensor& x) { return at::linear(x + at::randn_like(x), weight); });
  for (const Network& network : {dropout, batch_norm, noise}) {
    try {
      observe_forward(network, x);
      FAIL() << "was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("eval()"), std::string::npos) << error.what();
    }
  }
  const Network evaluation({{"w", weight}}, [weight](const at::Tensor& x) { return at::dropout(at::linear(x, weight), 0.5, false); });
  EXPECT_NO_THROW(observe_forward(evaluation, x));
}

TEST(ObserveForward, RefusesOutputsThatAreNotRows) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const at::Tensor x = at::randn({6, 3}, at::kDouble);
  const Network summed({{"w", weight}}, [weight](const at::Tensor& x) { return at::linear(x, weight).sum(); });
  EXPECT_THROW(observe_forward(summed, x), Error);
  const Network detached({{"w", weight}}, [weight](const at::Tensor& x) { return at::linear(x, weight).detach(); });
  EXPECT_THROW(observe_forward(detached, x), Error);
}

TEST(ObserveForward, ABatchWithAsManyExamplesAsPositionsFollowsTheVerifiedOne) {
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

}  // namespace
}  // namespace ockham
