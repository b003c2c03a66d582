// ockham export: the file gives what `predict --method map` gives, also in Python.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

class Export : public RunFixture {
 protected:
  /// Python with the packages, or nothing. Debian's own comes first: its torch is the one of this libtorch.
  static std::string python_with(const std::string& imports) {
    for (const char* python : {"/usr/bin/python3", "python3"}) {
      const std::string command = std::string(python) + " -c 'import " + imports + "' > /dev/null 2>&1";
      if (std::system(command.c_str()) == 0) return python;
    }
    return "";
  }
  std::string run_python(const std::string& python, const std::string& script) const {
    write_text("script.py", script);
    const std::string out = path("python.out");
    const std::string command = python + " " + path("script.py") + " > " + out + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_bytes(out);
    return read_bytes(out);
  }
};

TEST_F(Export, SaysTheOrderOfTheColumns) {
  const std::string run = make_run("run", make_trained({}));
  const ToolRun result = run_tool({"export", run, "--to", path("model.pt")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"[N, 5]", "price", "noise_sd", "0  width", "1  colour=blue", "4  height"})
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  const auto json = run_json({"export", run, "--to", path("model.pt"), "--overwrite"});
  EXPECT_EQ(json["features"],
            (std::vector<std::string>{"width", "colour=blue", "colour=green", "colour=red", "height"}));
  EXPECT_EQ(json["targets"], std::vector<std::string>{"price"});
  EXPECT_EQ(json["noise_sd"].size(), 1u);
}

TEST_F(Export, AFileThatExistsIsReplacedOnlyWhenAsked) {
  const std::string run = make_run("run", make_trained({})), file = write_text("model.pt", "mine");
  expect_refusal(3, {"model.pt", "exists", "--overwrite"}, {"export", run, "--to", file});
  EXPECT_EQ(read_bytes(file), "mine");
  EXPECT_EQ(run_tool({"export", run, "--to", file, "--overwrite"}).exit_code, 0);
  EXPECT_NE(read_bytes(file), "mine");
  expect_refusal(2, {"model.safetensors", "is read"},
                 {"export", run, "--to", run + "/model.safetensors", "--overwrite"});
}

TEST_F(Export, PythonPredictsAsTheTool) {
  const std::string python = python_with("torch");
  if (python.empty()) GTEST_SKIP() << "no python3 with torch";
  const std::string table = "width,colour,height\n30,red,1000\n25,blue,900\n33,green,1200\n";
  write_text("new.csv", table);
  for (const Likelihood& likelihood : std::vector<Likelihood>{Gaussian{}, Categorical{}, Bernoulli{}}) {
    TrainedCase wanted;
    wanted.likelihood = likelihood;
    const TrainedModel trained = make_trained(wanted, 5);
    const std::string name = "run" + std::to_string(likelihood.index());
    const std::string run = make_run(name, trained);
    ASSERT_EQ(run_tool({"export", run, "--to", path(name + ".pt")}).exit_code, 0);
    const std::string out = run_python(python, R"(
import torch
model = torch.jit.load(')" + path(name + ".pt") + R"(')
order = model.feature_names
rows = [{'width': 30, 'colour=red': 1, 'height': 1000}, {'width': 25, 'colour=blue': 1, 'height': 900},
        {'width': 33, 'colour=green': 1, 'height': 1200}]
with torch.no_grad():
    y = model(torch.tensor([[float(row.get(name, 0)) for name in order] for row in rows]))
for row in y.tolist():
    print(' '.join(repr(value) for value in row))
again = model.eval().double()(torch.zeros(2, len(order)))
assert again.dtype == torch.float64 and again.shape[0] == 2
assert len(list(model.parameters())) == 4 and model.task in ('regression', 'classification')
)");
    const auto json = run_json({"predict", run, path("new.csv"), "--method", "map"});
    std::istringstream values(out);
    const std::vector<std::string> classes = trained.encoding.classes;
    for (size_t n = 0; n < 3; ++n) {
      if (classes.empty()) {
        double value = 0;
        values >> value;
        const double expected = json["predictions"][n]["mean"];
        EXPECT_NEAR(value, expected, 1e-5 * std::abs(expected));
      }
      for (const std::string& one : classes) {
        double value = 0;
        values >> value;
        EXPECT_NEAR(value, json["predictions"][n]["p_" + one].get<double>(), 1e-5);
      }
    }
  }
}

TEST_F(Export, ThePythonPackageReadsTheModelFile) {
  const std::string python = python_with("safetensors.numpy");
  if (python.empty()) GTEST_SKIP() << "no python3 with safetensors";
  const std::string run = make_run("run", make_trained({}));
  const std::string out = run_python(python, R"(
from safetensors import safe_open
with safe_open(')" + run + R"(/model.safetensors', framework='numpy') as f:
    assert f.metadata()['format'] == 'ockham trained model'
    print(f.get_tensor('weights.hidden1.weight').shape, f.get_tensor('scaling.input_mean').shape)
)");
  EXPECT_NE(out.find("(4, 5) (5,)"), std::string::npos) << out;
}

}  // namespace
}  // namespace ockham::testing
