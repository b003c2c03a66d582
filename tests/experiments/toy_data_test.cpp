#include "experiments/toy_data.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/experiments/toy_files.h"
#include "tests/support/expect_error.h"

namespace ockham::paper {
namespace {

using testing::expect_error;

TEST(ToyData, SnelsonFollowsTheSplineWithItsNoiseAndGap) {
  const ToyFiles files;
  const ToyProblem problem = draw_snelson(files.directory(), 0);
  const at::Tensor x = problem.test.inputs(), y = problem.test.targets();
  EXPECT_LT(problem.train.size(), 150);
  EXPECT_GT(problem.train.size(), 90);
  EXPECT_EQ(x.gt(toy_gap_begin).logical_and(x.lt(toy_gap_end)).sum().item<int64_t>(), 0);
  // The knots are of a cubic, which a not-a-knot spline gives back exactly: the residuals are the noise.
  const at::Tensor residual = y - x.pow(3) / 50 + x / 2;
  EXPECT_NEAR(residual.std().item<double>(), toy_noise, 0.02);
  EXPECT_NEAR(residual.mean().item<double>(), 0, 0.03);
}

TEST(ToyData, SeedsDrawTheData) {
  const ToyFiles files;
  for (const auto draw : {draw_snelson, draw_banana}) {
    const ToyProblem first = draw(files.directory(), 1), again = draw(files.directory(), 1),
                     other = draw(files.directory(), 2);
    EXPECT_TRUE(first.train.inputs().equal(again.train.inputs()));
    EXPECT_TRUE(first.test.targets().equal(again.test.targets()));
    EXPECT_FALSE(first.train.inputs().sizes() == other.train.inputs().sizes() &&
                 first.train.inputs().equal(other.train.inputs()));
  }
}

TEST(ToyData, BananaIsCutInTwo) {
  const ToyFiles files;
  const ToyProblem problem = draw_banana(files.directory(), 0);
  EXPECT_EQ(problem.train.size(), 265);
  EXPECT_EQ(problem.train.size() + problem.test.size(), ToyFiles::banana_rows);
  EXPECT_EQ(problem.outputs, 2);
  const double all = at::cat({problem.train.inputs(), problem.test.inputs()}).sum().item<double>();
  EXPECT_NEAR(all, files.banana_sum(), 1e-9);
}

TEST(ToyData, MissingAndWrongFilesAreNamed) {
  const ToyFiles files;
  expect_error(ErrorKind::data, {"nowhere/banana.csv", "--data"}, [] { check_banana("nowhere"); });
  expect_error(ErrorKind::data, {"nowhere/snelson_modified_knots.csv"}, [] { draw_snelson("nowhere", 0); });
  files.write("banana.csv", "x1,x2,class\n1,2,0\n");
  expect_error(ErrorKind::data, {"banana.csv", "1 rows"}, [&] { draw_banana(files.directory(), 0); });
  files.write("banana.csv", "x1,x2\n1,2\n");
  expect_error(ErrorKind::data, {"2 columns"}, [&] { draw_banana(files.directory(), 0); });
  files.write("snelson_modified_knots.csv", "x,f\n1,2\n2,two\n3,3\n4,4\n");
  expect_error(ErrorKind::data, {"line 3", "not a number"}, [&] { draw_snelson(files.directory(), 0); });
  files.write("snelson_modified_knots.csv", "x,f\n1,2\n2,2\n3,3\n");
  expect_error(ErrorKind::data, {"4 knots"}, [&] { draw_snelson(files.directory(), 0); });
}

}  // namespace
}  // namespace ockham::paper
