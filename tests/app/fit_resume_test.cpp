// ockham fit --resume: everything comes from the run, and what contradicts it is refused with both values.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

constexpr int usage = 2, data = 3;
using nlohmann::json;
using Strings = std::vector<std::string>;

class FitResume : public RunFixture {
 protected:
  std::string curve() const { return write_table("curve.csv", make_toy_curve(1)); }
  Strings resume(const std::string& run, const Strings& more = {}) const {
    Strings arguments = {"fit", "--resume", "--out", path(run)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(FitResume, AnInterruptedRunNeedsNoFlagsAgain) {
  const Strings flags = {"--target",        "y",   "--network", "mlp:20,act=tanh", "--network",   "linear",
                         "--seed",          "4",   "--epochs",  "10000",           "--frequency", "10",
                         "--test-fraction", "0.2", "--prior",   "scalar",          "--threads",   "1"};
  Strings undisturbed = {"fit", curve(), "--out", path("whole")},
          disturbed = {"fit", curve(), "--out", path("parts"), "--checkpoint-interval", "0.1"};
  undisturbed.insert(undisturbed.end(), flags.begin(), flags.end());
  disturbed.insert(disturbed.end(), flags.begin(), flags.end());
  const json whole = run_json(undisturbed);

  RunningTool tool(disturbed);
  const std::string checkpoints = path("parts") + "/checkpoint";
  for (int i = 0; i < 600 && tool.running(); ++i) {
    if (std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  tool.send(SIGINT);
  const ToolRun interrupted = tool.wait();
  ASSERT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find("'ockham fit --resume --out " + path("parts") + "'"), std::string::npos)
      << interrupted.err;
  EXPECT_EQ(without_times(run_json(resume("parts"))), without_times(whole));
  // Complete: with the data, with all flags, and with those of another spelling it says the same again.
  EXPECT_EQ(without_times(run_json(resume("parts", {path("curve.csv")}))), without_times(whole));
  disturbed.push_back("--resume");
  EXPECT_EQ(without_times(run_json(disturbed)), without_times(whole));
  EXPECT_EQ(without_times(run_json(resume("parts", {"--epochs", "10000", "--test-fraction", "2e-1", "--lr", "auto"}))),
            without_times(whole));
}

TEST_F(FitResume, WhatContradictsTheRunIsNamedWithBothValues) {
  run_json({"fit", curve(), "--network", "linear", "--network", "mlp:4", "--epochs", "5", "--out", path("run")});
  const std::string run = path("run");
  const auto expect_contradiction = [&](const Strings& mentioned, const Strings& flags) {
    expect_refusal(usage, mentioned, resume("run", flags));
  };
  expect_contradiction({"--epochs 6", "--epochs 5", run}, {"--epochs", "6"});
  expect_contradiction({"--network mlp:4:", "--network linear --network mlp:4"}, {"--network", "mlp:4"});
  expect_contradiction({"--seed 1", "--seed 0"}, {"--seed", "1"});
  expect_contradiction({"--test-fraction 0.5", "without it"}, {"--test-fraction", "0.5"});
  expect_contradiction({"--impute", "without it"}, {"--impute"});
  expect_contradiction({"--evidence-batch 64", "without it"}, {"--evidence-batch", "64"});
  expect_contradiction({"--slq-probes 20", "without it"}, {"--slq-probes", "20"});
  expect_contradiction({"--preset paper-images", "--preset none"}, {"--preset", "paper-images"});
  expect_contradiction({"--inputs", "without it"}, {"--inputs", path("x.npy"), "--targets", path("y.npy")});
  const std::string other = write_table("other.csv", make_toy_curve(2));
  expect_contradiction({"other.csv", "curve.csv"}, {other});
  write_table("curve.csv", make_toy_curve(2));
  expect_contradiction({run, "training data"}, {});
}

TEST_F(FitResume, FlagsThatBelongToOneOfTheRunNeedNotRepeatIt) {
  run_json({"fit", curve(), "--network", "linear", "--epochs", "5", "--evidence", "minibatch", "--evidence-batch", "40",
            "--out", path("run")});
  expect_refusal(usage, {"--evidence-batch 64", "made with --evidence-batch 40"},
                 resume("run", {"--evidence-batch", "64"}));
  EXPECT_EQ(run_json(resume("run", {"--evidence-batch", "40"}))["settings"]["evidence-batch"], "40");
}

TEST_F(FitResume, DirectoriesWithoutAConfiguration) {
  std::filesystem::create_directory(path("empty"));
  expect_refusal(data, {"nowhere/config.toml", "--out"}, resume("nowhere"));
  expect_refusal(data, {"empty/config.toml", "--out"}, resume("empty"));
  expect_refusal(data, {"empty"}, resume("empty", {curve()}));
  run_json({"fit", curve(), "--network", "linear", "--epochs", "5", "--out", path("run")});
  const std::string configuration = path("run") + "/config.toml", good = read_bytes(configuration);
  write_bytes(configuration, good + "wings = \"2\"\n");
  expect_refusal(data, {"config.toml", "'wings'", "version"}, resume("run"));
  write_bytes(configuration, good + "patience = \"long\"\n");
  expect_refusal(data, {"config.toml"}, resume("run"));
}

TEST_F(FitResume, DamagedMessagesAreRefusedAndMayBeRemoved) {
  const json whole = run_json({"fit", curve(), "--network", "linear", "--epochs", "5", "--out", path("run")});
  const std::string messages = path("run") + "/messages.json", good = read_bytes(messages);
  ASSERT_TRUE(json::parse(good).is_array());
  for (const std::string no_json : {"", "[\"a\"", "[\"\xff\"]"}) {
    write_bytes(messages, no_json);
    expect_refusal(data, {messages, "damaged"}, resume("run"));
  }
  for (const std::string no_list : {"null", "{\"a\": \"b\"}", "[\"a\", 1]"}) {
    write_bytes(messages, no_list);
    expect_refusal(data, {messages, "no list of messages", "remove it"}, resume("run"));
  }
  const size_t deep = 1000000;
  write_bytes(messages, std::string(deep, '[') + std::string(deep, ']'));
  expect_refusal(data, {messages, "no list of messages"}, resume("run"));
  // Long ones are only text, and text cannot steer the terminal.
  write_bytes(messages, json({"\x1b[2J" + std::string(2000000, 'x')}).dump());
  const ToolRun spoken = run_tool(resume("run"));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err.substr(0, 1000);
  EXPECT_GT(spoken.err.size(), 2000000u);
  EXPECT_EQ(spoken.err.find('\x1b'), std::string::npos);
  std::filesystem::remove(messages);
  EXPECT_EQ(without_times(run_json(resume("run"))), without_times(whole));
}

}  // namespace
}  // namespace ockham::testing
