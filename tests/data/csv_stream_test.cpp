// A table in parts is the table as a whole: the same fields, lines, messages and refusals.
#include "ockham/data/csv_stream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::write_bytes;

class CsvParts : public ::testing::Test {
 protected:
  std::string write(const std::string& text, const std::string& name = "t.csv") const {
    write_bytes(directory_.path(name), text);
    return directory_.path(name);
  }

  static void expect_row(const CsvTable& part, int64_t row, const CsvTable& whole, int64_t place) {
    ASSERT_EQ(part.line(row), whole.line(place));
    for (int64_t column = 0; column < whole.columns(); ++column)
      ASSERT_EQ(part.field(row, column), whole.field(place, column)) << part.place_name(row, column);
  }

  static void expect_same(const std::string& path, int64_t rows, const CsvOptions& options = {}) {
    const CsvTable whole = read_csv(path, options);
    CsvStream stream(path, options);
    EXPECT_EQ(stream.columns(), whole.columns());
    std::vector<std::string> messages;
    int64_t done = 0;
    while (const auto part = stream.next(rows)) {
      ASSERT_LE(done + part->rows(), whole.rows());
      ASSERT_EQ(part->rows(), std::min(rows, whole.rows() - done));
      ASSERT_EQ(part->names, whole.names);
      ASSERT_EQ(part->path, whole.path);
      ASSERT_EQ(part->had_header, whole.had_header);
      ASSERT_EQ(part->separator, whole.separator);
      messages.insert(messages.end(), part->messages.begin(), part->messages.end());
      for (int64_t row = 0; row < part->rows(); ++row) expect_row(*part, row, whole, done + row);
      done += part->rows();
    }
    EXPECT_EQ(done, whole.rows());
    EXPECT_EQ(messages, whole.messages);
    EXPECT_FALSE(stream.next(rows));
    ASSERT_TRUE(stream.share());
    EXPECT_EQ(*stream.share(), 1);
  }

