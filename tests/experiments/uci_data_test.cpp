#include "experiments/uci_data.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

/// `rows` rows of x1, x2 and a target.
std::string csv(int64_t rows) {
  std::string text = "x1,x2,y\n";
  for (int64_t i = 0; i < rows; ++i)
    text += std::to_string(i) + "." + std::to_string(i * 7 % 10) + "," + std::to_string(i * i % 13) + "," +
            std::to_string(i % 3) + "\n";
  return text;
}

class UciData : public ::testing::Test {
 protected:
  UciData() {
    std::filesystem::create_directories(directory_.path("uci/splits"));
    testing::write_bytes(directory_.path("uci/one.csv"), csv(40));
    testing::write_bytes(directory_.path("two.csv"), csv(20));
    testing::write_bytes(directory_.path("uci/splits/one.json"),
                         R"([{"train": [0, 1, 2, 3, 5, 8], "test": [4, 6]}, {"train": [6, 7, 9], "test": [0, 1]}])");
  }
  std::vector<UciTable> read() const { return read_uci_tables(directory_.path(""), {"one", "absent", "two"}); }
  testing::TemporaryDirectory directory_;
};

TEST_F(UciData, FindsWhatIsThere) {
  const auto tables = read();
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].name, "one");
  EXPECT_EQ(tables[0].rows(), 40);
  EXPECT_EQ(tables[0].features(), 2);
  EXPECT_EQ(tables[0].splits.size(), 2u);
  EXPECT_EQ(tables[1].splits.size(), 0u);
  EXPECT_NE(tables[0].digest, tables[1].digest);
  testing::write_bytes(directory_.path("uci/splits/one.json"), R"([{"train": [0, 1], "test": [4, 6]}])");
  EXPECT_NE(read()[0].digest, tables[0].digest) << "other splits are other data";
}

TEST_F(UciData, SaysWhatIsMissing) {
  testing::expect_error(ErrorKind::data, {"absent.csv", "other", directory_.path(""), "archive.ics.uci.edu"}, [&] {
    read_uci_tables(directory_.path(""), {"absent", "other"});
  });
}

TEST_F(UciData, RefusesSplitsThatDoNotFit) {
  for (const std::string wrong : {"{", "[]", "[1]", R"([{"train": [0]}])", R"([{"train": [0, 40], "test": [1]}])",
                                  R"([{"train": [0, -1], "test": [1]}])", R"([{"train": [0, "1"], "test": [1]}])"}) {
    testing::write_bytes(directory_.path("uci/splits/one.json"), wrong);
    testing::expect_error(ErrorKind::data, {"one.json", "remove the file"}, [&] { read(); });
  }
}

TEST_F(UciData, SplitsOfTheFileThenDrawnOnes) {
  const auto tables = read();
  EXPECT_EQ(regression_split(tables[0], 1, 0).test, (std::vector<int64_t>{0, 1}));
  const RowSplit drawn = regression_split(tables[0], 2, 0);
  EXPECT_EQ(drawn.test.size(), 4u);
  EXPECT_EQ(drawn.training.size(), 36u);
  EXPECT_EQ(regression_split(tables[0], 2, 0).test, drawn.test);
  EXPECT_NE(regression_split(tables[0], 3, 0).test, drawn.test);
  EXPECT_NE(regression_split(tables[0], 2, 1).test, drawn.test);
}

TEST_F(UciData, ThreePartsWithoutOverlap) {
  const RowSplit split = classification_split(read()[0], 0, 0);
  EXPECT_EQ(split.training.size(), 28u);
  EXPECT_EQ(split.validation.size(), 6u);
  EXPECT_EQ(split.test.size(), 6u);
  std::set<int64_t> rows(split.training.begin(), split.training.end());
  rows.insert(split.validation.begin(), split.validation.end());
  rows.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(rows.size(), 40u);
}

TEST_F(UciData, ScaledByTheTrainingRows) {
  const auto tables = read();
  const EncodedSplit regression = encode_split(tables[0], regression_split(tables[0], 0, 0), Task::regression);
  EXPECT_EQ(regression.training.size(), 6);
  EXPECT_EQ(regression.outputs(), 1);
  EXPECT_LT(regression.training.inputs().mean(0).abs().max().item<double>(), 1e-12);
  EXPECT_FALSE(regression.validation.has_value());
  const EncodedSplit classes = encode_split(tables[0], classification_split(tables[0], 0, 0), Task::classification);
  EXPECT_EQ(classes.outputs(), 3);
  EXPECT_EQ(classes.validation->size(), 6);
}

}  // namespace
}  // namespace ockham::paper
