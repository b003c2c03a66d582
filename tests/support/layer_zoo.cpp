#include "tests/support/layer_zoo.h"

#include <ATen/ATen.h>

#include <functional>
#include <utility>

#include "ockham/base/random.h"

namespace ockham::testing {
namespace {

using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;
using Tensors = std::vector<at::Tensor>;

struct Builder {
  std::vector<ZooNetwork> zoo;
  at::Generator generator = random_stream({7});

  at::Tensor normal(at::IntArrayRef shape) { return at::randn(shape, generator, at::kDouble) * 0.5; }

  void add(std::string name, const Shapes& shapes, at::Tensor inputs,
           std::function<at::Tensor(const Tensors&, at::Tensor)> forward, std::vector<std::string> unexplained = {}) {
    std::vector<std::pair<std::string, at::Tensor>> named;
    Tensors tensors;
    for (const auto& [parameter, shape] : shapes) {
      tensors.push_back(normal(shape).requires_grad_());
      named.emplace_back(parameter, tensors.back());
    }
    Network network(named, [tensors, forward](const at::Tensor& x) { return forward(tensors, x); });
    zoo.push_back({std::move(name), network, std::move(inputs), std::move(unexplained)});
  }
};

void add_linear(Builder& b) {
  b.add(
      "addmm", {{"w1", {4, 3}}, {"b1", {4}}, {"w2", {3, 4}}, {"b2", {3}}}, b.normal({5, 3}),
      [](const Tensors& p, at::Tensor x) { return at::addmm(p[3], at::tanh(at::addmm(p[1], x, p[0].t())), p[2].t()); });
  b.add("aten_linear", {{"w1", {4, 3}}, {"b1", {4}}, {"w2", {3, 4}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::linear(at::linear(x, p[0], p[1]).relu_(), p[2]); });
  b.add("input_major", {{"w1", {3, 4}}, {"w2", {4, 3}}, {"b2", {3}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::addmm(p[2], at::tanh(at::matmul(x, p[0])), p[1]); });
  b.add("leading_dimensions", {{"w1", {4, 3}}, {"b1", {4}}, {"w2", {3, 4}}, {"b2", {3}}}, b.normal({5, 2, 3}),
        [](const Tensors& p, at::Tensor x) {
          at::Tensor h = at::matmul(x, p[0].t());
          h += p[1];
          return at::linear(at::tanh(h).mean(1), p[2], p[3]);
        });
  b.add("positions_folded", {{"w1", {4, 3}}, {"b1", {4}}, {"w2", {3, 4}}}, b.normal({5, 2, 3}),
        [](const Tensors& p, at::Tensor x) {
          const at::Tensor h = at::tanh(at::linear(x.reshape({-1, 3}), p[0], p[1]));
          return at::linear(h.reshape({-1, 2, 4}).sum(1), p[2]);
        });
  b.add("sequence_first", {{"w1", {4, 3}}, {"b1", {4}}, {"w2", {3, 4}}}, b.normal({5, 2, 3}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::linear(x.transpose(0, 1), p[0], p[1])).sum(0), p[2]);
        });
  b.add("shared_weight", {{"w", {3, 3}}, {"b", {3}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::linear(at::tanh(at::linear(x, p[0], p[1])), p[0], p[1]); });
}

void add_convolutions(Builder& b) {
  b.add("conv1d", {{"w", {4, 2, 3}}, {"b", {4}}, {"h", {3, 4}}}, b.normal({5, 2, 9}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::conv1d(x, p[0], p[1], 2, 1, 2)).mean(2), p[2]);
        });
  b.add("conv2d_groups_in_place", {{"w", {4, 1, 3, 2}}, {"b", {4}}, {"h", {3, 4}}}, b.normal({5, 2, 6, 5}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::conv2d(x, p[0], p[1], {2, 1}, {1, 1}, {1, 2}, 2).relu_().mean({2, 3}), p[2]);
        });
  b.add("conv2d_same_padding", {{"w", {3, 2, 2, 3}}, {"b", {3}}}, b.normal({5, 2, 4, 4}),
        [](const Tensors& p, at::Tensor x) {
          return at::tanh(at::conv2d(x, p[0], p[1], 1, "same")).mean({2, 3});
        });
  b.add("conv3d", {{"w", {3, 1, 2, 2, 2}}, {"b", {3}}}, b.normal({5, 1, 3, 3, 4}), [](const Tensors& p, at::Tensor x) {
    return at::tanh(at::conv3d(x, p[0], p[1])).mean({2, 3, 4});
  });
  b.add("transposed_convolution", {{"w", {4, 2, 3, 2}}, {"b", {4}}, {"h", {3, 4}}}, b.normal({5, 4, 3, 3}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(
              at::tanh(at::conv_transpose2d(x, p[0], p[1], {2, 1}, {1, 0}, {1, 0}, 2, {1, 2})).mean({2, 3}), p[2]);
        });
  b.add("shared_convolution", {{"w", {2, 2, 3, 3}}, {"h", {3, 2}}}, b.normal({5, 2, 5, 5}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::conv2d(at::tanh(at::conv2d(x, p[0], {}, 1, 1)), p[0])).mean({2, 3}), p[1]);
        });
}

