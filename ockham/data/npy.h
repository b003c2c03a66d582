// NumPy's .npy files: the arrays that Python users have at hand.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ockham {

/// Reads a C- or Fortran-ordered array of float16/32/64, int8..64, uint8 or bool (little or big endian). Throws
/// Error(data) naming the file and what is wrong: not NPY, truncated, a type or shape that cannot be read. The header
/// is checked against the file's size before anything is allocated.
at::Tensor read_npy(const std::string& path);

/// Writes float32/float64/int64 tensors, atomically (base/atomic_file.h).
void write_npy(const std::string& path, const at::Tensor& array);

}  // namespace ockham
