// `ockham paper`: the list, a tiny run on a table that the test writes, what it keeps, and how it refuses.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class PaperTool : public ::testing::Test {
 protected:
  PaperTool() {
    std::string table = "a,b,y\n";
    for (int i = 0; i < 60; ++i) {
      const double a = std::sin(1.7 * i), b = std::cos(2.3 * i);
      table += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(20 + 3 * a - b * b) + "\n";
    }
    write_bytes(directory_.path("energy.csv"), table);
  }
  std::string path(const std::string& name) const { return directory_.path(name); }
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"paper", "uci-regression", "--data", path(""), "--out", path("out")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                      const std::vector<std::string>& arguments) const {
    const ToolRun outcome = run_tool(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const auto& part : mentioned)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    EXPECT_FALSE(fs::exists(path("out"))) << "nothing is written";
  }
  TemporaryDirectory directory_;
};

TEST_F(PaperTool, ListsTheExperiments) {
  const ToolRun text = run_tool({"paper"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const json list = json::parse(run_tool({"paper", "--json"}).out);
  EXPECT_EQ(list.at("schema"), 1);
  EXPECT_GE(list.at("experiments").size(), 2u);
  for (const json& one : list.at("experiments"))
    for (const std::string key : {"name", "title", "place", "needs", "takes"}) {
      EXPECT_NE(one.at(key), "") << one;
      EXPECT_NE(text.out.find(one.at(key).get<std::string>()), std::string::npos) << one;
    }
}

TEST_F(PaperTool, RunsKeepsAndShows) {
  const std::vector<std::string> tiny = {"--quick", "--splits", "1", "--epochs", "20"};
  std::vector<std::string> some = tiny;
  some.insert(some.end(), {"--only", "diag", "--only", "ggn", "--json"});
  const ToolRun first = run_tool(arguments(some));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json part = json::parse(first.out);
  EXPECT_EQ(part.at("schema"), 1);
  EXPECT_EQ(part.at("experiment"), "uci-regression");
  EXPECT_EQ(part.at("settings").at("epochs"), 20);
  EXPECT_EQ(part.at("cells").size(), 1u);
  EXPECT_TRUE(part.at("cells").at("energy/diag-ggn/split-0").at("nll").is_number());
  EXPECT_EQ(part.at("missing").size(), 5u);
  EXPECT_TRUE(part.at("seconds").is_number());
  EXPECT_FALSE(part.at("claims").empty());
  EXPECT_EQ(part.at("tables").at(0).at("columns").at(0), "set");

  const std::string kept = path("out/cells/energy__diag-ggn__split-0.json");
  const std::string before = read_bytes(kept);
  const ToolRun second = run_tool(arguments(tiny));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(second.out.find("Table 1"), std::string::npos) << second.out;
  EXPECT_NE(second.out.find("0.53 ± 0.02"), std::string::npos) << "the paper's number";
  EXPECT_NE(second.out.find(path("out/uci-regression.html")), std::string::npos);
  EXPECT_EQ(read_bytes(kept), before) << "not computed again";
  EXPECT_EQ(json::parse(read_bytes(path("out/uci-regression.json"))).at("cells").size(), 6u);
  EXPECT_NE(read_bytes(path("out/uci-regression.html")).find("<svg"), std::string::npos);
  EXPECT_NE(read_bytes(path("out/uci-regression.md")).find("| energy |"), std::string::npos);

  std::vector<std::string> longer = {"--quick", "--splits", "1", "--epochs", "21", "--only", "diag-ggn"};
  const ToolRun third = run_tool(arguments(longer));
  EXPECT_NE(third.err.find("energy/diag-ggn/split-0: kept with other settings"), std::string::npos) << third.err;
}

TEST_F(PaperTool, AnInterruptEndsItSoonAndTheNextStartGoesOn) {
  const std::vector<std::string> one = {"--splits", "1", "--epochs", "100000", "--only", "full-ggn"};
  RunningTool running(arguments(one));
  while (running.running() && !fs::exists(path("out/working/energy__full-ggn__split-0/settings.json")))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto start = std::chrono::steady_clock::now();
  running.send(SIGINT);
  const ToolRun ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10) << "on a busy machine";
  EXPECT_NE(ended.err.find("goes on"), std::string::npos) << ended.err;
  EXPECT_TRUE(fs::exists(path("out/working/energy__full-ggn__split-0/training.checkpoint")));
  EXPECT_TRUE(fs::exists(path("out/uci-regression.html")));

  std::vector<std::string> limited = one;
  limited.insert(limited.end(), {"--time-limit", "1"});
  const ToolRun again = run_tool(arguments(limited));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("the time limit is over"), std::string::npos) << again.err;
}

TEST_F(PaperTool, Refuses) {
  expect_refusal(2, {"uci-regresion", "did you mean 'uci-regression'?"},
                 {"paper", "uci-regresion", "--out", path("out")});
  expect_refusal(2, {"nonsense", "toy-regression"}, {"paper", "nonsense", "--out", path("out")});
  expect_refusal(3, {"boston.csv", path("nowhere")},
                 {"paper", "uci-regression", "--data", path("nowhere"), "--out", path("out")});
  expect_refusal(2, {"--epochs"}, arguments({"--epochs", "0"}));
  expect_refusal(2, {"--out", "a directory is expected"}, {"paper", "uci-regression", "--data", path(""), "--out", ""});
  expect_refusal(2, {"--split", "--splits"}, arguments({"--split", "3"}));
}

}  // namespace
}  // namespace ockham::testing
