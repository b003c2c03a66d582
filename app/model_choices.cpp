#include "app/model_choices.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ockham/base/error.h"

namespace ockham::app {

at::ScalarType scalar_type_of(FloatType type) { return type == FloatType::float64 ? at::kDouble : at::kFloat; }

Likelihood likelihood_of(LikelihoodChoice choice, bool noise_per_output) {
  switch (choice) {
    case LikelihoodChoice::categorical:
      return Categorical{};
    case LikelihoodChoice::bernoulli:
      return Bernoulli{};
    case LikelihoodChoice::poisson:
      return Poisson{};
    default:
      return Gaussian{noise_per_output};
  }
}

Structure structure_of(StructureChoice choice) {
  switch (choice) {
    case StructureChoice::full:
      return Structure::full;
    case StructureChoice::block:
      return Structure::block;
    case StructureChoice::diag:
      return Structure::diagonal;
    default:
      return Structure::kronecker;
  }
}

StructureChoice choice_of(Structure structure) {
  switch (structure) {
    case Structure::full:
      return StructureChoice::full;
    case Structure::block:
      return StructureChoice::block;
    case Structure::diagonal:
      return StructureChoice::diag;
    default:
      return StructureChoice::kron;
  }
}

CurvatureKind curvature_of(CurvatureChoice choice) {
  return choice == CurvatureChoice::ef   ? CurvatureKind::empirical_fisher
         : choice == CurvatureChoice::mc ? CurvatureKind::mc_fisher
                                         : CurvatureKind::ggn;
}

KroneckerRule kronecker_rule_of(KroneckerChoice choice) {
  return choice == KroneckerChoice::reduce  ? KroneckerRule::reduce
         : choice == KroneckerChoice::paper ? KroneckerRule::paper
                                            : KroneckerRule::expand;
}

std::optional<SlqOptions> slq_of(const LogDetFlags& flags, uint64_t seed) {
  if (!flags.estimated()) return std::nullopt;
  return SlqOptions{flags.probes, flags.steps, structure_of(flags.preconditioner), seed};
}

void mention_unused(const LaplaceOptions& laplace, Messages& messages) {
  CurvatureOptions curvature = laplace.curvature;
  if (laplace.slq) curvature.structure = laplace.slq->preconditioner;
  if (curvature.mc_samples != 1 && curvature.kind != CurvatureKind::mc_fisher)
    messages.add("--mc-samples is not used: it belongs to --curvature mc");
  const bool by_columns = curvature.structure == Structure::kronecker || curvature.structure == Structure::diagonal;
  if (curvature.ggn_tolerance > 0 && (curvature.kind != CurvatureKind::ggn || !by_columns))
    messages.add("--ggn-tolerance is not used: it belongs to --curvature ggn with --structure kron or diag");
}

Prior prior_of(PriorChoice choice, const ParameterLayout& layout) {
  switch (choice) {
    case PriorChoice::layerwise:
      return Prior::layerwise(layout);
    case PriorChoice::diagonal:
      return Prior::diagonal(layout);
    case PriorChoice::ard:
      return Prior::ard(layout);
    default:
      return Prior::scalar(layout);
  }
}

at::Tensor log_precisions_of(const at::Tensor& values, PriorChoice choice, const Prior& prior) {
  if (values.numel() == 1) return values.log().expand({prior.size()}).clone();
  if (values.numel() != prior.size()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--prior-precision: {} values came, but the {} prior of this network has {}", values.numel(),
                    word_of(choice),
                    prior.size() == 1 ? std::string("one precision; give one value, or another --prior")
                                      : fmt::format("{0} groups; give one value for all, or {0}", prior.size())));
  }
  return values.log();
}

}  // namespace ockham::app
