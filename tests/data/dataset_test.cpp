#include "ockham/data/dataset.h"

#include <ATen/ATen.h>

#include <limits>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

TEST(Dataset, SlicesAreViewsThatEndWithTheData) {
  const at::Tensor inputs = at::arange(12, at::kDouble).view({6, 2}), targets = at::arange(6);
  const Dataset data(inputs, targets);
  EXPECT_EQ(data.size(), 6);
  const Batch batch = data.slice(4, 10);
  EXPECT_EQ(batch.first, 4);
  EXPECT_EQ(batch.inputs.size(0), 2);
  EXPECT_EQ(batch.inputs.data_ptr(), inputs[4].data_ptr());
  EXPECT_EQ(batch.targets[1].item<int64_t>(), 5);
}

TEST(Dataset, RefusesWhatCannotBeLearnedFrom) {
  expect_error(ErrorKind::data, {"empty"}, [] { Dataset(at::zeros({0, 2}), at::zeros({0})); });
  expect_error(ErrorKind::data, {"3 rows", "2"}, [] { Dataset(at::zeros({3, 2}), at::zeros({2})); });
  expect_error(ErrorKind::data, {"single number"}, [] { Dataset(at::zeros({}), at::zeros({1})); });
  expect_error(ErrorKind::data, {"[3, 0]"}, [] { Dataset(at::zeros({3, 0}), at::zeros({3})); });
}

TEST(Dataset, NamesThePositionOfAValueThatIsNotFinite) {
  at::Tensor inputs = at::zeros({5, 2, 3}, at::kDouble);
  inputs[3][1][2] = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::data, {"inputs[3, 1, 2]", "nan"}, [&] { Dataset(inputs, at::zeros({5})); });
  at::Tensor targets = at::zeros({5});
  targets[4] = std::numeric_limits<float>::infinity();
  expect_error(ErrorKind::data, {"targets[4]", "inf"}, [&] { Dataset(at::zeros({5, 1}), targets); });
}

TEST(Dataset, LargeFiniteValuesWhoseSumOverflowsAreFine) {
  EXPECT_NO_THROW(Dataset(at::full({3, 2}, 1.5e308, at::kDouble), at::zeros({3})));
}

}  // namespace
}  // namespace ockham
