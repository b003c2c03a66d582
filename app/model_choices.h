// From the words of the command line to the library's values.
#pragma once

#include <optional>

#include "app/log_det_flags.h"
#include "app/messages.h"
#include "app/model_flags.h"
#include "ockham/evidence/laplace_fit.h"
#include "ockham/probability/likelihood.h"
#include "ockham/probability/prior.h"

namespace ockham::app {

at::ScalarType scalar_type_of(FloatType type);
Likelihood likelihood_of(LikelihoodChoice choice, bool noise_per_output);
Structure structure_of(StructureChoice choice);
StructureChoice choice_of(Structure structure);
CurvatureKind curvature_of(CurvatureChoice choice);
KroneckerRule kronecker_rule_of(KroneckerChoice choice);
std::optional<SlqOptions> slq_of(const LogDetFlags& flags, uint64_t seed);
/// Says which flags of an estimate mean nothing to this one.
void mention_unused(const LaplaceOptions& laplace, Messages& messages);
/// Not for named groups.
Prior prior_of(PriorChoice choice, const ParameterLayout& layout);

/// Log precisions [G] of the prior's groups from one value for all, or one each. Throws Error(usage).
at::Tensor log_precisions_of(const at::Tensor& values, PriorChoice choice, const Prior& prior);

}  // namespace ockham::app
