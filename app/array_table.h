// NumPy arrays as columns of a table, so that everything after reading is as for a table.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace ockham::app {

/// Adds an array [N] or [N, D] as columns to the rows of a table; the digits of a number give it back exactly. Throws
/// Error(data) naming the file for other shapes.
void append_columns(const std::string& path, const at::Tensor& array, std::vector<std::vector<std::string>>& rows);

}  // namespace ockham::app
