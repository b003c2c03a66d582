#include "ockham/probability/hyperparameters.h"

#include <ATen/ATen.h>

namespace ockham {
namespace {

at::Tensor copy_of(const at::Tensor& tensor) { return tensor.defined() ? tensor.clone() : at::Tensor(); }

}  // namespace

Hyperparameters Hyperparameters::clone() const {
  return {copy_of(log_prior_precision), copy_of(log_noise), copy_of(log_temperature)};
}

}  // namespace ockham
