#include "ockham/data/csv_header.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

bool has_header(const std::string& text) { return parse_csv(text, "t.csv").had_header; }

TEST(CsvHeader, IsTextOverNumbers) {
  EXPECT_TRUE(has_header("a,b\n1,2\n"));
  EXPECT_TRUE(has_header("a,b\n1,x\n2,x\n"));
  EXPECT_TRUE(has_header("a,2020\n1,3\n"));
  EXPECT_TRUE(has_header("a,b\n1,NA\n?,3\n"));
  EXPECT_FALSE(has_header("1,2\n3,4\n"));
  EXPECT_FALSE(has_header("1,x\n2,y\n"));
  EXPECT_FALSE(has_header("1,2\n"));
  EXPECT_FALSE(has_header("NA,2\n3,4\n"));
}

TEST(CsvHeader, SurvivesASlipAmongTheNumbers) {
  std::string text = "a,b\n";
  for (int row = 0; row < 30; ++row) text += row == 7 ? "1,oops\n" : "1,2\n";
  EXPECT_TRUE(has_header(text));
}

TEST(CsvHeader, OfATableOfTextDoesNotComeAgain) {
  EXPECT_TRUE(has_header("colour,size\nred,big\nblue,small\n"));
  EXPECT_FALSE(has_header("red,big\nblue,small\nred,small\n"));
}

TEST(CsvHeader, CanBeTold) {
  CsvOptions options;
  options.header = HeaderRow::absent;
  const CsvTable without = parse_csv("a,b\nc,d\n", "t.csv", options);
  EXPECT_EQ(without.rows(), 2);
  EXPECT_EQ(without.names[1], "x2");
  EXPECT_TRUE(without.messages.empty()) << "nothing was guessed";
  options.header = HeaderRow::present;
  const CsvTable with = parse_csv("1,2\n3,4\n", "t.csv", options);
  EXPECT_EQ(with.names[1], "2");
  EXPECT_EQ(with.line(0), 2);
}

TEST(CsvHeader, SaysThatThereIsNone) {
  const CsvTable table = parse_csv("1,2\n3,4\n", "t.csv");
  ASSERT_EQ(table.messages.size(), 1u);
  EXPECT_NE(table.messages[0].find("--header"), std::string::npos);
}

}  // namespace
}  // namespace ockham
