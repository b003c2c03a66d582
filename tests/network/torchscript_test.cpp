#include "ockham/network/torchscript.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torchscript_builder.h"
#include "tests/support/variable_guard.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::TorchScriptBuilder;

class TorchScript : public ::testing::Test {
 protected:
  void save_linear(int64_t outputs, int64_t inputs) const {
    TorchScriptBuilder()
        .parameter("weight", at::randn({outputs, inputs}))
        .parameter("bias", at::randn({outputs}))
        .define("def forward(self, x):\n    return torch.linear(x, self.weight, self.bias)\n")
        .save(path_);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("network.pt");
};

TEST_F(TorchScript, GoldenNetworksAgreeWithTheirOperatorsAndTheFile) {
  for (const auto& name : testing::golden_names()) {
    const auto golden = testing::read_golden(name);
    testing::save_golden_torchscript(golden, path_);
    const Network loaded = load_torchscript(path_, at::kDouble);
    const Network plain = testing::make_golden_network(golden);
    ASSERT_EQ(loaded.layout().count(), plain.layout().count());
    for (size_t i = 0; i < plain.layout().count(); ++i) {
      EXPECT_EQ(loaded.layout()[i].name, plain.layout()[i].name);
      EXPECT_EQ(loaded.layout()[i].shape, plain.layout()[i].shape);
    }
    EXPECT_TRUE(loaded.forward(golden.inputs).allclose(golden.outputs, 1e-12, 1e-12)) << name;
    EXPECT_TRUE(plain.forward(golden.inputs).allclose(golden.outputs, 1e-12, 1e-12)) << name;
  }
}

TEST_F(TorchScript, ParametersStayAttachedRunAfterRun) {
  save_linear(2, 3);
  const Network network = load_torchscript(path_, at::kDouble);
  for (int run = 0; run < 4; ++run) {
    const at::Tensor outputs = network.forward(at::ones({5, 3}, at::kDouble));
    EXPECT_EQ(outputs.scalar_type(), at::kDouble);
    const auto gradients = torch::autograd::grad({outputs.sum()}, network.parameters());
    EXPECT_TRUE(gradients[0].equal(at::full({2, 3}, 5.0, at::kDouble)));
    EXPECT_TRUE(gradients[1].equal(at::full({2}, 5.0, at::kDouble)));
  }
}

TEST_F(TorchScript, ConvertsFloatingBuffersOnlyAndKeepsIntegersFrozenAndTies) {
  TorchScriptBuilder()
      .parameter("a.weight", at::randn({3, 3}))
      .parameter("frozen", at::ones({3}), false)
      .tie("b.weight", "a.weight")
      .buffer("mean", at::ones({3}))
      .buffer("order", at::tensor({2, 0, 1}, at::kLong))
      .define(R"(
def forward(self, x):
    x = torch.index_select(x - self.mean, 1, self.order)
    return torch.linear(torch.linear(x, self.a.weight), self.b.weight) + self.frozen
)")
      .save(path_);
  const Network network = load_torchscript(path_, at::kDouble);
  ASSERT_EQ(network.layout().count(), 1u);
  EXPECT_EQ(network.layout()[0].name, "a.weight");
  EXPECT_EQ(network.dtype(), at::kDouble);
  const at::Tensor w = network.parameters()[0], x = at::randn({4, 3}, at::kDouble);
  const at::Tensor expected = at::linear(at::linear(x.index_select(1, at::tensor({2, 0, 1}, at::kLong)) - 1, w), w) + 1;
  EXPECT_TRUE(network.forward(x).allclose(expected, 1e-12, 1e-12));
  EXPECT_EQ(network.forward(x).scalar_type(), at::kDouble);
}

/// As tracing leaves them: a float32 tensor that is a constant of the graph, and no attribute of the module.
TEST_F(TorchScript, ConvertsTensorsWrittenIntoTheProgram) {
  torch::jit::Module module("Traced");
  module.register_parameter("weight", at::ones({2, 2}).set_requires_grad(true), false);
  module.define("def forward(self, x):\n    return torch.matmul(torch.linear(x, self.weight), torch.neg(x))\n");
  auto graph = module.get_method("forward").graph();
  for (torch::jit::Node* node : graph->nodes()) {
    if (node->kind() != c10::Symbol::fromQualString("aten::neg")) continue;
    const torch::jit::WithInsertPoint before(node);
    node->output()->replaceAllUsesWith(torch::jit::insertConstant(*graph, at::full({2, 3}, 0.5f)));
    node->destroy();
    break;
  }
  module.save(path_);
  const at::Tensor x = at::ones({1, 2}, at::kDouble);
  const at::Tensor outputs = load_torchscript(path_, at::kDouble).forward(x);  // matmul refuses mixed types
  EXPECT_EQ(outputs.scalar_type(), at::kDouble);
  EXPECT_TRUE(outputs.equal(at::full({1, 3}, 2.0, at::kDouble)));
}

TEST_F(TorchScript, MissingAndForeignFiles) {
  expect_error(ErrorKind::data, {"missing.pt", "no such file"},
               [&] { load_torchscript(directory_.path("missing.pt"), at::kDouble); });
  expect_error(ErrorKind::data, {"not a file"}, [&] { load_torchscript(directory_.path(""), at::kDouble); });
  testing::write_bytes(path_, "this is no archive");
  expect_error(ErrorKind::data, {path_, "TorchScript"}, [&] { load_torchscript(path_, at::kDouble); });
  testing::write_bytes(path_, "");
  expect_error(ErrorKind::data, {path_, "TorchScript"}, [&] { load_torchscript(path_, at::kDouble); });
}

TEST_F(TorchScript, IsRefusedOnRequest) {
  save_linear(2, 3);
  const std::string bytes = testing::read_bytes(path_);
  const testing::VariableGuard refuse("OCKHAM_NO_TORCHSCRIPT");
  for (const char* no : {"", "0"}) {
    refuse.set(no);
    EXPECT_FALSE(torchscript_is_refused());
    EXPECT_EQ(load_torchscript(path_, at::kFloat).layout().total(), 8);
  }
  refuse.set("1");
  EXPECT_TRUE(torchscript_is_refused());
  expect_error(ErrorKind::usage, {"network.pt", "--no-torchscript", "OCKHAM_NO_TORCHSCRIPT", "runs the code"},
               [&] { load_torchscript(path_, at::kFloat); });
  expect_error(ErrorKind::usage, {"in-a-model", "--no-torchscript"},
               [&] { parse_torchscript(bytes, "in-a-model", at::kFloat); });
  // Before anything of it is read.
  expect_error(ErrorKind::usage, {"--no-torchscript"},
               [&] { load_torchscript(directory_.path("nowhere.pt"), at::kFloat); });
}

TEST_F(TorchScript, CorruptArchives) {
  save_linear(20, 30);
  const std::string bytes = testing::read_bytes(path_);
  testing::write_bytes(path_, bytes.substr(0, bytes.size() / 2));
  expect_error(ErrorKind::data, {path_, "TorchScript"}, [&] { load_torchscript(path_, at::kDouble); });
  std::string damaged = bytes;
  for (size_t i = damaged.size() - 400; i < damaged.size() - 100; ++i) damaged[i] = 'x';
  testing::write_bytes(path_, damaged);
  expect_error(ErrorKind::data, {path_, "TorchScript"}, [&] { load_torchscript(path_, at::kDouble); });
}

TEST_F(TorchScript, AFileOfANewerLibtorchNamesBothVersions) {
  {
    caffe2::serialize::PyTorchStreamWriter writer(path_);
    writer.setMinVersion(99);
    writer.writeRecord("data.pkl", "x", 1);
    writer.writeEndOfFile();
  }
  expect_error(ErrorKind::data, {"newer libtorch", "version 99", "up to version"},
               [&] { load_torchscript(path_, at::kDouble); });
}

TEST_F(TorchScript, RefusesNetworksOfAnotherForm) {
  TorchScriptBuilder()
      .parameter("weight", at::randn({2, 3}))
      .define(R"(
def forward(self, x, y):
    return torch.linear(x, self.weight) + y
)")
      .save(path_);
  expect_error(ErrorKind::data, {"2 arguments"}, [&] { load_torchscript(path_, at::kDouble); });
  TorchScriptBuilder()
      .parameter("weight", at::randn({2, 3}))
      .define(R"(
def forward(self, x):
    return torch.linear(x, self.weight), x
)")
      .save(path_);
  expect_error(ErrorKind::data, {"Tuple"}, [&] {
    load_torchscript(path_, at::kDouble).forward(at::zeros({1, 3}, at::kDouble));
  });
  TorchScriptBuilder().define("def forward(self, x):\n    return x\n").save(path_);
  expect_error(ErrorKind::data, {path_, "no parameters"}, [&] { load_torchscript(path_, at::kDouble); });
}

TEST_F(TorchScript, BytesInMemoryAreAsTheFile) {
  save_linear(2, 3);
  const std::string bytes = testing::read_bytes(path_);
  const Network network = parse_torchscript(bytes, "inside.pt", at::kDouble);
  const at::Tensor inputs = at::randn({4, 3}, at::kDouble);
  EXPECT_TRUE(network.forward(inputs).equal(load_torchscript(path_, at::kDouble).forward(inputs)));
  expect_error(ErrorKind::data, {"inside.pt", "ZIP"}, [&] { parse_torchscript("", "inside.pt", at::kDouble); });
  expect_error(ErrorKind::data, {"inside.pt"}, [&] { parse_torchscript(bytes.substr(9), "inside.pt", at::kDouble); });
}

TEST_F(TorchScript, AFailureInsideTheScriptIsOneSentence) {
  save_linear(2, 3);
  const Network network = load_torchscript(path_, at::kDouble);
  expect_error(ErrorKind::data, {"[4, 7]", "cannot be multiplied"}, [&] {
    network.forward(at::zeros({4, 7}, at::kDouble));
  });
}

}  // namespace
}  // namespace ockham
