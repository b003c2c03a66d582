#include "ockham/evidence/self_check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr double kFloat32Rounding = 1e-5, kFloat64Rounding = 1e-9;  // of the terms' sizes
constexpr double kNearAMode = 1;                                    // nats
constexpr int64_t kMostDifferences = 20;

/// The size of what is added up: differences are rounding when they are tiny beside it.
double size_of_terms(const Evidence& evidence) {
  return 1 + std::abs(evidence.log_likelihood) + std::abs(evidence.log_prior) + std::abs(evidence.log_det) / 2;
}

double rounding_of(const Model& model) {
  return model.network.dtype() == at::kFloat ? kFloat32Rounding : kFloat64Rounding;
}

bool is_random(const LaplaceOptions& options) {
  return options.curvature.kind == CurvatureKind::mc_fisher || options.curvature.ggn_tolerance > 0;
}

constexpr const char* kRandom = "the curvature has random parts, which depend on it";

/// Fills in the difference to a second evaluation, or why there is none.
template <class Second>
SelfCheck compare(SelfCheck check, const Evidence& known, double rounding, const Second& second) {
  check.allowed = rounding * size_of_terms(known);
  try {
    check.difference = std::abs(second() - known.value);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    check.not_checked = error.what();  // e.g. that it does not fit the memory
  }
  return check;
}

double evidence_of(const Model& model, const Dataset& data, const LaplaceOptions& options) {
  return evidence(fit_laplace(model, data, options), model.hyperparameters).value;
}

LaplaceOptions value_only(LaplaceOptions options) {
  options.curvature.likelihood_gradient = false;
  options.curvature.root_derivatives = false;
  return options;
}

SelfCheck check_type(const SelfCheckInput& input, const Evidence& known) {
  const bool single = input.model.network.dtype() == at::kFloat;
  SelfCheck check{"floating type", single ? "in float64" : "in float32", 0, 0, ""};
  if (is_random(input.options)) check.not_checked = kRandom;
  if (!input.other_model) check.not_checked = "the network is not at hand in the other type";
  if (!check.not_checked.empty()) return check;
  return compare(check, known, kFloat32Rounding,
                 [&] { return evidence_of(*input.other_model, *input.other_data, value_only(input.options)); });
}

SelfCheck check_order(const SelfCheckInput& input, const Evidence& known, double rounding) {
  SelfCheck check{"batch order", "examples shuffled, in batches of another size", 0, 0, ""};
  if (is_random(input.options)) check.not_checked = kRandom;
  if (!check.not_checked.empty()) return check;
  return compare(check, known, rounding, [&] {
    const int64_t count = input.data.size();
    const Batch all = input.data.gather(at::randperm(count, random_stream({0x6f72646572}), at::kLong));
    LaplaceOptions options = value_only(input.options);
    options.curvature.batch_size = std::max<int64_t>(1, std::min(options.curvature.batch_size, count) * 2 / 3);
    return evidence_of(input.model, Dataset(all.inputs, all.targets), options);
  });
}

SelfCheck check_space(const SelfCheckInput& input, const LaplaceFit& fit, const Evidence& known, double rounding) {
  SelfCheck check{"other space", "", 0, 0, ""};
  const CurvatureOptions& curvature = input.options.curvature;
  if (curvature.structure != Structure::full) {
    check.not_checked = "only the full structure has two spaces";
    return check;
  }
  if (is_random(input.options)) {
    check.not_checked = kRandom;
    return check;
  }
  if (fit.difference) {
    check.not_checked = "the determinant is estimated, in the space of the weights";
    return check;
  }
  const auto& block = std::get<DenseBlock>(fit.curvature.curvature().blocks.front());
  using Form = CurvatureOptions::DenseForm;
  LaplaceOptions options = value_only(input.options);
  options.curvature.dense_form = block.rows.defined() ? Form::matrix : Form::rows;
  check.compared = block.rows.defined() ? "in the space of the weights" : "in the space of the outputs";
  // Of two determinants of the same rows: conditioning costs digits, in whatever type the rows were made.
  return compare(check, known, std::max(100 * kFloat64Rounding, rounding),
                 [&] { return evidence_of(input.model, input.data, options); });
}

/// Central differences along single logarithms, or along a few random directions where there are many.
SelfCheck check_gradient(const Model& model, const LaplaceFit& fit, const Evidence& known) {
  constexpr double step = 1e-3, curved = step * step;  // third derivatives are of the size of the terms at most
  SelfCheck check{"gradient", "central differences of the evidence", 0, 0, ""};
  // The fit is in float64 whatever the network is.
  check.allowed = (curved + kFloat64Rounding / step) * size_of_terms(known);
  const auto differ = [&](at::Tensor Hyperparameters::*part, const at::Tensor& direction) {
    const at::Tensor& gradient = known.gradient.*part;
    const auto at_step = [&](double size) {
      Hyperparameters moved = model.hyperparameters.clone();
      moved.*part = moved.*part + size * direction;
      return evidence(fit, moved).value;
    };
    const double slope = (at_step(step) - at_step(-step)) / (2 * step);
    check.difference = std::max(check.difference, std::abs(slope - at::dot(gradient, direction).item<double>()));
  };
  for (at::Tensor Hyperparameters::*part :
       {&Hyperparameters::log_prior_precision, &Hyperparameters::log_noise, &Hyperparameters::log_temperature}) {
    const at::Tensor& gradient = known.gradient.*part;
    if (!gradient.defined() || gradient.numel() == 0) continue;
    const int64_t count = gradient.numel();
    for (int64_t i = 0; i < std::min(count, kMostDifferences); ++i) {
      at::Tensor direction = at::zeros({count}, at::kDouble);
      if (count <= kMostDifferences)
        direction[i] = 1;
      else
        direction = at::randn({count}, random_stream({0x736c6f7065, static_cast<uint64_t>(i)}), at::kDouble)
                        .div_(std::sqrt(static_cast<double>(count)));
      differ(part, direction);
    }
  }
  return check;
}

SelfCheck check_mode(const SelfCheckInput& input) {
  SelfCheck check{"mode", "nats that the log posterior could still rise, to second order", 0, kNearAMode, ""};
  LaplaceOptions options = input.options;
  options.curvature.root_derivatives = false;
  options.curvature.likelihood_gradient = true;
  if (options.slq) options.curvature.structure = options.slq->preconditioner;
  options.slq.reset();
  const LaplaceFit fit = fit_laplace(input.model, input.data, options);
  check.difference = evidence(fit, input.model.hyperparameters, {/*correction=*/true}).correction;
  return check;
}

}  // namespace

std::vector<SelfCheck> check_evidence(const SelfCheckInput& input, const LaplaceFit& fit, const Evidence& known) {
  Evidence value = known;
  value.value -= known.correction;  // the others are computed without it
  const double rounding = rounding_of(input.model);
  return {check_type(input, value), check_order(input, value, rounding), check_space(input, fit, value, rounding),
          check_gradient(input.model, fit, value), check_mode(input)};
}

}  // namespace ockham
