#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/observe/observe_forward.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

TEST(VerifyCalls, PassesForEveryExplainedParameter) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const Observation observation = observe_forward(zoo.network, zoo.inputs);
    for (size_t index : verify_calls(observation, zoo.network)) {
      // Only a use that autograd does not see may look explained at first and be caught here.
      EXPECT_EQ(zoo.name, "detached_use") << zoo.network.layout()[index].name;
    }
  }
}

}  // namespace
}  // namespace ockham
