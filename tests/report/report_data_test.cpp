#include "ockham/report/report_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/expect_error.h"
#include "tests/support/sample_reports.h"

namespace ockham {
namespace {

TEST(ReportData, ParsesWhatItFormats) {
  for (const RunReport& report :
       {RunReport(), testing::regression_report(50), testing::classification_report(), testing::one_input_report(),
        testing::two_inputs_report(), testing::two_inputs_regression_report(), testing::empty_report()}) {
    const std::string text = format_report_data(report);
    EXPECT_EQ(format_report_data(parse_report_data(text)), text);
  }
}

TEST(ReportData, EveryPartComesBack) {
  const RunReport report = testing::regression_report(50), back = parse_report_data(format_report_data(report));
  EXPECT_EQ(back.targets, report.targets);
  EXPECT_EQ(back.settings.size(), report.settings.size());
  EXPECT_EQ(back.settings[2].value, report.settings[2].value);
  EXPECT_EQ(back.relevances[7].name, testing::hostile_name);
  ASSERT_EQ(back.candidates.size(), 7U);
  EXPECT_EQ(back.candidates[6].failure, report.candidates[6].failure);
  EXPECT_TRUE(std::isnan(back.candidates[6].log_evidence));
  EXPECT_EQ(back.candidates[1].log_det, report.candidates[1].log_det);
  EXPECT_EQ(back.candidates[1].trace.groups, report.candidates[1].trace.groups);
  EXPECT_EQ(back.candidates[1].trace.rows[17].precisions, report.candidates[1].trace.rows[17].precisions);
  EXPECT_EQ(back.candidates[1].trace.rows[17].noise, report.candidates[1].trace.rows[17].noise);
  EXPECT_EQ(back.regressions[0].test[3].sd, report.regressions[0].test[3].sd);
  EXPECT_EQ(back.baselines[0].rows[4].validation, report.baselines[0].rows[4].validation);

  const RunReport map = testing::two_inputs_report(), map_back = parse_report_data(format_report_data(map));
  EXPECT_EQ(map_back.maps[0].values, map.maps[0].values);
  EXPECT_EQ(map_back.classification.test_confusion, map.classification.test_confusion);
}

TEST(ReportData, NumbersSurviveAndWhatIsNoNumberIsNull) {
  RunReport report;
  report.relevances = {{"a", 0.1 + 0.2}, {"b", 5e-324}, {"c", -1.7976931348623157e308}, {"d", std::nan("")}};
  report.relevances.push_back({"e", std::numeric_limits<double>::infinity()});
  const std::string text = format_report_data(report);
  EXPECT_TRUE(nlohmann::json::parse(text)["relevances"][4]["value"].is_null());
  const RunReport back = parse_report_data(text);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(back.relevances[i].value, report.relevances[i].value);
  EXPECT_TRUE(std::isnan(back.relevances[3].value));
  EXPECT_TRUE(std::isnan(back.relevances[4].value));
}

TEST(ReportData, ThePageNeedsFewerDigits) {
  RunReport report;
  report.seconds = 1.0 / 3;
  EXPECT_NE(report::report_json(report, 4).find("\"seconds\":0.3333,"), std::string::npos);
}

TEST(ReportData, TextThatIsNotUtf8IsMended) {
  RunReport report;
  report.title = "caf\xe9";
  EXPECT_EQ(parse_report_data(format_report_data(report)).title, "caf\ufffd");
}

TEST(ReportData, AMissingFieldKeepsItsDefault) {
  const RunReport report =
      parse_report_data(R"({"format": "ockham report", "version": 1, "candidates": [{}], "later": 3})");
  ASSERT_EQ(report.candidates.size(), 1U);
  EXPECT_EQ(report.candidates[0].restarts, 1);
  EXPECT_TRUE(std::isnan(report.seconds));
}

TEST(ReportData, RefusesOtherFiles) {
  const auto refuse = [](const char* text, const char* mentioned) {
    testing::expect_error(ErrorKind::data, {mentioned}, [&] { parse_report_data(text); });
  };
  for (const char* text :
       {"", "[1]", "{\"format\": 3}", "{\"format\": \"ockham report\"}", "{\"format\": \"ockham rep"})
    refuse(text, "report");
  refuse(R"({"format": "ockham report", "version": 99})", "version 99");
  refuse(R"({"format": "ockham report", "version": 1, "examples": "many"})", "cannot be read");
  refuse(R"({"format": "ockham report", "version": 1, "candidates": {}})", "list");
  refuse(R"({"format": "ockham report", "version": 1, "bands": [{"train": {"x": [1, 2], "y": [1]}}]})", "length");
}

}  // namespace
}  // namespace ockham
