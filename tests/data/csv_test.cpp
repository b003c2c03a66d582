#include "ockham/data/csv.h"

#include <ATen/ATen.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;

using Rows = std::vector<std::vector<std::string>>;

CsvTable parse(const std::string& text, const CsvOptions& options = {}) { return parse_csv(text, "t.csv", options); }

Rows rows_of(const CsvTable& table) {
  Rows rows;
  for (int64_t row = 0; row < table.rows(); ++row) {
    rows.emplace_back();
    for (int64_t column = 0; column < table.columns(); ++column) rows.back().emplace_back(table.field(row, column));
  }
  return rows;
}

void expect_refusal(const std::string& text, const std::vector<std::string>& mentioned,
                    const CsvOptions& options = {}) {
  expect_error(ErrorKind::data, mentioned, [&] { parse(text, options); });
}

TEST(Csv, ReadsAPlainTable) {
  const CsvTable table = parse("a,b\n1,2\n3,4\n");
  EXPECT_TRUE(table.had_header);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(rows_of(table), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(table.line(0), 2);
  EXPECT_EQ(table.find_column("b"), 1);
  EXPECT_EQ(table.find_column("c"), -1);
  EXPECT_EQ(table.place_name(1, 0), "t.csv, line 3, column 'a'");
}

TEST(Csv, ReadsQuotesWithSeparatorsQuotesAndLineEnds) {
  const CsvTable table = parse("name,v\n\"a, \"\"b\"\"\",1\n\"two\nlines\", 2\n\" kept \" ,3\n\"\",4\n5\" pipe,5");
  EXPECT_EQ(rows_of(table),
            (Rows{{"a, \"b\"", "1"}, {"two\nlines", "2"}, {" kept ", "3"}, {"", "4"}, {"5\" pipe", "5"}}));
  EXPECT_EQ(table.line(2), 5) << "a line end inside quotes counts";
}

TEST(Csv, AcceptsEveryLineEndBlankLinesAndAByteOrderMark) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const CsvTable table =
        parse("\xef\xbb\xbf" + end + "a , b" + end + "1 ,\t2" + end + end + "3,4" + end + "  " + end);
    EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(rows_of(table), (Rows{{"1", "2"}, {"3", "4"}}));
    EXPECT_EQ(table.line(1), 5);
  }
}

