#include "ockham/data/csv_field.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ockham {
namespace {

TEST(CsvField, KnowsMissingValues) {
  for (const char* field : {"", "NA", "na", "NaN", "nan", "?", "null", "NULL", "n/a", "#N/A", "<NA>"})
    EXPECT_TRUE(is_missing(field)) << field;
  for (const char* field : {"0", "none", "nation", "-", "N", "nulls"}) EXPECT_FALSE(is_missing(field)) << field;
}

TEST(CsvField, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_number("-1.5e3"), -1500.0);
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5.0);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_TRUE(std::isinf(parse_number("1e400").value()));
  EXPECT_TRUE(std::isinf(parse_number("-inf").value()));
  for (const char* field : {"", "nan", "1x", "x", "1,5", "0x10", "+-1", "1 2", "+", "1e"})
    EXPECT_FALSE(parse_number(field)) << field;
}

TEST(CsvField, NamesAsWordsOfAShell) {
  EXPECT_EQ(shell_word("price"), "price");
  EXPECT_EQ(shell_word("Home Town"), "'Home Town'");
  EXPECT_EQ(shell_word("it's $5"), "'it'\\''s $5'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(CsvField, QuotesForMessages) {
  EXPECT_EQ(quote_field("a\nb"), "'a b'");
  EXPECT_EQ(quote_field(std::string(39, 'x') + "\xc3\xa9y"), "'" + std::string(39, 'x') + "...'")
      << "no half character";
}

}  // namespace
}  // namespace ockham
