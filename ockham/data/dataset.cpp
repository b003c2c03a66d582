#include "ockham/data/dataset.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ockham/base/error.h"

namespace ockham {
namespace {

void check_finite(const at::Tensor& values, const char* what) {
  if (!at::isFloatingType(values.scalar_type())) return;
  // A sum is finite unless a term is not (or it overflows): one cheap pass for the usual case.
  if (std::isfinite(values.sum(at::kDouble).item<double>())) return;
  const int64_t row_count = values.size(0);
  for (int64_t row = 0; row < row_count; ++row) {
    const auto finite = values[row].isfinite();
    if (finite.all().item<bool>()) continue;
    int64_t position = finite.logical_not().flatten().nonzero()[0].item<int64_t>();
    const double value = values[row].flatten()[position].item<double>();
    std::vector<int64_t> index(values.dim(), 0);
    index[0] = row;
    for (int64_t d = values.dim() - 1; d > 0; --d) {
      index[d] = position % values.size(d);
      position /= values.size(d);
    }
    throw Error(ErrorKind::data, fmt::format("{}[{}] is {}: every value must be finite; clean the data first", what,
                                             fmt::join(index, ", "), value));
  }
}

}  // namespace

Dataset::Dataset(at::Tensor inputs, at::Tensor targets) : inputs_(std::move(inputs)), targets_(std::move(targets)) {
  if (inputs_.dim() == 0 || targets_.dim() == 0) {
    throw Error(ErrorKind::data,
                "inputs and targets must be arrays with one row per example, but a single number came");
  }
  if (inputs_.size(0) != targets_.size(0)) {
    throw Error(ErrorKind::data,
                fmt::format("inputs have {} rows but targets have {}: there must be one target per example",
                            inputs_.size(0), targets_.size(0)));
  }
  if (inputs_.size(0) == 0) throw Error(ErrorKind::data, "the data set is empty: it must have at least one example");
  if (inputs_.numel() == 0) {
    throw Error(ErrorKind::data,
                fmt::format("inputs of shape [{}] hold no values: every example must have at least one feature",
                            fmt::join(inputs_.sizes(), ", ")));
  }
  check_finite(inputs_, "inputs");
  check_finite(targets_, "targets");
}

Batch Dataset::gather(const at::Tensor& examples) const {
  return {inputs_.index_select(0, examples), targets_.index_select(0, examples), examples[0].item<int64_t>()};
}

Batch Dataset::slice(int64_t first, int64_t count) const {
  const int64_t length = std::min(count, size() - first);
  return {inputs_.narrow(0, first, length), targets_.narrow(0, first, length), first};
}

}  // namespace ockham
