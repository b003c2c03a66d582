#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ockham/base/error.h"
#include "ockham/probability/likelihood.h"

namespace ockham {
namespace {

[[noreturn]] void refuse_shape(const Likelihood& likelihood, const at::Tensor& targets, const std::string& expected) {
  throw Error(ErrorKind::data, fmt::format("The targets have the shape [{}], but the {} likelihood expects {}.",
                                           fmt::join(targets.sizes().vec(), ", "), name_of(likelihood), expected));
}

/// Throws for the first entry of values [N, C] where `bad` holds.
void refuse_first(const at::Tensor& bad, const at::Tensor& values, const Likelihood& likelihood,
                  const std::string& expected) {
  if (!bad.any().item<bool>()) return;
  const at::Tensor place = bad.nonzero()[0];
  const int64_t row = place[0].item<int64_t>(), column = place[1].item<int64_t>();
  const std::string where =
      values.size(1) == 1 ? fmt::format("row {}", row) : fmt::format("row {}, column {}", row, column);
  throw Error(ErrorKind::data, fmt::format("The target in {} (counted from 0) is {}, but the {} likelihood expects {}.",
                                           where, values[row][column].item<double>(), name_of(likelihood), expected));
}

/// [N, C], or [N] when C = 1, as float64 [N, C].
at::Tensor by_output(const Likelihood& likelihood, const at::Tensor& targets, int64_t outputs) {
  if (targets.dim() == 1 && outputs == 1) return targets.to(at::kDouble).unsqueeze(1);
  if (targets.dim() == 2 && targets.size(1) == outputs) return targets.to(at::kDouble);
  refuse_shape(likelihood, targets,
               outputs == 1 ? "[N] or [N, 1] for a network with 1 output"
                            : fmt::format("[N, {}] for a network with {} outputs", outputs, outputs));
}

struct Prepare {
  const Likelihood& likelihood;
  const at::Tensor& targets;
  int64_t outputs;
  at::ScalarType dtype;

  at::Tensor operator()(const Gaussian&) const {
    const at::Tensor values = by_output(likelihood, targets, outputs);
    refuse_first(at::isfinite(values).logical_not(), values, likelihood, "finite numbers");
    return values.to(dtype);
  }

  at::Tensor operator()(const Categorical&) const {
    if (outputs < 2) {
      throw Error(ErrorKind::data,
                  fmt::format("The categorical likelihood expects a network with at least 2 outputs, but "
                              "it has {}; use the bernoulli likelihood for one logit.",
                              outputs));
    }
    const bool column = targets.dim() == 2 && targets.size(1) == 1;
    if (targets.dim() != 1 && !column) refuse_shape(likelihood, targets, "one class per example, [N]");
    const at::Tensor values = targets.reshape({-1, 1}).to(at::kDouble);
    const at::Tensor good = (values == values.floor()).logical_and(values >= 0).logical_and(values <= outputs - 1);
    refuse_first(good.logical_not(), values, likelihood,
                 fmt::format("whole numbers from 0 to {} for a network with {} outputs", outputs - 1, outputs));
    return values.squeeze(1).to(at::kLong);
  }

  at::Tensor operator()(const Bernoulli&) const {
    if (outputs != 1) {
      throw Error(ErrorKind::data,
                  fmt::format("The bernoulli likelihood expects a network with 1 output (one logit), but "
                              "it has {}; use the categorical likelihood.",
                              outputs));
    }
    const at::Tensor values = by_output(likelihood, targets, outputs);
    refuse_first((values != 0).logical_and(values != 1), values, likelihood, "0 or 1");
    return values.to(dtype);
  }

  at::Tensor operator()(const Poisson&) const {
    const at::Tensor values = by_output(likelihood, targets, outputs);
    const at::Tensor good = (values == values.floor()).logical_and(values >= 0).logical_and(at::isfinite(values));
    refuse_first(good.logical_not(), values, likelihood, "counts: whole numbers from 0 upwards");
    return values.to(dtype);
  }
};

}  // namespace

at::Tensor prepare_targets(const Likelihood& likelihood, const at::Tensor& targets, int64_t outputs,
                           at::ScalarType dtype) {
  return std::visit(Prepare{likelihood, targets.detach(), outputs, dtype}, likelihood);
}

}  // namespace ockham
