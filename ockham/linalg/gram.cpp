#include "ockham/linalg/gram.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <type_traits>

#include "ockham/base/error.h"
#include "ockham/base/platform.h"
#include "ockham/linalg/blas.h"
#include "ockham/linalg/halves.h"
#include "ockham/linalg/mirror.h"
#include "ockham/linalg/narrow_products.h"

namespace ockham {
namespace {

constexpr int64_t kFewestRows = 256, kMostRows = 4096;
constexpr int64_t kUpdatesInOwnType = 64;
constexpr int64_t kFewColumns = 128;
constexpr int64_t kManyRows = 2048;      // from this on, half of the rows for each thread
constexpr int64_t kRowsByHand = 256;     // and from this on, for products by hand
constexpr int64_t kHalves = 128;         // else below this a second thread costs more than it saves ...
constexpr int64_t kThreadedBlas = 1000;  // ... and from this on the BLAS divides the work better

/// As many as columns; of very wide rows no more than the BLAS needs, since waiting rows take memory.
int64_t rows_for_update(int64_t dimension) { return std::clamp(dimension, kFewestRows, kMostRows); }

// BLAS counts by columns: a row-major [m, d] is its d × m matrix, and our lower triangle is its upper one.
struct Syrk {
  const at::Tensor& rows;
  at::Tensor& matrix;
  double beta;

  bool by_rows() const { return rows.stride(1) == 1; }
  int64_t column_stride() const { return by_rows() ? 1 : rows.stride(1); }
  int leading() const {
    return static_cast<int>(by_rows() ? std::max(rows.stride(0), rows.size(1))
                                      : std::max(rows.stride(1), rows.size(0)));
  }

  template <class Scalar>
  bool goes_by_hand() const {
    return std::is_same_v<Scalar, float> && by_rows() && rows.size(0) >= kRowsByHand &&
           narrow_product_pays(matrix.size(0), /*lower_only=*/true);
  }

  /// The sum of two threads' halves of the rows: the BLAS does not divide narrow matrices at all.
  template <class Scalar>
  void by_rows_in_halves() const {
    const int64_t half = rows.size(0) / 2;
    const at::Tensor upper = rows.narrow(0, 0, half), lower = rows.narrow(0, half, rows.size(0) - half);
    at::Tensor rest = at::empty(matrix.sizes(), matrix.options());
    const SingleBlasThread single;
    run_in_halves({[&](int which) {
      which == 0 ? Syrk{upper, matrix, beta}.triangle<Scalar>(0, matrix.size(0))
                 : Syrk{lower, rest, 0}.triangle<Scalar>(0, matrix.size(0));
    }});
    for (int64_t i = 0, n = matrix.size(0); i < n; ++i) {
      Scalar* to = matrix.data_ptr<Scalar>() + i * n;
      const Scalar* from = rest.data_ptr<Scalar>() + i * n;
      for (int64_t j = 0; j <= i; ++j) to[j] += from[j];
    }
  }

  /// The triangle of the columns [first, first + count) of `rows`.
  template <class Scalar>
  void triangle(int64_t first, int64_t count) const {
    if constexpr (std::is_same_v<Scalar, float>) {
      if (count == matrix.size(0) && goes_by_hand<float>()) {
        if (beta == 0) std::fill_n(matrix.data_ptr<float>(), matrix.numel(), 0.0f);
        const float* values = rows.data_ptr<float>();
        const int64_t stride = rows.stride(0);
        return add_narrow_product(matrix.data_ptr<float>(), {values, stride, values, stride, rows.size(0)}, count,
                                  true);
      }
    }
    const int n = static_cast<int>(count), k = static_cast<int>(rows.size(0)), lda = leading();
    const int ldc = static_cast<int>(matrix.size(0));
    const Scalar one = 1, keep = static_cast<Scalar>(beta);
    Scalar* corner = matrix.data_ptr<Scalar>() + first * (matrix.size(0) + 1);
    blas_syrk("U", by_rows() ? "N" : "T", &n, &k, &one, rows.data_ptr<Scalar>() + first * column_stride(), &lda, &keep,
              corner, &ldc);
  }

