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

TEST(RankByEvidence, SaysThatASingleRestartHasNoSpread) {
  const Ranking close = rank_by_evidence({score("a", {-10}), score("b", {-13})});
  ASSERT_EQ(close.warnings.size(), 1u);
  EXPECT_NE(close.warnings[0].find("each was trained only once"), std::string::npos) << close.warnings[0];
  const Ranking one = rank_by_evidence({score("a", {-10, -11}), score("b", {-13})});
  ASSERT_EQ(one.warnings.size(), 1u);
  EXPECT_NE(one.warnings[0].find("'b' was trained only once"), std::string::npos) << one.warnings[0];
  EXPECT_TRUE(rank_by_evidence({score("a", {-10}), score("b", {-10 - doubtful_lead - 1})}).warnings.empty());
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

TEST(RankByEvidence, SaysThatSomeRestartsFailed) {
  CandidateScore some = score("a", {-10, -10.5});
  some.failure = "the loss is not finite in epoch 7";
  const Ranking ranking = rank_by_evidence({some, score("b", {-50, -50.5})});
  ASSERT_EQ(ranking.warnings.size(), 1u);
  EXPECT_NE(ranking.warnings[0].find("epoch 7"), std::string::npos);
  EXPECT_THROW(rank_by_evidence({score("a", {std::nan("")})}), Error);
}

TEST(RankWithinGroups, RanksWhatComparesAndNothingElse) {
  CandidateScore failed = score("bad", {}, "diag ggn gaussian");
  failed.failure = "the loss is not finite in epoch 3";
  const auto groups = rank_within_groups({score("a", {-10, -11}), score("b", {-90, -91}, "full ggn gaussian"), failed,
                                          score("c", {-5, -6}), score("d", {-70, -71}, "full ggn gaussian")});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].comparability, "kron ggn gaussian");
  ASSERT_EQ(groups[0].ranking.order.size(), 2u);
  EXPECT_EQ(groups[0].ranking.order[0].candidate, 3u);
  EXPECT_EQ(groups[0].ranking.order[1].candidate, 0u);
  EXPECT_EQ(groups[1].comparability, "full ggn gaussian");
  EXPECT_EQ(groups[1].ranking.order[0].candidate, 4u);
  EXPECT_NEAR(groups[1].ranking.order[0].probability + groups[1].ranking.order[1].probability, 1, 1e-12);
  EXPECT_TRUE(groups[2].ranking.order.empty());
  EXPECT_EQ(groups[2].ranking.warnings.size(), 1u);
  EXPECT_THROW(rank_within_groups({}), Error);
}

TEST(RankWithinGroups, OneGroupIsThePlainRanking) {
  const std::vector<CandidateScore> scores = {score("a", {-10, -12}), score("b", {-9, -20})};
  const auto groups = rank_within_groups(scores);
  const Ranking plain = rank_by_evidence(scores);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].ranking.order[0].candidate, plain.order[0].candidate);
  EXPECT_EQ(groups[0].ranking.warnings, plain.warnings);
}

}  // namespace
}  // namespace ockham
