// --no-torchscript and OCKHAM_NO_TORCHSCRIPT: no TorchScript file is loaded, wherever its name or its bytes come from.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/run_fixture.h"
#include "tests/support/torchscript_builder.h"
#include "tests/support/variable_guard.h"

namespace ockham::testing {
namespace {

constexpr int usage = 2, data = 3;
const std::vector<std::string> said = {"--no-torchscript", "OCKHAM_NO_TORCHSCRIPT", "runs the code", "trust"};

class TorchScriptRefusal : public RunFixture {
 protected:
  TorchScriptRefusal() {
    TorchScriptBuilder()
        .parameter("weight", at::ones({1, 2}))
        .define("def forward(self, x):\n    return torch.linear(x, self.weight)\n")
        .save(path("net.pt"));
    std::string rows = "a,b,y\n";
    for (int k = 0; k < 20; ++k)
      rows += std::to_string(k) + "," + std::to_string(k * k) + ".5,0." + std::to_string(k) + "\n";
    table_ = write_text("table.csv", rows);
  }
  std::string table_;
};

TEST_F(TorchScriptRefusal, NamedOnTheCommandLineOrInASettingsFile) {
  expect_refusal(usage, said, {"fit", table_, "--target", "y", "--network", path("net.pt"), "--no-torchscript"});
  const std::string settings = write_text("run.toml", "network = \"" + path("net.pt") + "\"\ntarget = \"y\"\n");
  expect_refusal(usage, said, {"fit", table_, "--config", settings, "--no-torchscript"});
  expect_refusal(usage, said,
                 {"evidence", "--network", path("net.pt"), "--inputs", path("x.npy"), "--targets", path("y.npy"),
                  "--likelihood", "gaussian", "--no-torchscript"});
  const VariableGuard refuse("OCKHAM_NO_TORCHSCRIPT");
  refuse.set("1");
  expect_refusal(usage, said, {"fit", table_, "--config", settings});
}

TEST_F(TorchScriptRefusal, InsideOfAModel) {
  TrainedCase wanted;
  wanted.spec = "net.pt";
  wanted.torchscript = torchscript_bytes(3);
  wanted.likelihood = Categorical{};
  const std::string run = make_run("run", make_trained(wanted, 3));
  const std::string table = write_text("new.csv", "width,colour,height\n30,red,1000\n");
  std::vector<std::string> mentioned = said;
  mentioned.push_back("model.safetensors");
  expect_refusal(data, mentioned, {"predict", run, table, "--no-torchscript"});
  expect_refusal(data, mentioned, {"export", run, "--to", path("out.pt"), "--no-torchscript"});
  expect_refusal(data, mentioned, {"evidence", "--from-run", run, "--no-torchscript"});
  EXPECT_EQ(run_tool({"predict", run, table}).exit_code, 0);
}

TEST_F(TorchScriptRefusal, NetworksOfOckhamAreNotConcerned) {
  const std::string run = make_run("run", make_trained({}));
  const std::string table = write_text("new.csv", "width,colour,height\n30,red,1000\n");
  EXPECT_EQ(run_tool({"predict", run, table, "--no-torchscript"}).exit_code, 0);
}

}  // namespace
}  // namespace ockham::testing
