#include "ockham/curvature/folded_columns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

namespace ockham {
namespace {

/// Applies `change` to the root and to its derivatives.
template <typename Change>
OutputRoot changed(const OutputRoot& root, const Change& change) {
  OutputRoot result;
  result.root = change(root.root);
  for (const at::Tensor& derivative : root.derivatives) result.derivatives.push_back(change(derivative));
  return result;
}

/// Row i of an example goes to row places[n, i].
at::Tensor put_rows(const at::Tensor& root, const at::Tensor& places) {
  return at::empty_like(root).scatter_(1, places.unsqueeze(2).expand_as(root), root);
}

}  // namespace

at::Tensor column_weights(const at::Tensor& root) { return root.square().sum(1); }

OutputRoot root_by_weight(const Likelihood& likelihood, const at::Tensor& outputs,
                          const Hyperparameters& hyperparameters, bool derivatives) {
  RootOptions options;
  options.derivatives = derivatives;
  const auto root_of = [&](const at::Tensor& some) {
    return output_root(likelihood, some, /*targets=*/{}, hyperparameters, options, at::Generator());
  };
  OutputRoot root;
  if (std::holds_alternative<Categorical>(likelihood)) {
    const auto [logits, classes] = outputs.sort(1, /*descending=*/true);
    root = changed(root_of(logits), [&places = classes](const at::Tensor& t) { return put_rows(t, places); });
  } else {
    root = root_of(outputs);
  }
  const at::Tensor order = column_weights(root.root).argsort(1, /*descending=*/true).unsqueeze(1);
  return changed(root, [&](const at::Tensor& t) { return t.gather(2, order.expand_as(t)); });
}

// Folding columns k with random signs adds Σ_{j≠k} ±r_j r_kᵀ, terms that are uncorrelated between pairs and examples.
// The mean square of a pair, 2 w_j w_k + 2 (r_j·r_k)², is at most 4 w_j w_k; keeping column k takes away its pairs with
// the columns after it, 4 w_k Σ_{j>k} w_j, which falls with k: so taking the largest of all first is the best choice.
at::Tensor columns_to_keep(const at::Tensor& weights, double tolerance) {
  const at::Tensor w = weights.to(at::kDouble);
  const at::Tensor after = w.flip(1).cumsum(1).flip(1) - w;
  const at::Tensor gains = 4 * w * after.clamp_min(0);
  const double allowed = tolerance * w.sum().item<double>();
  const at::Tensor rising = std::get<0>(gains.reshape(-1).sort());
  const int64_t foldable = (rising.cumsum(0) <= allowed * allowed).sum().item<int64_t>();
  if (foldable == rising.size(0)) return at::zeros({w.size(0)}, at::kLong);
  return (gains >= rising[foldable]).sum(1);
}

OutputRoot fold_columns(const OutputRoot& root, int64_t kept, at::Generator generator) {
  const int64_t columns = root.root.size(2), rest = columns - kept;
  if (rest <= 1) return root;
  const at::Tensor signs =
      at::randint(0, 2, {root.root.size(0), 1, rest}, generator, root.root.options()).mul_(2).sub_(1);
  return changed(root, [&](const at::Tensor& t) {
    return at::cat({t.narrow(2, 0, kept), (t.narrow(2, kept, rest) * signs).sum(2, /*keepdim=*/true)}, 2);
  });
}

}  // namespace ockham
