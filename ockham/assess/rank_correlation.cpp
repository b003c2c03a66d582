#include "ockham/assess/rank_correlation.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ockham/assess/checked_input.h"
#include "ockham/base/error.h"

namespace ockham {

at::Tensor average_ranks(const at::Tensor& values) {
  const at::Tensor checked = checked_values(values, "vector to be ranked", 1);
  const double* value = checked.data_ptr<double>();
  std::vector<int64_t> order(checked.numel());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [value](int64_t a, int64_t b) { return value[a] < value[b]; });

  at::Tensor ranks = at::empty_like(checked);
  double* rank = ranks.data_ptr<double>();
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && value[order[end]] == value[order[begin]]) ++end;
    const double shared = 0.5 * static_cast<double>(begin + 1 + end);
    for (size_t i = begin; i < end; ++i) rank[order[i]] = shared;
  }
  return ranks;
}

double spearman_correlation(const at::Tensor& first, const at::Tensor& second) {
  const at::Tensor first_ranks = average_ranks(first), second_ranks = average_ranks(second);
  const int64_t n = first_ranks.numel();
  if (second_ranks.numel() != n) {
    throw Error(ErrorKind::usage, fmt::format("The rank correlation has {} values on one side and {} on the other, but "
                                              "pairs are expected.",
                                              n, second_ranks.numel()));
  }
  if (n < 2) throw Error(ErrorKind::data, "The rank correlation has one pair of values, but at least 2 are needed.");
  // Centred ranks are multiples of one half, so these sums are exact for up to some hundred thousand values.
  const double centre = 0.5 * static_cast<double>(n + 1);
  const at::Tensor a = first_ranks - centre, b = second_ranks - centre;
  const double aa = a.dot(a).item<double>(), bb = b.dot(b).item<double>();
  if (aa == 0 || bb == 0) {
    throw Error(ErrorKind::data,
                fmt::format("The rank correlation is not defined: all values of the {} side are equal.",
                            aa == 0 ? "first" : "second"));
  }
  const double rho = a.dot(b).item<double>() / std::sqrt(aa * bb);
  return std::clamp(rho, -1.0, 1.0);
}

}  // namespace ockham
