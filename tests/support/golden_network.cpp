// The networks of the golden cases, twice: as operators in C++ and as TorchScript source.
#include <ATen/ATen.h>

#include <functional>
#include <stdexcept>

#include "tests/support/golden.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

enum class Kind { linear, mlp_tanh, mlp_relu, cnn, fixup };

Kind kind_of(const std::string& words) {
  const auto has = [&](const char* part) { return words.find(part) != std::string::npos; };
  if (has("mlp")) return has("tanh") ? Kind::mlp_tanh : Kind::mlp_relu;
  if (has("block")) return Kind::fixup;
  if (has("conv 1->3") || has("cnn")) return Kind::cnn;
  if (has("linear 4->1")) return Kind::linear;
  throw std::runtime_error("no network is known for: " + words);
}

at::Tensor forward_mlp(const std::vector<at::Tensor>& p, at::Tensor x, bool tanh) {
  for (size_t i = 0; i < p.size(); i += 2) {
    x = at::linear(x, p[i], p[i + 1]);
    if (i + 2 < p.size()) x = tanh ? x.tanh() : x.relu();
  }
  return x;
}

at::Tensor forward_cnn(const std::vector<at::Tensor>& p, at::Tensor x) {
  x = at::max_pool2d(at::conv2d(x, p[0], p[1], {1, 1}, {1, 1}).relu_(), {2, 2});
  x = at::conv2d(x, p[2], p[3]).relu_();
  return at::linear(x.flatten(1), p[4], p[5]);
}

at::Tensor forward_fixup(const std::vector<at::Tensor>& p, at::Tensor x) {
  const auto conv = [](const at::Tensor& input, const at::Tensor& weight) {
    return at::conv2d(input, weight, {}, {1, 1}, {1, 1});
  };
  x = (conv(x, p[0]) + p[1]).relu();
  const at::Tensor inner = (conv(x + p[2], p[3]) + p[4]).relu();
  x = (x + (conv(inner + p[5], p[6]) * p[7] + p[8])).relu();
  return at::linear(x.mean({2, 3}) + p[9], p[10], p[11]);
}

const char* script_of(Kind kind) {
  switch (kind) {
    case Kind::linear:
      return R"(
def forward(self, x):
    return torch.linear(x, getattr(self, "0").weight, getattr(self, "0").bias)
)";
    case Kind::mlp_tanh:
      return R"(
def forward(self, x):
    x = torch.tanh(torch.linear(x, getattr(self, "0").weight, getattr(self, "0").bias))
    x = torch.tanh(torch.linear(x, getattr(self, "2").weight, getattr(self, "2").bias))
    return torch.linear(x, getattr(self, "4").weight, getattr(self, "4").bias)
)";
    case Kind::mlp_relu:
      return R"(
def forward(self, x):
    x = torch.relu(torch.linear(x, getattr(self, "0").weight, getattr(self, "0").bias))
    x = torch.relu(torch.linear(x, getattr(self, "2").weight, getattr(self, "2").bias))
    return torch.linear(x, getattr(self, "4").weight, getattr(self, "4").bias)
)";
    case Kind::cnn:
      return R"(
def forward(self, x):
    x = torch.relu_(torch.conv2d(x, getattr(self, "0").weight, getattr(self, "0").bias, [1, 1], [1, 1]))
    x = torch.max_pool2d(x, [2, 2])
    x = torch.relu_(torch.conv2d(x, getattr(self, "3").weight, getattr(self, "3").bias))
    return torch.linear(torch.flatten(x, 1), getattr(self, "6").weight, getattr(self, "6").bias)
)";
    case Kind::fixup:
      return R"(
def forward(self, x):
    x = torch.relu(torch.conv2d(x, self.conv.weight, None, [1, 1], [1, 1]) + self.bias1.weight)
    inner = torch.conv2d(x + self.block.bias1a.weight, self.block.conv1.weight, None, [1, 1], [1, 1])
    inner = torch.relu(inner + self.block.bias1b.weight)
    outer = torch.conv2d(inner + self.block.bias2a.weight, self.block.conv2.weight, None, [1, 1], [1, 1])
    x = torch.relu(x + (outer * self.block.scale.weight + self.block.bias2b.weight))
    return torch.linear(torch.mean(x, [2, 3]) + self.bias2.weight, self.fc.weight, self.fc.bias)
)";
  }
  throw std::runtime_error("unreachable");
}

}  // namespace

Network make_golden_network(const GoldenCase& golden) {
  std::vector<at::Tensor> p;
  for (const auto& [name, value] : golden.parameters) p.push_back(value);
  const Kind kind = kind_of(golden.network_in_words);
  return Network(golden.parameters, [p, kind](const at::Tensor& x) {
    switch (kind) {
      case Kind::cnn:
        return forward_cnn(p, x);
      case Kind::fixup:
        return forward_fixup(p, x);
      default:
        return forward_mlp(p, x, kind == Kind::mlp_tanh);
    }
  });
}

void save_golden_torchscript(const GoldenCase& golden, const std::string& path) {
  TorchScriptBuilder builder;
  for (const auto& [name, value] : golden.parameters) builder.parameter(name, value);
  builder.define(script_of(kind_of(golden.network_in_words))).save(path);
}

}  // namespace ockham::testing
