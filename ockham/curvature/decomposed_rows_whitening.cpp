// The way of decomposed_rows.h for products of rows and few weights that do not share the main precision.
#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "ockham/curvature/decomposed_rows.h"
#include "ockham/linalg/product_rows.h"

namespace ockham {

bool DecomposedRows::choose_whitening() {
  if (widest_group_ >= 0) return true;
  if (derivative_count() > 0 || span_.runs().empty()) return false;
  const int64_t m = rows_.size(0);
  parts_.clear();
  std::map<int64_t, int64_t> weights;  // by group
  int64_t products = 0;                // columns to multiply for M
  auto run = span_.runs().begin();
  int64_t first = 0;
  for (const size_t parameter : span_.parameters()) {
    while (first >= run->first + run->size) ++run;
    const int64_t size = span_.size_of(parameter);
    Part part{run->group, {}, {}};
    const auto found = factors_.find(first);
    if (found == factors_.end()) {
      part.left = rows_.narrow(1, first, size);
      part.right = at::ones({m, 1}, at::kDouble);
    } else {
      const auto repeated = [&](const at::Tensor& factor) {
        return factor.size(0) == m ? factor : factor.repeat_interleave(m / factor.size(0), 0);
      };
      part.left = repeated(found->second.left);
      part.right = repeated(found->second.right);
    }
    products += part.left.size(1) + part.right.size(1);
    weights[part.group] += size;
    parts_.push_back(std::move(part));
    first += size;
  }
  int64_t widest = weights.begin()->first;
  for (const auto& [group, count] : weights)
    if (count > weights[widest]) widest = group;
  // Otherwise Gram matrices that are kept, or M⁻¹ as a whole, are cheaper.
  if (products > 2 * m || 2 * (span_.size() - weights[widest]) > m) return false;
  widest_group_ = widest;
  return true;
}

bool DecomposedRows::add_by_whitening(const PrecisionPoint& point, LogDeterminant& total) {
  const int64_t m = rows_.size(0);
  const double* log_precision = point.log_prior_precision.data_ptr<double>();
  std::vector<ProductRows> rows;
  std::vector<at::Tensor> columns = {at::empty({m, 0}, at::kDouble)};
  std::vector<int64_t> groups;  // of the columns
  for (const Part& part : parts_) {
    const double weight = std::sqrt(point.scale * multiplier_ * std::exp(-log_precision[part.group]));  // √(s/δ)
    rows.push_back({part.left, part.right * weight});
    if (part.group == widest_group_) continue;
    columns.push_back((part.left.unsqueeze(2) * rows.back().right.unsqueeze(1)).reshape({m, -1}));
    groups.insert(groups.end(), static_cast<size_t>(columns.back().size(1)), part.group);
  }
  const WhitenedColumns whitened = whiten_columns(rows, at::cat(columns, 1));
  if (!whitened.squared_norms.defined()) return false;

  double* by_group = total.gradient_log_prior_precision.data_ptr<double>();
  const double explained = static_cast<double>(m) - whitened.inverse_trace;  // tr(M⁻¹ (M - I))
  double explained_by_widest = explained;
  for (size_t c = 0; c < groups.size(); ++c) {
    const double norm = whitened.squared_norms.data_ptr<double>()[c];
    by_group[groups[c]] -= norm;
    explained_by_widest -= norm;
  }
  by_group[widest_group_] -= explained_by_widest;
  total.value += whitened.log_determinant;
  total.gradient_log_scale += explained;
  for (const BlockSpan::Run& run : span_.runs()) {
    by_group[run.group] += static_cast<double>(run.size);
    total.value += static_cast<double>(run.size) * log_precision[run.group];
  }
  return true;
}

}  // namespace ockham
