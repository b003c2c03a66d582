// Σ log(s x_i + δ) and Σ 1/(s x_i + δ) for many s and δ without going through the x_i each time: they are sorted once
// into bins, a sixteenth of an octave wide, of which only moments are kept.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/linalg/log_sum.h"

namespace ockham {

/// In a bin around c, with t = (x - c)/c, |t| ≤ ε = 1/33, and r = s c/(s c + δ) ≤ 1:
///     log(s x + δ) = log(s c + δ) + Σ_{k≥1} (-1)^{k+1} (r t)^k / k,    1/(s x + δ) = Σ_{k≥0} (-r t)^k / (s c + δ).
/// Eight moments Σ t^k leave out less than ε⁹/9 ≈ 2e-15 a value of the first, and 2e-14 of the second.
class BinnedSpectrum {
 public:
  explicit BinnedSpectrum(const at::Tensor& values);                // [n] float64, not negative
  BinnedSpectrum(const at::Tensor& left, const at::Tensor& right);  // all products left_i right_j

  /// False when a value is negative, subnormal or not finite: then use log_sum.
  bool usable() const { return usable_; }
  LogSum log_sum(double scale, double shift) const;

 private:
  struct Collection;
  void keep(const std::vector<Collection>& collections);
  std::vector<double> centres_, counts_;  // of the bins
  std::vector<double> moments_;           // Σ t of all bins, Σ t² of all, …
  double zeros_ = 0;
  bool usable_ = true;
};

/// From so many values on, and after so many evaluations, bins are cheaper: to fill them takes as long as these.
constexpr int64_t kValuesForBins = 1 << 15, kEvaluationsForBins = 16;

}  // namespace ockham
