#include "ockham/probability/prior.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "ockham/base/error.h"

namespace ockham {
namespace {

using Pattern = PriorSlot::Pattern;

void require_size(const at::Tensor& tensor, int64_t expected, const char* what) {
  if (tensor.dim() == 1 && tensor.size(0) == expected) return;
  throw Error(ErrorKind::usage, fmt::format("{} must be a vector with {} values, but its shape is [{}].", what,
                                            expected, fmt::join(tensor.sizes().vec(), ", ")));
}

}  // namespace

Prior Prior::scalar(const ParameterLayout& layout) {
  Prior prior(PriorKind::scalar, layout);
  prior.slots_.assign(layout.count(), PriorSlot{});
  prior.names_ = {"all"};
  return prior;
}

Prior Prior::layerwise(const ParameterLayout& layout) {
  Prior prior(PriorKind::layerwise, layout);
  for (const ParameterSlot& parameter : layout.slots()) {
    prior.slots_.push_back({Pattern::uniform, prior.size()});
    prior.names_.push_back(parameter.name);
  }
  return prior;
}

Prior Prior::diagonal(const ParameterLayout& layout) {
  Prior prior(PriorKind::diagonal, layout);
  prior.names_.reserve(static_cast<size_t>(layout.total()));
  for (const ParameterSlot& parameter : layout.slots()) {
    prior.slots_.push_back({Pattern::per_element, prior.size()});
    for (int64_t i = 0; i < parameter.size; ++i) prior.names_.push_back(parameter.name + "[" + std::to_string(i) + "]");
  }
  return prior;
}

Prior Prior::ard(const ParameterLayout& layout) {
  Prior prior(PriorKind::ard, layout);
  bool found = false;
  for (const ParameterSlot& parameter : layout.slots()) {
    const bool by_column = !found && parameter.shape.size() >= 2;
    prior.slots_.push_back({by_column ? Pattern::per_input_column : Pattern::uniform, prior.size()});
    if (!by_column) {
      prior.names_.push_back(parameter.name);
      continue;
    }
    found = true;
    for (int64_t j = 0; j < parameter.shape[1]; ++j) prior.names_.push_back(fmt::format("{}[:,{}]", parameter.name, j));
  }
  return prior;
}

Prior Prior::grouped(const ParameterLayout& layout,
                     const std::vector<std::pair<std::string, std::vector<std::string>>>& groups) {
  Prior prior(PriorKind::groups, layout);
  prior.slots_.assign(layout.count(), PriorSlot{Pattern::uniform, -1});
  std::set<std::string> seen;
  for (const auto& [group, members] : groups) {
    if (!seen.insert(group).second) {
      throw Error(ErrorKind::usage,
                  fmt::format("The prior has two groups named '{}'; give each group its own name.", group));
    }
    if (members.empty()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("The prior's group '{}' has no parameters; name at least one or leave the group out.", group));
    }
    for (const std::string& member : members) {
      PriorSlot& slot = prior.slots_[layout.index_of(member)];
      if (slot.first >= 0) {
        throw Error(
            ErrorKind::usage,
            fmt::format("Parameter '{}' is in the prior's groups '{}' and '{}'; put it in exactly one.", member,
                        slot.first < prior.size() ? prior.names_[static_cast<size_t>(slot.first)] : group, group));
      }
      slot.first = prior.size();
    }
    prior.names_.push_back(group);
  }
  for (size_t i = 0; i < layout.count(); ++i) {
    if (prior.slots_[i].first < 0) {
      throw Error(
          ErrorKind::usage,
          fmt::format("Parameter '{}' is in none of the prior's groups; put it in exactly one.", layout[i].name));
    }
  }
  return prior;
}

