#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "ockham/report/run_report.h"
#include "tests/support/sample_reports.h"

namespace ockham {
namespace {

std::vector<RunReport> all_samples() {
  return {RunReport(),
          testing::regression_report(300),
          testing::classification_report(),
          testing::images_report(),
          testing::one_input_report(),
          testing::two_inputs_report(),
          testing::two_inputs_regression_report(),
          testing::empty_report()};
}

bool contains(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

size_t count(const std::string& page, const std::string& text) {
  size_t found = 0;
  for (size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++found;
  return found;
}

/// Opening and closing tags must pair, and what is between < and > must be a tag; "" when they do.
std::string find_fault(const std::string& page) {
  const std::set<std::string> single = {"meta", "img", "!DOCTYPE"};
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at)) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const bool closes = page[at + 1] == '/';
    const size_t begin = at + 1 + closes;
    const std::string name = page.substr(begin, page.find_first_of(" >", begin) - begin);
    if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '!'))
      return "no tag: " + page.substr(at, 20);
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (single.count(name) == 0) {
      open.push_back(name);
      if (std::count(page.begin() + at, page.begin() + end, '"') % 2)
        return "an open quote in " + page.substr(at, end - at);
    }
    at = end;
    if (!closes && (name == "script" || name == "style")) at = page.find("</" + name + ">", at);
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(Page, IsWellFormed) {
  for (const RunReport& report : all_samples()) EXPECT_EQ(find_fault(render_report(report)), "");
}

TEST(Page, LoadsNothing) {
  for (const RunReport& report : all_samples()) {
    std::string page = render_report(report);
    const std::string name_of_svg = "http://www.w3.org/2000/svg";
    EXPECT_EQ(count(page, "://"), 1U);
    EXPECT_TRUE(contains(page, name_of_svg));
    for (const char* loader : {" href=", "@import", "fetch(", "XMLHttpRequest", "import(", "<link", "<iframe"})
      EXPECT_FALSE(contains(page, loader)) << loader;
    EXPECT_EQ(count(page, " src="), count(page, "<img src=\"data:image/png;base64,"));
    EXPECT_EQ(count(page, "url("), count(page, "url(#"));
    EXPECT_TRUE(contains(page, "default-src 'none'"));
  }
}

TEST(Page, NamesCannotBreakOut) {
  RunReport report = testing::classification_report();
  const std::string hostile = testing::hostile_name;
  report.title = report.data = report.task = report.targets = report.run = report.when = report.comparability = hostile;
  report.versions = report.settings = {{hostile, hostile}};
  report.warnings = report.messages = {hostile};
  report.candidates[0].network = report.candidates[1].network = report.candidates[1].failure = hostile;
  report.candidates[0].test.push_back({hostile, 1});
  report.relevances = report.prior_precisions = {{hostile, 1}};
  report.regressions.resize(2);
  report.regressions[0].target = report.regressions[1].target = hostile;
  report.regressions[0].train = {{1, 2, 3}};
  report.bands = {{hostile, hostile, {1}, {1}, {1}, {1}, {}, {}}};
  report.baselines = {{hostile, hostile, {{1, 1, 1}}, 1, 1, {{hostile, 1}}}};
  const std::string page = render_report(report);
  EXPECT_EQ(find_fault(page), "");
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_FALSE(contains(page, "<!--"));
}

TEST(Page, TheDataInsideAreTheReport) {
  const std::string page = render_report(testing::classification_report()), opening = "id=\"report-data\">";
  const size_t begin = page.find(opening) + opening.size();
  const nlohmann::json data = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["classification"]["classes"][3], testing::hostile_name);
  EXPECT_EQ(data["candidates"][0]["trace"]["rows"]["epoch"].size(), 400U);
}

TEST(Page, EmptyChartsAreLeftOut) {
  EXPECT_EQ(count(render_report(RunReport()), "<figure"), 0U);
  EXPECT_EQ(count(render_report(testing::empty_report()), "<figure"), 0U);
  const std::string page = render_report(testing::classification_report());
  for (const char* chart : {"noise", "band", "map", "residuals", "calibration", "relevance", "baseline"})
    EXPECT_FALSE(contains(page, std::string("data-chart=\"") + chart + "\"")) << chart;
  EXPECT_EQ(count(page, "data-chart=\"confusion\""), 2U);
}

TEST(Page, SaysWhatWasSelectedAndHowSureThatIs) {
  const std::string undecided = render_report(testing::regression_report(10));
  EXPECT_TRUE(contains(undecided, "verdict undecided"));
  EXPECT_TRUE(contains(undecided, "Not decided: <code>mlp:50</code> is only 0.74 nats behind"));
  EXPECT_TRUE(contains(undecided, "67.7 %"));
  EXPECT_TRUE(contains(undecided, "On the test data"));
  EXPECT_TRUE(contains(undecided, "the loss was not finite after epoch 12"));
  RunReport clear = testing::two_inputs_report();
  for (ReportCandidate& candidate : clear.candidates) candidate.spread = 0.5;
  EXPECT_TRUE(contains(render_report(clear), "Clearly ahead: 21.2 nats"));
  clear.candidates[1].spread = ReportCandidate().spread;  // trained once
  EXPECT_TRUE(contains(render_report(clear), "Ahead by 21.2 nats of the next"));
  EXPECT_TRUE(contains(render_report(clear), "--restarts 3"));
  for (ReportCandidate& candidate : clear.candidates) candidate.half_width = 16;  // the lead is less than 16 √2
  EXPECT_TRUE(contains(render_report(clear), "the estimates have error bars of 22.63"));
  EXPECT_TRUE(contains(render_report(clear), "<td>16.00</td>"));
  EXPECT_TRUE(contains(render_report(testing::two_inputs_regression_report()), "nothing to compare"));
  EXPECT_TRUE(contains(render_report(testing::empty_report()), "No candidate finished"));
}

TEST(Page, FitAndOccamAddUpToTheEvidence) {
  RunReport report = testing::two_inputs_regression_report();
  report.candidates[0].log_evidence = report.candidates[0].log_evidence_best = -10.5;
  report.candidates[0].log_likelihood = 30.25;
  EXPECT_TRUE(contains(render_report(report), "<td>30.25</td><td>−40.75</td>"));
}

TEST(Page, SevenNetworksOfFiveThousandEpochsStayUnderTwoMegabytes) {
  RunReport report = testing::regression_report(5000);
  report.candidates.back() = report.candidates.front();
  report.regressions[0].train.resize(40000, {1.23456789, 2.34567891, 0.456789123});
  report.regressions[0].test = report.regressions[0].train;
  EXPECT_LT(render_report(report).size(), 2'000'000U);
}

}  // namespace
}  // namespace ockham
