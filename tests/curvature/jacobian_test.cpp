#include "ockham/curvature/jacobian.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/dense_reference.h"
#include "tests/support/finite_differences.h"
#include "tests/support/layer_zoo.h"

namespace ockham {
namespace {

TEST(Jacobian, EqualsBruteForceForEveryLayer) {
  for (const testing::ZooNetwork& zoo : testing::layer_zoo()) {
    SCOPED_TRACE(zoo.name);
    const JacobianBatch batch = jacobian(zoo.network, zoo.inputs);
    EXPECT_LT(testing::relative_difference(batch.jacobian, testing::brute_force_jacobian(zoo.network, zoo.inputs)),
              1e-11);
    EXPECT_FALSE(batch.outputs.requires_grad());
  }
}

}  // namespace
}  // namespace ockham
