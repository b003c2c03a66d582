// Both experiments on UCI tables, on tables that the test writes itself.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "experiments/experiment_page.h"
#include "experiments/run_experiment.h"
#include "experiments/uci_paper_numbers.h"
#include "experiments/uci_results.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

class UciExperiments : public ::testing::Test {
 protected:
  UciExperiments() {
    std::string regression = "a,b,y\n", classes = "a,b,class\n";
    for (int i = 0; i < 60; ++i) {
      const double a = std::sin(1.7 * i), b = std::cos(2.3 * i);
      regression += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(20 + 3 * a - b * b) + "\n";
      classes += std::to_string(a) + "," + std::to_string(b) + "," + (a + b > 0.3 ? "1" : "0") + "\n";
    }
    testing::write_bytes(directory_.path("yacht.csv"), regression);
    testing::write_bytes(directory_.path("breast_cancer.csv"), classes);
    settings_.data = directory_.path("");
    settings_.quick = true;
    settings_.splits = 2;
    settings_.epochs = 40;
    options_.directory = directory_.path("out");
    options_.workers = 2;
  }
  testing::TemporaryDirectory directory_;
  Settings settings_;
  RunOptions options_;
};

TEST_F(UciExperiments, RegressionFromTableToPage) {
  const Experiment experiment = uci_regression();
  const ExperimentRun run = run_experiment(experiment, settings_, options_);
  EXPECT_TRUE(run.failures.empty()) << run.failures.begin()->second;
  EXPECT_EQ(run.results.size(), 12u) << "five methods and the baseline on two splits";
  const Json& cell = run.results.at("yacht/full-ggn/split-1");
  for (const std::string key : {"nll", "nll_bayes", "rmse", "evidence", "noise", "train_nll"})
    EXPECT_TRUE(cell.at(key).is_number()) << key;
  EXPECT_LT(cell.at("rmse"), 3) << "in the target's own units";
  EXPECT_EQ(cell.at("precisions").size(), 4u);
  const Presentation shown = experiment.present(settings_, run.results);
  EXPECT_EQ(shown.tables.at(0).rows.size(), 1u);
  EXPECT_EQ(shown.tables.at(0).rows[0][3], "5.89 ± 1.25") << "the paper's number stands beside ours";
  for (const Claim& claim : shown.claims) EXPECT_FALSE(claim.grounds.empty()) << claim.statement;
  EXPECT_NE(shown.claims.at(0).verdict, Verdict::open);
  EXPECT_EQ(shown.figures.size(), 2u);
}

TEST_F(UciExperiments, ClassificationFromTableToPage) {
  const Experiment experiment = uci_classification();
  const ExperimentRun run = run_experiment(experiment, settings_, options_);
  EXPECT_TRUE(run.failures.empty()) << run.failures.begin()->second;
  EXPECT_EQ(run.results.size(), 14u) << "five methods, cross-validation and mean field on two splits";
  const Json& cell = run.results.at("breast-cancer/kron/split-0");
  for (const std::string key : {"nll", "nll_bayes", "accuracy", "accuracy_bayes", "ece", "ece_bayes"})
    EXPECT_TRUE(cell.at(key).is_number()) << key;
  const Json& validated = run.results.at("breast-cancer/cv/split-0");
  EXPECT_EQ(validated.at("validation").at("map").size(), 3u);
  EXPECT_TRUE(run.results.at("breast-cancer/mean-field/split-0").at("elbo").is_number());
  const Presentation shown = experiment.present(settings_, run.results);
  EXPECT_EQ(shown.tables.size(), 4u);
  EXPECT_EQ(shown.tables[1].rows.at(1)[3], "96.8 ± 0.4");
  EXPECT_EQ(shown.figures.size(), 3u);
}

TEST_F(UciExperiments, NothingComputedIsShownAsOpen) {
  for (const Experiment& experiment : {uci_regression(), uci_classification()}) {
    const Presentation shown = experiment.present(settings_, {});
    for (const Claim& claim : shown.claims) EXPECT_EQ(claim.verdict, Verdict::open) << claim.statement;
    EXPECT_FALSE(experiment_page(experiment, {{}, shown, {}}).empty());
  }
}

TEST(UciPaperNumbers, AreThoseOfTheTables) {
  EXPECT_EQ(paper_regression_nll().at("naval", "kron").mean, -6.88);
  EXPECT_EQ(paper_regression_nll().at("naval", "kron bayes").error, 0.05);
  EXPECT_EQ(paper_regression_nll().at("boston", "full-ggn").error, 0.12) << "Table 1 goes before the appendix";
  EXPECT_EQ(paper_regression_nll().at("yacht", "diag-ef").mean, 3.15);
  EXPECT_EQ(paper_classification_nll().at("digits", "diag-ef bayes").mean, 0.97);
  EXPECT_EQ(paper_classification_accuracy().at("glass", "full-ef").mean, 67.8);
  EXPECT_EQ(paper_classification_ece().at("satellite", "cv-laplace").mean, 0.04);
  EXPECT_TRUE(std::isnan(paper_classification_accuracy().at("australian", "kron").mean)) << "not in the paper's text";
}

TEST(UciResultsOfCells, ArePairedBySplit) {
  const Results results = {{"s/a/split-0", {{"nll", 1.0}}},
                           {"s/a/split-2", {{"nll", 3.0}, {"trace", {{"epoch", {1, 2}}, {"evidence", {4.0, 6.0}}}}}},
                           {"s/b/split-1", {{"nll", 9.0}}},
                           {"s/b/split-2", {{"nll", 2.5}}},
                           {"s/b/split-10", {{"nll", nullptr}}}};
  const UciResults cells(results);
  EXPECT_EQ(cells.splits("s", "a"), 2);
  EXPECT_EQ(cells.splits("s", "b"), 2);
  EXPECT_EQ(cells.summary("s", "a", "nll").mean, 2.0);
  const Summary difference = cells.difference("s", "a", "b", "nll", "nll");
  EXPECT_EQ(difference.count, 1);
  EXPECT_EQ(difference.mean, 0.5);
  EXPECT_EQ(cells.trace("s", "a", "evidence").mean, (std::vector<double>{4, 6}));
}

TEST(DifferencesOfSets, WithOneSplitAreShownAndDecideNothing) {
  Differences differences;
  differences.add("none", {std::nan(""), std::nan(""), 0});
  EXPECT_EQ(differences.text(), Tally().text());
  differences.add("naval", {0.006, std::nan(""), 1});
  EXPECT_EQ(differences.tally.verdict(0.75), Verdict::open);
  EXPECT_EQ(differences.text(), "no set with two splits yet. Differences: naval 0.006 (one split)");
  differences.add("yacht", {1.0, 0.6, 3});
  differences.add("boston", {0.5, 0.1, 3});
  EXPECT_EQ(differences.tally.verdict(0.75), Verdict::no);
  EXPECT_EQ(differences.text("A"),
            "1 of 2 (50 %); not boston. A: naval 0.006 (one split), yacht 1.000 ± 0.600, boston 0.500 ± 0.100");
}

TEST(Tallies, CountAndName) {
  Tally tally;
  EXPECT_EQ(tally.verdict(0.8), Verdict::open);
  tally.add(true, "a"), tally.add(false, "b"), tally.add(std::nullopt, "c");
  EXPECT_EQ(tally.text(), "1 of 2 (50 %); not b");
  EXPECT_EQ(tally.verdict(0.5), Verdict::yes);
  EXPECT_EQ(tally.verdict(0.8), Verdict::no);
}

}  // namespace
}  // namespace ockham::paper
