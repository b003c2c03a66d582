#include "experiments/toy_data.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/csv.h"

namespace ockham::paper {
namespace {

constexpr int64_t kTrainDraws = 150, kTestDraws = 2000, kBananaRows = 265;
constexpr double kGapBegin = toy_gap_begin, kGapEnd = toy_gap_end;
constexpr uint64_t kSnelsonStream = 99, kBananaStream = 77, kTestSeeds = 1000;

constexpr const char* kKnots = "snelson_modified_knots.csv";
constexpr const char* kBanana = "banana.csv";

std::string find_file(const std::string& directory, const char* name) {
  const std::string path = directory + "/" + name;
  if (!std::filesystem::exists(path))
    throw Error(ErrorKind::data, path + " is missing: put " + name +
                                     " of github.com/aleximmer/BNN-predictions (docs/results.md has the columns) into "
                                     "the directory that --data names");
  return path;
}

double parse_field(const CsvTable& table, int64_t row, int64_t column) {
  const std::string_view field = table.field(row, column);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    throw Error(ErrorKind::data, table.place_name(row, column) + " is not a number");
  return value;
}

at::Tensor read_numbers(const std::string& path, int64_t columns) {
  const CsvTable table = read_csv(path);
  if (table.columns() != columns)
    throw Error(ErrorKind::data,
                path + " has " + std::to_string(table.columns()) + " columns instead of " + std::to_string(columns));
  std::vector<double> values;
  for (int64_t row = 0; row < table.rows(); ++row)
    for (int64_t column = 0; column < columns; ++column) values.push_back(parse_field(table, row, column));
  return at::tensor(values, at::kDouble).view({-1, columns});
}

// Not-a-knot: the third derivative is continuous at the second and the last but one knot too, which closes the system
// of the n second derivatives.
class CubicSpline {
 public:
  explicit CubicSpline(const at::Tensor& knots) {  // [n, 2], x increasing
    const int64_t n = knots.size(0);
    if (n < 4) throw Error(ErrorKind::data, "a not-a-knot spline needs at least 4 knots");
    const auto value = knots.accessor<double, 2>();
    for (int64_t i = 0; i < n; ++i) x_.push_back(value[i][0]), y_.push_back(value[i][1]);
    const auto step = [&](int64_t i) { return x_[i + 1] - x_[i]; };
    at::Tensor system = at::zeros({n, n}, at::kDouble), right = at::zeros({n, 1}, at::kDouble);
    auto a = system.accessor<double, 2>();
    auto b = right.accessor<double, 2>();
    for (int64_t i = 1; i < n - 1; ++i) {
      a[i][i - 1] = step(i - 1), a[i][i] = 2 * (step(i - 1) + step(i)), a[i][i + 1] = step(i);
      b[i][0] = 6 * ((y_[i + 1] - y_[i]) / step(i) - (y_[i] - y_[i - 1]) / step(i - 1));
    }
    a[0][0] = step(1), a[0][1] = -(step(0) + step(1)), a[0][2] = step(0);
    a[n - 1][n - 3] = step(n - 2), a[n - 1][n - 2] = -(step(n - 2) + step(n - 3)), a[n - 1][n - 1] = step(n - 3);
    const at::Tensor solution = at::linalg_solve(system, right).contiguous();
    second_.assign(solution.data_ptr<double>(), solution.data_ptr<double>() + n);
  }

  double operator()(double x) const {
    const int64_t last = static_cast<int64_t>(x_.size()) - 2;
    const int64_t above = std::upper_bound(x_.begin(), x_.end(), x) - x_.begin();
    const int64_t i = std::clamp<int64_t>(above - 1, 0, last);
    const double h = x_[i + 1] - x_[i], left = (x_[i + 1] - x) / h, right = (x - x_[i]) / h;
    return left * y_[i] + right * y_[i + 1] +
           ((left * left * left - left) * second_[i] + (right * right * right - right) * second_[i + 1]) * h * h / 6;
  }

  double begin() const { return x_.front(); }
  double end() const { return x_.back(); }

 private:
  std::vector<double> x_, y_, second_;  // second derivatives at the knots
};

Dataset draw_points(const CubicSpline& curve, uint64_t seed, int64_t draws) {
  at::Generator stream = random_stream({seed, kSnelsonStream});
  const at::Tensor positions = at::rand({draws}, stream, at::kDouble) * (curve.end() - curve.begin()) + curve.begin();
  const at::Tensor noise = at::randn({draws}, stream, at::kDouble) * toy_noise;
  const auto position = positions.accessor<double, 1>(), error = noise.accessor<double, 1>();
  std::vector<double> inputs, targets;
  for (int64_t i = 0; i < draws; ++i) {
    const double x = position[i];
    if (x > kGapBegin && x < kGapEnd) continue;
    inputs.push_back(x), targets.push_back(curve(x) + error[i]);
  }
  return {at::tensor(inputs, at::kDouble).view({-1, 1}), at::tensor(targets, at::kDouble).view({-1, 1})};
}

Dataset take_banana_rows(const at::Tensor& table, int64_t first, int64_t count) {
  const at::Tensor rows = table.narrow(0, first, count);
  return {rows.narrow(1, 0, 2).contiguous(), rows.select(1, 2).to(at::kLong)};
}

}  // namespace

void check_snelson(const std::string& directory) { find_file(directory, kKnots); }
void check_banana(const std::string& directory) { find_file(directory, kBanana); }

ToyProblem draw_snelson(const std::string& directory, uint64_t seed) {
  const CubicSpline curve(read_numbers(find_file(directory, kKnots), 2));
  return {Gaussian{}, 1, draw_points(curve, seed, kTrainDraws), draw_points(curve, seed + kTestSeeds, kTestDraws)};
}

ToyProblem draw_banana(const std::string& directory, uint64_t seed) {
  const std::string path = find_file(directory, kBanana);
  at::Tensor table = read_numbers(path, 3);
  const int64_t rows = table.size(0);
  if (rows <= kBananaRows)
    throw Error(ErrorKind::data, path + " has " + std::to_string(rows) + " rows; more than " +
                                     std::to_string(kBananaRows) + " are needed, which are those for training");
  table = table.index_select(0, at::randperm(rows, random_stream({seed, kBananaStream}), at::kLong));
  return {Categorical{}, 2, take_banana_rows(table, 0, kBananaRows),
          take_banana_rows(table, kBananaRows, rows - kBananaRows)};
}

}  // namespace ockham::paper
