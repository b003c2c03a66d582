#include "ockham/linalg/product_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/factorise_and_invert.h"
#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

/// A part of the rows and columns of a lower triangle, stored by columns.
struct Piece {
  int64_t row, rows, column, columns;
};

/// Two pieces of a lower triangle for each half: a triangle, then its share of the square between the two.
std::vector<Piece> pieces_of(int64_t m, int half) {
  const TriangleHalves halves(m);
  if (half == 0) return {{0, halves.top, 0, halves.top}, {halves.top, halves.middle, 0, halves.top}};
  return {{halves.top, halves.bottom, halves.top, halves.bottom},
          {halves.top + halves.middle, halves.bottom - halves.middle, 0, halves.top}};
}

/// piece of `target` := beta · itself + rows rowsᵀ; rows [m, d], contiguous: d × m for the BLAS.
void add_gram(double* target, int64_t m, const at::Tensor& rows, double beta, const Piece& piece) {
  const int width = static_cast<int>(rows.size(1)), stride = static_cast<int>(m);
  const int height = static_cast<int>(piece.rows), count = static_cast<int>(piece.columns);
  const double one = 1;
  const double* values = rows.data_ptr<double>();
  double* corner = target + piece.column * m + piece.row;
  if (height == 0 || count == 0) return;
  if (piece.row == piece.column)
    dsyrk_("L", "T", &height, &width, &one, values + piece.row * width, &width, &beta, corner, &stride);
  else
    dgemm_("T", "N", &height, &count, &width, &one, values + piece.row * width, &width, values + piece.column * width,
           &width, &beta, corner, &stride);
}

/// target += factor ∘ other on a piece.
void add_product(double* target, const double* factor, const double* other, int64_t m, const Piece& piece) {
  for (int64_t j = piece.column; j < piece.column + piece.columns; ++j) {
    const int64_t begin = j * m + std::max(piece.row, j), end = j * m + piece.row + piece.rows;
    for (int64_t i = begin; i < end; ++i) target[i] += factor[i] * other[i];
  }
}

/// Parts with the same left factor joined; one column on a side goes into the other as a factor.
std::vector<ProductRows> joined(const std::vector<ProductRows>& parts) {
  std::vector<ProductRows> result;
  std::vector<const void*> lefts;
  for (const ProductRows& part : parts) {
    const auto known = std::find(lefts.begin(), lefts.end(), part.left.data_ptr());
    if (known == lefts.end()) {
      lefts.push_back(part.left.data_ptr());
      result.push_back({part.left.contiguous(), part.right.contiguous()});
    } else {
      at::Tensor& right = result[static_cast<size_t>(known - lefts.begin())].right;
      right = at::cat({right, part.right}, 1);
    }
  }
  for (ProductRows& part : result) {
    if (part.left.size(1) == 1 || part.right.size(1) == 1) part = {at::Tensor(), part.left * part.right};
  }
  return result;
}

double sum_of_squares(const double* values, int64_t count) {
  const int length = static_cast<int>(count), stride = 1;
  return ddot_(&length, values, &stride, values, &stride);
}

}  // namespace

WhitenedColumns whiten_columns(const std::vector<ProductRows>& parts, const at::Tensor& columns) {
  const int64_t m = columns.size(0), count = columns.size(1);
  const std::vector<ProductRows> terms = joined(parts);
  const at::Tensor matrix = at::empty({m, m}, at::kDouble), inverse = at::empty({m, m}, at::kDouble);
  const at::Tensor scratch = at::empty({m, m}, at::kDouble);
  double *a = matrix.data_ptr<double>(), *b = inverse.data_ptr<double>(), *c = scratch.data_ptr<double>();
  const SingleBlasThread single;
  run_in_halves({[&](int half) {
    for (const Piece& piece : pieces_of(m, half)) {
      bool begun = false;
      for (const ProductRows& term : terms) {
        if (term.left.defined()) continue;
        add_gram(a, m, term.right, begun ? 1 : 0, piece);
        begun = true;
      }
      if (!begun)
        for (int64_t j = piece.column; j < piece.column + piece.columns; ++j)
          std::fill_n(a + j * m + piece.row, piece.rows, 0.0);
      for (const ProductRows& term : terms) {
        if (!term.left.defined()) continue;
        add_gram(b, m, term.left, 0, piece);
        add_gram(c, m, term.right, 0, piece);
        add_product(a, b, c, m, piece);
      }
    }
  }});
  for (int64_t j = 0; j < m; ++j) a[j * (m + 1)] += 1;

  WhitenedColumns result;
  if (factorise_and_invert(a, b, static_cast<int>(m)) != 0) return result;
  for (int64_t j = 0; j < m; ++j) {
    result.log_determinant += 2 * std::log(a[j * (m + 1)]);
    result.inverse_trace += sum_of_squares(b + j * (m + 1), m - j);
  }
  if (!std::isfinite(result.log_determinant) || !std::isfinite(result.inverse_trace)) return result;

  at::Tensor whitened = columns.t().contiguous();
  if (whitened.data_ptr() == columns.data_ptr()) whitened = whitened.clone();
  result.squared_norms = at::empty({count}, at::kDouble);
  run_in_halves({[&](int half) {
    const int64_t first = half == 0 ? 0 : count / 2, last = half == 0 ? count / 2 : count;
    const int height = static_cast<int>(m), some = static_cast<int>(last - first);
    const double one = 1;
    double* values = whitened.data_ptr<double>() + first * m;
    if (some > 0) dtrmm_("L", "L", "N", "N", &height, &some, &one, b, &height, values, &height);
    for (int64_t i = first; i < last; ++i)
      result.squared_norms.data_ptr<double>()[i] = sum_of_squares(whitened.data_ptr<double>() + i * m, m);
  }});
  return result;
}

}  // namespace ockham
