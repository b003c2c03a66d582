// Runs the built tool as a user would.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variable_guard.h"

namespace {

using ockham::testing::TemporaryDirectory;
using ockham::testing::ToolRun;
using ockham::testing::VariableGuard;
using ockham::testing::write_bytes;

ToolRun run(const std::string& arguments) {
  std::istringstream words(arguments);
  return ockham::testing::run_tool({std::istream_iterator<std::string>(words), {}});
}

void expect_usage_error(const std::string& arguments, const std::string& part) {
  const ToolRun outcome = run(arguments);
  EXPECT_EQ(outcome.exit_code, 2) << arguments;
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_EQ(outcome.err.rfind("ockham: ", 0), 0u) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << " said: " << outcome.err;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSecondsForHelp = 0.5;
#else
constexpr double kSecondsForHelp = 0.05;
#endif

// Of those that have ended. A busy machine does not disturb it.
double processor_seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) { return time.tv_sec + 1e-6 * time.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(FrontEnd, AnswersHelpAtOnceWithExamplesFirst) {
  for (const char* arguments : {"--help", "", "evidence --help", "doctor --help", "help doctor"}) {
    const double before = processor_seconds_of_children();
    const ToolRun outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_EQ(outcome.err, "") << arguments;
    EXPECT_LT(outcome.out.find("Examples:"), outcome.out.find("Usage:")) << outcome.out;
    EXPECT_LT(processor_seconds_of_children() - before, kSecondsForHelp)
        << arguments << " loads what help does not need";
  }
}

TEST(FrontEnd, HelpListsWhatMeansSomethingAndOthersAreTakenAllTheSame) {
  const std::string data = run("data --help").out, fit = run("fit --help").out, export_help = run("export --help").out;
  for (const char* flag : {"--threads", "--dtype", "--device", "--memory", "--time-limit", "--color"}) {
    EXPECT_EQ(data.find(flag), std::string::npos) << flag;
    EXPECT_EQ(export_help.find(flag), std::string::npos) << flag;
    EXPECT_NE(fit.find(flag), std::string::npos) << flag;
  }
  for (const char* flag : {"--seed", "--rows", "--overwrite", "--json", "--quiet", "--config"})
    EXPECT_NE(data.find(flag), std::string::npos) << flag;
  EXPECT_EQ(run("data --threads 1 --dtype float64 --memory 1G --time-limit 10s --color never").exit_code, 0);
  for (const char* command : {"fit", "predict", "export", "report", "evidence", "data", "doctor"}) {
    const std::string help = run(std::string(command) + " --help").out;
    for (const char* raw : {"Excludes", "Needs:", "TEXT", "REQUIRED"})
      EXPECT_EQ(help.find(raw), std::string::npos) << command << " --help has " << raw;
  }
  EXPECT_NE(export_help.find("Usage: ockham export [OPTIONS] RUN\n"), std::string::npos) << export_help;
}

TEST(FrontEnd, SaysItsVersion) {
  const ToolRun outcome = run("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.rfind("ockham ", 0), 0u);
}

TEST(FrontEnd, RefusesWrongUsageInOneLineWithASuggestion) {
  expect_usage_error("docter", "did you mean 'doctor'?");
  expect_usage_error("banana", "one of");
  expect_usage_error("--threads 2 doctor", "after the subcommand");
  expect_usage_error("doctor --jsn", "did you mean --json?");
  expect_usage_error("doctor --banana", "has no flag --banana");
  expect_usage_error("doctor leftover", "takes no argument 'leftover'");
  expect_usage_error("doctor --memory", "--memory needs a value");
  expect_usage_error("doctor --memory lots", "--memory: expected a number of bytes");
  expect_usage_error("doctor --dtype float46", "did you mean 'float64'?");
  expect_usage_error("doctor --memory 1G --memory 2G", "--memory is given more than once");
  expect_usage_error("fit x.csv --test y.csv --no-test", "--test and --no-test exclude each other");
  expect_usage_error("doctor --seed -1", "--seed: expected a whole number");
}

TEST(FrontEnd, ReadsAConfigurationFileAndChecksIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("run.toml");
  write_bytes(path, "memry = \"5G\"\n");
  expect_usage_error("doctor --config " + path, "did you mean --memory?");
  write_bytes(path, "memory = \"5 parsecs\"\n");
  expect_usage_error("doctor --config " + path, "--memory: expected");
  const ToolRun missing = run("doctor --config " + directory.path("absent.toml"));
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_NE(missing.err.find("absent.toml"), std::string::npos) << missing.err;
}

TEST(FrontEnd, RefusesADeviceThatThisLibtorchLacks) {
  const ToolRun outcome = run("doctor --device cuda --json");
  if (outcome.exit_code == 0) GTEST_SKIP() << "this libtorch has CUDA";
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--device cuda"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(Doctor, PrintsOneJsonObject) {
  const TemporaryDirectory directory;
  write_bytes(directory.path("run.toml"), "json = true\nthreads = 1\nmemory = \"2G\"\n");
  const ToolRun outcome = run("doctor --config " + directory.path("run.toml"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["threads"]["aten"], 1);
  EXPECT_EQ(report["threads"]["blas"], 1);
  EXPECT_EQ(report["memory"]["budget_bytes"], int64_t{1} << 31);
  for (const char* kernel : {"sgemm", "dgemm", "ssyrk", "cholesky", "convolution"})
    EXPECT_GT(report["gflops"][kernel], 0) << kernel;
}

TEST(Doctor, KeepsTheCoreThatTheUserChose) {
  const VariableGuard core("OPENBLAS_CORETYPE");
  core.set("Nehalem");
  const ToolRun outcome = run("doctor --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  if (report["blas_core"] == "") GTEST_SKIP() << "this libtorch does not use OpenBLAS";
  EXPECT_EQ(report["blas_core"], "Nehalem");
}

TEST(Doctor, PaintsOnlyWhenAsked) {
  EXPECT_EQ(run("doctor").out.find('\x1b'), std::string::npos) << "stdout is no terminal here";
  EXPECT_NE(run("doctor --color always").out.find('\x1b'), std::string::npos);
}

}  // namespace
