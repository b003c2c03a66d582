#include "experiments/plot_color.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ockham::paper {
namespace {

using Rgb = std::array<double, 3>;

// Samples of the perceptually even scale that is known as viridis.
constexpr std::array<Rgb, 10> kScale = {{{68, 1, 84},
                                         {72, 40, 120},
                                         {62, 73, 137},
                                         {49, 104, 142},
                                         {38, 130, 142},
                                         {31, 158, 137},
                                         {53, 183, 121},
                                         {110, 206, 88},
                                         {181, 222, 43},
                                         {253, 231, 37}}};

constexpr std::array<const char*, 8> kSeries = {"#0b7bc0", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#7a6fd0", "#56b4e9", "#808080"};

}  // namespace

std::string series_color(int index) { return kSeries[static_cast<size_t>(std::max(index, 0)) % kSeries.size()]; }

std::string value_color(double fraction) {
  if (std::isnan(fraction)) return "#808080";
  const double place = std::clamp(fraction, 0.0, 1.0) * (kScale.size() - 1);
  const size_t below = std::min(static_cast<size_t>(place), kScale.size() - 2);
  const double share = place - static_cast<double>(below);
  std::string color = "#";
  for (size_t channel = 0; channel < 3; ++channel)
    color += fmt::format("{:02x}", static_cast<int>(std::lround((1 - share) * kScale[below][channel] +
                                                                share * kScale[below + 1][channel])));
  return color;
}

}  // namespace ockham::paper
