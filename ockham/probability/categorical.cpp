#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/probability/each_likelihood.h"

namespace ockham::each {
namespace {

/// Probabilities p = softmax(u), u = f / T, and how they answer to the temperature, all [N, C].
struct Softmax {
  at::Tensor probability;
  at::Tensor log_derivative;  // ∂ log p / ∂ log T = -(u - Σ p u)
};

Softmax softmax_of(const at::Tensor& outputs, double temperature) {
  const at::Tensor scaled = outputs / temperature;
  const at::Tensor probability = scaled.softmax(1);
  // Relative to the largest, so that logits with a large common part lose no digits.
  const at::Tensor relative = scaled - scaled.amax(1, true);
  return {probability, (probability * relative).sum(1, true) - relative};
}

/// Σ_{j ≥ k} x_j.
at::Tensor tail_sums(const at::Tensor& x) { return x.flip(1).cumsum(1).flip(1); }

/// a / b, and 0 where b is 0.
at::Tensor divide_or_zero(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor zero = b == 0;
  return (a / b.masked_fill(zero, 1)).masked_fill_(zero, 0);
}

at::Tensor one_hot(const at::Tensor& classes, const at::Tensor& like) {  // classes [N, S] to [N, C, S]
  at::Tensor hot = at::zeros({like.size(0), like.size(1), classes.size(1)}, like.options());
  return hot.scatter_(1, classes.unsqueeze(1), 1);
}

/// ∂/∂log T of (p - e) / T with e held.
at::Tensor column_derivative(const at::Tensor& columns, const Softmax& softmax, double temperature) {
  return (softmax.probability * softmax.log_derivative / temperature).unsqueeze(2) - columns;
}

at::Tensor columns_at(const at::Tensor& classes, const Softmax& softmax, double temperature) {
  return one_hot(classes, softmax.probability).neg_().add_(softmax.probability.unsqueeze(2)).div_(temperature);
}

}  // namespace

double temperature_of(const Hyperparameters& hyperparameters) {
  const at::Tensor& log_temperature = hyperparameters.log_temperature;
  if (log_temperature.defined() && log_temperature.numel() == 1) return std::exp(log_temperature.item<double>());
  throw Error(ErrorKind::usage,
              fmt::format("This likelihood needs one temperature (log_temperature), but there are {}.",
                          log_temperature.defined() ? log_temperature.numel() : 0));
}

DataTerm data_term(const Categorical&, const at::Tensor& outputs, const at::Tensor& targets,
                   const Hyperparameters& hyperparameters) {
  const at::Tensor log_probability = (outputs / temperature_of(hyperparameters)).log_softmax(1);
  const at::Tensor at_target = log_probability.gather(1, targets.unsqueeze(1)).squeeze(1);
  // log p differs from u by a constant per example, which cancels in u_y - Σ p u.
  const at::Tensor mean = (log_probability.exp() * log_probability).sum(1);
  return {at_target.sum().item<double>(), (mean - at_target).sum().item<double>()};
}

at::Tensor gradient(const Categorical&, const at::Tensor& outputs, const at::Tensor& targets,
                    const Hyperparameters& hyperparameters) {
  const double temperature = temperature_of(hyperparameters);
  at::Tensor probability = (outputs / temperature).softmax(1);
  return probability.scatter_add_(1, targets.unsqueeze(1), at::full({outputs.size(0), 1}, -1, outputs.options()))
      .div_(temperature);
}

Tensors gradient_derivatives(const Categorical& categorical, const at::Tensor& outputs, const at::Tensor& targets,
                             const Hyperparameters& hyperparameters) {
  const double temperature = temperature_of(hyperparameters);
  const at::Tensor columns = gradient(categorical, outputs, targets, hyperparameters).unsqueeze(2);
  return {column_derivative(columns, softmax_of(outputs, temperature), temperature).squeeze(2)};
}

OutputRoot exact_root(const Categorical&, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                      bool derivatives) {
  const double temperature = temperature_of(hyperparameters);
  const Softmax softmax = softmax_of(outputs, temperature);
  const int64_t columns = outputs.size(1) - 1;
  const at::Tensor& p = softmax.probability;
  // The k-th column is that of splitting class k from the classes after it, whose probabilities sum to tail_{k+1}.
  // Quotients are taken before products: a product of two small tails would underflow.
  const at::Tensor tail = tail_sums(p);
  const at::Tensor head_p = p.narrow(1, 0, columns), head_tail = tail.narrow(1, 0, columns);
  const at::Tensor next_tail = tail.narrow(1, 1, columns);
  const at::Tensor share = divide_or_zero(head_p, head_tail).sqrt_().div_(temperature);
  const at::Tensor diagonal = share * next_tail.sqrt();
  const at::Tensor below = divide_or_zero(share, next_tail.sqrt());

  OutputRoot result;
  result.root = (p.unsqueeze(2) * below.neg().unsqueeze(1)).tril_(-1);
  result.root.diagonal(0, 1, 2).copy_(diagonal);
  if (!derivatives) return result;

  const at::Tensor& log_p = softmax.log_derivative;
  const at::Tensor log_tail = divide_or_zero(tail_sums(p * log_p), tail);
  const at::Tensor log_share = 0.5 * (log_p.narrow(1, 0, columns) - log_tail.narrow(1, 0, columns)) - 1;
  const at::Tensor half_next = 0.5 * log_tail.narrow(1, 1, columns);
  at::Tensor derivative = (log_p.unsqueeze(2) + (log_share - half_next).unsqueeze(1)).mul_(result.root);
  derivative.diagonal(0, 1, 2).copy_(diagonal * (log_share + half_next));
  result.derivatives = {derivative};
  return result;
}

OutputRoot sampled_root(const Categorical&, const at::Tensor& outputs, const Hyperparameters& hyperparameters,
                        const RootOptions& options, at::Generator generator) {
  const double temperature = temperature_of(hyperparameters);
  const Softmax softmax = softmax_of(outputs, temperature);
  const at::Tensor classes = at::multinomial(softmax.probability, options.mc_samples, true, generator);
  const double share = 1 / std::sqrt(static_cast<double>(options.mc_samples));
  OutputRoot result;
  result.root = columns_at(classes, softmax, temperature);
  if (options.derivatives) {
    // The sampled class is held, so its probability's own change enters by half its score on each side of g gᵀ.
    const at::Tensor score = softmax.log_derivative.gather(1, classes).unsqueeze(1);
    result.derivatives = {
        (column_derivative(result.root, softmax, temperature) + 0.5 * score * result.root).mul_(share)};
  }
  result.root.mul_(share);
  return result;
}

}  // namespace ockham::each
