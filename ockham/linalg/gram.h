// Sums of outer products, Σ r rᵀ over many rows: symmetric rank-k updates in the rows' type, kept safe in float64.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ockham {

/// matrix [d, d] += rowsᵀ rows, lower triangle only (BLAS syrk: half the work of a product).
void add_gram_lower(at::Tensor& matrix, const at::Tensor& rows);

/// rowsᵀ rows, symmetric [d, d], for float64 rows [m, d].
at::Tensor gram(const at::Tensor& rows);

/// rowsᵀ other + otherᵀ rows [d, d], the derivative of rowsᵀ rows when `other` is that of the rows; both [m, d].
at::Tensor symmetric_cross(const at::Tensor& rows, const at::Tensor& other);

/// Σ rowsᵀ other over many batches, for rows and other of one shape, kept safe in the same way.
class CrossAccumulator {
 public:
  void add(const at::Tensor& rows, const at::Tensor& other);  // [m, d] each
  at::Tensor finish();                                        // float64 [d, d]; undefined when nothing was added

 private:
  at::Tensor partial_, total_;
  int64_t updates_ = 0;
};

/// The type to sum exact matrices of so many columns in: float64 where it costs next to nothing, since in float32 small
/// eigenvalues are lost beside large ones; else the rows' own.
at::ScalarType type_for_gram(int64_t columns, at::ScalarType own);

/// Collects rows [m, d] until there are enough for an efficient update, updates in the rows' own type, and moves the
/// partial sum to float64 before float32 rounding could matter.
class GramAccumulator {
 public:
  explicit GramAccumulator(int64_t dimension) : dimension_(dimension) {}
  void add(const at::Tensor& rows);  // [m, d]; kept by reference until the next update
  at::Tensor finish();               // symmetric float64 [d, d]; the accumulator is empty afterwards

 private:
  void update();
  int64_t dimension_;
  int64_t waiting_rows_ = 0;
  int64_t updates_ = 0;
  std::vector<at::Tensor> waiting_;
  at::Tensor partial_;  // in the rows' type, lower triangle
  at::Tensor total_;    // float64, defined once a partial sum was moved
};

}  // namespace ockham
