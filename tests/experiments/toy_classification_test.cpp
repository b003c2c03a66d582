// The toy-classification experiment: its cells with few epochs, and what its claims make of given numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "experiments/experiment.h"
#include "experiments/toy_training.h"
#include "tests/experiments/toy_files.h"
#include "tests/support/expect_error.h"

namespace ockham::paper {
namespace {

Settings tiny(const ToyFiles& files) { return quick_settings(files, 4); }

TEST(ToyClassification, FullSettingsAreThePapers) {
  const ToyFiles files;
  Settings settings;
  settings.data = files.directory();
  const std::vector<Cell> cells = toy_classification().cells(settings);
  EXPECT_EQ(cells.size(), 2u * 2 * 2 * 9);
  std::set<std::string> names;
  for (const Cell& cell : cells) names.insert(cell.name);
  EXPECT_EQ(names.size(), cells.size());
  EXPECT_EQ(cells.front().settings.at("epochs"), 200);
  EXPECT_EQ(cells.front().settings.at("learn_temperature"), true);
  EXPECT_EQ(cells.front().settings.at("samples"), 1000);
}

TEST(ToyClassification, OnlineCellsLearnAndWeakOnesDoNot) {
  const ToyFiles files;
  const std::vector<Cell> cells = toy_classification().cells(tiny(files));
  const Json online = run_cell(cells, "paper/act=tanh/online/data=0/net=0");
  EXPECT_NE(number(online, "temperature"), 1);
  EXPECT_EQ(online.at("trace").at("temperature").size(), 4u);
  EXPECT_EQ(online.at("precision").size(), 4u);
  const Json weak = run_cell(cells, "paper/act=tanh/weak/data=0/net=0");
  EXPECT_EQ(number(weak, "temperature"), 1);
  for (const Json& precision : weak.at("precision")) EXPECT_NEAR(precision.get<double>(), 1e-4, 1e-9);
  for (const Json* result : {&online, &weak}) {
    const Json& maps = result->at("maps");
    const size_t places = maps.at("x").size() * maps.at("y").size();
    for (const char* which : {"map", "bayes"}) {
      ASSERT_EQ(maps.at(which).size(), places);
      for (const double share : numbers(maps.at(which))) EXPECT_TRUE(share >= 0 && share <= 1) << share;
    }
    EXPECT_EQ(maps.at("point_class").size(), 265u);
    EXPECT_LE(number(*result, "confidence_far_bayes"), number(*result, "confidence_far") + 0.02);
  }
  // A wide posterior makes the mean over samples less certain than the mode is.
  EXPECT_LT(number(weak, "confidence_far_bayes"), number(weak, "confidence_far"));
  EXPECT_EQ(run_cell(cells, "paper/act=tanh/weak/data=0/net=0"), weak);
}

Results make_results(const std::vector<Cell>& cells) {
  Results results;
  for (const Cell& cell : cells) {
    const auto has = [&](const char* part) { return cell.name.find(part) != std::string::npos; };
    const bool online = has("online"), longer = has("long");
    results[cell.name] = {{"log_evidence", online ? -120 : -200},
                          {"train_accuracy", online ? 0.92 : 0.99},
                          {"test_accuracy", online   ? 0.89
                                            : longer ? 0.87
                                                     : 0.90},
                          {"test_nll", 0.3},
                          {"test_accuracy_bayes", 0.88},
                          {"test_nll_bayes", online ? 0.28 : 0.5},
                          {"confidence_near_bayes", 0.9},
                          {"confidence_far_bayes", has("tanh") ? 0.7 : 0.95},
                          {"confidence_far", 0.99},
                          {"precision_names", {"w"}},
                          {"maps",
                           {{"x", {0, 1}},
                            {"y", {0, 1}},
                            {"map", {0, 0.5, 0.5, 1}},
                            {"bayes", {0.2, 0.5, 0.5, 0.8}},
                            {"point_x", {0.5}},
                            {"point_y", {0.5}},
                            {"point_class", {1}}}},
                          {"trace",
                           {{"epoch", {1, 2}},
                            {"log_evidence", {-200, -120}},
                            {"precision", {{1.0}, {1.1}}},
                            {"temperature", {1, 0.9}}}}};
  }
  return results;
}

TEST(ToyClassification, ClaimsFollowTheNumbers) {
  const ToyFiles files;
  const Settings settings = tiny(files);
  const Experiment experiment = toy_classification();
  Results results = make_results(experiment.cells(settings));
  const Presentation shown = experiment.present(settings, results);
  ASSERT_EQ(shown.claims.size(), 5u);
  const std::vector<Verdict> expected = {Verdict::yes, Verdict::partly, Verdict::yes, Verdict::yes, Verdict::partly};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(shown.claims[i].verdict, expected[i]) << shown.claims[i].statement << shown.claims[i].grounds;
  EXPECT_EQ(shown.figures.size(), 8u);
  ASSERT_EQ(shown.tables.size(), 1u);
  EXPECT_EQ(shown.tables[0].rows.size(), 2u + 8u);
  for (auto& [name, result] : results)
    if (name.find("weak") != std::string::npos) result["log_evidence"] = -100;
  EXPECT_EQ(experiment.present(settings, results).claims[0].verdict, Verdict::no);
  results.erase(results.begin());
  EXPECT_EQ(experiment.present(settings, results).claims[0].verdict, Verdict::open);
}

TEST(ToyClassification, NothingComputedIsOpen) {
  const ToyFiles files;
  const Presentation shown = toy_classification().present(tiny(files), {});
  for (const Claim& claim : shown.claims) EXPECT_EQ(claim.verdict, Verdict::open) << claim.statement;
  EXPECT_TRUE(shown.figures.empty());
}

TEST(ToyClassification, AMissingFileIsSaidBeforeAnythingRuns) {
  testing::expect_error(ErrorKind::data, {"banana.csv", "--data"}, [] {
    Settings settings;
    settings.data = "nowhere";
    toy_classification().cells(settings);
  });
}

}  // namespace
}  // namespace ockham::paper
