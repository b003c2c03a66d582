// --log-det slq of `ockham evidence` and `ockham fit`: fields, refusals, repeatability.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tool_fixture.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

class LogDetTool : public ToolFixture {};

TEST_F(LogDetTool, EstimateIsBesideTheExactValue) {
  const json exact = run_json({"--structure", "full"});
  EXPECT_FALSE(exact.contains("log_det_error"));
  const std::vector<std::string> estimated = {"--structure", "full", "--log-det", "slq", "--slq-probes", "200"};
  const json found = run_json(estimated);
  EXPECT_EQ(found.at("structure"), "full");
  const json& error = found.at("log_det_error");
  EXPECT_EQ(error.at("probes"), 200);
  EXPECT_EQ(error.at("steps"), 30);
  EXPECT_EQ(error.at("preconditioner"), "kron");
  EXPECT_GT(error.at("standard_error").get<double>(), 0);
  EXPECT_NEAR(error.at("lanczos_bias").get<double>(), 0, 0.1);
  const double half_width = error.at("half_width_95").get<double>();
  EXPECT_LT(std::abs(found.at("log_det").get<double>() - exact.at("log_det").get<double>()), 2 * half_width);
  EXPECT_EQ(found.at("log_likelihood"), exact.at("log_likelihood"));
  // Without --structure it is full; the same seed gives the same bits.
  const json again = run_json({"--log-det", "slq", "--slq-probes", "200"});
  EXPECT_EQ(again.at("log_det"), found.at("log_det"));
  EXPECT_NE(run_json({"--log-det", "slq", "--seed", "1"}).at("log_det"), found.at("log_det"));
}

TEST_F(LogDetTool, TableHasTheErrorInOneLine) {
  const ToolRun table = run({"--log-det", "slq", "--slq-preconditioner", "diag", "--slq-steps", "8"});
  EXPECT_NE(table.out.find("± "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("95 %, 10 probes; 8 Lanczos steps"), std::string::npos) << table.out;
}

TEST_F(LogDetTool, RefusesWhatDoesNotGoTogether) {
  expect_refusal(2, {"--structure full"}, {"--structure", "diag", "--log-det", "slq"});
  expect_refusal(2, {"use ggn or ef"}, {"--curvature", "mc", "--log-det", "slq"});
  expect_refusal(2, {"--log-det slq"}, {"--slq-probes", "20"});
  expect_refusal(2, {"at least 2"}, {"--log-det", "slq", "--slq-probes", "1"});
  expect_refusal(2, {"--correction"}, {"--log-det", "slq", "--correction"});
  expect_refusal(2, {"--prior diagonal", "layerwise", "--log-det exact"}, {"--log-det", "slq", "--prior", "diagonal"});
  expect_refusal(2, {"--log-det slq"}, {"--structure", "full", "--memory", "20000"});
}

class LogDetFit : public RunFixture {};

TEST_F(LogDetFit, RefusesOnePrecisionPerWeightBeforeAnythingIsRead) {
  expect_refusal(2, {"--prior diagonal", "layerwise", "--log-det exact"},
                 {"fit", path("nowhere.csv"), "--log-det", "slq", "--prior", "diagonal"});
}

TEST_F(LogDetFit, TrainsRecordsAndIsTakenUpFromTheRun) {
  const std::string data = write_table("curve.csv", make_toy_curve(1)), run = path("run");
  const json summary =
      run_json({"fit", data, "--target", "y", "--network", "mlp:8,act=tanh", "--epochs", "40", "--frequency", "20",
                "--log-det", "slq", "--slq-probes", "4", "--slq-steps", "12", "--out", run});
  const json& best = summary.at("candidates").at(0);
  EXPECT_EQ(best.at("structure"), "full");
  EXPECT_EQ(best.at("log_det_error").at("probes"), 4);
  // The training's evidence and the terms of the last estimate are of the same probes, the terms at the final
  // hyperparameters: they agree up to what the steps on the hyperparameters moved the estimate.
  const double sum = best.at("log_likelihood").get<double>() + best.at("log_prior").get<double>() +
                     0.5 * 25 * std::log(2 * M_PI) - 0.5 * best.at("log_det").get<double>();
  EXPECT_NEAR(sum, best.at("log_marginal_likelihood").get<double>(), 0.5);
  const json again = run_json({"evidence", "--from-run", run});
  EXPECT_NEAR(again.at("log_det").get<double>(), best.at("log_det").get<double>(), 0.01);
  EXPECT_EQ(again.at("log_det_error").at("steps"), 12);
  EXPECT_FALSE(run_json({"evidence", "--from-run", run, "--log-det", "exact"}).contains("log_det_error"));
}

TEST_F(LogDetFit, RanksWithErrorBarsAndSaysWhatPredicts) {
  const std::string data = write_table("curve.csv", make_toy_curve(1)), run = path("run");
  const ToolRun table =
      run_tool({"fit", data, "--network", "mlp:8,act=tanh", "--network", "mlp:9,act=tanh", "--epochs", "40",
                "--frequency", "20", "--log-det", "slq", "--slq-probes", "2", "--slq-steps", "4", "--out", run});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("± 95 %"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("within the error bars of their estimates"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("predictions are those of the kron structure"), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("predictions are those of the kron structure"), std::string::npos) << table.err;
  EXPECT_NE(read_bytes(run + "/report.html").find("± 95 %, estimate"), std::string::npos);
}

TEST_F(LogDetFit, DearPassesAreMadeLessOften) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 3000; ++i) rows += fmt::format("{},{}\n", std::sin(i), std::cos(3 * i));
  const std::string data = write_text("long.csv", rows);
  // What was chosen is said before the trainings, which need not come far.
  const auto chosen = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"fit",       data, "--network",    "mlp:200-200", "--epochs", "4000",
                                          "--threads", "2",  "--time-limit", "0.2",         "--out",    path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments).err;
  };
  const auto number_after = [](const std::string& flag, const std::string& text) {
    const size_t found = text.find(flag + " ");
    return found == std::string::npos ? 0 : std::atoi(text.c_str() + found + flag.size());
  };
  const std::string usual = chosen("kron", {"--structure", "kron"});
  EXPECT_EQ(number_after("--frequency", usual), 20) << usual;
  EXPECT_EQ(number_after("--hyper-steps", usual), 1) << usual;
  const std::string dear = chosen("slq", {"--log-det", "slq", "--slq-probes", "4", "--slq-steps", "20"});
  EXPECT_GT(number_after("--frequency", dear), 50) << dear;
  EXPECT_GT(number_after("--hyper-steps", dear), 2) << dear;
}

}  // namespace
}  // namespace ockham::testing
