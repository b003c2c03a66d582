#include "ockham/select/validation_split.h"

#include <ATen/ATen.h>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

bool covers(const ValidationSplit& split, int64_t examples) {
  const at::Tensor all = std::get<0>(at::cat({split.training, split.validation}).sort());
  return all.equal(at::arange(examples));
}

TEST(ValidationSplit, HoldsOutTheShareThatIsAskedFor) {
  const auto splits = split_for_validation(265, {});
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].validation.size(0), 27);
  EXPECT_TRUE(covers(splits[0], 265));
  EXPECT_EQ(split_for_validation(3, {})[0].validation.size(0), 1) << "never empty";
}

TEST(ValidationSplit, FoldsValidateEveryExampleOnce) {
  ValidationOptions options;
  options.scheme = ValidationScheme::folds;
  const auto splits = split_for_validation(23, options);
  ASSERT_EQ(splits.size(), 5u);
  std::vector<at::Tensor> validated;
  for (const auto& split : splits) {
    EXPECT_TRUE(covers(split, 23));
    EXPECT_GE(split.validation.size(0), 4);
    EXPECT_LE(split.validation.size(0), 5);
    validated.push_back(split.validation);
  }
  EXPECT_TRUE(std::get<0>(at::cat(validated).sort()).equal(at::arange(23)));
}

TEST(ValidationSplit, DependsOnTheSeedAlone) {
  ValidationOptions options;
  EXPECT_TRUE(split_for_validation(50, options)[0].validation.equal(split_for_validation(50, options)[0].validation));
  const at::Tensor before = split_for_validation(50, options)[0].validation;
  options.seed = 1;
  EXPECT_FALSE(split_for_validation(50, options)[0].validation.equal(before));
}

TEST(ValidationSplit, RefusesWhatCannotBeSplit) {
  ValidationOptions options;
  testing::expect_error(ErrorKind::data, {"at least 2", "has 1"}, [&] { split_for_validation(1, options); });
  options.holdout_fraction = 1;
  testing::expect_error(ErrorKind::usage, {"between 0 and 1"}, [&] { split_for_validation(10, options); });
  options.scheme = ValidationScheme::folds;
  testing::expect_error(ErrorKind::data, {"at least 5"}, [&] { split_for_validation(4, options); });
  options.folds = 1;
  testing::expect_error(ErrorKind::usage, {"2 folds"}, [&] { split_for_validation(10, options); });
}

}  // namespace
}  // namespace ockham
