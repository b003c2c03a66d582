#include "ockham/curvature/jacobian.h"

#include <ATen/ATen.h>

#include "ockham/curvature/batch_gradients.h"
#include "ockham/observe/verified_observer.h"

namespace ockham {

JacobianBatch jacobian(const Network& network, const at::Tensor& inputs, const ObserveOptions& options) {
  const VerifiedObserver observer(network, inputs, options);
  const Observation observation = observer.observe(inputs);
  JacobianBatch batch;
  batch.outputs = observation.outputs().detach();
  const int64_t examples = batch.outputs.size(0), outputs = batch.outputs.size(1);
  OutputRoot root;
  root.root = at::eye(outputs, batch.outputs.options()).expand({examples, -1, -1});
  BatchGradients gradients(network, observation, root, observation.unexplained_parameters());
  batch.jacobian = at::empty({examples, outputs, network.layout().total()}, batch.outputs.options());
  std::vector<BatchGradients::Part> each;
  for (size_t i = 0; i < network.layout().count(); ++i) each.push_back({i});
  for (int64_t c = 0; c < outputs; ++c) {
    gradients.next_column(each, [&](size_t i) {
      const ParameterSlot& slot = network.layout()[i];
      batch.jacobian.select(1, c).narrow(1, slot.offset, slot.size).copy_(gradients.per_example(i));
    });
  }
  return batch;
}

}  // namespace ockham
