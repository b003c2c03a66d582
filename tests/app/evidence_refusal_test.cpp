// Bad input to `ockham evidence`: one clear sentence and the right exit code each.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/tool_fixture.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

constexpr int usage = 2, data = 3;

class EvidenceRefusal : public ToolFixture {
 protected:
  const double nan_ = std::numeric_limits<double>::quiet_NaN();
  const double inf_ = std::numeric_limits<double>::infinity();
};

TEST_F(EvidenceRefusal, WrongUsage) {
  expect_refusal(usage, {"--structure", "krno", "did you mean 'kron'"}, {"--structure", "krno"});
  expect_refusal(usage, {"--strukture", "did you mean --structure"}, {"--strukture", "kron"});
  expect_refusal(usage, {"--likelihood", "gausian", "did you mean 'gaussian'"}, {"--likelihood", "gausian"});
  expect_refusal(usage, {"--prior", "layerwise"}, {"--prior", "layerwize"});
  expect_refusal(usage, {"--from-run"}, {"--from-run", "somewhere"});
  expect_refusal(usage, {"--batch-size", "'0'"}, {"--batch-size", "0"});
  expect_refusal(usage, {"--mc-samples", "'-1'"}, {"--mc-samples", "-1"});
  expect_refusal(usage, {"TorchScript", "mlp:50"}, {"--network", "mlp:50"});
  const ToolRun incomplete = run_tool({"evidence", "--inputs", path("x.npy"), "--targets", path("y.npy")});
  EXPECT_EQ(incomplete.exit_code, usage);
  EXPECT_NE(incomplete.err.find("--network"), std::string::npos) << incomplete.err;
}

TEST_F(EvidenceRefusal, HyperparametersOutOfRange) {
  for (const char* value : {"0", "-1", "nan", "inf", "two", "1,-2"}) {
    expect_refusal(usage, {"--prior-precision", "positive"}, {"--prior-precision", value});
    expect_refusal(usage, {"--noise", "positive"}, {"--noise", value});
  }
  expect_refusal(usage, {"--temperature", "positive"}, {"--temperature", "0"});
  expect_refusal(usage, {"--likelihood-weight", "positive"}, {"--likelihood-weight", "-3"});
  expect_refusal(usage, {"--prior-precision", "3 values", "4"}, {"--prior", "layerwise", "--prior-precision", "1,2,3"});
  expect_refusal(usage, {"--prior-precision", "2 values", "one precision"}, {"--prior-precision", "1,2"});
  expect_refusal(usage, {"--noise", "2 values", "3"},
                 {"--likelihood", "gaussian", "--targets", path("r.npy"), "--noise", "1,2"});
  expect_refusal(
      data, {"p.npy", "positive"},
      {"--prior", "layerwise", "--prior-precision", write("p.npy", at::tensor({1.0, 2.0, -1.0, 3.0}, at::kDouble))});
}

TEST_F(EvidenceRefusal, Groups) {
  expect_refusal(usage, {"--group", "NAME="}, {"--group", "hidden.weight"});
  expect_refusal(usage, {"hidden.wait"}, {"--group", "a=hidden.wait"});
  expect_refusal(usage, {"out.bias"}, {"--group", "a=hidden.weight,hidden.bias,out.weight"});
}

TEST_F(EvidenceRefusal, TorchScriptFiles) {
  expect_refusal(data, {"missing.pt", "no such file"}, {"--network", path("missing.pt")});
  write_bytes(path("bad.pt"), "no archive at all");
  expect_refusal(data, {"bad.pt", "TorchScript"}, {"--network", path("bad.pt")});
  const std::string good = read_bytes(path("net.pt"));
  write_bytes(path("cut.pt"), good.substr(0, good.size() - 300));
  expect_refusal(data, {"cut.pt", "TorchScript"}, {"--network", path("cut.pt")});
}

TEST_F(EvidenceRefusal, DamagedWeights) {
  const at::Tensor weight = at::randn({3, 2}, at::kDouble);
  TorchScriptBuilder()
      .parameter("weight", weight)
      .define("def forward(self, x):\n    return torch.linear(x, self.weight)\n")
      .save(path("damaged.pt"));
  EXPECT_EQ(run({"--network", path("damaged.pt")}).exit_code, 0);
  std::string bytes = read_bytes(path("damaged.pt"));
  const size_t position = bytes.find(std::string(static_cast<const char*>(weight.data_ptr()), weight.nbytes()));
  ASSERT_NE(position, std::string::npos);
  bytes[position + 20] ^= 1;
  write_bytes(path("damaged.pt"), bytes);
  expect_refusal(data, {"damaged.pt", "data/0", "checksum", "again"}, {"--network", path("damaged.pt")});
}

TEST_F(EvidenceRefusal, NpyFiles) {
  expect_refusal(data, {"none.npy", "no such file"}, {"--inputs", path("none.npy")});
  write_bytes(path("text.npy"), "1,2,3\n");
  expect_refusal(data, {"text.npy", "not an NPY file"}, {"--inputs", path("text.npy")});
  const std::string good = read_bytes(path("x.npy"));
  write_bytes(path("cut.npy"), good.substr(0, good.size() - 8));
  expect_refusal(data, {"cut.npy", "truncated"}, {"--inputs", path("cut.npy")});
  std::string complex_type = good;
  complex_type.replace(complex_type.find("<f8"), 3, "<c8");
  write_bytes(path("complex.npy"), complex_type);
  expect_refusal(data, {"complex.npy", "<c8"}, {"--inputs", path("complex.npy")});
}