  /// The rectangle of rows [first, first + count) of the matrix and its columns [0, width).
  template <class Scalar>
  void rectangle(int64_t first, int64_t count, int64_t width) const {
    const int m = static_cast<int>(width), n = static_cast<int>(count), k = static_cast<int>(rows.size(0));
    const int lda = leading(), ldc = static_cast<int>(matrix.size(0));
    const Scalar one = 1, keep = static_cast<Scalar>(beta);
    const Scalar* values = rows.data_ptr<Scalar>();
    blas_gemm(by_rows() ? "N" : "T", by_rows() ? "T" : "N", &m, &n, &k, &one, values, &lda,
              values + first * column_stride(), &lda, &keep, matrix.data_ptr<Scalar>() + first * matrix.size(0), &ldc);
  }

  /// Two triangles on the diagonal and the square below the first: a triangle and half of the square each.
  template <class Scalar>
  void in_halves() const {
    const TriangleHalves halves(matrix.size(0));
    const SingleBlasThread single;
    run_in_halves({[&](int half) {
      const int64_t top = halves.top, middle = halves.middle;
      half == 0 ? triangle<Scalar>(0, top) : triangle<Scalar>(top, halves.bottom);
      half == 0 ? rectangle<Scalar>(top, middle, top) : rectangle<Scalar>(top + middle, halves.bottom - middle, top);
    }});
  }

