#include "ockham/evidence/hyper_bounds.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

namespace ockham {
namespace {

constexpr double kNear = 1e-9;  // what writing a value down and reading it may change

template <class Name>
void add_reached(const at::Tensor& logarithms, double most, const Name& name, std::vector<ReachedBound>& reached) {
  if (!logarithms.defined()) return;
  const at::Tensor values = logarithms.to(at::kDouble).contiguous();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.data_ptr<double>()[i];
    if (std::abs(value) < most - kNear) continue;
    reached.push_back({name(i), std::exp(value > 0 ? most : -most)});
  }
}

/// What may have made it run.
const char* meaning_of(const ReachedBound& reached) {
  const bool high = reached.bound > 1;
  if (reached.hyperparameter.rfind("prior", 0) == 0)
    return high ? "the network may do without these weights" : "these weights are far larger than the prior expects";
  if (reached.hyperparameter.rfind("noise", 0) == 0)
    return high ? "the targets may need scaling" : "the targets are fitted exactly, so look for them among the inputs";
  return high ? "the classes may not depend on the inputs" : "the classes are separated without doubt";
}

}  // namespace

std::vector<ReachedBound> reached_bounds(const Hyperparameters& values, const std::vector<std::string>& groups) {
  std::vector<ReachedBound> reached;
  const auto group_name = [&](int64_t i) {
    return fmt::format("prior precision of '{}'", groups[static_cast<size_t>(i)]);
  };
  const bool one_noise = !values.log_noise.defined() || values.log_noise.numel() == 1;
  const auto noise_name = [&](int64_t i) { return one_noise ? "noise" : fmt::format("noise of output {}", i); };
  add_reached(values.log_prior_precision, most_log_prior_precision, group_name, reached);
  add_reached(values.log_noise, most_log_noise, noise_name, reached);
  add_reached(
      values.log_temperature, most_log_temperature, [](int64_t) { return "temperature"; }, reached);
  return reached;
}

std::string describe_bounds(const std::vector<ReachedBound>& reached) {
  if (reached.empty()) return "";
  const std::string others =
      reached.size() == 1 ? std::string() : fmt::format(", and {} more reached theirs", reached.size() - 1);
  return fmt::format("the {} reached its bound of {:.0e}{}: {}", reached.front().hyperparameter, reached.front().bound,
                     others, meaning_of(reached.front()));
}

}  // namespace ockham
