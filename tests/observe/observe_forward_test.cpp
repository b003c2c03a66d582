#include "ockham/observe/observe_forward.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/error.h"

namespace ockham {
namespace {

TEST(ObserveForward, RefusesTrainingMode) {
  const at::Tensor weight = at::randn({3, 3}, at::kDouble).requires_grad_();
  const at::Tensor x = at::randn({6, 3}, at::kDouble);
  const Network dropout({{"w", weight}},
                        [weight](const at::Tensor& x) { return at::dropout(at::linear(x, weight), 0.5, true); });
  const Network batch_norm({{"w", weight}}, [weight](const at::Tensor& x) {
    return at::batch_norm(at::linear(x, weight), {}, {}, at::zeros({3}, at::kDouble), at::ones({3}, at::kDouble), true,
                          0.1, 1e-5, false);
  });
  const Network noise({{"w", weight}},
                      [weight](const at::Tensor& x) { return at::linear(x + at::randn_like(x), weight); });
  for (const Network& network : {dropout, batch_norm, noise}) {
    try {
      observe_forward(network, x);
      FAIL() << "was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("eval()"), std::string::npos) << error.what();
    }
  }
  const Network evaluation({{"w", weight}},
                           [weight](const at::Tensor& x) { return at::dropout(at::linear(x, weight), 0.5, false); });
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

}  // namespace
}  // namespace ockham
