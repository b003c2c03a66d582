// ockham predict on tables of several parts: they are read, predicted and written one after the other.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

constexpr int64_t kPart = 16384;  // rows of a narrow table that are predicted at once

class PredictStream : public RunFixture {
 protected:
  PredictStream() : run_(make_run("run", make_trained({}))) {}

  /// Rows that differ, with targets but for every tenth.
  static std::string rows(int64_t first, int64_t count) {
    static const char* const colours[] = {"red", "green", "blue"};
    std::string text;
    for (int64_t row = first; row < first + count; ++row) {
      text += std::to_string(20 + row % 97) + "," + colours[row % 3] + "," + std::to_string(700 + row % 613);
      text += row % 10 == 0 ? ",\n" : "," + std::to_string(480 + row % 41) + "\n";
    }
    return text;
  }
  const std::string header_ = "width,colour,height,price\n";
  std::string run_;
};

TEST_F(PredictStream, PartsAreWrittenAsOneTable) {
  const std::string first = write_text("first.csv", header_ + rows(0, kPart)),
                    second = write_text("second.csv", header_ + rows(kPart, 5000)),
                    all = write_text("all.csv", header_ + rows(0, kPart + 5000));
  const std::string begin = run_tool({"predict", run_, first, "--quiet"}).out,
                    end = run_tool({"predict", run_, second, "--quiet"}).out;
  const ToolRun whole = run_tool({"predict", run_, all});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(whole.out == begin + end.substr(end.find('\n') + 1)) << "other bits than in two tables";
  EXPECT_NE(whole.err.find("2139 of 21384 rows have no target"), std::string::npos) << whole.err;
  EXPECT_EQ(run_tool({"predict", run_, all, "--out", path("p.csv")}).out, "");
  EXPECT_TRUE(read_bytes(path("p.csv")) == whole.out);

  const auto json = run_json({"predict", run_, all}), one = run_json({"predict", run_, first});
  EXPECT_EQ(json["examples"], kPart + 5000);
  ASSERT_EQ(json["predictions"].size(), static_cast<size_t>(kPart + 5000));
  EXPECT_EQ(json["predictions"][kPart - 1], one["predictions"][kPart - 1]);
  EXPECT_EQ(json["metrics"]["examples"], kPart + 5000 - 2139);
}

TEST_F(PredictStream, AnErrorInALaterPartLeavesNoFile) {
  const std::string bad = write_text("bad.csv", header_ + rows(0, kPart) + "30,purple,1000,500\n");
  const ToolRun result = run_tool({"predict", run_, bad, "--out", path("p.csv")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("line " + std::to_string(kPart + 2)), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(path("p.csv")));
}

}  // namespace
}  // namespace ockham::testing
