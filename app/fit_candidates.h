// The networks of a fit, made from their names for the data at hand.
#pragma once

#include <string>
#include <vector>

#include "app/fit_data.h"
#include "app/fit_flags.h"
#include "ockham/probability/likelihood.h"
#include "ockham/select/train_candidates.h"

namespace ockham::app {

bool is_torchscript(const std::string& network);

/// Throws Error(usage) for a name that is not understood, or given twice.
void check_networks(const std::vector<std::string>& networks);

/// Each is made once, so that a network that cannot be made, or whose evidence cannot be computed (batch norm in
/// training mode), is refused here. `cost` is its number of weights for a table and its multiplications an example for
/// images. For images the scaling is the first step of every network. The data must live as long as the candidates.
std::vector<Candidate> make_candidates(const FitFlags& flags, const FitData& data, const Likelihood& likelihood);

}  // namespace ockham::app
