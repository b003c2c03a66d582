// `ockham data`: what it makes and gets, and how it refuses. The network is needed by one test only, which skips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ockham/data/csv.h"
#include "ockham/data/table_encoding.h"
#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variable_guard.h"

namespace ockham::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int done = 0, failure = 1, usage = 2, data = 3;
const char* const packaged_file = "/usr/lib/python3/dist-packages/sklearn/datasets/data/wine_data.csv";

/// Every command runs in a new empty directory.
class DataTool : public ::testing::Test {
 protected:
  DataTool() : before_(fs::current_path()) {
    fs::create_directory(path("here"));
    fs::create_directory(path("temporary"));
    fs::current_path(path("here"));
    scratch_.set(path("temporary"));
  }
  ~DataTool() override {
    fs::current_path(before_);
    EXPECT_TRUE(fs::is_empty(path("temporary"))) << "temporary files were left";
  }

  std::string path(const std::string& name) const { return directory_.path(name); }
  static ToolRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "data");
    return run_tool(arguments);
  }
  static void expect_done(const std::vector<std::string>& arguments) {
    const ToolRun outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, done) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  /// One line, and nothing new in the directory.
  static void expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                             const std::vector<std::string>& arguments) {
    const auto files = [] { return std::distance(fs::directory_iterator("."), fs::directory_iterator()); };
    const auto files_before = files();
    const ToolRun outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("ockham: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const auto& part : mentioned)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    EXPECT_EQ(files(), files_before);
  }

  /// Puts a program before all others in the PATH.
  void pretend(const std::string& program, const std::string& script) {
    fs::create_directory(path("bin"));
    write_bytes(path("bin/" + program), "#!/bin/sh\n" + script);
    fs::permissions(path("bin/" + program), fs::perms::owner_all);
    search_path_.set(path("bin") + ":/usr/bin:/bin");
  }
  /// An apt-get that gives a package with this content in the place of the wine data.
  void pretend_package(const std::string& file, const std::string& content) {
    const fs::path tree = path("tree");
    fs::create_directories(tree / "DEBIAN");
    fs::create_directories((tree / file).parent_path());
    write_bytes((tree / file).string(), content);
    write_bytes(
        (tree / "DEBIAN/control").string(),
        "Package: python3-sklearn\nVersion: 1\nArchitecture: all\nMaintainer: nobody <a@b.c>\nDescription: x\n");
    const std::string build = "dpkg-deb --root-owner-group --build '" + tree.string() + "' '" + path("made.deb") + "'";
    ASSERT_EQ(std::system((build + " > /dev/null 2>&1").c_str()), 0) << build;
    pretend("apt-get", "cp '" + path("made.deb") + "' .\n");
  }

 private:
  TemporaryDirectory directory_;
  fs::path before_;
  VariableGuard search_path_{"PATH"}, scratch_{"TMPDIR"};
};

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
  expect_refusal(data, {"toy-curve.csv", "exists", "--force"}, {"toy-curve"});
  EXPECT_EQ(read_bytes("toy-curve.csv"), "mine");
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
    if (one.at("source").get<std::string>().find("Debian") == std::string::npos) continue;
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
