// `ockham data`: what it makes and gets, and how it refuses. The network is needed by one test only, which skips.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ockham/data/csv.h"
#include "ockham/data/table_encoding.h"
#include "tests/app/data_tool.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

const char* const packaged_file = "/usr/lib/python3/dist-packages/sklearn/datasets/data/wine_data.csv";

TEST_F(DataTool, ListsWhatThereIs) {
  const ToolRun text = run({});
  EXPECT_EQ(text.exit_code, done) << text.err;
  const json list = json::parse(run({"--json"}).out);
  EXPECT_EQ(list.at("schema"), 1);
  EXPECT_GE(list.at("data_sets").size(), 5u);
  for (const json& one : list.at("data_sets")) {
    EXPECT_NE(text.out.find(one.at("name")), std::string::npos) << one;
    EXPECT_GT(one.at("rows"), 0);
    EXPECT_TRUE(one.at("task") == "regression" || one.at("task") == "classification");
    EXPECT_NE(one.at("source"), "");
  }
  EXPECT_TRUE(fs::is_empty("."));
}

TEST_F(DataTool, MakesToyTables) {
  expect_done({"toy-curve"});
  const CsvTable curve = read_csv("toy-curve.csv");
  EXPECT_EQ(curve.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(curve.rows(), 150);
  expect_done({"toy-arcs", "--rows", "30", "--to", "new/place", "--seed", "4"});
  const CsvTable arcs = read_csv("new/place/toy-arcs.csv");
  EXPECT_EQ(arcs.rows(), 30);
  EXPECT_EQ(learn_encoding(arcs, {}).task, Task::classification);
  expect_done({"toy-curve", "--to", "again"});
  EXPECT_EQ(read_bytes("again/toy-curve.csv"), read_bytes("toy-curve.csv")) << "the same seed";
  expect_done({"toy-curve", "--to", "other", "--seed", "1"});
  EXPECT_NE(read_bytes("other/toy-curve.csv"), read_bytes("toy-curve.csv"));
}

TEST_F(DataTool, SaysInJsonWhatItWrote) {
  const json report = json::parse(run({"toy-curve", "--rows", "12", "--json"}).out);
  EXPECT_EQ(report.at("path"), "toy-curve.csv");
  EXPECT_EQ(report.at("rows"), 12);
  EXPECT_EQ(report.at("target"), "y");
}

TEST_F(DataTool, KeepsAnExistingFileUnlessForced) {
  write_bytes("toy-curve.csv", "mine");
  expect_refusal(data, {"toy-curve.csv", "exists", "--overwrite"}, {"toy-curve"});
  EXPECT_EQ(read_bytes("toy-curve.csv"), "mine");
  expect_done({"toy-curve", "--overwrite"});
  expect_done({"toy-curve", "--force"});
  EXPECT_EQ(read_csv("toy-curve.csv").rows(), 150);
}

TEST_F(DataTool, RefusesWrongUsage) {
  expect_refusal(usage, {"'whine'", "did you mean 'wine'"}, {"whine"});
  expect_refusal(usage, {"'everything'", "lists them"}, {"everything"});
  expect_refusal(usage, {"--rows", "'1'"}, {"toy-curve", "--rows", "1"});
  expect_refusal(usage, {"--rows", "178 rows"}, {"wine", "--rows", "100"});
  expect_refusal(usage, {"iris"}, {"wine", "iris"});
  write_bytes("file", "");
  expect_refusal(data, {"--to file", "directory"}, {"toy-curve", "--to", "file"});
  expect_refusal(failure, {"/proc/nowhere"}, {"toy-curve", "--to", "/proc/nowhere"});
}

TEST_F(DataTool, ExplainsWhyAPackageCannotBeHad) {
  if (fs::exists(packaged_file)) GTEST_SKIP() << "the package is installed here, so that nothing is downloaded";
  pretend("apt-get", "echo 'E: Failed to fetch x  Could not resolve host' >&2; exit 100\n");
  expect_refusal(failure, {"apt-get download python3-sklearn", "Could not resolve host", "network"}, {"wine"});
  pretend("apt-get", "echo 'E: Unable to locate package python3-sklearn' >&2; exit 100\n");
  expect_refusal(failure, {"Unable to locate package", "apt-get update"}, {"wine"});
  pretend("apt-get", "exit 0\n");
  expect_refusal(failure, {"left no package"}, {"wine"});
  pretend("apt-get", "echo rubbish > x.deb\n");
  expect_refusal(failure, {"cannot unpack x.deb"}, {"wine"});
  const VariableGuard search_path("PATH");
  search_path.set(path("here"));
  expect_refusal(failure, {"python3-sklearn", "no apt-get"}, {"wine"});
}

TEST_F(DataTool, ChecksWhatThePackageHolds) {
  if (fs::exists(packaged_file)) GTEST_SKIP() << "the package is installed here, so that nothing is downloaded";
  pretend_package(packaged_file + 1, "1,2,a\n3,4,0\n");
  expect_refusal(data, {"wine_data.csv", "SHA-256", "nothing was written"}, {"wine", "--to", "new"});
  expect_refusal(data, {"python3-sklearn has no", "iris.csv"}, {"iris"});
}

TEST_F(DataTool, GetsRealTables) {
  // One download for all: the tool sees an apt-get that copies it.
  if (!fs::exists(packaged_file)) {
    fs::create_directory(path("deb"));
    const std::string download = "cd '" + path("deb") + "' && timeout 60 apt-get download python3-sklearn > log 2>&1";
    if (std::system(download.c_str()) != 0) GTEST_SKIP() << "offline, or no apt-get: " << read_bytes(path("deb/log"));
    pretend("apt-get", "cp '" + path("deb") + "'/*.deb .\n");
  }
  const json list = json::parse(run({"--json"}).out).at("data_sets");
  for (const json& one : list) {
    if (one.at("source").get<std::string>().find("Debian") == std::string::npos || one.at("kind") != "table") continue;
    const std::string name = one.at("name");
    const ToolRun outcome = run({name});
    if (name == "boston" && outcome.err.find("has no") != std::string::npos) continue;  // newer than Debian 12
    ASSERT_EQ(outcome.exit_code, done) << outcome.err;
    const CsvTable table = read_csv(name + ".csv");
    EXPECT_EQ(table.rows(), one.at("rows")) << name;
    EXPECT_EQ(table.columns() - 1, one.at("inputs")) << name;
    EXPECT_TRUE(table.had_header) << name;
    const TableEncoding encoding = learn_encoding(table, {});
    EXPECT_EQ(encoding.targets[0].name, one.at("target")) << name;
    EXPECT_EQ(encoding.classes.size(), one.at("classes")) << name << ": the task is guessed right";
  }
  EXPECT_EQ(read_csv("iris.csv").field(149, 4), "virginica");
  EXPECT_EQ(read_csv("diabetes.csv").field(0, 10), "151");
}

}  // namespace
}  // namespace ockham::testing
