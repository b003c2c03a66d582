#include "ockham/observe/layer_call.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/observe/observe_forward.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

TEST(PerExampleGradient, OfSomeExamplesIsThatPartOfAll) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    const auto gradients = observation.backward(at::ones_like(observation.outputs()));
    for (size_t c = 0; c < observation.calls().size(); ++c) {
      if (!gradients[c].defined()) continue;
      for (const ParameterUse& use : observation.calls()[c].uses) {
        const at::Tensor all = per_example_gradient(observation.calls()[c], use, gradients[c]);
        const at::Tensor some = per_example_gradient(observation.calls()[c], use, gradients[c], 1, 3);
        EXPECT_TRUE(at::allclose(some, all.narrow(0, 1, 3), 1e-12, 1e-14)) << observation.calls()[c].operator_name;
      }
    }
  }
}

}  // namespace
}  // namespace ockham