TEST_F(EvidenceRefusal, ShapesThatDoNotFit) {
  expect_refusal(data, {"[2, 5]"}, {"--inputs", write("wide.npy", at::zeros({12, 5}, at::kDouble))});
  expect_refusal(data, {"12", "11"}, {"--targets", write("short.npy", at::zeros({11}, at::kLong))});
  expect_refusal(data, {"shape"},
                 {"--likelihood", "gaussian", "--targets", write("two.npy", at::zeros({12, 2}, at::kDouble))});
  expect_refusal(data, {"shape"}, {"--targets", write("onehot.npy", at::zeros({12, 3}, at::kLong))});
  expect_refusal(data, {"empty"},
                 {"--inputs", write("ex.npy", at::zeros({0, 2}, at::kDouble)), "--targets",
                  write("ey.npy", at::zeros({0}, at::kLong))});
  expect_refusal(data, {"test inputs", "[4, 3]"}, {"--test-inputs", write("t.npy", at::zeros({4, 3}, at::kDouble))});
  expect_refusal(data, {"t0.npy"}, {"--test-inputs", write("t0.npy", at::zeros({0, 2}, at::kDouble))});
}

TEST_F(EvidenceRefusal, ValuesThatDoNotFit) {
  expect_refusal(data, {"target", "3"}, {"--targets", write("high.npy", at::arange(12, at::kLong).remainder(4))});
  expect_refusal(data, {"target", "-1"}, {"--targets", write("low.npy", at::full({12}, -1, at::kLong))});
  expect_refusal(data, {"target", "0.5"}, {"--targets", write("half.npy", at::full({12}, 0.5, at::kDouble))});
  at::Tensor inputs = at::zeros({12, 2}, at::kDouble);
  inputs[7][1] = nan_;
  expect_refusal(data, {"inputs[7, 1]", "nan"}, {"--inputs", write("nan.npy", inputs)});
  inputs[7][1] = inf_;
  expect_refusal(data, {"inputs[7, 1]", "inf"}, {"--inputs", write("inf.npy", inputs)});
  at::Tensor targets = at::zeros({12, 3}, at::kDouble);
  targets[5][0] = nan_;
  expect_refusal(data, {"targets[5, 0]"}, {"--likelihood", "gaussian", "--targets", write("nt.npy", targets)});
  expect_refusal(data, {"inputs[1, 0]"},
                 {"--test-inputs", write("tn.npy", at::tensor({1.0, 1.0, inf_, 1.0}, at::kDouble).view({2, 2}))});
}

TEST_F(EvidenceRefusal, NetworksThatDoNotFit) {
  at::Tensor weight = at::ones({3, 2}, at::kDouble);
  const auto save = [&](const std::string& body, bool training = false) {
    TorchScriptBuilder()
        .parameter("weight", weight)
        .buffer("mean", at::zeros({3}, at::kDouble))
        .buffer("var", at::ones({3}, at::kDouble))
        .training(training)
        .define("def forward(self, x):\n    " + body + "\n")
        .save(path("odd.pt"));
    return std::vector<std::string>{"--network", path("odd.pt")};
  };
  expect_refusal(data, {"[N, C]"}, save("return torch.sum(torch.linear(x, self.weight), 1)"));
  expect_refusal(data, {"bernoulli", "3"}, [&] {
    auto flags = save("return torch.linear(x, self.weight)");
    flags.insert(flags.end(), {"--likelihood", "bernoulli"});
    return flags;
  }());
  expect_refusal(data, {"dropout"},
                 save("return torch.dropout(torch.linear(x, self.weight), 0.5, self.training)", true));
  expect_refusal(data, {"batch"},
                 save("return torch.batch_norm(torch.linear(x, self.weight), None, None, self.mean, self.var, "
                      "self.training, 0.1, 1e-5, False)",
                      true));
  EXPECT_EQ(run(save("return torch.dropout(torch.linear(x, self.weight), 0.5, self.training)", false)).exit_code, 0);
  weight[1][1] = nan_;
  expect_refusal(data, {"'weight'", "not finite"}, save("return torch.linear(x, self.weight)"));
}

TEST_F(EvidenceRefusal, AFullStructureThatCannotFit) {
  TorchScriptBuilder()
      .parameter("weight", at::randn({3, 20000}, at::kDouble))
      .define(R"(
def forward(self, x):
    return torch.linear(x, self.weight)
)")
      .save(path("large.pt"));
  const std::string inputs = write("large.npy", at::randn({600, 20000}));
  const std::string targets = write("large_y.npy", at::arange(600, at::kLong).remainder(3));
  const ToolRun result = run({"--network", path("large.pt"), "--inputs", inputs, "--targets", targets, "--structure",
                              "full", "--memory", "200M"});
  EXPECT_EQ(result.exit_code, usage);
  for (const char* part : {"memory", "bytes", "diag"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(EvidenceRefusal, APriorThatTheKroneckerStructureCannotHold) {
  const std::string precisions = write("p.npy", at::rand({27}, at::kDouble) + 0.5);
  expect_refusal(usage, {"hidden.weight"},
                 {"--prior", "diagonal", "--prior-precision", precisions, "--structure", "kron"});
}

}  // namespace
}  // namespace ockham::testing
