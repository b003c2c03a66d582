#include "ockham/curvature/example_gradients.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace ockham {

std::vector<at::Tensor> example_gradients(const Network& network, const at::Tensor& inputs, const at::Tensor& columns,
                                          const std::vector<size_t>& parameters) {
  const int64_t examples = inputs.size(0), count = columns.size(2);
  std::vector<at::Tensor> variables, rows;
  for (size_t index : parameters) {
    variables.push_back(network.parameters()[index]);
    rows.push_back(
        at::zeros({examples, count, network.layout()[index].size}, variables.back().options().requires_grad(false)));
  }
  at::AutoGradMode with_gradients(true);
  for (int64_t n = 0; n < examples; ++n) {
    const at::Tensor output = network.forward(inputs.narrow(0, n, 1)).reshape({1, -1});
    for (int64_t k = 0; k < count; ++k) {
      const auto gradients =
          torch::autograd::grad({output}, variables, {columns.select(2, k).narrow(0, n, 1)},
                                /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
      for (size_t i = 0; i < gradients.size(); ++i) {
        if (!gradients[i].defined()) continue;
        const at::Tensor dense = gradients[i].is_sparse() ? gradients[i].to_dense() : gradients[i];
        rows[i][n][k].copy_(dense.reshape(-1));
      }
    }
  }
  return rows;
}

}  // namespace ockham
