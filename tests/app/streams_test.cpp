// Streams that cannot be written to, or that the caller has closed; runs whose files were removed or emptied.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ockham/data/toy.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

class Streams : public RunFixture {
 protected:
  std::string fit(const std::string& run) const {
    return "fit '" + write_table("curve.csv", make_toy_curve(1)) + "' --network linear --epochs 5 --out '" + path(run) +
           "'";
  }
  /// By a shell, for the sake of redirections.
  static int shell(const std::string& arguments) {
    const int status = std::system(("'" OCKHAM_BINARY_DIR "/ockham' " + arguments).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(Streams, MessagesThatCannotBeWrittenDoNotEndTheWork) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_EQ(shell(fit("full") + " > /dev/null 2> /dev/full"), 0);
  EXPECT_TRUE(std::filesystem::exists(path("full/model.safetensors")));
  EXPECT_EQ(shell("fit --nonsense 2> /dev/full"), 2);
  EXPECT_EQ(shell("fit '" + path("nowhere.csv") + "' 2> /dev/full"), 3);
  EXPECT_EQ(shell("--help > /dev/full 2> /dev/null"), 1);
  EXPECT_EQ(shell("fit --help > /dev/full 2> /dev/null"), 1);
}

TEST_F(Streams, ClosedOnesAreNotTakenForFiles) {
  EXPECT_EQ(shell(fit("closed") + " > /dev/null 2>&-"), 0);
  EXPECT_EQ(read_bytes(path("closed/.lock")).find_first_not_of("0123456789\n"), std::string::npos);
  EXPECT_EQ(
      shell("predict '" + path("closed") + "' '" + path("curve.csv") + "' --out '" + path("p.csv") + "' 0<&- 2>&-"), 0);
  EXPECT_EQ(read_bytes(path("p.csv")).rfind("mean,", 0), 0u) << read_bytes(path("p.csv")).substr(0, 80);
  EXPECT_EQ(shell("predict '" + path("closed") + "' '" + path("curve.csv") + "' >&- 2> /dev/null"), 1);
}

TEST_F(Streams, WhatASettingsFileHoldsDoesNotReachTheTerminalAsItIs) {
  for (const char* line : {"x\x1b[31m = 3\n", "epochs = \"\x1b[31m\xc2\x9b!\"\n", "network = \"\xff\x9b\"\n"}) {
    write_bytes(path("bad.toml"), line);
    const ToolRun outcome = run_tool({"fit", path("curve.csv"), "--config", path("bad.toml")});
    EXPECT_NE(outcome.exit_code, 0);
    for (const char* raw : {"\x1b", "\x9b", "\xff"}) EXPECT_EQ(outcome.err.find(raw), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Streams, ARemovedModelIsMadeAgain) {
  ASSERT_EQ(shell(fit("run") + " > /dev/null 2> /dev/null"), 0);
  const std::string model = path("run/model.safetensors"), before = read_bytes(model);
  std::filesystem::remove(model);
  const ToolRun missing = run_tool({"predict", path("run"), path("curve.csv")});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_NE(missing.err.find("'ockham fit --resume --out " + path("run") + "' makes it"), std::string::npos)
      << missing.err;
  EXPECT_EQ(run_tool({"fit", "--resume", "--out", path("run")}).exit_code, 0);
  EXPECT_EQ(read_bytes(model), before);

  write_bytes(path("run/config.toml"), "\n");
  const ToolRun emptied = run_tool({"evidence", "--from-run", path("run")});
  EXPECT_EQ(emptied.exit_code, 3);
  EXPECT_EQ(std::count(emptied.err.begin(), emptied.err.end(), '\n'), 1) << emptied.err;
}

TEST_F(Streams, NumbersThatNothingCanHoldAreRefused) {
  const std::string table = write_table("curve.csv", make_toy_curve(1));
  const auto refused = [&](const std::vector<std::string>& flags, const char* part) {
    std::vector<std::string> arguments = {"fit", table, "--out", path("none")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ToolRun outcome = run_tool(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(path("none")));
  };
  refused({"--epochs", "99999999999999999999"}, "--epochs: expected at most");
  refused({"--prior-precision", "1e300"}, "--prior-precision: a prior precision must be from");
  refused({"--noise", "1e-300"}, "--noise: the noise standard deviation must be from");
  refused({"--network", "mlp:100000-100000"}, "--network mlp:100000-100000: its weights");
}

}  // namespace
}  // namespace ockham::testing
