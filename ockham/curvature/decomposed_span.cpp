#include "ockham/curvature/decomposed_span.h"

#include <ATen/ATen.h>

namespace ockham {

BlockSpan::BlockSpan(std::shared_ptr<const Prior> prior, std::vector<size_t> parameters)
    : prior_(std::move(prior)), parameters_(std::move(parameters)) {
  bool single = true;
  for (size_t parameter : parameters_) {
    const PriorSlot& slot = prior_->slot(parameter);
    const int64_t weights = prior_->layout()[parameter].size;
    single = single && slot.pattern == PriorSlot::Pattern::uniform;
    if (!runs_.empty() && runs_.back().group == slot.first) {
      runs_.back().size += weights;
    } else {
      runs_.push_back({slot.first, size_, weights});
    }
    size_ += weights;
  }
  if (!single) runs_.clear();
}

std::string BlockSpan::name() const {
  std::string names;
  for (size_t i = 0; i < parameters_.size() && i < 3; ++i) {
    names += (i == 0 ? "" : ", ") + prior_->layout()[parameters_[i]].name;
  }
  return parameters_.size() > 3 ? names + ", ..." : names;
}

at::Tensor BlockSpan::gather(const at::Tensor& flat) const {
  std::vector<at::Tensor> parts;
  int64_t end = -1;
  bool consecutive = true;
  for (size_t parameter : parameters_) {
    const ParameterSlot& slot = prior_->layout()[parameter];
    consecutive = consecutive && (end < 0 || end == slot.offset);
    end = slot.offset + slot.size;
    parts.push_back(flat.narrow(-1, slot.offset, slot.size));
  }
  if (consecutive) return flat.narrow(-1, prior_->layout()[parameters_[0]].offset, size_);
  return at::cat(parts, -1);
}

void BlockSpan::scatter(const at::Tensor& values, at::Tensor& flat) const {
  int64_t first = 0;
  for (size_t parameter : parameters_) {
    const ParameterSlot& slot = prior_->layout()[parameter];
    flat.narrow(-1, slot.offset, slot.size).copy_(values.narrow(-1, first, slot.size));
    first += slot.size;
  }
}

at::Tensor BlockSpan::log_precision(const at::Tensor& log_prior_precision) const {
  if (uniform_group() >= 0) return log_prior_precision[uniform_group()].expand({size_});
  std::vector<at::Tensor> parts;
  for (size_t parameter : parameters_) parts.push_back(prior_->expand(parameter, log_prior_precision));
  return at::cat(parts);
}

void BlockSpan::accumulate(const at::Tensor& by_weight, at::Tensor& by_group) const {
  int64_t first = 0;
  for (size_t parameter : parameters_) {
    const int64_t weights = prior_->layout()[parameter].size;
    prior_->accumulate(parameter, by_weight.narrow(0, first, weights), by_group);
    first += weights;
  }
}

}  // namespace ockham
