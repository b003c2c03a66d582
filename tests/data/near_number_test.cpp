#include "ockham/data/near_number.h"

#include <gtest/gtest.h>

namespace ockham {
namespace {

void expect_reason(const char* field, const char* part) {
  EXPECT_NE(explain_near_number(field).find(part), std::string::npos) << field << ": " << explain_near_number(field);
}

TEST(NearNumber, ExplainsWhatAReaderTakesForANumber) {
  for (const char* field : {"1,5", "-0,25", "12,3456", "1,5e-3", "1.234,5", "1.234.567,89"})
    expect_reason(field, "decimal comma");
  for (const char* field : {"1,234", "-12,345"}) expect_reason(field, "thousands or for decimals");
  for (const char* field : {"1,234.5", "1,234,567", "1 234", "1'234'567", "1\u00a0234.5", "1\u202f234"})
    expect_reason(field, "thousands");
  for (const char* field : {"12%", "12 %", "1,5%"}) expect_reason(field, "percent");
  for (const char* field : {"$12", "12.50 €", "EUR 3", "$1,234.50"}) expect_reason(field, "currency");
  expect_reason("'123", "apostrophe");
  expect_reason("'123'", "single quotes");
  expect_reason("12 kg", "unit");
  expect_reason("\u22125.5", "minus");
}

TEST(NearNumber, LeavesNumbersAndTextAlone) {
  for (const char* field : {"", "1", "1.5", "-2e3", "a", "%", "$", ",", "1,2,3", "10-20", "12kg", "1 2", "abc,def",
                            "'70s", "item 1", "1,,5", "true", "1.2.3"})
    EXPECT_EQ(explain_near_number(field), "") << field;
}

TEST(NearNumber, ManySignsAreNoNumberAndTakeNoTime) {
  expect_reason("'\u2212$5", "apostrophe");
  expect_reason("$5 %", "percent");
  EXPECT_EQ(explain_near_number("$$$$5"), "");
  // Each may be taken from the front or from the back: 2^38 ways.
  for (const char* sign : {"$", "%", "'"}) {
    std::string field;
    while (field.size() < 38) field += sign;
    EXPECT_EQ(explain_near_number(field), "");
    EXPECT_EQ(explain_near_number(field + "3"), "");
  }
}

TEST(NearNumber, KnowsDatesAndTimes) {
  for (const char* field : {"2024-01-31", "31.01.2024", "1/31/24", "2024/1/3", "23:59", "23:59:59.5",
                            "2024-01-31T23:59:00Z", "2024-01-31 23:59", "2024-01-31T23:59:00+01:00"})
    EXPECT_TRUE(is_date(field)) << field;
  for (const char* field : {"", "2024", "1-2", "10.5", "1.2.3", "192.168.1.1", "a-b-c", "2024-01", "::", "12:3:456"})
    EXPECT_FALSE(is_date(field)) << field;
}

}  // namespace
}  // namespace ockham
