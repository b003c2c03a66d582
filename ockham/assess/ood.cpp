#include "ockham/assess/ood.h"

#include <ATen/ATen.h>

#include "ockham/assess/checked_input.h"
#include "ockham/assess/rank_correlation.h"

namespace ockham {

double area_under_roc(const at::Tensor& inside, const at::Tensor& outside) {
  const at::Tensor in = checked_values(inside, "vector of scores inside the distribution", 1);
  const at::Tensor out = checked_values(outside, "vector of scores outside the distribution", 1);
  const double n = static_cast<double>(in.numel()), m = static_cast<double>(out.numel());
  const at::Tensor ranks = average_ranks(at::cat({in, out}));
  const double rank_sum = ranks.narrow(0, in.numel(), out.numel()).sum().item<double>();
  return (rank_sum - 0.5 * m * (m + 1)) / (n * m);
}

at::Tensor predictive_entropy(const at::Tensor& probabilities) {
  return -at::xlogy(probabilities, probabilities).sum(1);
}

}  // namespace ockham