TEST(Csv, LeavesOutRowNamesAndSeparatorsAtLineEnds) {
  const CsvTable pandas = parse(",a,b\n0,2,3\n1,4,5\n");
  EXPECT_EQ(pandas.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(rows_of(pandas), (Rows{{"2", "3"}, {"4", "5"}}));
  ASSERT_EQ(pandas.messages.size(), 1u);
  EXPECT_NE(pandas.messages[0].find("row names"), std::string::npos);
  const CsvTable ends = parse("a,b,\n2,3,\n4,5,\n");
  EXPECT_EQ(rows_of(ends), (Rows{{"2", "3"}, {"4", "5"}}));
  EXPECT_EQ(ends.messages.size(), 1u);
  EXPECT_EQ(rows_of(parse("\"\",a,\nx,3,\ny,5,\n")), (Rows{{"3"}, {"5"}})) << "both";
  expect_refusal("a,b,\n2,3,\n4,5,6\n", {"line 1", "column 3 of 3 has no name", "end of the line"});
}

TEST(Csv, RefusesWithTheLineAndTheReason) {
  expect_refusal("a,b\n1,2\n3\n", {"t.csv, line 3", "1 field,", "line 1 has 2"});
  expect_refusal("a,b\n1,2\n\n3,4,5\n", {"t.csv, line 4", "3 fields", "2"});
  expect_refusal("a,b\nr1,1,2\nr2,3,4\n", {"line 2", "row names"});
  expect_refusal("", {"t.csv", "empty"});
  expect_refusal("\n \r\n", {"t.csv", "empty"});
  expect_refusal("a,b\n", {"t.csv", "only a header"});
  expect_refusal("a,b,a\n1,2,3\n", {"line 1", "columns 1 and 3", "'a'"});
  expect_refusal("a,,c\n1,2,3\n", {"line 1", "column 2", "no name"});
  expect_refusal("a,b\n1,\"2\n3,4\n", {"line 2", "column 2", "never closed"});
  expect_refusal("a,b\n1,\"2\"x\n", {"line 2", "column 2", "closing quote"});
  expect_refusal("a,b\n1,2,\n3,4,\n", {"line 2", "separator at the end"});
  expect_refusal("a,b\n1,2\n3,4,5,6\n", {"line 3", "comma needs quotes"});
  expect_refusal("# made by me\na,b\n1,2\n", {"line 2", "line 1 looks like a comment", "#"});
  expect_refusal("My table\n\na,b\n1,2\n", {"line 3", "line 1 is a title"});
  expect_refusal("a,b\n1,2\n# half-way\n3,4\n", {"line 3 looks like a comment"});
}

TEST(Csv, RefusesFieldsOfAMillionCharacters) {
  expect_refusal("a,b\n1," + std::string(1000000, '7') + "\n", {"line 2", "column 2", "1000000", "100000 is"});
  expect_refusal("a,b\n\"1," + std::string(1000000, '7') + "\n", {"line 2", "column 1", "not closed"});
  EXPECT_EQ(parse("a,b\n1," + std::string(100000, '7') + "\n").field(0, 1).size(), 100000u);
  CsvOptions options;
  options.longest_field = 3;
  expect_refusal("a,b\n1,1234\n", {"4 bytes", "3"}, options);
}

TEST(Csv, RoundTripsRandomTables) {
  std::mt19937 random(7);
  const std::string letters = "ab ,;\"\n\r\t1.é";
  for (int repetition = 0; repetition < 300; ++repetition) {
    const size_t columns = 1 + random() % 4;
    Rows rows(1 + random() % 6, std::vector<std::string>(columns));
    for (auto& row : rows) {
      for (auto& field : row) {
        for (size_t k = random() % 6; k > 0; --k) {
          const size_t letter = random() % 12;
          field += letter == 11 ? std::string("é") : letters.substr(letter, 1);
        }
      }
    }
    std::vector<std::string> names;
    for (size_t k = 0; k < columns; ++k) names.push_back("name " + std::to_string(k));
    CsvOptions options;
    options.header = HeaderRow::present;
    options.separator = ',';
    const std::string text = format_csv(make_table("made", names, rows));
    const CsvTable back = parse(text, options);
    EXPECT_EQ(back.names, names);
    EXPECT_EQ(rows_of(back), rows) << text;
  }
}

TEST(Csv, NeverFailsOtherwiseThanByAnError) {
  std::mt19937 random(11);
  const std::string letters("a1,;\"\n\r\t \xc3\xa9.-\0\xff", 16);
  for (int repetition = 0; repetition < 3000; ++repetition) {
    std::string text;
    for (size_t k = random() % 40; k > 0; --k) text += letters[random() % (repetition % 3 == 0 ? 16 : 9)];
    try {
      const CsvTable table = parse(text);
      EXPECT_GT(table.rows(), 0);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("t.csv"), std::string::npos);
    }
  }
}

TEST(Csv, WritesAndReadsFiles) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("out.csv");
  write_csv(path, make_table("made", {"a", "b c"}, {{"1", "x, y"}, {"2", "\"z\""}}));
  EXPECT_EQ(testing::read_bytes(path), "a,b c\n1,\"x, y\"\n2,\"\"\"z\"\"\"\n");
  EXPECT_EQ(read_csv(path).rows(), 2);
  expect_error(ErrorKind::failure, {"missing/out.csv", "cannot be written"},
               [&] { write_csv(directory.path("missing/out.csv"), make_table("made", {"a"}, {{"1"}})); });
}

TEST(WriteCsv, ATableIsNotTakenForAnotherKindOfFile) {
  CsvOptions options;
  options.separator = ',';
  options.header = HeaderRow::present;
  for (const char* name : {"\xef\xbb\xbf"
                           "a",
                           "PAR1", "BZh", "<html", "<!", "<?xml", "[{", "@relation", "@RELATION", "sep=;"}) {
    const CsvTable table = make_table("t", {name, "y"}, {{"1", "2"}});
    EXPECT_EQ(parse_csv(format_csv(table), "again", options).names, table.names) << name;
  }
  EXPECT_EQ(format_csv(make_table("t", {"plain", "y"}, {{"1", "2"}})), "plain,y\n1,2\n");
}

}  // namespace
}  // namespace ockham
