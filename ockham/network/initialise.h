// Named parameters as they are made: libtorch's default initialisation from a stream of their own.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ockham {

/// A weight and its bias (undefined when there is none).
struct LayerParameters {
  at::Tensor weight;
  at::Tensor bias;
};

/// While it lives, no more than `most` weights can be made in this thread by one network: Error(data) comes before the
/// memory is taken. For networks whose description is a stranger's.
class ParameterLimit {
 public:
  explicit ParameterLimit(int64_t most);
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
  ParameterLimit& operator=(const ParameterLimit&) = delete;

 private:
  int64_t before_;
};

class ParameterMaker {
 public:
  ParameterMaker(uint64_t seed, at::ScalarType dtype);

  /// NAME.weight [shape] and NAME.bias [shape[0]], both U(-b, b) with b = 1/sqrt(fan_in), fan_in the product of
  /// shape[1:].
  LayerParameters layer(const std::string& name, const std::vector<int64_t>& shape);
  at::Tensor normal(const std::string& name, const std::vector<int64_t>& shape, double deviation);
  at::Tensor constant(const std::string& name, const std::vector<int64_t>& shape, double value);

  std::vector<std::pair<std::string, at::Tensor>> take() { return std::move(named_); }  // in the order they were made

 private:
  void expect_room(const std::string& name, const std::vector<int64_t>& shape);
  at::Tensor keep(const std::string& name, const at::Tensor& value);
  at::Generator generator_;
  at::ScalarType dtype_;
  int64_t weights_ = 0;
  std::vector<std::pair<std::string, at::Tensor>> named_;
};

}  // namespace ockham
