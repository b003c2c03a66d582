#include "ockham/report/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace ockham::report {
namespace {

TEST(Text, EscapesWhatHtmlReads) {
  EXPECT_EQ(escape_html("<b a='1'>\"&amp;\"</b>"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;amp;&quot;&lt;/b&gt;");
  EXPECT_EQ(escape_html("größe 高さ"), "größe 高さ");
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b\n", 5)), "a\ufffdb\ufffd\n");
}

TEST(Text, NoElementEndsInsideAScript) {
  EXPECT_EQ(escape_script("\"</script><!--&\""), "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(2020), "2020");
  EXPECT_EQ(format_count(-10000), "−10,000");
  EXPECT_EQ(format_fixed(-12345.6, 2), "−12,345.60");
  EXPECT_EQ(format_fixed(-0.0001, 2), "0.00");
  EXPECT_EQ(format_fixed(std::numeric_limits<double>::infinity(), 2), "–");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.012345), "0.01235");
  EXPECT_EQ(format_number(1), "1.000");
  EXPECT_EQ(format_number(1234567), "1,234,567");
  EXPECT_EQ(format_number(-1.5e-7), "−1.50 × 10⁻⁷");
  EXPECT_EQ(format_number(6.02e23), "6.02 × 10²³");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(Text, ProbabilitiesAreNeverRoundedToCertainty) {
  EXPECT_EQ(format_percent(0.9618), "96.2 %");
  EXPECT_EQ(format_percent(1), "> 99.9 %");
  EXPECT_EQ(format_percent(1e-9), "< 0.1 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
}

TEST(Text, Durations) {
  EXPECT_EQ(format_seconds(0.84), "0.8 s");
  EXPECT_EQ(format_seconds(42.3), "42 s");
  EXPECT_EQ(format_seconds(59.99), "1 min 00 s");
  EXPECT_EQ(format_seconds(131.4), "2 min 11 s");
  EXPECT_EQ(format_seconds(3900), "1 h 05 min");
}

TEST(Text, Metrics) {
  EXPECT_EQ(metric_title("nll_bayes"), "NLL (linearised)");
  EXPECT_EQ(metric_title("my_own"), "my own");
  EXPECT_EQ(metric_title("ece_bayes@100"), "ECE (linearised), of 100 examples");
  EXPECT_EQ(format_metric("accuracy_bayes@100", 0.72), "72.0 %");
  EXPECT_EQ(format_metric("accuracy", 1), "100.0 %");
  EXPECT_EQ(format_metric("rmse", 0.5), "0.5000");
  EXPECT_EQ(format_metric("accuracy", std::numeric_limits<double>::quiet_NaN()), "–");
}

}  // namespace
}  // namespace ockham::report
