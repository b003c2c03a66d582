// Files like those of the toy experiments, written by the test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {

/// Knots of the cubic x³/50 - x/2 on [0, 6], and two classes that are inside and outside a circle.
class ToyFiles {
 public:
  static constexpr int banana_rows = 400;

  ToyFiles() {
    std::string knots = "x,f\n";
    for (int i = 0; i <= 12; ++i) {
      const double x = 0.5 * i;
      knots += fmt::format("{},{:.12f}\n", x, x * x * x / 50 - x / 2);
    }
    write("snelson_modified_knots.csv", knots);
    std::string banana = "x1,x2,class\n";
    for (int i = 0; i < banana_rows; ++i) {
      const double angle = 2.4 * i, radius = 0.2 + 2.0 * ((7 * i) % banana_rows) / banana_rows;
      const double x = std::round(radius * std::cos(angle) * 1e6) / 1e6;
      const double y = std::round(radius * std::sin(angle) * 1e6) / 1e6;
      banana += fmt::format("{},{},{}\n", x, y, radius > 1.2 ? 1 : 0);
      sum_ += x + y;
    }
    write("banana.csv", banana);
  }

  std::string directory() const { return files_.path("."); }
  double banana_sum() const { return sum_; }
  void write(const std::string& name, const std::string& text) const { testing::write_bytes(files_.path(name), text); }

 private:
  testing::TemporaryDirectory files_;
  double sum_ = 0;
};

inline Settings quick_settings(const ToyFiles& files, int64_t epochs) {
  Settings settings;
  settings.data = files.directory();
  settings.quick = true;
  settings.epochs = epochs;
  return settings;
}

inline Json run_cell(const std::vector<Cell>& cells, const std::string& name) {
  for (const Cell& cell : cells)
    if (cell.name == name) return cell.run({"", [](double) { return true; }});
  ADD_FAILURE() << "no cell " << name;
  return {};
}

}  // namespace ockham::paper
