// The parts of the page that runs of images have.
#include <gtest/gtest.h>

#include "ockham/report/png_uri.h"
#include "ockham/report/run_report.h"
#include "tests/support/sample_reports.h"

namespace ockham {
namespace {

bool contains(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

RunReport image_report() {
  RunReport report = testing::classification_report();
  report.images.split = "test";
  report.images.looked_at = 1234;
  report.images.width = report.images.height = 2;
  const std::string picture = make_png_uri(2, 2, 1, {0, 100, 200, 255});
  report.images.surest = {{picture, 7, "cat", "cat", 0.99}};
  report.images.least_sure = {{picture, 8, "cat", "<dog>", 0.34}};
  report.evidence_accuracy_rho = 0.69;
  return report;
}

TEST(PageImages, ShowsPicturesWithClassesAndProbabilities) {
  const std::string page = render_report(image_report());
  for (const char* part :
       {"1234 test images", "99.0 %", "&lt;dog&gt;", "is cat", "image 8, of class cat", "Least sure"})
    EXPECT_TRUE(contains(page, part)) << part;
  EXPECT_FALSE(contains(page, "Surest mistakes"));
  EXPECT_FALSE(contains(page, "<dog>"));
  EXPECT_TRUE(contains(page, "data-chart=\"scatter\""));
  EXPECT_TRUE(contains(page, "0.69"));
  // The pictures are in the page once.
  const size_t first = page.find("data:image/png;base64,"), second = page.find("data:image/png;base64,", first + 1);
  EXPECT_NE(second, std::string::npos);
  EXPECT_EQ(page.find("data:image/png;base64,", second + 1), std::string::npos);
}

TEST(PageImages, IsAbsentWithoutImages) {
  const std::string page = render_report(testing::classification_report());
  EXPECT_FALSE(contains(page, "id=\"images\""));
  EXPECT_FALSE(contains(page, "data-chart=\"scatter\""));
}

TEST(PageImages, SurvivesReportJson) {
  const RunReport report = image_report(), read = parse_report_data(format_report_data(report));
  ASSERT_EQ(read.images.least_sure.size(), 1u);
  EXPECT_EQ(read.images.least_sure[0].predicted, "<dog>");
  EXPECT_EQ(read.images.least_sure[0].picture, report.images.least_sure[0].picture);
  EXPECT_EQ(read.images.looked_at, 1234);
  EXPECT_EQ(read.evidence_accuracy_rho, 0.69);
}

}  // namespace
}  // namespace ockham
