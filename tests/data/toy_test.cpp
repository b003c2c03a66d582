#include "ockham/data/toy.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "ockham/data/table_encoding.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

double number(const CsvTable& table, int64_t row, int64_t column) {
  return std::stod(std::string(table.field(row, column)));
}

TEST(Toy, CurveHasAGapAndTheNoiseItSays) {
  ToyCurveOptions options;
  options.rows = 20000;
  const CsvTable table = make_toy_curve(3, options);
  double squares = 0, low = 9, high = -9;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const double x = number(table, row, 0);
    EXPECT_FALSE(x > 1.5001 && x < 2.3999) << x;
    low = std::min(low, x), high = std::max(high, x);
    squares += std::pow(number(table, row, 1) - evaluate_toy_curve(x), 2);
  }
  EXPECT_NEAR(std::sqrt(squares / 20000), 0.3, 0.005);
  EXPECT_NEAR(low, 0, 0.01);
  EXPECT_NEAR(high, 6, 0.01);
  EXPECT_EQ(make_toy_curve(3).rows(), 150);
}

TEST(Toy, SameSeedSameTable) {
  EXPECT_EQ(format_csv(make_toy_curve(1)), format_csv(make_toy_curve(1)));
  EXPECT_NE(format_csv(make_toy_curve(1)), format_csv(make_toy_curve(2)));
  EXPECT_EQ(format_csv(make_toy_arcs(1)), format_csv(make_toy_arcs(1)));
}

TEST(Toy, ArcsInterleaveSoThatNoLineDividesThem) {
  ToyArcsOptions options;
  options.rows = 2000;
  options.noise = 0.05;
  const CsvTable table = make_toy_arcs(5, options);
  const TableEncoding encoding = learn_encoding(table, {});
  EXPECT_EQ(encoding.task, Task::classification);
  const at::Tensor inputs = encode_inputs(encoding, table);
  const at::Tensor labels = encode_targets(encoding, table);
  EXPECT_EQ(labels.sum().item<int64_t>(), 1000);
  const at::Tensor design = at::cat({inputs, at::ones({2000, 1}, at::kDouble)}, 1);
  const at::Tensor sign = (labels * 2 - 1).to(at::kDouble).unsqueeze(1);
  const at::Tensor weights = at::linalg_solve(design.t().mm(design), design.t().mm(sign));
  const double line = design.mm(weights).mul(sign).gt(0).to(at::kDouble).mean().item<double>();
  EXPECT_GT(line, 0.75);
  EXPECT_LT(line, 0.95);
  // The nearest neighbour knows what a line does not.
  const at::Tensor distances = at::cdist(inputs, inputs).fill_diagonal_(1e9);
  const at::Tensor nearest = labels.index_select(0, distances.argmin(1));
  EXPECT_GT(nearest.eq(labels).to(at::kDouble).mean().item<double>(), 0.99);
}

TEST(Toy, FitsTheEncodingWithoutFlags) {
  const TableEncoding curve = learn_encoding(make_toy_curve(0), {});
  EXPECT_EQ(curve.task, Task::regression);
  EXPECT_EQ(curve.inputs.size(), 1u);
  EXPECT_EQ(parse_csv(format_csv(make_toy_arcs(0)), "arcs.csv").rows(), 265);
}

TEST(Toy, RefusesNonsense) {
  ToyCurveOptions options;
  options.rows = 1;
  testing::expect_error(ErrorKind::usage, {"2 rows"}, [&] { make_toy_curve(0, options); });
  options.rows = 10, options.gap_end = 1;
  testing::expect_error(ErrorKind::usage, {"gap"}, [&] { make_toy_curve(0, options); });
}

}  // namespace
}  // namespace ockham
