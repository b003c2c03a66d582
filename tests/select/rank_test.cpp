#include "ockham/select/rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ockham/base/error.h"

namespace ockham {
namespace {

CandidateScore score(const std::string& name, std::vector<double> values,
                     const std::string& comparability = "kron ggn gaussian") {
  return {name, comparability, std::move(values), {}};
}

TEST(RankByEvidence, RanksByTheMeanAndKeepsTheBestRestart) {
  const Ranking ranking = rank_by_evidence({score("a", {-10, -12}), score("b", {-9, -20}), score("c", {-10.5, -10.1})});
  ASSERT_EQ(ranking.order.size(), 3u);
  EXPECT_EQ(ranking.order[0].candidate, 2u);
  EXPECT_EQ(ranking.order[1].candidate, 0u);
  EXPECT_EQ(ranking.order[2].candidate, 1u);
  EXPECT_EQ(ranking.order[0].best_restart, 1u);
  EXPECT_DOUBLE_EQ(ranking.order[1].mean, -11);
  EXPECT_DOUBLE_EQ(ranking.order[1].spread, std::sqrt(2.0));
}

TEST(RankByEvidence, GivesProbabilitiesOfTheModels) {
  const Ranking ranking = rank_by_evidence({score("a", {-1000}), score("b", {-1000 - std::log(3.0)})});
  EXPECT_NEAR(ranking.order[0].probability, 0.75, 1e-12);
  EXPECT_NEAR(ranking.order[1].probability, 0.25, 1e-12);
}

TEST(RankByEvidence, WarnsWhereTheSpreadDecides) {
  EXPECT_FALSE(rank_by_evidence({score("a", {-10, -14}), score("b", {-11, -15})}).warnings.empty());
  EXPECT_TRUE(rank_by_evidence({score("a", {-10, -10.1}), score("b", {-20, -20.1})}).warnings.empty());
}

TEST(RankByEvidence, RefusesWhatDoesNotCompare) {
  EXPECT_THROW(rank_by_evidence({score("a", {-10}), score("b", {-11}, "full ggn gaussian")}), Error);
  EXPECT_THROW(rank_by_evidence({}), Error);
}

TEST(RankByEvidence, LeavesFailuresOutAndSaysWhy) {
  CandidateScore failed = score("bad", {});
  failed.failure = "the loss is not finite in epoch 3";
  const Ranking ranking = rank_by_evidence({failed, score("a", {-10})});
  ASSERT_EQ(ranking.order.size(), 1u);
  ASSERT_EQ(ranking.warnings.size(), 1u);
  EXPECT_NE(ranking.warnings[0].find("epoch 3"), std::string::npos);
  EXPECT_THROW(rank_by_evidence({failed}), Error);
}

}  // namespace
}  // namespace ockham
