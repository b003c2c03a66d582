#include "experiments/experiment_page.h"

#include <gtest/gtest.h>

#include <regex>

#include "ockham/base/atomic_file.h"
#include "tests/experiments/well_formed.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

Experiment made_experiment() {
  Experiment experiment;
  experiment.name = "made";
  experiment.title = "A <made> experiment & its \"title\"";
  experiment.place = "Table 7";
  return experiment;
}

ExperimentReport made_report() {
  ExperimentReport report;
  report.settings = {{"epochs", 3}, {"data", "<dir>"}};
  report.presentation.claims = {{"a < b", Verdict::yes, "1 & 2"}, {"c", Verdict::open, ""}};
  report.presentation.tables = {{"Table <1>", {"set", "x & y"}, {{"<s>", "1"}}, "a note"}};
  report.presentation.figures = {
      {"Figure", "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0\"/></svg>", "what it <shows>"}};
  report.presentation.notes = {std::string("control \x01 character")};
  report.run.results = {{"one", {{"value", 2}}}};
  report.run.failures = {{"two", "it <failed>"}};
  report.run.missing = {"three"};
  report.run.seconds = {{"one", 4.5}};
  return report;
}

void expect_page(std::string page) {
  page = page.substr(page.find("<html"));
  testing::expect_well_formed(std::regex_replace(page, std::regex("<style>[^<]*</style>"), ""));
}

TEST(ExperimentPage, IsWellFormedAndEscaped) {
  const std::string page = experiment_page(made_experiment(), made_report());
  expect_page(page);
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("<path d=\"M0 0\"/>"), std::string::npos) << "the figure is inside";
  EXPECT_NE(page.find("it &lt;failed&gt;"), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_LT(page.find("a &lt; b"), page.find("<path")) << "claims come first";
  EXPECT_LT(page.find("<path"), page.find("Table &lt;1&gt;"));
  for (const std::string loads : {"src=", "href=", "@import", "url("}) EXPECT_EQ(page.find(loads), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(ExperimentPage, OfNothingIsWellFormedToo) { expect_page(experiment_page(made_experiment(), {})); }

TEST(ExperimentFiles, HoldWhatWasSaid) {
  const testing::TemporaryDirectory directory;
  const std::string path = write_experiment_files(directory.path(""), made_experiment(), made_report());
  EXPECT_EQ(read_file(path), experiment_page(made_experiment(), made_report()));
  const Json json = Json::parse(read_file(directory.path("made.json")));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("experiment"), "made");
  EXPECT_EQ(json.at("claims").at(0).at("verdict"), "yes");
  EXPECT_EQ(json.at("tables").at(0).at("rows").at(0).at(1), "1");
  EXPECT_EQ(json.at("cells").at("one").at("value"), 2);
  EXPECT_EQ(json.at("failures").at("two"), "it <failed>");
  EXPECT_EQ(json.at("missing").at(0), "three");
  EXPECT_EQ(json.at("seconds_cells"), 4.5);
  const std::string text = read_file(directory.path("made.md"));
  EXPECT_NE(text.find("| a < b | **yes** | 1 & 2 |"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 3 cells are not computed yet"), std::string::npos);
}

}  // namespace
}  // namespace ockham::paper
