// ockham fit from a table to a run directory: what it says, what it leaves, and that an interruption changes nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "ockham/data/toy.h"
#include "ockham/predict/trained_model.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

class Fit : public RunFixture {
 protected:
  std::string curve() const { return write_table("curve.csv", make_toy_curve(1)); }
  std::string arcs() const { return write_table("arcs.csv", make_toy_arcs(1)); }

  /// A short fit of two small networks.
  Strings short_fit(const std::string& data, const std::string& run, Strings more = {}) const {
    Strings arguments = {"fit",       data,     "--out",       path(run),
                         "--network", "linear", "--network",   "mlp:8,act=tanh",
                         "--epochs",  "60",     "--frequency", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  json summary_of(const std::string& run) const { return json::parse(read_bytes(path(run) + "/run.json")); }
};

TEST_F(Fit, ARegressionLeavesEverythingThatTheContractNames) {
  const json summary = run_json(short_fit(curve(), "run", {"--target", "y", "--test-fraction", "0.2"}));
  EXPECT_EQ(summary["schema"], 1);
  EXPECT_EQ(summary["task"], "regression");
  EXPECT_EQ(summary["examples"].get<int>() + summary["test_examples"].get<int>(), 150);
  EXPECT_EQ(summary["features"], 1);
  EXPECT_EQ(summary["selected"], "mlp:8,act=tanh");
  ASSERT_EQ(summary["candidates"].size(), 2u);
  const json& best = summary["candidates"][0];
  EXPECT_EQ(best["network"], summary["selected"]);
  EXPECT_EQ(best["parameters"], 25);
  EXPECT_GT(best["log_marginal_likelihood"], summary["candidates"][1]["log_marginal_likelihood"]);
  EXPECT_NEAR(best["log_marginal_likelihood_per_example"].get<double>() * summary["examples"].get<double>(),
              best["log_marginal_likelihood"].get<double>(),
              1e-9 * std::abs(best["log_marginal_likelihood"].get<double>()));
  const double sum = best["log_likelihood"].get<double>() + best["log_prior"].get<double>() +
                     0.5 * 25 * std::log(2 * M_PI) - 0.5 * best["log_det"].get<double>();
  EXPECT_NEAR(sum, best["log_marginal_likelihood"].get<double>(), 1e-4);
  EXPECT_EQ(best["prior_precision"].size(), 4u);  // layerwise
  for (const char* name : {"noise", "epochs", "seconds", "seconds_training", "seconds_curvature", "gradient_norm"})
    EXPECT_TRUE(best[name].is_number()) << name;
  EXPECT_TRUE(best["temperature"].is_null());
  for (const char* name : {"log_likelihood", "nll", "nll_bayes", "rmse"})
    EXPECT_TRUE(best["test"][name].is_number() && best["train"][name].is_number()) << name;
  for (const char* file : {"run.json", "config.toml", "model.safetensors", "trace.csv", "metrics.jsonl", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(path("run") + "/" + file)) << file;
  EXPECT_EQ(without_times(summary_of("run")), without_times(summary));

  // Six passes of two candidates.
  EXPECT_EQ(split_csv(read_bytes(path("run") + "/trace.csv")).size(), 13u);
  const std::string metrics = read_bytes(path("run") + "/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 12);
}

TEST_F(Fit, EvidenceAndNoiseAreInTheTargetsOwnUnits) {
  const CsvTable table = make_toy_curve(1);
  std::string scaled = "x,y\n";
  for (int64_t row = 0; row < table.rows(); ++row)
    scaled += std::string(table.field(row, 0)) + "," +
              std::to_string(1000 * std::stod(std::string(table.field(row, 1)))) + "\n";
  const json one = run_json(short_fit(curve(), "one")),
             other = run_json(short_fit(write_text("s.csv", scaled), "other"));
  const json &a = one["candidates"][0], &b = other["candidates"][0];
  EXPECT_NEAR(b["noise"].get<double>() / a["noise"].get<double>(), 1000, 0.1);
  EXPECT_NEAR(b["log_marginal_likelihood"].get<double>(),
              a["log_marginal_likelihood"].get<double>() - 150 * std::log(1000.0), 0.02);
}

TEST_F(Fit, AClassificationOfNames) {
  CsvTable table = make_toy_arcs(2);
  std::string text = "x1,x2,species\n";
  for (int64_t row = 0; row < table.rows(); ++row)
    text += std::string(table.field(row, 0)) + "," + std::string(table.field(row, 1)) + "," +
            (table.field(row, 2) == "0" ? "lynx" : "\"wild, cat\"") + "\n";
  const json summary = run_json(short_fit(write_text("cats.csv", text), "run", {"--target", "species"}));
  EXPECT_EQ(summary["task"], "classification");
  EXPECT_EQ(summary["classes"], 2);
  EXPECT_EQ(summary["class_names"], (Strings{"lynx", "wild, cat"}));
  EXPECT_TRUE(summary["candidates"][0]["train"]["accuracy"].is_number());
  EXPECT_TRUE(summary["candidates"][0]["noise"].is_null());
  const ToolRun predictions = run_tool({"predict", path("run"), path("cats.csv")});
  EXPECT_EQ(predictions.exit_code, 0) << predictions.err;
}

TEST_F(Fit, TheRecordedConfigurationDoesTheSameAgain) {
  json first = run_json(short_fit(curve(), "first", {"--seed", "3", "--prior", "scalar"}));
  json again = run_json({"fit", "--config", path("first") + "/config.toml", "--out", path("again")});
  for (json* run : {&first, &again}) run->erase("messages");  // nothing is left to choose automatically
  EXPECT_EQ(without_times(first), without_times(again));
}

TEST_F(Fit, OneWorkerOrTwoGiveTheSameBits) {
  const auto fit = [&](const char* workers, const std::string& out) {
    json summary = run_json(
        short_fit(curve(), out, {"--network", "mlp:30-30", "--threads", "2", "--workers", workers, "--restarts", "2"}));
    summary.erase("settings");  // they name the workers
    return without_times(summary);
  };
  const json one = fit("1", "one");
  EXPECT_EQ(one, fit("1", "again"));
  EXPECT_EQ(one, fit("2", "two"));
  for (const char* file : {"/model.safetensors", "/trace.csv"}) {
    EXPECT_EQ(read_bytes(path("one") + file), read_bytes(path("again") + file)) << file;
    EXPECT_EQ(read_bytes(path("one") + file), read_bytes(path("two") + file)) << file;
  }
}

TEST_F(Fit, WorkersForOneTrainingChangeNothing) {
  const auto fit = [&](const char* workers) {
    run_json({"fit", curve(), "--out", path(workers), "--network", "mlp:8,act=tanh", "--epochs", "60", "--frequency",
              "10", "--threads", "2", "--workers", workers});
    return read_bytes(path(workers) + "/model.safetensors");
  };
  EXPECT_EQ(fit("1"), fit("2"));
}

TEST_F(Fit, ARunThatIsCompleteSaysItAgain) {
  const json first = run_json(short_fit(curve(), "run"));
  EXPECT_EQ(run_json(short_fit(path("curve.csv"), "run", {"--resume"})), first);
}

TEST_F(Fit, CtrlCWritesACheckpointAndResumeReachesTheSameNumbers) {
  const Strings long_fit = {"fit",    curve(),    "--network", "mlp:20,act=tanh", "--network",
                            "linear", "--epochs", "10000",     "--frequency",     "10"};
  Strings undisturbed = long_fit, disturbed = long_fit;
  undisturbed.insert(undisturbed.end(), {"--out", path("whole")});
  disturbed.insert(disturbed.end(), {"--out", path("parts"), "--checkpoint-interval", "0.2"});
  const json whole = run_json(undisturbed);

  RunningTool tool(disturbed);
  const std::string checkpoints = path("parts") + "/checkpoint";
  for (int i = 0; i < 600 && tool.running(); ++i) {  // until the training goes on
    if (std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  tool.send(SIGINT);
  const ToolRun interrupted = tool.wait();
  ASSERT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find("--resume"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("parts") + "/run.json"));

  disturbed.push_back("--resume");
  EXPECT_EQ(without_times(run_json(disturbed)), without_times(whole));
}

TEST_F(Fit, KilledAtAnyMomentItResumesToTheSameNumbers) {
  const Strings flags = {"--network", "mlp:20,act=tanh", "--network", "mlp:10,act=tanh",       "--epochs",
                         "5000",      "--frequency",     "10",        "--checkpoint-interval", "0.1"};
  Strings undisturbed = {"fit", curve(), "--out", path("whole")}, disturbed = {"fit", curve(), "--out", path("parts")};
  undisturbed.insert(undisturbed.end(), flags.begin(), flags.end());
  disturbed.insert(disturbed.end(), flags.begin(), flags.end());
  const json whole = run_json(undisturbed);
  bool started = false;
  for (int i = 0; i < 3; ++i) {
    Strings arguments = disturbed;
    if (started) arguments.push_back("--resume");
    RunningTool tool(arguments);
    for (int wait = 0; wait < 600 && tool.running() && !std::filesystem::exists(path("parts") + "/format.json"); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + 250 * i));
    tool.send(SIGKILL);
    tool.wait();
    started = std::filesystem::exists(path("parts") + "/format.json");
    ASSERT_TRUE(started);
  }
  disturbed.push_back("--resume");
  EXPECT_EQ(without_times(run_json(disturbed)), without_times(whole));
}

TEST_F(Fit, ATimeLimitRanksWhatThereIsAndCanBeContinued) {
  const Strings flags = {"fit",          curve(),
                         "--network",    "mlp:20,act=tanh",
                         "--network",    "mlp:30,act=tanh",
                         "--epochs",     "100000",
                         "--frequency",  "10",
                         "--workers",    "2",
                         "--out",        path("run"),
                         "--time-limit", "2"};
  const json summary = run_json(flags);
  EXPECT_EQ(summary["complete"], false);
  EXPECT_LT(summary["candidates"][0]["epochs"], 100000);
  EXPECT_NE(summary["warnings"].dump().find("time limit was over"), std::string::npos) << summary["warnings"];
  EXPECT_TRUE(summary["candidates"][0]["train"]["nll_bayes"].is_null());
  EXPECT_TRUE(summary["candidates"][0]["train"]["rmse"].is_number());
  EXPECT_TRUE(std::filesystem::exists(path("run") + "/report.html"));
  EXPECT_EQ(run_tool({"predict", path("run"), path("curve.csv")}).exit_code, 0);
}

TEST_F(Fit, EvidenceFromARunIsThatOfTheRun) {
  const json summary = run_json(short_fit(curve(), "run", {"--dtype", "float64"}));
  const json again = run_json({"evidence", "--from-run", path("run")});
  const json& best = summary["candidates"][0];
  EXPECT_NEAR(again["log_marginal_likelihood"].get<double>(), best["log_marginal_likelihood"].get<double>(), 1e-6);
  EXPECT_NEAR(again["hyperparameters"]["noise"].get<double>(), best["noise"].get<double>(), 1e-12);
  const json diagonal = run_json({"evidence", "--from-run", path("run"), "--structure", "diag"});
  EXPECT_LT(diagonal["log_marginal_likelihood"], again["log_marginal_likelihood"]);
  EXPECT_EQ(again["dtype"], "float64");
  const json rounded = run_json({"evidence", "--from-run", path("run"), "--dtype", "float32"});
  EXPECT_EQ(rounded["dtype"], "float32");
  EXPECT_NE(rounded["log_likelihood"], again["log_likelihood"]);
  EXPECT_NEAR(rounded["log_likelihood"].get<double>(), again["log_likelihood"].get<double>(), 1e-2);
  const json checked = run_json({"evidence", "--from-run", path("run"), "--check"});
  ASSERT_EQ(checked["checks"].size(), 5u) << checked["checks"];
  for (const json& check : checked["checks"])
    EXPECT_TRUE(check["name"] == "mode" || check.value("holds", false)) << check;  // 50 epochs need not reach a mode
  write_text("curve.csv", "x,y\n1,2\n2,3\n3,5\n");
  expect_refusal(3, {"not those that the run was made with"}, {"evidence", "--from-run", path("run")});
}

TEST_F(Fit, TheReportIsDrawnAgain) {
  run_json(short_fit(curve(), "run"));
  const std::string report = path("run") + "/report.html", first = read_bytes(report);
  std::filesystem::remove(report);
  EXPECT_EQ(run_tool({"report", path("run")}).exit_code, 0);
  EXPECT_EQ(read_bytes(report), first);
}

TEST_F(Fit, SeveralTargetsHaveANoiseEach) {
  const CsvTable table = make_toy_curve(1);
  std::string text = "x,y,z\n";
  for (int64_t row = 0; row < table.rows(); ++row)
    text += std::string(table.field(row, 0)) + "," + std::string(table.field(row, 1)) + "," +
            std::to_string(10 * std::stod(std::string(table.field(row, 0))) + (row % 7)) + "\n";
  const json summary = run_json(short_fit(write_text("two.csv", text), "run", {"--target", "y,z"}));
  EXPECT_EQ(summary["candidates"][0]["noise"].size(), 2u);
  EXPECT_EQ(summary["targets"], (Strings{"y", "z"}));
}

}  // namespace
}  // namespace ockham::testing