  /// Reads all; returns the sentence of the error, or nothing.
  static std::string refusal(const std::string& path) {
    try {
      CsvStream stream(path);
      while (stream.next(1024)) {
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
};

TEST_F(CsvParts, OfEveryKindOfTable) {
  const std::vector<std::string> texts = {
      "a,b\n1,2\n3,4\n5,6\n",
      "a,b\r\n1,2\r\n\r\n3,4\r\n5,6",
      "a,b\r1,2\r3,4\r",
      "\xef\xbb\xbf"
      "a;b\n1;2\n3;4\n",
      "\xef\xbb\xbf\xef\xbb\xbf"  // two files, put together
      "1,2\n3,4\n",
      "sep=;\na;b\n1,5;2\n3,5;4\n",
      "a b\n1 2\n3  4\n 5 6 \n",
      "a\tb\n1\t2\n\t\n3\t4\n",
      "1,2\n3,4\n5,6\n",
      ",a,b\nr1,1,2\nr2,3,4\n",
      "a,b,\n1,2,\n3,4,\n",
      "name,n\n\"x, \"\"y\"\"\nz\",1\n  \"q\"  , 2\n5\" pipe,3\n",
      "a\n1\n\n   \n2\n\"\"\n3\n",
  };
  for (const std::string& text : texts)
    for (const int64_t rows : {1, 2, 3, 1000}) {
      SCOPED_TRACE(text);
      expect_same(write(text), rows);
    }
  CsvOptions options;
  options.header = HeaderRow::absent;
  expect_same(write("a,b\n1,2\n3,4\n"), 2, options);
  options.separator = ';';
  expect_same(write("1,5;2\n3;4\n"), 1, options);
}

TEST_F(CsvParts, OfAFileLargerThanABlock) {
  std::mt19937 random(1);
  std::string text = "number,word\n";
  for (int row = 0; row < 130000; ++row) {
    text += std::to_string(random() % 100000);
    text += random() % 50 == 0   ? ",\"two\r\nlines, and \"\"quotes\"\"\"\r\n"
            : random() % 50 == 0 ? ",Größe\n\n"
                                 : ",plain word\n";
  }
  ASSERT_GT(text.size(), size_t{2} << 20);
  expect_same(write(text), 1024);
  expect_same(write(text), 50000);
  const std::string path = write(text);
  ASSERT_EQ(
      std::system(("gzip -kf '" + path + "' && cat '" + path + ".gz' '" + path + ".gz' > '" + path + "2.gz'").c_str()),
      0);
  expect_same(path + ".gz", 4096);
  expect_same(path + "2.gz", 4096);
}

TEST_F(CsvParts, WhatIsWrongFarBehindIsRefusedWithItsLine) {
  std::string rows = "a,b\n";
  for (int row = 0; row < 3000; ++row) rows += "1,2\n";
  const auto expect = [&](const std::string& last, const std::vector<std::string>& mentioned) {
    const std::string path = write(rows + last), sentence = refusal(path);
    for (const std::string& part : mentioned) EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
    expect_error(ErrorKind::data, {sentence}, [&] { read_csv(path); });
  };
  expect("1,2,3\n", {"line 3002", "3 fields", "line 1 has 2"});
  expect("1\n", {"line 3002", "1 field"});
  expect("1,\"2\n", {"line 3002", "never closed"});
  expect("1,\"2\"x\n", {"line 3002", "closing quote"});
  expect(std::string("1,\0\n", 4), {"line 3002", "byte 3", "NUL"});
  expect("1,\xe9\n", {"line 3002", "byte 3", "0xe9"});
  expect("\n\n1," + std::string(200000, 'x') + "\n", {"line 3004", "200000 bytes"});
  std::string unnamed = "a,\n";
  for (int row = 0; row < 3000; ++row) unnamed += "1,\n";
  const std::string path = write(unnamed + "1,2\n");
  EXPECT_NE(refusal(path).find("column 2 of 2 has no name"), std::string::npos) << refusal(path);
  expect_error(ErrorKind::data, {refusal(path)}, [&] { read_csv(path); });
}

TEST_F(CsvParts, AQuoteThatIsNeverClosedDoesNotGatherTheFile) {
  std::string text = "a,b\n";
  for (int row = 0; row < 2000; ++row) text += "1,2\n";
  text += "1,\"é";
  for (int row = 0; row < 1000000; ++row) text += "1,2\n";
  const std::string sentence = refusal(write(text));
  EXPECT_NE(sentence.find("line 2002"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("not closed within 100000 bytes"), std::string::npos) << sentence;
}

TEST_F(CsvParts, RandomTextsAreReadOrRefusedAsAWhole) {
  std::mt19937 random(7);
  std::string rows = "a,b\n";
  for (int row = 0; row < 1100; ++row) rows += "1,2\n";
  const std::string letters = "1a,,\"\"\n\n\r \t";
  int read = 0, refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text = rows;
    for (int i = random() % 24; i > 0; --i) text += letters[random() % letters.size()];
    const std::string path = write(text);
    std::string expected;
    try {
      read_csv(path);
    } catch (const Error& error) {
      expected = error.what();
    }
    SCOPED_TRACE(text.substr(rows.size()));
    EXPECT_EQ(refusal(path), expected);
    ++(expected.empty() ? read : refused);
    if (expected.empty()) expect_same(path, 1 + random() % 1100);
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 20);
}

TEST_F(CsvParts, FilesThatAreNone) {
  const auto same_refusal = [&](const std::string& path) {
    const std::string sentence = refusal(path);
    EXPECT_NE(sentence, "");
    expect_error(ErrorKind::data, {sentence}, [&] { read_csv(path); });
  };
  same_refusal(directory_.path("nowhere.csv"));
  same_refusal(directory_.path(""));
  same_refusal(write(""));
  same_refusal(write("a,b\n"));
  same_refusal(write("PK\x03\x04 and more"));
  same_refusal(write("\xef\xbb\xbf<html>\n1,2\n"));
  same_refusal(write("plain", "plain.csv.gz"));
  const std::string path = write("a,b\n1,2\n3,4\n");
  ASSERT_EQ(std::system(("gzip -kf '" + path + "'").c_str()), 0);
  std::string packed = testing::read_bytes(path + ".gz");
  same_refusal(write(packed.substr(0, packed.size() - 9), "short.gz"));
  same_refusal(write(packed.substr(0, 2), "tiny.gz"));
  packed[15] = static_cast<char>(packed[15] ^ 0x55);
  same_refusal(write(packed, "damaged.gz"));
}

}  // namespace
}  // namespace ockham
