#include "ockham/linalg/log_form.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/linalg/symmetric_eigen.h"

namespace ockham {

LogForm log_form(const at::Tensor& matrix, bool gradient) {
  const SymmetricEigen eigen = symmetric_eigen({matrix.contiguous()}, true)[0];
  const at::Tensor first = eigen.vectors[0].contiguous();  // e₁ᵀU
  const int64_t size = first.numel();
  const double *theta = eigen.values.data_ptr<double>(), *u = first.data_ptr<double>();
  if (!(theta[0] > 0)) {
    throw Error(ErrorKind::numerical,
                "The projected posterior precision is not positive definite: rounding is larger than the prior "
                "precisions; use float64.");
  }
  LogForm form;
  for (int64_t i = 0; i < size; ++i) form.value += u[i] * u[i] * std::log(theta[i]);
  if (!gradient) return form;
  at::Tensor weights = at::empty({size, size}, at::kDouble);
  auto weight = weights.accessor<double, 2>();
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const double ratio = (theta[i] - theta[j]) / theta[j];
      weight[i][j] = u[i] * u[j] * (ratio == 0 ? 1 : std::log1p(ratio) / ratio) / theta[j];
    }
  }
  form.gradient = eigen.vectors.mm(weights).mm(eigen.vectors.t());
  return form;
}

}  // namespace ockham
