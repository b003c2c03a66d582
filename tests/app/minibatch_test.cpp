// --evidence minibatch of `ockham evidence` and `ockham fit`: a lower bound that says so.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tool_fixture.h"

namespace ockham::testing {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

class MinibatchEvidence : public ToolFixture {};

TEST_F(MinibatchEvidence, IsBelowTheEvidenceAndSaysWhatItIs) {
  const Strings prior = {"--prior", "layerwise", "--prior-precision", "2"};
  const auto with = [&](Strings more) {
    more.insert(more.end(), prior.begin(), prior.end());
    return run_json(more);
  };
  const json whole = with({"--structure", "full"});
  const json one = with({"--evidence", "minibatch"});
  const json halves = with({"--evidence", "minibatch", "--evidence-batch", "6", "--evidence-shared", "0"});
  const json shared = with({"--evidence", "minibatch", "--evidence-batch", "6"});
  EXPECT_NEAR(one.at("log_marginal_likelihood").get<double>(), whole.at("log_marginal_likelihood").get<double>(), 1e-8);
  EXPECT_EQ(one.at("lower_bound"), false);
  EXPECT_EQ(one.at("batches"), 1);
  EXPECT_NE(run({"--evidence", "minibatch"}).out.find("the evidence itself"), std::string::npos);
  EXPECT_LT(halves.at("log_marginal_likelihood"), whole.at("log_marginal_likelihood"));
  EXPECT_GT(halves.at("log_det"), whole.at("log_det"));
  EXPECT_NEAR(halves.at("log_likelihood").get<double>(), whole.at("log_likelihood").get<double>(), 1e-9);
  EXPECT_EQ(halves.at("structure"), "full");
  EXPECT_EQ(halves.at("evidence"), "minibatch");
  EXPECT_EQ(halves.at("lower_bound"), true);
  EXPECT_EQ(halves.at("batches"), 2);
  EXPECT_EQ(halves.at("largest_batch"), 6);
  EXPECT_EQ(halves.at("shared_examples"), 0);
  EXPECT_EQ(shared.at("shared_examples"), 3);
  EXPECT_EQ(shared.at("batches"), 3);
  EXPECT_LT(shared.at("log_marginal_likelihood"), whole.at("log_marginal_likelihood"));
  EXPECT_EQ(halves.at("gradient").at("log_prior_precision").size(), 4u);
  EXPECT_TRUE(halves.at("gradient").at("log_temperature").is_number());
  EXPECT_FALSE(whole.contains("lower_bound"));
  const ToolRun table = run({"--evidence", "minibatch", "--evidence-batch", "5", "--evidence-shared", "1"});
  EXPECT_NE(table.out.find("a lower bound, from 3 batches of at most 5 examples, 1 of them shared"), std::string::npos)
      << table.out;
}

TEST_F(MinibatchEvidence, Refusals) {
  constexpr int usage = 2;
  const auto refuse = [&](const Strings& mentioned, Strings flags) {
    flags.insert(flags.begin(), {"--evidence", "minibatch"});
    expect_refusal(usage, mentioned, flags);
  };
  refuse({"--structure kron", "full"}, {"--structure", "kron"});
  refuse({"--curvature mc", "ggn"}, {"--curvature", "mc"});
  refuse({"--correction", "posterior"}, {"--correction"});
  refuse({"--test-inputs"}, {"--test-inputs", path("x.npy")});
  refuse({"'0'", "--evidence-batch"}, {"--evidence-batch", "0"});
  refuse({"12 examples", "--evidence-batch"}, {"--memory", "4000"});
  refuse({"--evidence-shared", "own"}, {"--evidence-batch", "4", "--evidence-shared", "4"});
  expect_refusal(usage, {"--evidence-batch", "--evidence minibatch"}, {"--evidence-batch", "6"});
}

class MinibatchFit : public RunFixture {
 protected:
  Strings arguments(const std::string& run, Strings more) const {
    Strings all = {"fit", path("curve.csv"), "--out", path(run),    "--network", "mlp:8,act=tanh", "--epochs",
                   "60",  "--frequency",     "10",    "--evidence", "minibatch"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(MinibatchFit, RanksByALowerBoundAndSaysSo) {
  write_table("curve.csv", make_toy_curve(1));
  const json summary =
      run_json(arguments("run", {"--evidence-batch", "40", "--evidence-shared", "10", "--structure", "kron"}));
  const json& best = summary["candidates"][0];
  EXPECT_EQ(best["lower_bound"], true);
  EXPECT_EQ(best["structure"], "kron");
  EXPECT_EQ(summary["settings"]["evidence"], "minibatch");
  EXPECT_EQ(summary["settings"]["evidence-batch"], "40");
  const double sum = best["log_likelihood"].get<double>() + best["log_prior"].get<double>() +
                     0.5 * 25 * std::log(2 * M_PI) - 0.5 * best["log_det"].get<double>();
  EXPECT_NEAR(sum, best["log_marginal_likelihood"].get<double>(), 1e-6);
  bool said = false;
  for (const json& message : summary["messages"])
    said = said || message.get<std::string>().find("lower bounds, from 5 batches of at most 40") != std::string::npos;
  EXPECT_TRUE(said) << summary["messages"];
  EXPECT_NE(read_bytes(path("run") + "/report.html")
                .find("a lower bound from batches of at most 40 examples, 10 of them shared"),
            std::string::npos);
  // The evidence of all data at the same state is above it, and a run's bound is computed again from the run.
  const json whole = run_json({"evidence", "--from-run", path("run"), "--structure", "full"});
  const json again = run_json({"evidence", "--from-run", path("run"), "--evidence", "minibatch"});
  EXPECT_GT(whole["log_marginal_likelihood"], best["log_marginal_likelihood"]);
  EXPECT_EQ(again["batches"], 5);
  EXPECT_LT(again["log_marginal_likelihood"], whole["log_marginal_likelihood"]);
  EXPECT_NEAR(again["log_marginal_likelihood"].get<double>(), best["log_marginal_likelihood"].get<double>(), 20);
}

TEST_F(MinibatchFit, OneBatchOfAllDataIsNoBound) {
  write_table("curve.csv", make_toy_curve(1));
  const json summary = run_json(arguments("run", {}));
  EXPECT_EQ(summary["candidates"][0]["lower_bound"], false);
  EXPECT_EQ(summary["settings"]["evidence-batch"], "150");  // all examples
  EXPECT_EQ(summary["settings"]["evidence-shared"], "0");
  const std::string said = summary["messages"].dump();
  EXPECT_NE(said.find("--evidence-batch 150 --evidence-shared 0"), std::string::npos) << said;
  EXPECT_NE(said.find("one batch (--evidence-batch) has all examples"), std::string::npos) << said;
  EXPECT_EQ(said.find("lower bound"), std::string::npos) << said;
  EXPECT_EQ(read_bytes(path("run") + "/report.html").find("a lower bound"), std::string::npos);
}

TEST_F(MinibatchFit, Refusals) {
  constexpr int usage = 2;
  write_table("curve.csv", make_toy_curve(1));
  expect_refusal(usage, {"--curvature mc", "ggn"}, arguments("a", {"--curvature", "mc"}));
  expect_refusal(usage, {"mlp:8", "150 examples", "--evidence-batch"}, arguments("b", {"--memory", "20000"}));
}

}  // namespace
}  // namespace ockham::testing
