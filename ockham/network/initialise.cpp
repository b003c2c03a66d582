#include "ockham/network/initialise.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/base/random.h"

namespace ockham {
namespace {

constexpr int64_t no_limit =
    int64_t{1} << 50;  // no machine has that memory, and no product of sizes overflows on the way
thread_local int64_t most_weights = no_limit;

}  // namespace

ParameterLimit::ParameterLimit(int64_t most) : before_(most_weights) { most_weights = most; }
ParameterLimit::~ParameterLimit() { most_weights = before_; }

ParameterMaker::ParameterMaker(uint64_t seed, at::ScalarType dtype)
    : generator_(random_stream({seed})), dtype_(dtype) {}

void ParameterMaker::expect_room(const std::string& name, const std::vector<int64_t>& shape) {
  int64_t room = most_weights - weights_;
  for (const int64_t extent : shape) room /= std::max<int64_t>(extent, 1);
  if (room < 1) {
    if (most_weights == no_limit)
      throw Error(ErrorKind::usage, fmt::format("the network is impossibly large: '{}' alone does not fit any memory; "
                                                "choose a smaller width or depth",
                                                name));
    throw Error(ErrorKind::data,
                fmt::format("the network that it describes has more than the {} weights that are there (at '{}')",
                            most_weights, name));
  }
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  weights_ += count;
}

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
  expect_room(name + ".weight", shape);
  expect_room(name + ".bias", {shape[0]});
  made.weight = keep(name + ".weight", at::empty(shape, at::kDouble).uniform_(-bound, bound, generator_));
  made.bias = keep(name + ".bias", at::empty({shape[0]}, at::kDouble).uniform_(-bound, bound, generator_));
  return made;
}

at::Tensor ParameterMaker::normal(const std::string& name, const std::vector<int64_t>& shape, double deviation) {
  expect_room(name, shape);
  return keep(name, at::empty(shape, at::kDouble).normal_(0, deviation, generator_));
}

at::Tensor ParameterMaker::constant(const std::string& name, const std::vector<int64_t>& shape, double value) {
  expect_room(name, shape);
  return keep(name, at::full(shape, value, at::kDouble));
}

}  // namespace ockham
