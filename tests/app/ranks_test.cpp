// --ranks: several processes find what one finds, and a lost one is noticed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tool_fixture.h"
#include "tests/support/variable_guard.h"

namespace ockham::testing {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

Strings joined(Strings one, const Strings& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

class EvidenceRanks : public ToolFixture {};

TEST_F(EvidenceRanks, GiveTheEvidenceOfOneProcess) {
  for (const char* structure : {"full", "kron"}) {
    const json alone = run_json({"--structure", structure, "--correction"});
    const json shared = run_json({"--structure", structure, "--correction", "--ranks", "2"});
    const auto value = [](const json& result) { return result["log_marginal_likelihood"].get<double>(); };
    EXPECT_NEAR(value(shared), value(alone), 1e-10 * std::abs(value(alone)));
    EXPECT_NEAR(shared["gradient"]["log_temperature"].get<double>(), alone["gradient"]["log_temperature"].get<double>(),
                1e-10 * std::abs(value(alone)));
  }
}

TEST_F(EvidenceRanks, RefuseInOneLine) {
  expect_refusal(3, {"nowhere.npy"}, {"--inputs", path("nowhere.npy"), "--ranks", "2"});
  expect_refusal(2, {"--ranks", "100000 processes", "at most"}, {"--ranks", "100000"});
  expect_refusal(2, {"--rank-timeout", "--ranks N"}, {"--rank-timeout", "10"});
}

TEST_F(EvidenceRanks, SayInOneLineThatNobodyIsThere) {
  const VariableGuard rank("RANK"), size("WORLD_SIZE"), address("MASTER_ADDR"), port("MASTER_PORT");
  rank.set("1"), size.set("2"), address.set("127.0.0.1"), port.set("1");
  expect_refusal(5, {"rank 1 of 2", "127.0.0.1:1", "start all of them"}, {"--rank-timeout", "2"});
}

class FitRanks : public RunFixture {
 protected:
  Strings fit(const std::string& run, const Strings& more) const {
    return joined({"fit", write_table("curve.csv", make_toy_curve(1)), "--target", "y", "--threads", "1", "--out",
                   path(run), "--dtype", "float64", "--frequency", "10"},
                  more);
  }
  static pid_t child_of(int process, int number) {
    std::ifstream list("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
    pid_t child = 0;
    for (int i = 0; i <= number; ++i) list >> child;
    return child;
  }
  /// Kills or stops a rank when the first checkpoint is there.
  ToolRun disturb(const Strings& arguments, const std::string& run, int rank, int signal) const {
    RunningTool tool(arguments);
    const std::string checkpoints = path(run) + "/checkpoint";
    for (int i = 0; i < 1500 && tool.running(); ++i) {
      if (std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ::kill(child_of(tool.process(), rank), signal);
    return tool.wait();
  }
};

TEST_F(FitRanks, ShareTheDataOfATrainingOrTheTrainings) {
  const Strings flags = {"--network", "mlp:10,act=tanh", "--network", "linear", "--epochs", "50"};
  const json alone = run_json(fit("alone", flags));
  const json data = run_json(fit("data", joined(flags, {"--ranks", "2", "--parallel", "data"})));
  EXPECT_EQ(data["selected"], alone["selected"]);
  for (size_t i = 0; i < 2; ++i) {
    const double expected = alone["candidates"][i]["log_marginal_likelihood"];
    EXPECT_NEAR(data["candidates"][i]["log_marginal_likelihood"].get<double>(), expected, 1e-6 * std::abs(expected));
  }
  const json candidates = run_json(fit("candidates", joined(flags, {"--ranks", "2"})));
  EXPECT_EQ(without_times(candidates)["candidates"], without_times(alone)["candidates"]);
}

TEST_F(FitRanks, FlagsOfSeveralProcessesAreRefusedForOne) {
  expect_refusal(2, {"--parallel", "several processes", "--ranks N"}, fit("run", {"--parallel", "data"}));
}

TEST_F(FitRanks, SayThatATrainingWasInterrupted) {
  RunningTool tool(fit(
      "run", {"--network", "mlp:10,act=tanh", "--epochs", "100000", "--checkpoint-interval", "0.05", "--ranks", "2"}));
  const std::string checkpoints = path("run") + "/checkpoint";
  for (int i = 0; i < 1500 && tool.running(); ++i) {
    if (std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::kill(child_of(tool.process(), 1), SIGINT);  // rank 0 hears of it from rank 1
  const ToolRun interrupted = tool.wait();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find(" of 100000 epochs"), std::string::npos) << interrupted.err;
}

TEST_F(FitRanks, OneThatIsStoppedWhenNobodyElseIsLeftIsEnded) {
  RunningTool tool(fit("run", {"--network", "mlp:10,act=tanh", "--epochs", "100000", "--ranks", "2"}));
  for (int i = 0; i < 1500 && tool.running() && !std::filesystem::exists(path("run") + "/format.json"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const pid_t first = child_of(tool.process(), 0), second = child_of(tool.process(), 1);
  ::kill(first, SIGSTOP);
  ::kill(second, SIGKILL);
  const ToolRun ended = tool.wait();
  EXPECT_EQ(ended.exit_code, 5) << ended.err;
  EXPECT_NE(ended.err.find("rank 0 hung and was ended"), std::string::npos) << ended.err;
}

TEST_F(FitRanks, AreNoMoreThanRows) {
  const std::string data = write_text("few.csv", "x,y\n1,2\n2,3\n3,5\n");
  expect_refusal(2, {"4 ranks", "3 training rows", "at most 3"},
                 {"fit", data, "--network", "linear", "--ranks", "4", "--out", path("few")});
  EXPECT_FALSE(std::filesystem::exists(path("few")));
}

TEST_F(FitRanks, ALostRankEndsTheRunWhichGoesOn) {
  const Strings flags = {"--network", "mlp:10,act=tanh", "--epochs", "600", "--checkpoint-interval", "0.05", "--ranks",
                         "2",         "--rank-timeout",  "5"};
  const json whole = run_json(fit("whole", flags));
  for (const auto& [rank, signal] : {std::pair{1, SIGKILL}, std::pair{0, SIGKILL}}) {
    SCOPED_TRACE("rank " + std::to_string(rank) + ", signal " + std::to_string(signal));
    const std::string run = "run" + std::to_string(rank) + std::to_string(signal);
    const ToolRun lost = disturb(fit(run, flags), run, rank, signal);
    ASSERT_EQ(lost.exit_code, 5) << lost.err;
    EXPECT_NE(lost.err.find("--resume --out " + path(run)), std::string::npos) << lost.err;
    const json again = run_json({"fit", "--resume", "--out", path(run), "--ranks", "2"});
    EXPECT_EQ(without_times(again)["candidates"], without_times(whole)["candidates"]);
  }
}

}  // namespace
}  // namespace ockham::testing
