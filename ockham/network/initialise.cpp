#include "ockham/network/initialise.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ockham/base/random.h"

namespace ockham {

ParameterMaker::ParameterMaker(uint64_t seed, at::ScalarType dtype)
    : generator_(random_stream({seed})), dtype_(dtype) {}

at::Tensor ParameterMaker::keep(const std::string& name, const at::Tensor& value) {
  // Drawn in float64 whatever the type, so that float32 and float64 start at the same weights.
  at::Tensor parameter = value.to(dtype_).set_requires_grad(true);
  named_.emplace_back(name, parameter);
  return parameter;
}

LayerParameters ParameterMaker::layer(const std::string& name, const std::vector<int64_t>& shape) {
  double fan_in = 1;
  for (size_t d = 1; d < shape.size(); ++d) fan_in *= static_cast<double>(shape[d]);
  const double bound = 1 / std::sqrt(fan_in);
  LayerParameters made;
  made.weight = keep(name + ".weight", at::empty(shape, at::kDouble).uniform_(-bound, bound, generator_));
  made.bias = keep(name + ".bias", at::empty({shape[0]}, at::kDouble).uniform_(-bound, bound, generator_));
  return made;
}

at::Tensor ParameterMaker::normal(const std::string& name, const std::vector<int64_t>& shape, double deviation) {
  return keep(name, at::empty(shape, at::kDouble).normal_(0, deviation, generator_));
}

at::Tensor ParameterMaker::constant(const std::string& name, const std::vector<int64_t>& shape, double value) {
  return keep(name, at::full(shape, value, at::kDouble));
}

}  // namespace ockham
