#include "ockham/data/csv_separator.h"

#include <gtest/gtest.h>

#include "ockham/data/csv.h"

namespace ockham {
namespace {

TEST(CsvSeparator, IsTheOneThatCutsTheLinesAlike) {
  EXPECT_EQ(detect_separator("a;b\n1,5;2\n3;4\n"), ';');
  EXPECT_EQ(detect_separator("1,5;2,5\n3,5;4,5\n"), ';') << "decimal commas between semicolons";
  EXPECT_EQ(detect_separator("a\tb\n1\t2\n"), '\t');
  EXPECT_EQ(detect_separator("\"a;x\",b\n1,2\n"), ',');
  EXPECT_EQ(detect_separator("a|b\n1|2\n"), '|');
  EXPECT_EQ(detect_separator("a\n1\n2\n"), ',');
  EXPECT_EQ(detect_separator("a,b c\n1,2\n3,4 5\n"), ',');
  EXPECT_EQ(detect_separator(""), ',');
}

TEST(CsvSeparator, IsBlanksOnlyBetweenNumbers) {
  EXPECT_EQ(detect_separator("a b\n1  2\n 3 4 \n"), ' ');
  EXPECT_EQ(detect_separator(" 0.00632  18.00   2.310  0\n 0.02731   0.00   7.070  0\n"), ' ');
  EXPECT_EQ(detect_separator("1 2 x"), ' ');
  EXPECT_EQ(detect_separator("a b\n1 \t2\n3 4\n"), ' ');
  EXPECT_EQ(detect_separator("New York\nLos Angeles\n"), ',');
  EXPECT_EQ(detect_separator("item 1\nitem 2\n"), ',');
}

TEST(CsvSeparator, CanBeTold) {
  CsvOptions comma;
  comma.separator = ',';
  EXPECT_EQ(parse_csv("a;b\n1;2\n", "t.csv", comma).columns(), 1);
  const CsvTable tabs = parse_csv("a\tb\n\t2\n1\t\n", "t.csv");
  EXPECT_EQ(tabs.field(0, 0), "") << "a tab is no blank here";
  EXPECT_EQ(tabs.field(1, 1), "");
}

TEST(CsvSeparator, MayStandInALineOfItsOwn) {
  for (const std::string end : {"\n", "\r\n"}) {
    const CsvTable table = parse_csv("sep=;" + end + "a;b" + end + "1;2" + end, "t.csv");
    EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(table.line(0), 3);
  }
  EXPECT_EQ(parse_csv("sep=a,b\n1,2\n", "t.csv").names[0], "sep=a");
}

TEST(CsvSeparator, MayBeRunsOfBlanks) {
  const CsvTable table = parse_csv("  x   \"two words\"\t y \n 1 2\t3\n\n\t4 \t 5  6", "t.csv");
  EXPECT_EQ(table.separator, ' ');
  ASSERT_EQ(table.messages.size(), 1u);
  EXPECT_NE(table.messages[0].find("--separator"), std::string::npos);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "two words", "y"}));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(table.field(0, 2), "3");
  EXPECT_EQ(table.field(1, 0), "4");
  EXPECT_EQ(table.line(1), 4);
}

}  // namespace
}  // namespace ockham
