#include "ockham/evidence/clipped_spectrum.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

namespace ockham {
namespace {

constexpr int64_t kMaterial = 4;  // one in so many; half of the zeros of a deficient matrix round below zero

struct SizeOf {
  int64_t operator()(const DenseBlock& block) const {
    return block.rows.defined() ? std::min(block.rows.size(0), block.rows.size(1)) : block.matrix.size(0);
  }
  int64_t operator()(const KroneckerBlock& block) const {
    return block.left.size(0) * (block.left.size(1) + block.right.size(1));
  }
  int64_t operator()(const DiagonalBlock& block) const { return block.diagonal.size(0); }
};

}  // namespace

ClippedSpectrum clipped_spectrum(const LaplaceFit& fit) {
  ClippedSpectrum spectrum;
  spectrum.clipped = fit.curvature.clipped_eigenvalues();
  for (const CurvatureBlock& block : fit.curvature.curvature().blocks)
    spectrum.eigenvalues += std::visit(SizeOf{}, block);
  return spectrum;
}

std::string describe_clipped(const ClippedSpectrum& spectrum) {
  if (spectrum.clipped * kMaterial <= spectrum.eigenvalues) return "";
  return fmt::format(
      "{} of {} eigenvalues of the curvature came out negative by round-off and were set to zero; --dtype float64 "
      "shows "
      "whether the evidence depends on it",
      spectrum.clipped, spectrum.eigenvalues);
}

}  // namespace ockham
