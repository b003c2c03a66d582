#include "tests/support/ordinary_networks.h"

#include <ATen/ATen.h>

#include "ockham/base/random.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

class Values {
 public:
  explicit Values(uint64_t seed) : generator_(random_stream({seed})) {}
  at::Tensor operator()(std::vector<int64_t> shape, double mean = 0, double deviation = 0.4) {
    return mean + deviation * at::randn(shape, generator_, at::kDouble);
  }

 private:
  at::Generator generator_;
};

void add_batch_norm(TorchScriptBuilder& builder, Values& values, const std::string& name, int64_t channels) {
  builder.parameter(name + ".weight", values({channels}, 1, 0.2))
      .parameter(name + ".bias", values({channels}, 0, 0.2))
      .buffer(name + ".running_mean", values({channels}))
      .buffer(name + ".running_var", values({channels}).square() + 0.5);
}

void add_linear(TorchScriptBuilder& builder, Values& values, const std::string& name, int64_t out, int64_t in) {
  builder.parameter(name + ".weight", values({out, in})).parameter(name + ".bias", values({out}));
}

void add_layer_norm(TorchScriptBuilder& builder, Values& values, const std::string& name, int64_t features) {
  builder.parameter(name + ".weight", values({features}, 1, 0.2)).parameter(name + ".bias", values({features}));
}

}  // namespace

void save_batch_norm_resnet(const std::string& path, bool training) {
  Values values(31);
  TorchScriptBuilder builder;
  builder.training(training).parameter("stem.weight", values({3, 2, 3, 3}));
  add_batch_norm(builder, values, "bn0", 3);
  builder.parameter("conv1.weight", values({4, 3, 3, 3}));
  add_batch_norm(builder, values, "bn1", 4);
  builder.parameter("conv2.weight", values({4, 4, 3, 3}));
  add_batch_norm(builder, values, "bn2", 4);
  builder.parameter("shortcut.weight", values({4, 3, 1, 1}));
  add_linear(builder, values, "fc", 3, 4);
  const auto norm = [](const std::string& x, const std::string& bn) {
    const std::string self = "self." + bn;
    return "torch.batch_norm(" + x + ", " + self + ".weight, " + self + ".bias, " + self + ".running_mean, " + self +
           ".running_var, self.training, 0.1, 1e-5, False)";
  };
  builder.define("def forward(self, x):\n    x = torch.relu_(" +
                 norm("torch.conv2d(x, self.stem.weight, None, padding=[1, 1])", "bn0") + ")\n    y = torch.relu_(" +
                 norm("torch.conv2d(x, self.conv1.weight, None, stride=[2, 2], padding=[1, 1])", "bn1") +
                 ")\n    y = " + norm("torch.conv2d(y, self.conv2.weight, None, padding=[1, 1])", "bn2") +
                 "\n    y = torch.relu(y + torch.conv2d(x, self.shortcut.weight, None, stride=[2, 2]))\n"
                 "    return torch.linear(torch.flatten(torch.adaptive_avg_pool2d(y, [1, 1]), 1), self.fc.weight, "
                 "self.fc.bias)\n");
  builder.save(path);
}

void save_vision_transformer(const std::string& path) {
  Values values(32);
  TorchScriptBuilder builder;
  builder.training(false)
      .parameter("patch.weight", values({4, 2, 3, 3}))
      .parameter("patch.bias", values({4}))
      .parameter("class_token", values({1, 1, 4}))
      .parameter("positions", values({1, 5, 4}));
  add_layer_norm(builder, values, "norm1", 4);
  add_linear(builder, values, "in_proj", 12, 4);
  add_linear(builder, values, "out_proj", 4, 4);
  add_layer_norm(builder, values, "norm2", 4);
  add_linear(builder, values, "mlp1", 6, 4);
  add_linear(builder, values, "mlp2", 4, 6);
  add_layer_norm(builder, values, "norm3", 4);
  add_linear(builder, values, "head", 3, 4);
  builder
      .define(R"(
def forward(self, x):
    n = x.size(0)
    t = torch.flatten(torch.conv2d(x, self.patch.weight, self.patch.bias, stride=[3, 3]), 2).transpose(1, 2)
    t = torch.cat([self.class_token.expand([n, -1, -1]), t], 1) + self.positions
    h = torch.layer_norm(t, [4], self.norm1.weight, self.norm1.bias)
    qkv = torch.linear(h, self.in_proj.weight, self.in_proj.bias).reshape(n, 5, 3, 2, 2).permute(2, 0, 3, 1, 4)
    a = torch.softmax(torch.matmul(qkv[0], qkv[1].transpose(2, 3)) / 1.4142135623730951, -1)
    h = torch.matmul(a, qkv[2]).transpose(1, 2).reshape(n, 5, 4)
    t = t + torch.linear(h, self.out_proj.weight, self.out_proj.bias)
    h = torch.layer_norm(t, [4], self.norm2.weight, self.norm2.bias)
    h = torch.gelu(torch.linear(h, self.mlp1.weight, self.mlp1.bias))
    t = t + torch.linear(h, self.mlp2.weight, self.mlp2.bias)
    t = torch.layer_norm(t, [4], self.norm3.weight, self.norm3.bias)
    return torch.linear(t[:, 0], self.head.weight, self.head.bias)
)")
      .save(path);
}

}  // namespace ockham::testing
