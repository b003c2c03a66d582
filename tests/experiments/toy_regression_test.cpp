// The toy-regression experiment: its cells with few epochs, and what its claims make of given numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/experiment.h"
#include "experiments/toy_training.h"
#include "tests/experiments/toy_files.h"
#include "tests/support/expect_error.h"

namespace ockham::paper {
namespace {

Settings tiny(const ToyFiles& files) { return quick_settings(files, 3); }

TEST(ToyRegression, FullSettingsAreThePapers) {
  const ToyFiles files;
  Settings settings;
  settings.data = files.directory();
  const std::vector<Cell> cells = toy_regression().cells(settings);
  EXPECT_EQ(cells.size(), 2u * 2 * 9 + 2 * 3 * (21 + 3));
  std::set<std::string> names;
  for (const Cell& cell : cells) names.insert(cell.name);
  EXPECT_EQ(names.size(), cells.size());
  const Json& depth = cells.front().settings;
  EXPECT_EQ(depth.at("epochs"), 1000);
  EXPECT_EQ(depth.at("F"), 1);
  EXPECT_EQ(depth.at("K"), 1);
  EXPECT_EQ(depth.at("B"), 0);
  EXPECT_EQ(depth.at("step"), 0.01);
  EXPECT_EQ(depth.at("prior"), "layerwise");
  EXPECT_TRUE(names.count("precision/paper/seed=2/fixed=-0.25"));
  EXPECT_TRUE(names.count("precision/faster/seed=0/online=2"));
}

TEST(ToyRegression, SettingsOfACellDoNotDependOnTheFirstSeed) {
  const ToyFiles files;
  Settings first = tiny(files), second = tiny(files);
  first.splits = 3, second.seed = 1;
  const std::vector<Cell> some = toy_regression().cells(first);
  int shared = 0;
  for (const Cell& cell : toy_regression().cells(second))
    for (const Cell& other : some)
      if (cell.name == other.name) {
        EXPECT_EQ(cell.settings, other.settings);
        ++shared;
      }
  EXPECT_EQ(shared, 4 + 2 * 14);
}

TEST(ToyRegression, ACellGivesItsNumbers) {
  const ToyFiles files;
  const std::vector<Cell> cells = toy_regression().cells(tiny(files));
  const std::string name = "depth/act=tanh/layers=1/data=0/net=0";
  const Json result = run_cell(cells, name);
  EXPECT_EQ(result.at("parameters"), 151);
  for (const char* number_name : {"log_evidence", "last_log_evidence", "noise", "train_nll", "test_nll",
                                  "test_nll_bayes", "epistemic_gap", "epistemic_data"})
    EXPECT_TRUE(std::isfinite(number(result, number_name))) << number_name;
  EXPECT_EQ(result.at("trace").at("epoch"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(result.at("trace").at("precision").at(0).size(), 4u);
  const Json& bands = result.at("bands");
  EXPECT_EQ(bands.at("x").size(), bands.at("epistemic").size());
  EXPECT_EQ(bands.at("point_x").size(), result.at("N").get<size_t>());
  EXPECT_EQ(run_cell(cells, name), result);  // nothing else is random
}

TEST(ToyRegression, FixedPrecisionsStayAndOnlineOnesMove) {
  const ToyFiles files;
  const std::vector<Cell> cells = toy_regression().cells(tiny(files));
  const Json fixed = run_cell(cells, "precision/paper/seed=0/fixed=-0.50");
  EXPECT_NEAR(fixed.at("precision").at(0).get<double>(), std::pow(10, -0.5), 1e-6);
  EXPECT_FALSE(fixed.contains("bands"));
  const Json online = run_cell(cells, "precision/paper/seed=0/online=0");
  EXPECT_NE(online.at("precision").at(0).get<double>(), 1);
  EXPECT_NEAR(online.at("precision").at(0).get<double>(), 1, 0.05);  // two steps of 0.01 in log δ
}

TEST(ToyRegression, InterruptedCellsSaySo) {
  const ToyFiles files;
  const std::vector<Cell> cells = toy_regression().cells(tiny(files));
  EXPECT_THROW(cells.front().run({"", [](double) { return false; }}), Interrupted);
}

// Numbers for every cell of the experiment: the deeper network is higher with tanh only, online runs end at 0.3.
Results make_results(const std::vector<Cell>& cells) {
  Results results;
  const Json bands = {{"x", {0, 1}},  {"mean", {0, 1}}, {"epistemic", {0.1, 0.2}},
                      {"noise", 0.3}, {"point_x", {0}}, {"point_y", {0}}};
  for (const Cell& cell : cells) {
    const auto has = [&](const char* part) { return cell.name.find(part) != std::string::npos; };
    const double decade = has("fixed=") ? std::stod(cell.name.substr(cell.name.find("fixed=") + 6)) : std::log10(0.3);
    const bool deep = has("layers=3");
    Json result = {{"parameters", deep ? 5251 : 151},
                   {"N", 130},
                   {"bands", bands},
                   {"noise", deep ? 0.31 : 0.45},
                   {"epistemic_gap", 0.4},
                   {"epistemic_data", 0.1},
                   {"precision", {std::pow(10, decade)}}};
    result["log_evidence"] = result["last_log_evidence"] = has("depth") ? (deep && has("tanh") ? -80.0
                                                                           : deep              ? -106.0
                                                                                               : -105.0)
                                                                        : -80 - 10 * (decade + 0.5) * (decade + 0.5);
    result["test_nll"] = result["test_nll_bayes"] = deep           ? 0.3
                                                    : has("depth") ? 0.6
                                                                   : 0.3 + 0.1 * std::abs(decade + 0.5);
    result["train_nll"] = has("fixed=") ? 0.3 + 0.1 * decade : 0.3;
    result["trace"] = {
        {"epoch", {1, 2}}, {"log_evidence", {-300, -90}}, {"precision", {{1.0}, {0.3}}}, {"noise", {1, 0.3}}};
    results[cell.name] = result;
  }
  return results;
}

TEST(ToyRegression, ClaimsFollowTheNumbers) {
  const ToyFiles files;
  const Settings settings = tiny(files);
  const Experiment experiment = toy_regression();
  Results results = make_results(experiment.cells(settings));
  Presentation shown = experiment.present(settings, results);
  ASSERT_EQ(shown.claims.size(), 8u);
  EXPECT_EQ(shown.claims[0].verdict, Verdict::partly);  // with tanh only
  EXPECT_EQ(shown.claims[1].verdict, Verdict::yes);
  EXPECT_EQ(shown.claims[2].verdict, Verdict::partly);  // with ReLU the evidence prefers the one that predicts worse
  for (size_t i = 3; i < shown.claims.size(); ++i)
    EXPECT_EQ(shown.claims[i].verdict, Verdict::yes) << shown.claims[i].statement << shown.claims[i].grounds;
  EXPECT_EQ(shown.tables.size(), 2u);
  EXPECT_EQ(shown.figures.size(), 6u);

  results["precision/paper/seed=0/online=2"]["precision"] = {60.0};
  shown = experiment.present(settings, results);
  EXPECT_EQ(shown.claims[4].verdict, Verdict::partly) << shown.claims[4].grounds;
  results["precision/faster/seed=0/online=2"]["precision"] = {60.0};
  results["precision/paper/seed=0/online=0"]["precision"] = {60.0};
  EXPECT_EQ(experiment.present(settings, results).claims[4].verdict, Verdict::no);
  results.erase("precision/paper/seed=0/online=0");
  EXPECT_EQ(experiment.present(settings, results).claims[4].verdict, Verdict::open);
}

TEST(ToyRegression, NothingComputedIsOpen) {
  const ToyFiles files;
  const Presentation shown = toy_regression().present(tiny(files), {});
  for (const Claim& claim : shown.claims) EXPECT_EQ(claim.verdict, Verdict::open) << claim.statement;
  EXPECT_TRUE(shown.figures.empty());
}

TEST(ToyRegression, AMissingFileIsSaidBeforeAnythingRuns) {
  testing::expect_error(ErrorKind::data, {"snelson_modified_knots.csv", "--data"}, [] {
    Settings settings;
    settings.data = "nowhere";
    toy_regression().cells(settings);
  });
}

}  // namespace
}  // namespace ockham::paper