  template <class Scalar>
  void run() const {
    const int64_t n = matrix.size(0);
    if (allowed_threads() < 2)
      triangle<Scalar>(0, n);
    else if (rows.size(0) >= std::max(kManyRows, 2 * n) || goes_by_hand<Scalar>())
      by_rows_in_halves<Scalar>();
    else if (n >= kHalves && n < kThreadedBlas)
      in_halves<Scalar>();
    else
      triangle<Scalar>(0, n);
  }
};

bool blas_can_read(const at::Tensor& rows) {
  const bool by_rows = rows.stride(1) == 1 && (rows.size(0) == 1 || rows.stride(0) >= rows.size(1));
  const bool by_columns = rows.stride(0) == 1 && rows.stride(1) >= rows.size(0);
  return by_rows || by_columns;
}

// The lower triangle becomes beta times itself plus rowsᵀ rows; with beta = 0 it is not read.
void update_gram_lower(at::Tensor& matrix, const at::Tensor& rows, double beta) {
  if (rows.dim() != 2 || matrix.dim() != 2 || matrix.size(0) != rows.size(1) || matrix.size(1) != rows.size(1) ||
      !matrix.is_contiguous() || matrix.scalar_type() != rows.scalar_type()) {
    throw Error(
        ErrorKind::usage,
        "add_gram_lower needs rows [m, d] and a contiguous matrix [d, d] of the same type; give it such tensors.");
  }
  if (rows.numel() == 0) {
    if (beta == 0) matrix.zero_();
    return;
  }
  const at::Tensor readable = blas_can_read(rows) ? rows : rows.contiguous();
  if (rows.scalar_type() == at::kFloat) {
    Syrk{readable, matrix, beta}.run<float>();
  } else if (rows.scalar_type() == at::kDouble) {
    Syrk{readable, matrix, beta}.run<double>();
  } else {
    throw Error(ErrorKind::usage, "add_gram_lower needs float32 or float64 rows; convert them first.");
  }
}

// matrix += leftᵀ right, half of the rows for each of two threads: the BLAS divides narrow matrices badly.
template <class Scalar>
void add_product_in_halves(at::Tensor& matrix, const at::Tensor& left, const at::Tensor& right) {
  const int64_t half = left.size(0) / 2;
  at::Tensor rest = at::zeros(matrix.sizes(), matrix.options());
  const SingleBlasThread single;
  run_in_halves({[&](int which) {
    const int64_t first = which * half, count = which == 0 ? half : left.size(0) - half;
    const int m = static_cast<int>(right.size(1)), n = static_cast<int>(left.size(1)), k = static_cast<int>(count);
    const int lda = static_cast<int>(right.stride(0)), ldb = static_cast<int>(left.stride(0));
    const Scalar one = 1;
    if constexpr (std::is_same_v<Scalar, float>) {
      if (m == n && narrow_product_pays(n, /*lower_only=*/false)) {
        return add_narrow_product(
            (which == 0 ? matrix : rest).data_ptr<float>(),
            {left.data_ptr<float>() + first * ldb, ldb, right.data_ptr<float>() + first * lda, lda, count}, n, false);
      }
    }
    blas_gemm("N", "T", &m, &n, &k, &one, right.data_ptr<Scalar>() + first * lda, &lda,
              left.data_ptr<Scalar>() + first * ldb, &ldb, &one, (which == 0 ? matrix : rest).data_ptr<Scalar>(), &m);
  }});
  matrix.add_(rest);
}

void add_product(at::Tensor& matrix, const at::Tensor& left, const at::Tensor& right) {
  const bool by_hand = left.scalar_type() == at::kFloat && narrow_product_pays(left.size(1), false);
  if (allowed_threads() < 2 || left.size(0) < (by_hand ? kRowsByHand : kManyRows) || !left.is_contiguous() ||
      !right.is_contiguous())
    matrix.addmm_(left.t(), right);
  else if (left.scalar_type() == at::kFloat)
    add_product_in_halves<float>(matrix, left, right);
  else
    add_product_in_halves<double>(matrix, left, right);
}

}  // namespace

void add_gram_lower(at::Tensor& matrix, const at::Tensor& rows) { update_gram_lower(matrix, rows, 1); }

at::Tensor gram(const at::Tensor& rows) {
  at::Tensor matrix = at::empty({rows.size(1), rows.size(1)}, at::kDouble);
  update_gram_lower(matrix, rows, 0);
  mirror_lower(matrix);
  return matrix;
}

at::Tensor symmetric_cross(const at::Tensor& rows, const at::Tensor& other) {
  const at::Tensor product = at::matmul(rows.t(), other);
  return product + product.t();
}

void CrossAccumulator::add(const at::Tensor& rows, const at::Tensor& other) {
  if (!partial_.defined()) partial_ = at::zeros({rows.size(1), other.size(1)}, rows.options());
  add_product(partial_, rows, other);
  updates_ += std::max<int64_t>(1, rows.size(0) / rows_for_update(rows.size(1)));
  if (updates_ < kUpdatesInOwnType || partial_.scalar_type() == at::kDouble) return;
  total_ = total_.defined() ? total_.add_(partial_) : partial_.to(at::kDouble);
  partial_.reset();
  updates_ = 0;
}

at::Tensor CrossAccumulator::finish() {
  if (!partial_.defined()) return total_;
  return total_.defined() ? total_ + partial_ : partial_.to(at::kDouble);
}

at::ScalarType type_for_gram(int64_t columns, at::ScalarType own) { return columns <= kFewColumns ? at::kDouble : own; }

void GramAccumulator::add(const at::Tensor& rows) {
  if (rows.dim() != 2 || rows.size(1) != dimension_) {
    throw Error(ErrorKind::usage, "GramAccumulator was made for rows of width " + std::to_string(dimension_) +
                                      " and got a tensor of another shape; give it [m, " + std::to_string(dimension_) +
                                      "].");
  }
  if (rows.size(0) == 0) return;
  const at::ScalarType type = rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  waiting_.push_back(rows.detach().to(partial_.defined() ? partial_.scalar_type() : type));
  waiting_rows_ += rows.size(0);
  if (waiting_rows_ >= rows_for_update(dimension_)) update();
}

void GramAccumulator::update() {
  if (waiting_.empty()) return;
  at::Tensor rows = waiting_.size() == 1 ? waiting_.front() : at::cat(waiting_, 0);
  waiting_.clear();
  const bool fresh = !partial_.defined();
  if (fresh) partial_ = at::empty({dimension_, dimension_}, rows.options().requires_grad(false));
  update_gram_lower(partial_, rows.to(partial_.scalar_type()), fresh ? 0 : 1);
  // A batch far above the threshold counts as the several updates it stands for.
  updates_ += std::max<int64_t>(1, waiting_rows_ / rows_for_update(dimension_));
  waiting_rows_ = 0;
  if (updates_ >= kUpdatesInOwnType && partial_.scalar_type() != at::kDouble) {
    total_ = total_.defined() ? total_.add_(partial_) : partial_.to(at::kDouble);
    partial_.zero_();
    updates_ = 0;
  }
}

at::Tensor GramAccumulator::finish() {
  update();
  if (!partial_.defined()) return at::zeros({dimension_, dimension_}, at::kDouble);
  at::Tensor sum = total_.defined() ? total_.add_(partial_) : partial_;
  partial_.reset();
  total_.reset();
  if (sum.scalar_type() == at::kFloat) return symmetric_from_lower(sum);
  mirror_lower(sum);
  return sum;
}

}  // namespace ockham