at::Tensor Prior::expand(size_t index, const at::Tensor& by_group) const {
  require_size(by_group, size(), "Values per prior group");
  const PriorSlot& slot = slots_[index];
  const ParameterSlot& parameter = layout_[index];
  switch (slot.pattern) {
    case Pattern::uniform:
      return by_group.narrow(0, slot.first, 1).expand({parameter.size});
    case Pattern::per_input_column: {
      const int64_t rows = parameter.shape[0], columns = parameter.shape[1];
      const int64_t rest = rows * columns == 0 ? 0 : parameter.size / (rows * columns);
      return by_group.narrow(0, slot.first, columns)
          .reshape({1, columns, 1})
          .expand({rows, columns, rest})
          .reshape({-1});
    }
    case Pattern::per_element:
      return by_group.narrow(0, slot.first, parameter.size);
  }
  throw Error(ErrorKind::failure, "Unknown pattern of a prior slot.");
}

at::Tensor Prior::expand(const at::Tensor& by_group) const {
  std::vector<at::Tensor> pieces;
  for (size_t i = 0; i < layout_.count(); ++i) pieces.push_back(expand(i, by_group));
  return pieces.empty() ? by_group.new_empty({0}) : at::cat(pieces, 0);
}

void Prior::accumulate(size_t index, const at::Tensor& by_weight, at::Tensor& by_group) const {
  require_size(by_group, size(), "Values per prior group");
  const PriorSlot& slot = slots_[index];
  const ParameterSlot& parameter = layout_[index];
  require_size(by_weight, parameter.size, "Values per weight");
  if (parameter.size == 0) return;
  switch (slot.pattern) {
    case Pattern::uniform:
      by_group.narrow(0, slot.first, 1).add_(by_weight.sum());
      return;
    case Pattern::per_input_column: {
      const int64_t columns = parameter.shape[1];
      by_group.narrow(0, slot.first, columns)
          .add_(by_weight.reshape({parameter.shape[0], columns, -1}).sum(at::IntArrayRef({0, 2})));
      return;
    }
    case Pattern::per_element:
      by_group.narrow(0, slot.first, parameter.size).add_(by_weight);
      return;
  }
}

Prior::Statistics Prior::statistics(const at::Tensor& theta) const {
  require_size(theta, layout_.total(), "The weights");
  Statistics statistics{at::zeros({size()}, at::kDouble), at::zeros({size()}, at::kDouble)};
  const at::Tensor weights = theta.detach().to(at::kDouble).contiguous();
  for (size_t i = 0; i < layout_.count(); ++i) {
    const ParameterSlot& parameter = layout_[i];
    const at::Tensor part = weights.narrow(0, parameter.offset, parameter.size);
    if (slots_[i].pattern == Pattern::uniform) {
      statistics.squared_norm.data_ptr<double>()[slots_[i].first] += at::dot(part, part).item<double>();
      statistics.count.data_ptr<double>()[slots_[i].first] += static_cast<double>(parameter.size);
    } else {
      accumulate(i, part.square(), statistics.squared_norm);
      accumulate(i, at::ones_like(part), statistics.count);
    }
  }
  return statistics;
}

// Loops, because a few numbers take a tensor operator longer to begin with than a loop to end.
double Prior::log_density(const Statistics& statistics, const at::Tensor& log_precision) {
  require_size(log_precision, statistics.count.size(0), "The log prior precisions");
  const at::Tensor contiguous = log_precision.to(at::kDouble).contiguous();
  const double* logs = contiguous.data_ptr<double>();
  const double *counts = statistics.count.data_ptr<double>(), *norms = statistics.squared_norm.data_ptr<double>();
  double sum = 0;
  for (int64_t g = 0; g < contiguous.numel(); ++g)
    sum += counts[g] * (logs[g] - std::log(2 * M_PI)) - std::exp(logs[g]) * norms[g];
  return 0.5 * sum;
}

at::Tensor Prior::log_density_gradient(const Statistics& statistics, const at::Tensor& log_precision) {
  require_size(log_precision, statistics.count.size(0), "The log prior precisions");
  at::Tensor gradient = log_precision.to(at::kDouble).clone(at::MemoryFormat::Contiguous);
  double* values = gradient.data_ptr<double>();
  const double *counts = statistics.count.data_ptr<double>(), *norms = statistics.squared_norm.data_ptr<double>();
  for (int64_t g = 0; g < gradient.numel(); ++g) values[g] = 0.5 * (counts[g] - std::exp(values[g]) * norms[g]);
  return gradient;
}

}  // namespace ockham
