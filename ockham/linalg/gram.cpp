#include "ockham/linalg/gram.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/base/error.h"
#include "ockham/linalg/mirror.h"

extern "C" {
void ssyrk_(const char* triangle, const char* transposed, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc);
void dsyrk_(const char* triangle, const char* transposed, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
}

namespace ockham {
namespace {

constexpr int64_t kFewestRows = 256;
constexpr int64_t kUpdatesInOwnType = 64;

int64_t rows_for_update(int64_t dimension) { return std::max(dimension, kFewestRows); }

template <class Scalar, class Syrk>
void run_syrk(Syrk syrk, at::Tensor& matrix, const at::Tensor& rows, Scalar beta) {
  // BLAS counts by columns: a row-major [m, d] is its d × m matrix, and our lower triangle is its upper one.
  const bool by_rows = rows.stride(1) == 1;
  const int n = static_cast<int>(rows.size(1)), k = static_cast<int>(rows.size(0));
  const int lda =
      static_cast<int>(by_rows ? std::max<int64_t>(rows.stride(0), n) : std::max<int64_t>(rows.stride(1), k));
  const int ldc = n;
  const Scalar one = 1;
  syrk("U", by_rows ? "N" : "T", &n, &k, &one, rows.data_ptr<Scalar>(), &lda, &beta, matrix.data_ptr<Scalar>(), &ldc);
}

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
    run_syrk<float>(ssyrk_, matrix, readable, static_cast<float>(beta));
  } else if (rows.scalar_type() == at::kDouble) {
    run_syrk<double>(dsyrk_, matrix, readable, beta);
  } else {
    throw Error(ErrorKind::usage, "add_gram_lower needs float32 or float64 rows; convert them first.");
  }
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
