// Numbers that break down or run away in `ockham fit`: named where they arise, and never fatal to other candidates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

class FitNumerics : public RunFixture {
 protected:
  /// y = 3x + 1 without noise.
  std::string line() const {
    std::string text = "x,y\n";
    for (int i = 0; i < 40; ++i) text += std::to_string(i) + "," + std::to_string(3 * i + 1) + "\n";
    return write_text("line.csv", text);
  }
  std::string parabola() const {
    std::string text = "x,z,y\n";
    for (int i = 0; i < 140; ++i) {
      const int x = i % 20;
      text += std::to_string(x) + "," + std::to_string(i % 7) + "," + std::to_string(x * x) + "\n";
    }
    return write_text("parabola.csv", text);
  }
};

TEST_F(FitNumerics, DivergenceIsNamedAndIsANumericalFailure) {
  const std::string curve = write_table("curve.csv", make_toy_curve(1));
  expect_refusal(4, {"No candidate reached an evidence", "in epoch ", "not finite", "--lr"},
                 {"fit", curve, "--target", "y", "--out", path("run"), "--network", "mlp:8", "--epochs", "40",
                  "--optimizer", "sgd", "--lr", "1e6", "--quiet"});
}

TEST_F(FitNumerics, ADivergedCandidateLeavesTheOthersAlone) {
  const json summary =
      run_json({"fit", parabola(), "--target", "y", "--out", path("run"), "--network", "linear", "--network",
                "mlp:64-64-64,act=relu", "--epochs", "40", "--optimizer", "sgd", "--lr", "1.5"});
  ASSERT_EQ(summary["candidates"].size(), 2u);
  EXPECT_EQ(summary["selected"], "linear");
  EXPECT_EQ(summary["candidates"][0]["clipped_eigenvalues"], 0);
  EXPECT_EQ(summary["candidates"][0]["at_bounds"], json::array());
  const json& diverged = summary["candidates"][1];
  EXPECT_TRUE(diverged["log_marginal_likelihood"].is_null());
  EXPECT_EQ(diverged["failure"].get<std::string>().rfind("in epoch ", 0), 0u) << diverged["failure"];
}

// Inputs near the end of float32: a linear network overflows, one with tanh does not.
TEST_F(FitNumerics, AnAssessmentThatBreaksDownLeavesTheOthersAlone) {
  std::string text = "x,z,y\n";
  for (int i = 0; i < 64; ++i) {
    const int x = i % 2 == 0 ? 1 : -1, z = i % 4 < 2 ? 1 : -1;
    text += fmt::format("{},{},{}\n", x, z, x + z + 0.01 * (i % 5));
  }
  const std::string table = write_text("signs.csv", text), far = write_text("far.csv", "x,z,y\n1,1,2\n3e38,3e38,2\n");
  const auto fit = [&](const std::string& run, const std::vector<std::string>& networks) {
    std::vector<std::string> arguments = {"fit",    table, "--target", "y",   "--out",  path(run),
                                          "--test", far,   "--epochs", "100", "--quiet"};
    for (const std::string& network : networks) arguments.insert(arguments.end(), {"--network", network});
    return arguments;
  };
  const json summary = run_json(fit("both", {"linear", "mlp:4"}));
  ASSERT_EQ(summary["candidates"].size(), 2u);
  EXPECT_EQ(summary["selected"], "mlp:4");
  const json& broken = summary["candidates"][1];
  EXPECT_EQ(broken["network"], "linear");
  EXPECT_TRUE(broken["log_marginal_likelihood"].is_null());
  EXPECT_EQ(broken["failure"].get<std::string>().rfind("its assessment broke down", 0), 0u) << broken["failure"];
  EXPECT_NE(summary["warnings"].dump().find("its assessment broke down"), std::string::npos) << summary["warnings"];
  expect_refusal(4, {"No candidate could be assessed", "linear", "not finite"}, fit("alone", {"linear"}));
}

TEST_F(FitNumerics, ANoiseThatRunsAwayStopsAtItsBoundAndIsReported) {
  const json summary =
      run_json({"fit",           line(),     "--target",   "y",           "--out",   path("run"), "--network",
                "linear",        "--epochs", "400",        "--frequency", "10",      "--lr",      "0.05",
                "--lr-schedule", "cosine",   "--hyper-lr", "1",           "--dtype", "float64"});
  const json& bounds = summary["candidates"][0]["at_bounds"];
  ASSERT_FALSE(bounds.empty()) << summary["candidates"][0];
  EXPECT_EQ(bounds.back()["hyperparameter"], "noise");
  EXPECT_NEAR(bounds.back()["bound"].get<double>(), 1e-8, 1e-20);
  bool warned = false;
  for (const json& warning : summary["warnings"])
    warned = warned || warning.get<std::string>().find("reached its bound") != std::string::npos;
  EXPECT_TRUE(warned) << summary["warnings"];
}

}  // namespace
}  // namespace ockham::testing
