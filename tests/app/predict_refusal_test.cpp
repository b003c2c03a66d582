// Bad input to `ockham predict` and `ockham export`: one clear sentence and the right exit code each.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ockham/data/npy.h"
#include "ockham/store/run_directory.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

constexpr int failure = 1, usage = 2, data = 3, numerical = 4;

class PredictRefusal : public RunFixture {
 protected:
  PredictRefusal() : run_(make_run("run", make_trained({}))), good_(write_text("good.csv", header_ + row_)) {}

  /// predict with a table of this text.
  void expect_bad_table(const std::vector<std::string>& mentioned, const std::string& text) const {
    std::vector<std::string> all = mentioned;
    all.push_back("bad.csv");
    expect_refusal(data, all, {"predict", run_, write_text("bad.csv", text)});
  }

  const std::string header_ = "width,colour,height\n", row_ = "30,red,1000\n";
  std::string run_, good_;
};

TEST_F(PredictRefusal, WrongUsage) {
  expect_refusal(usage, {"RUN", "missing"}, {"predict"});
  expect_refusal(usage, {"DATA", "missing"}, {"predict", run_});
  expect_refusal(usage, {"--metod", "did you mean --method"}, {"predict", run_, good_, "--metod", "map"});
  expect_refusal(usage, {"--method", "linearized", "did you mean 'linearised'"},
                 {"predict", run_, good_, "--method", "linearized"});
  expect_refusal(usage, {"--method probit", "regression", "linearised"},
                 {"predict", run_, good_, "--method", "probit"});
  expect_refusal(usage, {"--method sampled", "regression"}, {"predict", run_, good_, "--method", "sampled"});
  expect_refusal(usage, {"--samples", "'0'"}, {"predict", run_, good_, "--samples", "0"});
  expect_refusal(usage, {"--targets", "--inputs"}, {"predict", run_, good_, "--targets", "y.npy"});
  expect_refusal(usage, {"--inputs", "not both"}, {"predict", run_, good_, "--inputs", "x.npy"});
  expect_refusal(usage, {"argument 'third'"}, {"predict", run_, good_, "third"});
  expect_refusal(usage, {"--out", "is read"}, {"predict", run_, good_, "--out", good_});
  expect_refusal(usage, {"--out", "directory"}, {"predict", run_, good_, "--out", run_});
  EXPECT_EQ(read_bytes(good_), header_ + row_);
}

TEST_F(PredictRefusal, RunsThatAreNone) {
  expect_refusal(data, {"nowhere", "does not exist", "ockham fit"}, {"predict", path("nowhere"), good_});
  expect_refusal(data, {"good.csv", "not a directory"}, {"predict", good_, good_});
  std::filesystem::create_directory(path("plain"));
  expect_refusal(data, {"plain", "no run directory"}, {"predict", path("plain"), good_});
  RunDirectory::create(path("begun"), {});
  expect_refusal(data, {"begun", "not finished", "--resume"}, {"predict", path("begun"), good_});
  expect_refusal(data, {"begun", "not finished", "--resume"}, {"export", path("begun"), "--to", path("m.pt")});
  const std::string model = run_ + "/model.safetensors";
  const std::string bytes = read_bytes(model);
  write_bytes(model, bytes.substr(0, bytes.size() / 2));
  expect_refusal(data, {"model.safetensors"}, {"predict", run_, good_});
  write_bytes(model, "nothing");
  expect_refusal(data, {"model.safetensors"}, {"export", run_, "--to", path("m.pt")});
}

