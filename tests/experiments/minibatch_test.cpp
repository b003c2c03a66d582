// The experiment `minibatch`, on a table that the test writes itself.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/experiment_page.h"
#include "experiments/run_experiment.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

TEST(MinibatchExperiment, FromTableToPage) {
  const testing::TemporaryDirectory directory;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 50; ++i) {
    const double a = std::sin(1.7 * i), b = std::cos(2.3 * i);
    table += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(20 + 3 * a - b * b) + "\n";
  }
  testing::write_bytes(directory.path("energy.csv"), table);
  Settings settings;
  settings.data = directory.path("");
  settings.quick = true;
  settings.epochs = 20;
  RunOptions options;
  options.directory = directory.path("out");
  options.workers = 2;
  const Experiment experiment = minibatch();
  const ExperimentRun run = run_experiment(experiment, settings, options);
  EXPECT_TRUE(run.failures.empty()) << run.failures.begin()->second;
  EXPECT_EQ(run.results.size(), 12u) << "one at fixed weights, and a training for each of eleven sizes";
  const Json& fixed = run.results.at("energy/fixed/split-0");
  EXPECT_NEAR(fixed.at("gap whole").get<double>(), 0, 1e-6);
  EXPECT_NEAR(fixed.at("noise whole").get<double>(), 1, 1e-3);
  EXPECT_LT(fixed.at("gap half"), fixed.at("gap eighth")) << "smaller batches bound less tightly";
  EXPECT_GT(fixed.at("gap half"), 0);
  EXPECT_GT(fixed.at("gap half-shared"), fixed.at("gap half-most-shared"));
  EXPECT_GE(fixed.at("lost half").get<double>(), -1e-6);
  const Json& online = run.results.at("energy/online-half/split-0");
  EXPECT_LT(online.at("bound"), online.at("evidence"));
  const Presentation shown = experiment.present(settings, run.results);
  EXPECT_EQ(shown.tables.size(), 2u);
  EXPECT_EQ(shown.tables[0].rows.size(), 11u);
  EXPECT_EQ(shown.claims.at(0).verdict, Verdict::yes) << shown.claims[0].grounds;
  for (const Claim& claim : experiment.present(settings, {}).claims) EXPECT_EQ(claim.verdict, Verdict::open);
  EXPECT_FALSE(experiment_page(experiment, {run.results, shown, {}}).empty());
}

}  // namespace
}  // namespace ockham::paper
