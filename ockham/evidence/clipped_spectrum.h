// How many eigenvalues of a curvature came out negative. It is a sum of outer products and has none: they are round-off
// and are set to zero.
#pragma once

#include <cstdint>
#include <string>

#include "ockham/evidence/laplace_fit.h"

namespace ockham {

struct ClippedSpectrum {
  int64_t clipped = 0;      // below -1e-12 of the largest of their matrix
  int64_t eigenvalues = 0;  // of all matrices and diagonals that the curvature is made of
};

/// Of what was decomposed so far: count after the evidence.
ClippedSpectrum clipped_spectrum(const LaplaceFit& fit);

/// A sentence when more than a quarter is clipped; empty otherwise.
std::string describe_clipped(const ClippedSpectrum& spectrum);

}  // namespace ockham
