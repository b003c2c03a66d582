#include "ockham/data/toy.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr double curve_end = 6;
constexpr double pi = 3.14159265358979323846;
constexpr uint64_t curve_stream = 1, arcs_stream = 2;  // the same seed gives unrelated tables

std::string name_number(double value) { return fmt::format("{:.6f}", value); }

void check_rows(int64_t rows, double noise) {
  if (rows < 2 || !(noise >= 0) || !std::isfinite(noise)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("a toy table needs at least 2 rows and a noise of at least 0, but {} and {} came", rows, noise));
  }
}

}  // namespace

double evaluate_toy_curve(double x) { return std::sin(2.3 * x) + 0.6 * std::cos(1.1 * x + 0.5) - 0.2 * (x - 3); }

CsvTable make_toy_curve(uint64_t seed, const ToyCurveOptions& options) {
  check_rows(options.rows, options.noise);
  const double gap = options.gap_end - options.gap_begin;
  if (!(options.gap_begin >= 0 && gap >= 0 && options.gap_end <= curve_end && gap < curve_end)) {
    throw Error(ErrorKind::usage, fmt::format("the gap of the toy curve must lie within 0 and {}, but {} to {} came",
                                              curve_end, options.gap_begin, options.gap_end));
  }
  auto stream = random_stream({seed, curve_stream});
  const at::Tensor places = at::rand({options.rows}, stream, at::kDouble) * (curve_end - gap);
  const at::Tensor noise = at::randn({options.rows}, stream, at::kDouble) * options.noise;
  std::vector<std::vector<std::string>> rows;
  for (int64_t n = 0; n < options.rows; ++n) {
    double x = places.data_ptr<double>()[n];
    if (x > options.gap_begin) x += gap;
    rows.push_back({name_number(x), name_number(evaluate_toy_curve(x) + noise.data_ptr<double>()[n])});
  }
  return make_table("toy curve", {"x", "y"}, rows);
}

CsvTable make_toy_arcs(uint64_t seed, const ToyArcsOptions& options) {
  check_rows(options.rows, options.noise);
  auto stream = random_stream({seed, arcs_stream});
  const at::Tensor angles = at::rand({options.rows}, stream, at::kDouble) * pi;
  const at::Tensor noise = at::randn({options.rows, 2}, stream, at::kDouble) * options.noise;
  std::vector<std::vector<std::string>> rows;
  for (int64_t n = 0; n < options.rows; ++n) {
    const double angle = angles.data_ptr<double>()[n];
    const double* shift = noise.data_ptr<double>() + 2 * n;
    // The second arc is the first one turned by half a circle, its ends inside the other.
    const bool second = n % 2 == 1;
    const double x1 = (second ? 1 - std::cos(angle) : std::cos(angle)) - 0.5;
    const double x2 = (second ? 0.5 - std::sin(angle) : std::sin(angle)) - 0.25;
    rows.push_back({name_number(x1 + shift[0]), name_number(x2 + shift[1]), second ? "1" : "0"});
  }
  return make_table("toy arcs", {"x1", "x2", "class"}, rows);
}

}  // namespace ockham
