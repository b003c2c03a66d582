#include "tests/properties/dense_evidence.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "tests/support/dense_reference.h"

namespace ockham::properties {
namespace {

at::Tensor gradient_of(const at::Tensor& value, const at::Tensor& variable, bool keep = false) {
  const auto gradients = torch::autograd::grad({value}, {variable}, {}, /*retain_graph=*/true, /*create_graph=*/keep,
                                               /*allow_unused=*/true);
  return gradients[0].defined() ? gradients[0] : at::zeros_like(variable);
}

at::Tensor kronecker(const at::Tensor& left, const at::Tensor& right) { return at::kron(left, right); }

at::Tensor identity_like(const at::Tensor& matrix) { return at::eye(matrix.size(0), at::kDouble); }

/// σ^e of a Gaussian with one σ: what the damped variant splits between its factors.
double noise_scale(const Likelihood& likelihood, CurvatureKind kind, const Hyperparameters& at) {
  const auto* gaussian = std::get_if<Gaussian>(&likelihood);
  if (gaussian == nullptr || gaussian->noise_per_output) return 1;
  const double sigma = std::exp(at.log_noise[0].item<double>());
  return kind == CurvatureKind::empirical_fisher ? std::pow(sigma, -4) : std::pow(sigma, -2);
}

}  // namespace

DenseEvidence::DenseEvidence(const RandomModel& random, Mistake mistake) : random_(random), mistake_(mistake) {
  const at::AutoGradMode with_gradients(true);
  const Network& network = random.model.network;
  jacobian_ = testing::brute_force_jacobian(network, random.data.inputs());
  Trace trace;
  const at::Tensor outputs = random.traced_forward(random.data.inputs(), trace);
  outputs_ = outputs.detach();
  for (const TracedUse& use : trace) {
    std::vector<at::Tensor> by_output;
    // Examples do not meet, so the gradient of a sum over them has that of each.
    for (int64_t c = 0; c < outputs.size(1); ++c)
      by_output.push_back(use.gradient_rows(gradient_of(outputs.select(1, c).sum(), use.output)));
    uses_.push_back({use.parameter, use.bias, use.gradient_left,
                     use.inputs.defined() ? use.inputs.detach() : at::Tensor(), at::stack(by_output)});
  }
}

at::Tensor DenseEvidence::log_likelihood(const at::Tensor& outputs, const Hyperparameters& at) const {
  const at::Tensor& targets = random_.data.targets();
  const Likelihood& likelihood = random_.model.likelihood;
  if (std::holds_alternative<Gaussian>(likelihood)) {
    const at::Tensor variance = (2 * at.log_noise).exp();
    return -0.5 * ((outputs - targets).square() / variance + (2 * M_PI * variance).log()).sum();
  }
  if (std::holds_alternative<Poisson>(likelihood))
    return (targets * outputs - outputs.exp() - (targets + 1).lgamma()).sum();
  const at::Tensor logits = outputs / at.log_temperature.exp();
  if (std::holds_alternative<Categorical>(likelihood))
    return at::log_softmax(logits, 1).gather(1, targets.unsqueeze(1)).sum();
  return (targets * at::log_sigmoid(logits) + (1 - targets) * at::log_sigmoid(-logits)).sum();
}

at::Tensor DenseEvidence::output_curvature(CurvatureKind kind, const Hyperparameters& given) const {
  const at::AutoGradMode with_gradients(true);
  Hyperparameters at = given.clone();
  if (mistake_ == Mistake::noise_forgotten) at.log_noise.zero_();
  const at::Tensor outputs = outputs_.clone().set_requires_grad(true);
  const at::Tensor gradient = gradient_of(-log_likelihood(outputs, at), outputs, /*keep=*/true);
  if (kind == CurvatureKind::empirical_fisher) {
    const at::Tensor column = gradient.detach().unsqueeze(2);
    return at::bmm(column, column.transpose(1, 2));
  }
  std::vector<at::Tensor> rows;
  for (int64_t c = 0; c < outputs.size(1); ++c)
    rows.push_back(gradient_of(gradient.select(1, c).sum(), outputs).detach());
  return at::stack(rows, 1);
}

at::Tensor DenseEvidence::precisions(const Hyperparameters& at) const {
  const ParameterLayout& layout = random_.model.network.layout();
  const PriorKind kind = random_.model.prior.kind();
  const double* logs = at.log_prior_precision.data_ptr<double>();
  std::vector<double> all;
  int64_t next = 0;  // precision of the next parameter
  bool columns_given = false;
  for (size_t i = 0; i < layout.count(); ++i) {
    const ParameterSlot& slot = layout[i];
    const bool columns = kind == PriorKind::ard && !columns_given && slot.shape.size() >= 2;
    for (int64_t k = 0; k < slot.size; ++k) {
      int64_t group = next;
      if (kind == PriorKind::scalar) group = 0;
      if (kind == PriorKind::diagonal) group = slot.offset + k;
      if (kind == PriorKind::groups) group = static_cast<int64_t>(i % random_.blocks.size());
      if (columns) group = next + k / (slot.size / slot.shape[0] / slot.shape[1]) % slot.shape[1];
      all.push_back(std::exp(logs[group]));
    }
    next += columns ? slot.shape[1] : 1;
    columns_given = columns_given || columns;
  }
  return at::tensor(all, at::kDouble);
}

at::Tensor DenseEvidence::exact_curvature(const at::Tensor& lambda) const {
  return at::bmm(at::bmm(jacobian_.transpose(1, 2), lambda), jacobian_).sum(0);
}

DenseEvidence::Factors DenseEvidence::factors(size_t parameter, KroneckerRule rule, const at::Tensor& lambda) const {
  std::vector<at::Tensor> inputs, gradients;
  bool gradient_left = true;
  for (const Use& use : uses_) {
    if (use.parameter != parameter) continue;
    inputs.push_back(use.inputs);
    gradients.push_back(use.gradients);
    gradient_left = use.gradient_left;
  }
  at::Tensor a = at::cat(inputs, 2), g = at::cat(gradients, 3);  // uses are further positions
  const double examples = static_cast<double>(a.size(1)), positions = static_cast<double>(a.size(2));
  if (rule != KroneckerRule::expand) g = g.sum(3, /*keepdim=*/true);
  if (rule == KroneckerRule::reduce) a = a.mean(2, /*keepdim=*/true);
  const at::Tensor weighted = at::einsum("ncd,dgnsi->cgnsi", {lambda, g});
  at::Tensor q = at::einsum("cgnsi,cgnsj->gij", {weighted, g});
  if (rule == KroneckerRule::expand && mistake_ != Mistake::positions_not_meant) q = q / positions;
  const at::Tensor w = at::einsum("gnsi,gnsj->gij", {a, a}) / examples;
  Factors result;
  for (int64_t group = 0; group < q.size(0); ++group) {
    const bool left = gradient_left != (mistake_ == Mistake::factors_swapped);
    result.left.push_back(left ? q[group] : w[group]);
    result.right.push_back(left ? w[group] : q[group]);
  }
  return result;
}

at::Tensor DenseEvidence::bias_curvature(size_t parameter, const at::Tensor& lambda) const {
  std::vector<at::Tensor> gradients;
  for (const Use& use : uses_)
    if (use.parameter == parameter) gradients.push_back(use.gradients.select(1, 0));
  const at::Tensor g = at::cat(gradients, 2);
  return at::einsum("cnsi,cnsj->ij", {at::einsum("ncd,dnsi->cnsi", {lambda, g}), g});
}

at::Tensor DenseEvidence::structured_precision(const LaplaceOptions& options, const Hyperparameters& at,
                                               const at::Tensor& lambda) const {
  const double weight = mistake_ == Mistake::no_likelihood_weight ? 1 : options.likelihood_weight;
  const at::Tensor exact = weight * exact_curvature(lambda), delta = precisions(at);
  const Structure structure = options.curvature.structure;
  if (structure == Structure::full) return exact + delta.diag();
  if (structure == Structure::diagonal) return (exact.diagonal() + delta).diag();

  const ParameterLayout& layout = random_.model.network.layout();
  at::Tensor result = at::zeros_like(exact);
  const auto copy = [&](const ParameterSlot& row, const ParameterSlot& column) {
    result.narrow(0, row.offset, row.size)
        .narrow(1, column.offset, column.size)
        .copy_(exact.narrow(0, row.offset, row.size).narrow(1, column.offset, column.size));
  };
  if (structure == Structure::block && !options.curvature.blocks.empty()) {
    for (const auto& block : options.curvature.blocks)
      for (const size_t row : block)
        for (const size_t column : block) copy(layout[row], layout[column]);
    return result + delta.diag();
  }
  for (const ParameterSlot& slot : layout.slots()) copy(slot, slot);
  result = result + delta.diag();
  if (structure == Structure::block) return result;

  for (const Use& use : uses_) {
    const ParameterSlot& slot = layout[use.parameter];
    at::Tensor block = result.narrow(0, slot.offset, slot.size).narrow(1, slot.offset, slot.size);
    const at::Tensor own = delta.narrow(0, slot.offset, slot.size);
    if (use.bias) {
      if (options.curvature.kronecker_rule == KroneckerRule::expand)
        block.copy_(weight * bias_curvature(use.parameter, lambda) + own.diag());
      continue;
    }
    const Factors pairs = factors(use.parameter, options.curvature.kronecker_rule, lambda);
    const int64_t size = slot.size / static_cast<int64_t>(pairs.left.size());
    block.zero_();
    for (size_t group = 0; group < pairs.left.size(); ++group) {
      const int64_t first = static_cast<int64_t>(group) * size;
      at::Tensor part = block.narrow(0, first, size).narrow(1, first, size);
      if (options.damping) {
        // The gradient's factor holds σ^e already; half of it belongs to the other one.
        const double noise = noise_scale(random_.model.likelihood, options.curvature.kind, at);
        const double with_noise = std::sqrt(weight / noise), without = std::sqrt(weight * noise);
        const double shift = std::sqrt(own[0].item<double>());
        const at::Tensor left = pairs.left[group] * (use.gradient_left ? with_noise : without);
        const at::Tensor right = pairs.right[group] * (use.gradient_left ? without : with_noise);
        part.copy_(kronecker(left + shift * identity_like(left), right + shift * identity_like(right)));
      } else {
        part.copy_(weight * kronecker(pairs.left[group], pairs.right[group]) + own.narrow(0, first, size).diag());
      }
    }
  }
  return result;
}

double DenseEvidence::value(const LaplaceOptions& options, const Hyperparameters& at,
                            const std::optional<at::Tensor>& monte_carlo) const {
  const at::Tensor lambda = monte_carlo ? *monte_carlo : output_curvature(options.curvature.kind, at);
  const at::Tensor precision = structured_precision(options, at, lambda), delta = precisions(at);
  const at::Tensor theta = random_.model.network.flat_parameters();
  const double count = static_cast<double>(theta.numel()), half = mistake_ == Mistake::prior_halved ? 0.25 : 0.5;
  const double log_prior =
      (half * delta.log() - 0.5 * delta * theta.square()).sum().item<double>() - 0.5 * count * std::log(2 * M_PI);
  const double log_det = 2 * at::linalg_cholesky(precision).diagonal().log().sum().item<double>();
  return options.likelihood_weight * log_likelihood(outputs_, at).item<double>() + log_prior +
         0.5 * count * std::log(2 * M_PI) - 0.5 * log_det;
}

}  // namespace ockham::properties
