// One curvature pass over several processes: each passes its part of the data, the parts are summed once, and the
// decompositions are shared out by cost.
#pragma once

#include <vector>

#include "ockham/curvature/decompose_many.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/distributed/communicator.h"

namespace ockham {

/// Collective. `estimate_curvature` with every rank on its part of the data; all have the same bits of the whole. What
/// cannot be made in parts (`splits`) every rank makes as a whole. An error on one rank is thrown by all.
CurvatureEstimate estimate_together(const Network& network, const Likelihood& likelihood, const Dataset& data,
                                    const Hyperparameters& hyperparameters, CurvatureOptions options,
                                    Communicator& communicator);

/// Collective. Sums the parts of all ranks into the estimate of the whole data set:
///   matrices and factors (one triangle), diagonals, gradients, data fit   one sum over a flat float64 buffer
///   rows Φ, their factors and derivatives, Jacobians, kept outputs         those of the ranks one after the other
void sum_parts(CurvatureEstimate& estimate, const Likelihood& likelihood, const Hyperparameters& hyperparameters,
               Communicator& communicator);

/// Decomposes each matrix on one rank, the dearest first to the rank that has least to do, and hands the results round.
/// Few small ones are decomposed by every rank. The communicator must outlive the calls.
DecomposeMany share_decompositions(Communicator& communicator);

/// Who decomposes which: for each cost a rank from 0 to ranks - 1.
std::vector<int64_t> share_by_cost(const std::vector<double>& costs, int64_t ranks);

}  // namespace ockham
