#include "ockham/data/csv_rows.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

TEST(CsvRows, RowsKeepTheirFieldsAndLines) {
  const CsvTable table = parse_csv("a,b\n1,x\n2,\"y\nz\"\n3,\n", "t.csv");
  const CsvTable taken = take_rows(table, {2, 1});
  ASSERT_EQ(taken.rows(), 2);
  EXPECT_EQ(taken.names, table.names);
  EXPECT_EQ(taken.field(0, 0), "3");
  EXPECT_EQ(taken.field(0, 1), "");
  EXPECT_EQ(taken.field(1, 1), "y\nz");
  EXPECT_EQ(taken.line(0), table.line(2));
  EXPECT_EQ(taken.place_name(1, 0), table.place_name(1, 0));
}

TEST(CsvRows, ADivisionIsCompleteAndFollowsTheSeed) {
  const auto [training, test] = divide_rows(103, 0.1, 4);
  EXPECT_EQ(test.size(), 10u);
  std::set<int64_t> all(training.begin(), training.end());
  all.insert(test.begin(), test.end());
  EXPECT_EQ(all.size(), 103u);
  EXPECT_EQ(divide_rows(103, 0.1, 4).second, test);
  EXPECT_NE(divide_rows(103, 0.1, 5).second, test);
  EXPECT_EQ(divide_rows(3, 0.01, 0).second.size(), 1u);
}

TEST(CsvRows, NothingLeftForTrainingIsRefused) {
  testing::expect_error(ErrorKind::usage, {"0.9", "2 rows"}, [] { divide_rows(2, 0.9, 0); });
}

}  // namespace
}  // namespace ockham
