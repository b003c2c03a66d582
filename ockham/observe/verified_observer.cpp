#include "ockham/observe/verified_observer.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr int64_t kVerifiedExamples = 16;

at::Tensor typed(const Network& network, const at::Tensor& inputs) {
  return inputs.is_floating_point() ? inputs.to(network.dtype()) : inputs;
}

at::Tensor first_examples(const Network& network, const at::Tensor& inputs) {
  return typed(network, inputs.narrow(0, 0, std::min(kVerifiedExamples, inputs.size(0))));
}

}  // namespace

VerifiedObserver::VerifiedObserver(const Network& network, const at::Tensor& inputs, ObserveOptions options,
                                   bool verify)
    : network_(network),
      options_(std::move(options)),
      sample_(observe_forward(network, first_examples(network, inputs), options_)) {
  if (!verify) return;
  const std::vector<size_t> refused = verify_calls(sample_, network);
  if (refused.empty()) return;
  options_.leave_unexplained.insert(options_.leave_unexplained.end(), refused.begin(), refused.end());
  sample_ = observe_forward(network, sample_.inputs(), options_);
}

Observation VerifiedObserver::observe(const at::Tensor& inputs) const {
  Observation observation = observe_forward(network_, typed(network_, inputs), options_);
  if (!observation.follow(sample_)) {
    throw Error(ErrorKind::data,
                "The network uses its parameters differently for these examples than for the first ones (control flow "
                "that depends "
                "on the data, or on the size of the batch); such networks are not supported.");
  }
  return observation;
}

}  // namespace ockham
