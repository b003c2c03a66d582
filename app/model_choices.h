// From the words of the command line to the library's values.
#pragma once

#include "app/messages.h"
#include "app/model_flags.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/probability/likelihood.h"
#include "ockham/probability/prior.h"

namespace ockham::app {

Likelihood likelihood_of(LikelihoodChoice choice, bool noise_per_output);
Structure structure_of(StructureChoice choice);
StructureChoice choice_of(Structure structure);
CurvatureKind curvature_of(CurvatureChoice choice);
KroneckerRule kronecker_rule_of(KroneckerChoice choice);
/// Says which flags of an estimate mean nothing to this one.
void mention_unused(const CurvatureOptions& curvature, Messages& messages);
/// Not for named groups.
Prior prior_of(PriorChoice choice, const ParameterLayout& layout);

/// Log precisions [G] of the prior's groups from one value for all, or one each. Throws Error(usage).
at::Tensor log_precisions_of(const at::Tensor& values, PriorChoice choice, const Prior& prior);

}  // namespace ockham::app
