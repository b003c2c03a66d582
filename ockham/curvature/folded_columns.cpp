#include "ockham/curvature/folded_columns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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

/// All counts of a few columns; of many about a dozen, so that choosing stays cheap.
std::vector<int64_t> offered_counts(int64_t columns) {
  constexpr int64_t kEach = 16;
  std::vector<int64_t> counts;
  for (int64_t count = 1; count < columns; count = count < kEach ? count + 1 : count + count / 2)
    counts.push_back(count);
  counts.push_back(columns);
  return counts;
}

/// Each column, the heaviest first, goes to the group that weighs least so far.
std::vector<int64_t> balanced_groups(const std::vector<double>& weights, int64_t count) {
  std::vector<double> sums(static_cast<size_t>(count), 0.0);
  std::vector<int64_t> group;
  for (const double weight : weights) {
    const auto lightest = std::min_element(sums.begin(), sums.end());
    *lightest += weight;
    group.push_back(lightest - sums.begin());
  }
  return group;
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

// Within a group the random signs add Σ_{j≠k} ±r_j r_kᵀ, terms that are uncorrelated between pairs, groups and
// examples; the mean square of a pair is 2 w_j w_k + 2 (r_j·r_k)².
FoldingErrors folding_errors(const at::Tensor& root) {
  const at::Tensor products = root.transpose(1, 2).matmul(root).to(at::kDouble).contiguous();
  const int64_t examples = products.size(0), columns = products.size(1);
  FoldingErrors errors;
  errors.counts = offered_counts(columns);
  const int64_t offered = static_cast<int64_t>(errors.counts.size());
  errors.mean_squares = at::empty({examples, offered}, at::kDouble);
  const auto product = products.accessor<double, 3>();
  auto mean_square = errors.mean_squares.accessor<double, 2>();
  std::vector<double> weights(static_cast<size_t>(columns));
  for (int64_t n = 0; n < examples; ++n) {
    for (int64_t k = 0; k < columns; ++k) weights[k] = product[n][k][k];
    errors.trace += std::accumulate(weights.begin(), weights.end(), 0.0);
    for (int64_t i = 0; i < offered; ++i) {
      const std::vector<int64_t> group = balanced_groups(weights, errors.counts[i]);
      double sum = 0;
      for (int64_t k = 1; k < columns; ++k) {
        for (int64_t j = 0; j < k; ++j) {
          if (group[j] == group[k]) sum += 2 * (weights[j] * weights[k] + product[n][j][k] * product[n][j][k]);
        }
      }
      mean_square[n][i] = sum;
    }
  }
  return errors;
}

// The fewest columns for a given sum of errors minimise error + λ columns for some price λ of a column, which is found
// by halving its logarithm's range.
at::Tensor columns_to_send(const FoldingErrors& errors, double tolerance) {
  const auto mean_square = errors.mean_squares.accessor<double, 2>();
  const int64_t examples = errors.mean_squares.size(0), offered = errors.mean_squares.size(1);
  const double allowed = tolerance * errors.trace * tolerance * errors.trace;
  at::Tensor chosen = at::empty({examples}, at::kLong);
  int64_t* choice = chosen.data_ptr<int64_t>();
  const auto error_at = [&](double price) {
    double sum = 0;
    for (int64_t n = 0; n < examples; ++n) {
      int64_t best = 0;
      const auto cost = [&](int64_t i) { return mean_square[n][i] + price * static_cast<double>(errors.counts[i]); };
      for (int64_t i = 1; i < offered; ++i)
        if (cost(i) < cost(best)) best = i;
      sum += mean_square[n][best];
      choice[n] = errors.counts[best];
    }
    return sum;
  };
  double high = std::max(errors.mean_squares.max().item<double>(), std::numeric_limits<double>::min());
  if (error_at(high) <= allowed) return chosen;
  double low = 1e-18 * high;
  if (error_at(low) > allowed) low = 0;
  for (int step = 0; step < 40 && low > 0; ++step) {
    const double middle = std::sqrt(low * high);
    (error_at(middle) <= allowed ? low : high) = middle;
  }
  error_at(low);
  return chosen;
}

OutputRoot fold_columns(const OutputRoot& root, int64_t count, at::Generator generator) {
  const int64_t examples = root.root.size(0), columns = root.root.size(2);
  if (count >= columns) return root;
  const at::Tensor weights = column_weights(root.root).to(at::kDouble).contiguous();
  const at::Tensor groups = at::empty({examples, columns, 1}, at::kLong);
  for (int64_t n = 0; n < examples; ++n) {
    const double* first = weights.data_ptr<double>() + n * columns;
    const std::vector<int64_t> group = balanced_groups({first, first + columns}, count);
    std::copy(group.begin(), group.end(), groups.data_ptr<int64_t>() + n * columns);
  }
  const at::Tensor signs = at::randint(0, 2, groups.sizes(), generator, root.root.options()).mul_(2).sub_(1);
  const at::Tensor folding = at::zeros({examples, columns, count}, root.root.options()).scatter_(2, groups, signs);
  return changed(root, [&](const at::Tensor& t) { return t.matmul(folding); });
}

}  // namespace ockham
