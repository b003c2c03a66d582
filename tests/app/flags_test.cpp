#include "app/flags.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "ockham/base/error.h"
#include "tests/support/variable_guard.h"

namespace ockham::app {
namespace {

TEST(ParseBytes, ReadsPlainNumbersAndUnits) {
  EXPECT_EQ(parse_bytes("1073741824"), 1073741824);
  EXPECT_EQ(parse_bytes("1k"), 1024);
  EXPECT_EQ(parse_bytes("500M"), 500 * (int64_t{1} << 20));
  EXPECT_EQ(parse_bytes("2G"), int64_t{1} << 31);
  EXPECT_EQ(parse_bytes("1.5GiB"), 3 * (int64_t{1} << 29));
  EXPECT_EQ(parse_bytes("2 GB"), 2'000'000'000);
  EXPECT_EQ(parse_bytes("64kb"), 64'000);
  EXPECT_EQ(parse_bytes("1e9"), 1'000'000'000);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text : {"", "G", "-1", "0", "5x", "1GG", "nan", "inf", "1e30", "0.5"})
    EXPECT_THROW(parse_bytes(text), Error) << text;
}

TEST(ParseSeconds, ReadsUnitsAndRefusesTheRest) {
  EXPECT_DOUBLE_EQ(parse_seconds("90"), 90);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5s"), 1.5);
  EXPECT_DOUBLE_EQ(parse_seconds("10m"), 600);
  EXPECT_DOUBLE_EQ(parse_seconds("2h"), 7200);
  for (const char* text : {"", "m", "-3", "0", "5 weeks", "nan"}) EXPECT_THROW(parse_seconds(text), Error) << text;
}

class CommonFlagsTest : public ::testing::Test {
 protected:
  CommonFlagsTest() { add_common_flags(app_, flags_); }
  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    app_.parse(arguments);
  }
  CLI::App app_;
  CommonFlags flags_;
};

TEST_F(CommonFlagsTest, HaveTheContractsDefaults) {
  parse({});
  EXPECT_EQ(flags_.seed, 0u);
  EXPECT_EQ(flags_.threads, 0u);
  EXPECT_EQ(flags_.dtype, FloatType::float32);
  EXPECT_EQ(flags_.device, DeviceKind::cpu);
  EXPECT_EQ(flags_.memory, 0);
  EXPECT_EQ(flags_.time_limit, 0);
  EXPECT_FALSE(flags_.quiet || flags_.json);
}

TEST_F(CommonFlagsTest, AreAllRead) {
  parse({"--seed", "7", "--threads=3", "--dtype", "float64", "--memory", "1G", "--time-limit", "2m", "--quiet",
         "--json", "--color", "never"});
  EXPECT_EQ(flags_.seed, 7u);
  EXPECT_EQ(flags_.threads, 3u);
  EXPECT_EQ(flags_.dtype, FloatType::float64);
  EXPECT_EQ(flags_.memory, int64_t{1} << 30);
  EXPECT_DOUBLE_EQ(flags_.time_limit, 120);
  EXPECT_TRUE(flags_.quiet && flags_.json);
  EXPECT_EQ(flags_.color, ColorChoice::never);
}

TEST_F(CommonFlagsTest, RefuseWrongValues) {
  EXPECT_THROW(parse({"--seed", "-1"}), CLI::ParseError);
  EXPECT_THROW(parse({"--seed", "99999999999999999999999"}), CLI::ParseError);
  EXPECT_THROW(parse({"--threads", "0"}), CLI::ParseError);
  EXPECT_THROW(parse({"--dtype", "float16"}), CLI::ParseError);
  EXPECT_THROW(parse({"--memory", "lots"}), CLI::ParseError);
}

TEST(UseColor, ObeysTheFlagThenTheEnvironment) {
  EXPECT_TRUE(use_color(ColorChoice::always, 1));
  EXPECT_FALSE(use_color(ColorChoice::never, 1));
  const ockham::testing::VariableGuard no_color("NO_COLOR");
  no_color.set("1");
  EXPECT_FALSE(use_color(ColorChoice::automatic, 1));
  EXPECT_TRUE(use_color(ColorChoice::always, 1));
}

}  // namespace
}  // namespace ockham::app