void add_elementwise(Builder& b) {
  b.add("fixup", {{"w", {3, 2, 3, 3}}, {"b1", {1}}, {"scale", {1}}, {"b2", {1}}, {"h", {3, 3}}}, b.normal({5, 2, 4, 4}),
        [](const Tensors& p, at::Tensor x) {
          const at::Tensor h = at::conv2d(x + p[1], p[0], {}, 1, 1) * p[2];
          return at::linear(at::relu(h).mean({2, 3}) - p[3], p[4]);
        });
  b.add("broadcast_shapes", {{"scale", {3, 1}}, {"shift", {1, 2, 1, 4}}, {"per_position", {3, 4}}, {"h", {3, 4}}},
        b.normal({5, 2, 3, 4}), [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh((p[0] * x).add(p[1], 0.5) * p[2]).mean({1, 2}), p[3]);
        });
  b.add("viewed_scale", {{"scale", {2}}, {"h", {3, 2}}}, b.normal({5, 2, 3}), [](const Tensors& p, at::Tensor x) {
    return at::linear(at::tanh(x * p[0].view({1, 2, 1})).mean(2), p[1]);
  });
  b.add("class_tokens", {{"w", {4, 3}}, {"first", {1, 1, 4}}, {"last", {4}}, {"h", {3, 4}}}, b.normal({5, 2, 3}),
        [](const Tensors& p, at::Tensor x) {
          const int64_t n = x.size(0);
          const at::Tensor tokens = at::cat({p[1].expand({n, 1, 4}), at::linear(x, p[0]), p[2].expand({n, 1, 4})}, -2);
          return at::linear(at::tanh(tokens * tokens.sum(1, true)).sum(1), p[3]);
        });
  b.add("layer_norm", {{"w", {4, 3}}, {"g", {4}}, {"s", {4}}, {"h", {3, 4}}}, b.normal({5, 2, 3}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::layer_norm(at::linear(x, p[0]), {4}, p[1], p[2])).sum(1), p[3]);
        });
  b.add("group_norm", {{"w", {4, 2, 3}}, {"g", {4}}, {"s", {4}}, {"h", {3, 4}}}, b.normal({5, 2, 6}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::group_norm(at::conv1d(x, p[0]), 2, p[1], p[2])).mean(2), p[3]);
        });
  const at::Tensor mean = b.normal({2}), variance = b.normal({2}).abs() + 0.5;
  b.add("batch_norm", {{"g", {2}}, {"s", {2}}, {"h", {3, 2}}}, b.normal({5, 2, 3}),
        [mean, variance](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::batch_norm(x, p[0], p[1], mean, variance, false, 0.1, 1e-5, false)).mean(2),
                            p[2]);
        });
}

void add_embeddings(Builder& b) {
  const at::Tensor words = at::randint(0, 6, {5, 4}, b.generator, at::kLong);
  b.add("embedding", {{"e", {6, 3}}, {"w", {3, 3}}, {"b", {3}}}, words, [](const Tensors& p, at::Tensor x) {
    return at::tanh(at::linear(at::embedding(p[0], x, 2), p[1], p[2])).sum(1);
  });
  b.add("tied_embedding", {{"e", {3, 4}}, {"w", {4, 4}}}, at::randint(0, 3, {5, 2}, b.generator, at::kLong),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::linear(at::embedding(p[0], x).sum(1), p[1])), p[0]);
        });
}

void add_unexplained(Builder& b) {
  b.add("normalised_weight", {{"v", {4, 3}}, {"h", {3, 4}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::linear(at::tanh(at::linear(x, p[0] / p[0].norm())), p[1]); },
        {"v"});
  b.add("sliced_weight", {{"w", {8, 3}}, {"h", {3, 4}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::linear(x, p[0].narrow(0, 0, 4)) * at::tanh(at::linear(x, p[0].narrow(0, 4, 4))), p[1]);
        },
        {"w"});
  b.add("detached_use", {{"w", {3, 3}}, {"h", {3, 3}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) {
          return at::linear(at::tanh(at::linear(x, p[0]) + at::linear(x, p[0].detach())), p[1]);
        },
        {"w"});
  b.add("unused", {{"w", {3, 3}}, {"nothing", {2}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::tanh(at::linear(x, p[0])); });
  b.add("divided", {{"w", {3, 3}}, {"d", {3}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) { return at::linear(x, p[0]) / p[1]; }, {"d"});
  b.add("scaled_in_place", {{"w", {3, 3}}, {"s", {3}}}, b.normal({5, 3}),
        [](const Tensors& p, at::Tensor x) {
          at::Tensor h = at::tanh(at::linear(x, p[0])).clone();
          h.mul_(p[1]);
          return h;
        },
        {"s"});
}

}  // namespace

std::vector<ZooNetwork> layer_zoo() {
  Builder builder;
  add_linear(builder);
  add_convolutions(builder);
  add_elementwise(builder);
  add_embeddings(builder);
  add_unexplained(builder);
  return std::move(builder.zoo);
}

}  // namespace ockham::testing
