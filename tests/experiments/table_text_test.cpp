#include "experiments/table_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ockham::paper {
namespace {

TEST(TableText, MeanAndStandardError) {
  const Summary summary = summarise({1, 2, 3, 4, NAN});
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_NEAR(summary.error, std::sqrt(5.0 / 3 / 4), 1e-12);
  EXPECT_EQ(summary.count, 4);
  EXPECT_EQ(mean_and_error({1, 2, 3, 4}), "2.50 ± 0.65");
  EXPECT_EQ(mean_and_error({0.534}, 3), "0.534");
  EXPECT_EQ(mean_and_error({}), "–");
  EXPECT_EQ(format_number(-0.001), "0.00");
}

TEST(TableText, TwoCombinedStandardErrors) {
  EXPECT_EQ(as_good({1.0, 0.03, 5}, {0.9, 0.04, 10}), true);  // 0.1 = 2 · 0.05
  EXPECT_EQ(as_good({1.01, 0.03, 5}, {0.9, 0.04, 10}), false);
  EXPECT_EQ(as_good({0.5, NAN, 1}, {0.9, 0.04, 10}), true);
  EXPECT_EQ(as_good({NAN, NAN, 0}, {0.9, 0.04, 10}), std::nullopt);
  EXPECT_EQ(verdict_of(std::nullopt), Verdict::open);
  EXPECT_EQ(verdict_word(verdict_of(false)), "no");
}

const Table table{"Title", {"set", "NLL"}, {{"a|b", "0.53 ± 0.02"}, {"longer", "1"}}, "A note."};

TEST(TableText, Markdown) {
  EXPECT_EQ(markdown(table),
            "### Title\n| set | NLL |\n| --- | --- |\n| a\\|b | 0.53 ± 0.02 |\n| longer | 1 |\n\nA note.\n");
}

TEST(TableText, PlainTextIsAligned) {
  EXPECT_EQ(plain_text(table),
            "Title\n  set              NLL\n  a|b      0.53 ± 0.02\n  longer             1\n  A note.\n");
}

}  // namespace
}  // namespace ockham::paper
