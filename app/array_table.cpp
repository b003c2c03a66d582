#include "app/array_table.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ockham/base/error.h"

namespace ockham::app {

void append_columns(const std::string& path, const at::Tensor& array, std::vector<std::vector<std::string>>& rows) {
  if (array.dim() != 1 && array.dim() != 2)
    throw Error(ErrorKind::data, fmt::format("{}: an array of {} dimensions came; [N, D] is expected, or [N] for "
                                             "targets",
                                             path, array.dim()));
  const at::Tensor values = array.to(at::kDouble).reshape({array.size(0), -1}).contiguous();
  rows.resize(static_cast<size_t>(values.size(0)));
  const double* value = values.data_ptr<double>();
  for (auto& row : rows)
    for (int64_t column = 0; column < values.size(1); ++column) row.push_back(fmt::format("{}", *value++));
}

}  // namespace ockham::app
