#include "ockham/curvature/structure_difference.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/base/random.h"
#include "ockham/linalg/lanczos.h"
#include "ockham/linalg/log_form.h"
#include "ockham/linalg/student.h"

namespace ockham {

struct StructureDifference::State {
  PrecisionPoint point;
  int64_t steps = 0;
  std::vector<at::Tensor> tridiagonal;  // T [n, n] for each probe, n <= m
  std::vector<at::Tensor> prior_forms;  // G_g [G, n, n]
  std::vector<double> squared_norms;    // zᵀz
  at::Tensor gradient_root;             // [M]
};

namespace {

constexpr uint64_t kProbeStream = 0x736c7170726f6265;
constexpr int64_t kDouble = sizeof(double);
// Vectors of P numbers that a probe needs beside its basis: what goes through the root, the products and their sums.
constexpr int64_t kVectorsPerProbe = 8;
// Together, whatever the machine has free: how many probes share a pass must not change from run to run.
constexpr int64_t kBytesAtOnce = int64_t{4} << 30;
constexpr int64_t kMostFormBytes = int64_t{512} << 20;
constexpr int64_t kRootBytesAtOnce = int64_t{64} << 20;

int64_t basis_bytes(const DifferenceInput& input) {
  const int64_t weights = input.preconditioner.prior().layout().total();
  const int64_t element = input.basis_type == at::kDouble ? 8 : 4;
  return weights * (std::min(input.steps, weights) * element + kVectorsPerProbe * kDouble);
}

int64_t probes_at_once(const DifferenceInput& input, int64_t probes) {
  const int64_t most = input.memory_budget > 0 ? std::min(kBytesAtOnce, input.memory_budget) : kBytesAtOnce;
  const int64_t together = std::clamp<int64_t>(most / basis_bytes(input), 1, probes);
  const int64_t groups = (probes + together - 1) / together;
  return (probes + groups - 1) / groups;
}

void check_memory(const DifferenceInput& input, int64_t probes) {
  const int64_t needed = basis_bytes(input);
  const int64_t budget = input.memory_budget > 0 ? input.memory_budget : default_memory_budget();
  if (needed > budget) {
    throw Error(ErrorKind::usage,
                fmt::format("{} Lanczos vectors of {} weights need {} but the memory budget is {}; take fewer steps "
                            "(--slq-steps), float32, or raise the budget (--memory).",
                            input.steps, input.preconditioner.prior().layout().total(), human_bytes(needed),
                            human_bytes(budget)));
  }
  const int64_t groups = input.preconditioner.prior().size();
  const int64_t steps = std::min(input.steps, input.preconditioner.prior().layout().total());
  if (probes * groups > kMostFormBytes / (kDouble * steps * steps)) {
    throw Error(ErrorKind::usage,
                fmt::format("The estimated log determinant cannot follow {} prior precisions; use a scalar, layerwise "
                            "or ard prior, or fewer Lanczos steps (--slq-steps).",
                            groups));
  }
}

/// Rows v become W v, where they are.
void apply_root_in_place(const DifferenceInput& input, at::Tensor rows) {
  const int64_t at_once = std::max<int64_t>(1, kRootBytesAtOnce / (kDouble * rows.size(1)));
  for (int64_t first = 0; first < rows.size(0); first += at_once) {
    at::Tensor some = rows.narrow(0, first, std::min(at_once, rows.size(0) - first));
    some.copy_(input.preconditioner.apply_root(input.point, some.to(at::kDouble)));
  }
}

/// The weights of one parameter in `rows` [n, P] by the precisions that govern them: [groups, n, k].
at::Tensor by_precision(const at::Tensor& rows, const ParameterSlot& slot, PriorSlot::Pattern pattern) {
  const at::Tensor part = rows.narrow(1, slot.offset, slot.size);
  const int64_t count = rows.size(0);
  switch (pattern) {
    case PriorSlot::Pattern::per_input_column:
      return part.reshape({count, slot.shape[0], slot.shape[1], -1})
          .permute({2, 0, 1, 3})
          .reshape({slot.shape[1], count, -1});
    case PriorSlot::Pattern::per_element:
      return part.t().unsqueeze(2);
    case PriorSlot::Pattern::uniform:
      break;
  }
  return part.unsqueeze(0);
}

/// G_g = U P_g Uᵀ [G, n, n] for U = V Wᵀ [n, P].
at::Tensor prior_forms(const DifferenceInput& input, const at::Tensor& rows) {
  const Prior& prior = input.preconditioner.prior();
  const at::Tensor precision = input.point.log_prior_precision.exp();
  at::Tensor forms = at::zeros({prior.size(), rows.size(0), rows.size(0)}, at::kDouble);
  for (size_t i = 0; i < prior.layout().count(); ++i) {
    const at::Tensor parts = by_precision(rows, prior.layout()[i], prior.slot(i).pattern);
    const int64_t first = prior.slot(i).first, count = parts.size(0);
    forms.narrow(0, first, count)
        .add_(parts.bmm(parts.transpose(1, 2)).to(at::kDouble) * precision.narrow(0, first, count).view({-1, 1, 1}));
  }
  return forms;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_error_of(const std::vector<double>& values) {
  const double mean = mean_of(values), count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count);
}

/// Σ over the probes of zᵀM⁻¹Wᵀ (s ∂B/∂η_m) W z - zᵀWᵀ (s ∂B₀/∂η_m) W z: [M]. The basis holds W v already.
at::Tensor root_differences(const DifferenceInput& input, const Lanczos& lanczos) {
  std::vector<at::Tensor> inverse, plain;  // W M⁻¹ z and W z
  for (int64_t s = 0; s < lanczos.basis.size(0); ++s) {
    const int64_t length = lanczos.lengths[static_cast<size_t>(s)];
    const at::Tensor corner = lanczos.tridiagonal[s].narrow(0, 0, length).narrow(1, 0, length);
    at::Tensor first = at::zeros({length, 1}, at::kDouble);
    first[0] = lanczos.squared_norm[s].sqrt();
    const at::Tensor coefficients = at::linalg_solve(corner, first).squeeze(1).to(lanczos.basis.scalar_type());
    inverse.push_back(lanczos.basis[s].narrow(0, 0, length).t().mv(coefficients).to(at::kDouble));
    plain.push_back(lanczos.basis[s][0].to(at::kDouble) * first[0]);
  }
  at::Tensor sum = input.point.scale * input.products.root_forms(at::stack(inverse), at::stack(plain)).sum(0);
  for (const at::Tensor& vector : plain) sum.sub_(input.preconditioner.root_form(input.point, vector));
  return sum;
}

}  // namespace

at::Tensor random_signs(uint64_t seed, int64_t probes, int64_t weights) {
  at::Tensor signs = at::empty({probes, weights}, at::kChar);
  for (int64_t s = 0; s < probes; ++s) {
    at::Tensor row = signs[s];
    row.random_(0, 2, random_stream({seed, kProbeStream, static_cast<uint64_t>(s)})).mul_(2).sub_(1);
  }
  return signs;
}

int64_t passes_of_difference(const DifferenceInput& input, int64_t probes) {
  const int64_t together = probes_at_once(input, probes), groups = (probes + together - 1) / together;
  const int64_t steps = std::min(input.steps, input.preconditioner.prior().layout().total());
  return groups * (steps + (input.preconditioner.root_derivative_count() > 0 ? 1 : 0));
}

StructureDifference estimate_difference(const DifferenceInput& input, const at::Tensor& probes) {
  const int64_t count = probes.size(0);
  if (count < 2 || input.steps < 2) {
    throw Error(ErrorKind::usage,
                "An estimated log determinant needs at least two probes, for its error bar, and two Lanczos steps "
                "(--slq-probes, --slq-steps).");
  }
  check_memory(input, count);
  auto state = std::make_shared<StructureDifference::State>();
  state->point = input.point;
  state->point.log_prior_precision = input.point.log_prior_precision.to(at::kDouble).clone();
  state->steps = std::min(input.steps, probes.size(1));
  const at::Tensor precision = input.preconditioner.prior().expand(state->point.log_prior_precision).exp();
  const auto multiply = [&](const at::Tensor& rows) {
    const at::Tensor weights = input.preconditioner.apply_root(input.point, rows);
    at::Tensor products = input.products.multiply(weights).mul_(input.point.scale);
    products.addcmul_(weights, precision);
    return input.preconditioner.apply_root_transposed(input.point, products);
  };
  const int64_t together = probes_at_once(input, count), roots = input.preconditioner.root_derivative_count();
  if (roots > 0) state->gradient_root = at::zeros({roots}, at::kDouble);
  for (int64_t first = 0; first < count; first += together) {
    const at::Tensor some = probes.narrow(0, first, std::min(together, count - first)).to(at::kDouble);
    const Lanczos lanczos = run_lanczos(multiply, some, {input.steps, input.basis_type});
    for (int64_t s = 0; s < some.size(0); ++s) {
      const int64_t length = lanczos.lengths[static_cast<size_t>(s)];
      const at::Tensor rows = lanczos.basis[s].narrow(0, 0, length);
      apply_root_in_place(input, rows);
      state->tridiagonal.push_back(lanczos.tridiagonal[s].narrow(0, 0, length).narrow(1, 0, length).clone());
      state->prior_forms.push_back(prior_forms(input, rows));
      state->squared_norms.push_back(lanczos.squared_norm[s].item<double>());
    }
    if (roots > 0) state->gradient_root.add_(root_differences(input, lanczos));
  }
  if (roots > 0) state->gradient_root.div_(static_cast<double>(count));
  return StructureDifference(std::move(state));
}

int64_t StructureDifference::probes() const { return static_cast<int64_t>(state_->tridiagonal.size()); }
int64_t StructureDifference::steps() const { return state_->steps; }

StructureDifference::Value StructureDifference::at(const PrecisionPoint& point) const {
  const SerialOperators serial;  // matrices so small that other threads would wake too late
  const double ratio = point.scale / state_->point.scale;
  const at::Tensor ratios =
      (point.log_prior_precision.to(at::kDouble).reshape(-1) - state_->point.log_prior_precision).exp();
  Value result;
  result.gradient_log_prior_precision = at::zeros_like(ratios);
  std::vector<double> values, by_half;
  for (size_t s = 0; s < state_->tridiagonal.size(); ++s) {
    const at::Tensor &projected = state_->tridiagonal[s], &forms = state_->prior_forms[s];
    const int64_t length = projected.size(0), half = std::min(length, (state_->steps + 1) / 2);
    const at::Tensor flat = forms.reshape({forms.size(0), -1});
    const at::Tensor prior = forms.sum(0), moved = ratios.unsqueeze(0).mm(flat).view({length, length});
    const at::Tensor curvature = ratio * (projected - prior);
    const at::Tensor approximate = ratio * (at::eye(length, at::kDouble) - prior);
    const at::Tensor exact_sum = curvature + moved, approximate_sum = approximate + moved;
    const LogForm exact = log_form(exact_sum, true), other = log_form(approximate_sum, true);
    const auto by_first = [&](const at::Tensor& matrix) {
      return log_form(matrix.narrow(0, 0, half).narrow(1, 0, half), false).value;
    };
    const double norm = state_->squared_norms[s];
    values.push_back(norm * (exact.value - other.value));
    by_half.push_back(norm * (by_first(exact_sum) - by_first(approximate_sum)));
    const double share = norm / static_cast<double>(probes());
    const at::Tensor slopes = (exact.gradient - other.gradient).reshape({-1});
    result.gradient_log_prior_precision.add_(ratios * flat.mv(slopes), share);
    result.gradient_log_scale +=
        share * ((exact.gradient * curvature).sum() - (other.gradient * approximate).sum()).item<double>();
  }
  result.value = mean_of(values);
  result.standard_error = standard_error_of(values);
  result.half_width = student_quantile(probes() - 1, 0.95) * result.standard_error;
  result.lanczos_bias = result.value - mean_of(by_half);
  if (state_->gradient_root.defined()) {
    result.gradient_root = state_->gradient_root;
    if (point.root_shift.defined()) result.value += at::dot(result.gradient_root, point.root_shift).item<double>();
  }
  return result;
}

}  // namespace ockham