TEST_F(PredictRefusal, TablesThatDoNotFit) {
  expect_bad_table({"'height'", "missing"}, "width,colour\n30,red\n");
  expect_bad_table({"'height'", "missing", "'heigth'"}, "width,colour,heigth\n30,red,1000\n");
  expect_bad_table({"line 2", "'colour'", "'purple'", "'blue'"}, header_ + "30,purple,1000\n");
  expect_bad_table({"line 3", "'width'", "'wide'", "number"}, header_ + row_ + "wide,red,1000\n");
  expect_bad_table({"line 3", "'width'", "missing"}, header_ + row_ + ",red,1000\n");
  expect_bad_table({"line 3", "'colour'", "missing"}, header_ + row_ + "30,,1000\n");
  expect_bad_table({"line 2", "'height'", "1e151"}, header_ + "30,red,1e151\n");
  expect_bad_table({"line 3"}, header_ + row_ + "30,red\n");
  expect_bad_table({"empty"}, "");
  expect_bad_table({"row"}, header_);
  expect_bad_table({"NUL"}, header_ + std::string("30,re\0d,1000\n", 13));
  expect_bad_table({"line 2", "'price'", "'dear'"}, "width,colour,height,price\n30,red,1000,dear\n");
  expect_refusal(data, {"none.csv"}, {"predict", run_, path("none.csv")});
  expect_refusal(data, {"header"}, {"predict", run_, write_text("bare.csv", row_ + row_), "--header", "no"});
}

TEST_F(PredictRefusal, ArraysThatDoNotFit) {
  const auto array = [&](const std::string& name, const at::Tensor& values) {
    write_npy(path(name), values);
    return path(name);
  };
  expect_refusal(data, {"x.npy", "2 columns", "3"},
                 {"predict", run_, "--inputs", array("x.npy", at::zeros({4, 2}, at::kDouble))});
  expect_refusal(data, {"x0.npy", "empty"},
                 {"predict", run_, "--inputs", array("x0.npy", at::zeros({0, 3}, at::kDouble))});
  const std::string good = array("g.npy", at::zeros({4, 3}, at::kDouble));
  expect_refusal(data, {"g.npy", "'0'", "'colour'"}, {"predict", run_, "--inputs", good});
  expect_refusal(data, {"4 examples", "3"},
                 {"predict", run_, "--inputs", good, "--targets", array("y.npy", at::zeros({3}, at::kDouble))});
  expect_refusal(data, {"y2.npy", "2 columns"},
                 {"predict", run_, "--inputs", good, "--targets", array("y2.npy", at::zeros({4, 2}, at::kDouble))});
  expect_refusal(data, {"none.npy"}, {"predict", run_, "--inputs", path("none.npy")});
}

TEST_F(PredictRefusal, NumbersThatBreakDownAndPlacesThatCannotBeWritten) {
  TrainedCase counts;
  counts.likelihood = Poisson{};
  counts.spec = "linear";
  const std::string run = make_run("counts", make_trained(counts));
  const ToolRun result =
      run_tool({"predict", run, write_text("far.csv", header_ + "1e30,red,-1e30\n-1e30,red,1e30\n")});
  EXPECT_EQ(result.exit_code, numerical) << result.err;
  EXPECT_NE(result.err.find("example"), std::string::npos) << result.err;
  expect_refusal(failure, {"nowhere"}, {"predict", run_, good_, "--out", path("nowhere/p.csv")});
}

TEST_F(PredictRefusal, Exports) {
  expect_refusal(usage, {"RUN", "missing"}, {"export"});
  expect_refusal(usage, {"--to", "missing"}, {"export", run_});
  expect_refusal(usage, {"--too", "did you mean --to"}, {"export", run_, "--too", "m.pt"});
  expect_refusal(data, {"nowhere", "does not exist"}, {"export", path("nowhere"), "--to", path("m.pt")});
  expect_refusal(usage, {"--to", "directory"}, {"export", run_, "--to", run_});
  expect_refusal(usage, {"--to", "is read"}, {"export", run_, "--to", run_ + "/model.safetensors"});
  expect_refusal(failure, {"nowhere"}, {"export", run_, "--to", path("nowhere/m.pt")});
  EXPECT_FALSE(std::filesystem::exists(path("m.pt")));
}

}  // namespace
}  // namespace ockham::testing
