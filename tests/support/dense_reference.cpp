#include "tests/support/dense_reference.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace ockham::testing {

at::Tensor brute_force_jacobian(const Network& network, const at::Tensor& inputs) {
  at::AutoGradMode with_gradients(true);
  std::vector<at::Tensor> examples;
  for (int64_t n = 0; n < inputs.size(0); ++n) {
    const at::Tensor output = network.forward(inputs.narrow(0, n, 1)).reshape(-1);
    std::vector<at::Tensor> rows;
    for (int64_t c = 0; c < output.size(0); ++c) {
      const auto gradients = torch::autograd::grad({output[c]}, network.parameters(), {}, /*retain_graph=*/true,
                                                   /*create_graph=*/false, /*allow_unused=*/true);
      std::vector<at::Tensor> flat;
      for (size_t i = 0; i < gradients.size(); ++i) {
        flat.push_back(gradients[i].defined() ? gradients[i].reshape(-1).to(at::kDouble)
                                              : at::zeros({network.layout()[i].size}, at::kDouble));
      }
      rows.push_back(at::cat(flat));
    }
    examples.push_back(at::stack(rows));
  }
  return at::stack(examples);
}

at::Tensor brute_force_curvature(const Network& network, const at::Tensor& inputs, const at::Tensor& targets,
                                 const Likelihood& likelihood, const Hyperparameters& hyperparameters,
                                 CurvatureKind kind) {
  const at::Tensor outputs = network.forward(inputs).detach().to(at::kDouble);
  const at::Tensor prepared = prepare_targets(likelihood, targets, outputs.size(1), at::kDouble);
  RootOptions options;
  options.kind = kind;
  const at::Tensor root = output_root(likelihood, outputs, prepared, hyperparameters, options, {}).root;
  const at::Tensor rows = at::bmm(root.transpose(1, 2), brute_force_jacobian(network, inputs));
  const at::Tensor flat = rows.reshape({-1, rows.size(2)});
  return at::matmul(flat.t(), flat);
}

}  // namespace ockham::testing
