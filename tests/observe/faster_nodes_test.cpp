#include "ockham/observe/faster_nodes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <numeric>

#include "ockham/base/random.h"
#include "ockham/linalg/sparse_convolution.h"
#include "ockham/network/architectures.h"
#include "ockham/observe/graph_nodes.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {
namespace {

using torch::autograd::Node;

at::Tensor draw(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

int count_nodes(const at::Tensor& outputs, const std::string& name) {
  int count = 0;
  for (Node* node : nodes_upwards(outputs.grad_fn().get())) count += node->name() == name ? 1 : 0;
  return count;
}

/// The number of poolings, and of rectifications, that were replaced; the gradient of the images stays what it was.
struct Replaced {
  int poolings, rectifications;
};
Replaced replace(const std::function<at::Tensor(const at::Tensor&)>& network, bool channels_last = true) {
  const at::Tensor drawn = draw({4, 6, 10, 10}, 1);
  const at::Tensor images =
      (channels_last ? drawn.contiguous(at::MemoryFormat::ChannelsLast) : drawn).detach().requires_grad_();
  const at::Tensor outputs = network(images * 1.5);
  const at::Tensor column = draw(outputs.sizes().vec(), 2);
  const auto gradient = [&] { return torch::autograd::grad({outputs}, {images}, {column}, /*retain_graph=*/true)[0]; };
  const at::Tensor expected = gradient();
  const int poolings = count_nodes(outputs, "MaxPool2DWithIndicesBackward0"),
            relus = count_nodes(outputs, "ReluBackward0");
  torch::autograd::edge_list nobody;
  use_faster_nodes(outputs.grad_fn().get(), nobody);
  for (int again = 0; again < 2; ++again) EXPECT_TRUE(at::allclose(gradient(), expected, 1e-12, 1e-14));
  return {poolings - count_nodes(outputs, "MaxPool2DWithIndicesBackward0"),
          relus - count_nodes(outputs, "ReluBackward0")};
}

TEST(FasterNodes, GivesTheSameGradients) {
  const auto pool = [](const at::Tensor& x) { return at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1}); };
  const auto expect = [](Replaced seen, int poolings, int rectifications) {
    EXPECT_EQ(seen.poolings, poolings);
    EXPECT_EQ(seen.rectifications, rectifications);
  };
  expect(replace([&](const at::Tensor& x) { return pool(x.relu()).sin(); }), 1, 1);
  expect(replace([&](const at::Tensor& x) { return pool(x.clone().relu_()).sin(); }), 1, 1);
  expect(replace([&](const at::Tensor& x) { return pool(x.tanh()).sin(); }), 1, 0);
  // one pooling on another, and no stride of its own
  expect(replace([&](const at::Tensor& x) { return at::max_pool2d(pool(x.relu()).relu(), {2, 2}).exp(); }), 2, 2);
  // pooled twice: each has a way of its own down from the sum
  expect(replace([&](const at::Tensor& x) {
           const at::Tensor y = pool(x.relu());
           return (y * y.sin()).cos();
         }),
         1, 1);
}

TEST(FasterNodes, LeavesWhatIsUsedElsewhere) {
  // the rectified images are needed elsewhere: their gradients meet at the rectification
  const Replaced shared = replace([](const at::Tensor& x) {
    const at::Tensor y = x.relu();
    return at::max_pool2d(y, {2, 2}).sum({2, 3}) + y.square().sum({2, 3});
  });
  EXPECT_EQ(shared.poolings, 1);
  EXPECT_EQ(shared.rectifications, 0);
  const auto plain = [](const at::Tensor& x) { return at::max_pool2d(x.relu(), {2, 2}).sin(); };
  EXPECT_EQ(replace(plain, /*channels_last=*/false).poolings, 0);
  const Replaced dilated = replace([](const at::Tensor& x) {
    return at::max_pool2d(x.relu(), {2, 2}, {2, 2}, {0, 0}, {2, 2}).sin();
  });
  EXPECT_EQ(dilated.poolings, 0);
}

TEST(FasterNodes, ListenedAndHookedNodesStay) {
  const at::Tensor x = draw({2, 3, 6, 6}, 3).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
  const at::Tensor y = (x * 2).relu(), pooled = at::max_pool2d(y, {2, 2}), outputs = pooled.sin();
  torch::autograd::edge_list listened = {torch::autograd::impl::gradient_edge(pooled)}, nobody;
  use_faster_nodes(outputs.grad_fn().get(), listened);
  EXPECT_EQ(count_nodes(outputs, "MaxPool2DWithIndicesBackward0"), 1);
  int heard = 0;
  y.register_hook([&](const at::Tensor& gradient) {
    ++heard;
    return gradient;
  });
  use_faster_nodes(outputs.grad_fn().get(), nobody);
  EXPECT_EQ(count_nodes(outputs, "MaxPool2DWithIndicesBackward0"), 0);
  EXPECT_EQ(count_nodes(outputs, "ReluBackward0"), 1);  // it has a hook
  torch::autograd::grad({outputs}, {x}, {at::ones_like(outputs)});
  EXPECT_EQ(heard, 1);
}

/// Through the listener, as curvature passes go: gradients at all layers of the paper's CNN.
TEST(FasterNodes, GradientsAtTheLayersOf3c3d) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Network network = make_architecture("cnn:3c3d", {3, 21, 18}, 10, type, 1);
    const at::Tensor images = draw({5, 3, 21, 18}, 4).to(type);
    const at::Tensor column = draw({5, 10}, 5).to(type);
    const std::vector<at::Tensor> plain = observe_forward(network, images).backward(column);
    const Observation observation = observe_forward(network, images);
    int heard = 0;
    observation.backward(column, [&](size_t call, const at::Tensor& gradient) {
      ++heard;
      EXPECT_LT((gradient - plain[call]).abs().max().item<double>(),
                (type == at::kDouble ? 1e-13 : 1e-5) * plain[call].abs().max().item<double>());
    });
    EXPECT_EQ(heard, 6);
    // libtorch's convolutions of float64 leave the channels apart
    EXPECT_EQ(count_nodes(observation.outputs(), "PoolingNode"), type == at::kFloat ? 3 : 0);
    const bool sparse = type == at::kFloat && SparseConvolution::can_hold(at::zeros({1, 16, 1, 1}));
    EXPECT_EQ(count_nodes(observation.outputs(), "ConvolutionNode"), sparse ? 2 : 0);  // nothing is below the first
    // Weight gradients, and gradients at edges that are held, go through the same graph.
    std::vector<size_t> all(network.layout().count());
    std::iota(all.begin(), all.end(), size_t{0});
    const auto expected = observe_forward(network, images).parameter_gradients(column, all);
    const auto found = observation.parameter_gradients(column, all);
    for (size_t i : all)
      EXPECT_LT((found[i] - expected[i]).abs().max().item<double>(),
                (type == at::kDouble ? 1e-13 : 1e-5) * expected[i].abs().max().item<double>());
    const std::vector<at::Tensor> held = observation.backward(column);
    for (size_t call = 0; call < held.size(); ++call)
      EXPECT_TRUE(at::allclose(held[call], plain[call], 1e-4, 1e-5 * plain[call].abs().max().item<double>()));
  }
}

}  // namespace
}  // namespace ockham
