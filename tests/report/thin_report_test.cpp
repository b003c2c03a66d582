#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ockham/report/run_report.h"
#include "tests/support/sample_reports.h"

namespace ockham {
namespace {

TEST(ThinReport, LeavesSmallReportsAlone) {
  for (const RunReport& report :
       {testing::classification_report(), testing::one_input_report(), testing::two_inputs_report()}) {
    RunReport thin = thin_report(report);
    for (size_t i = 0; i < report.candidates.size(); ++i)
      EXPECT_EQ(thin.candidates[i].trace.rows.size(), std::min<size_t>(report.candidates[i].trace.rows.size(), 400));
    for (size_t i = 0; i < report.maps.size(); ++i) EXPECT_EQ(thin.maps[i].values, report.maps[i].values);
  }
}

TEST(ThinReport, ATraceKeepsItsEndsItsOrderAndItsSpikes) {
  RunReport report;
  report.candidates.resize(1);
  std::vector<ReportTraceRow>& rows = report.candidates[0].trace.rows;
  for (int64_t epoch = 1; epoch <= 5000; ++epoch) {
    rows.emplace_back();
    rows.back().epoch = epoch;
    rows.back().log_evidence = epoch == 777    ? 1e6
                               : epoch == 3333 ? -1e6
                               : epoch == 4000 ? not_given
                                               : std::sin(0.001 * epoch);
  }
  const std::vector<ReportTraceRow> thin = thin_report(report).candidates[0].trace.rows;
  EXPECT_LE(thin.size(), 400U);
  EXPECT_GE(thin.size(), 300U);
  EXPECT_EQ(thin.front().epoch, 1);
  EXPECT_EQ(thin.back().epoch, 5000);
  const auto by_epoch = [](const ReportTraceRow& a, const ReportTraceRow& b) { return a.epoch < b.epoch; };
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), by_epoch));
  for (int64_t epoch : {777, 3333})
    EXPECT_TRUE(std::any_of(thin.begin(), thin.end(), [&](const ReportTraceRow& row) { return row.epoch == epoch; }));
}

TEST(ThinReport, ManyGroupsBecomeThree) {
  RunReport report;
  report.candidates.resize(1);
  ReportTrace& trace = report.candidates[0].trace;
  trace.rows.resize(1);
  for (int group = 0; group < 101; ++group) {
    trace.groups.push_back(std::to_string(group));
    trace.rows[0].precisions.push_back((group * 37) % 101);
  }
  const ReportTrace thin = thin_report(report).candidates[0].trace;
  EXPECT_EQ(thin.groups, (std::vector<std::string>{"largest of 101", "median of 101", "smallest of 101"}));
  EXPECT_EQ(thin.rows[0].precisions, (std::vector<double>{100, 50, 0}));
}

TEST(ThinReport, PredictionsAreSpreadEvenlyAndCounted) {
  RunReport report;
  report.regressions.resize(1);
  for (int i = 0; i < 50001; ++i) report.regressions[0].train.push_back({static_cast<double>(i), 0, 1});
  const ReportRegression thin = thin_report(report).regressions[0];
  ASSERT_EQ(thin.train.size(), 2000U);
  EXPECT_EQ(thin.train_total, 50001);
  EXPECT_EQ(thin.train.front().target, 0);
  EXPECT_EQ(thin.train.back().target, 50000);
  for (size_t i = 1; i < thin.train.size(); ++i) EXPECT_NEAR(thin.train[i].target - thin.train[i - 1].target, 25, 1.1);
}

TEST(ThinReport, MapsKeepTheirCorners) {
  RunReport report;
  report.maps.resize(1);
  ReportMap& map = report.maps[0];
  for (int i = 0; i < 200; ++i) map.x1.push_back(i);
  for (int i = 0; i < 100; ++i) map.x2.push_back(i);
  map.values.resize(10);
  for (std::vector<double>& surface : map.values)
    for (double x2 : map.x2)
      for (double x1 : map.x1) surface.push_back(1000 * x2 + x1);
  const ReportMap thin = thin_report(report).maps[0];
  EXPECT_LE(thin.x1.size() * thin.x2.size() * 10, 40000U);
  EXPECT_EQ(thin.x1.back(), 199);
  ASSERT_EQ(thin.values[3].size(), thin.x1.size() * thin.x2.size());
  for (size_t i2 = 0; i2 < thin.x2.size(); ++i2)
    for (size_t i1 = 0; i1 < thin.x1.size(); ++i1)
      EXPECT_EQ(thin.values[3][i2 * thin.x1.size() + i1], 1000 * thin.x2[i2] + thin.x1[i1]);
}

}  // namespace
}  // namespace ockham
