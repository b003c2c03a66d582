#include "ockham/store/run_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::read_bytes;
using testing::write_bytes;

const RunConfiguration configuration = {{"epochs", "100"}, {"network", "mlp:50"}};

class RunDirectoryTest : public ::testing::Test {
 protected:
  void expect_refused_format(const std::string& text, const std::vector<std::string>& mentioned) {
    fs::create_directories(path_);
    write_bytes(path_ + "/format.json", text);
    expect_error(ErrorKind::data, mentioned, [&] { RunDirectory::open(path_); });
  }
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("run");
};

TEST_F(RunDirectoryTest, IsMadeWithItsParentsAndOpenedAgain) {
  const std::string deep = directory_.path("a/b/run/");
  {
    const RunDirectory run = RunDirectory::create(deep, configuration);
    EXPECT_EQ(run.path(), directory_.path("a/b/run"));
    EXPECT_TRUE(fs::is_directory(run.path() + "/checkpoint"));
  }
  const RunDirectory run = RunDirectory::open(deep);
  EXPECT_EQ(run.configuration(), configuration);
  EXPECT_EQ(run.format_version(), run_format_version);
  run.expect_configuration(configuration);
}

TEST_F(RunDirectoryTest, KeepsItsFiles) {
  {
    const RunDirectory run = RunDirectory::create(path_, configuration);
    EXPECT_FALSE(run.has(RunFile::summary));
    run.write(RunFile::summary, "{\"schema\": 1}");
    run.write(RunFile::configuration, "epochs = 100\n");
    run.write(RunFile::trace, "epoch,evidence\n");
    run.write(RunFile::report, "<html>");
    for (int epoch = 1; epoch <= 3; ++epoch) run.append_metrics("{\"epoch\": " + std::to_string(epoch) + "}");
    run.keep_metrics(2);
    expect_error(ErrorKind::failure, {"run.json", "JSON"}, [&] { run.write(RunFile::summary, "{"); });
  }
  const RunDirectory run = RunDirectory::open(path_);
  EXPECT_EQ(run.read(RunFile::summary), "{\"schema\": 1}");
  EXPECT_EQ(run.read(RunFile::metrics), "{\"epoch\": 1}\n{\"epoch\": 2}\n");
  EXPECT_EQ(run.path_of(RunFile::model), path_ + "/model.safetensors");
  EXPECT_EQ(read_bytes(path_ + "/config.toml"), "epochs = 100\n");
  EXPECT_EQ(read_bytes(path_ + "/trace.csv"), "epoch,evidence\n");
  EXPECT_EQ(read_bytes(path_ + "/report.html"), "<html>");
  expect_error(ErrorKind::data, {path_, "no model.safetensors", "--resume"}, [&] { run.read(RunFile::model); });
  expect_error(ErrorKind::failure, {"reading only"}, [&] { run.write(RunFile::report, "x"); });
  expect_error(ErrorKind::failure, {"reading only"}, [&] { run.append_metrics("x"); });
  write_bytes(path_ + "/run.json", "{\"schema\"");
  expect_error(ErrorKind::data, {"run.json", "damaged"}, [&] { run.read(RunFile::summary); });
}

TEST_F(RunDirectoryTest, StartsMetricsAnew) {
  const RunDirectory run = RunDirectory::create(path_, configuration);
  run.keep_metrics(0);
  run.append_metrics("{}");
  run.keep_metrics(0);
  EXPECT_EQ(run.read(RunFile::metrics), "");
  expect_error(ErrorKind::data, {"metrics.jsonl", "0 whole lines but 5"}, [&] { run.keep_metrics(5); });
}

TEST_F(RunDirectoryTest, IsNotMadeOverSomethingElse) {
  write_bytes(path_, "a file");
  expect_error(ErrorKind::data, {path_, "is a file"}, [&] { RunDirectory::create(path_, configuration); });
  fs::remove(path_);
  fs::create_directories(path_);
  write_bytes(path_ + "/thesis.tex", "years of work");
  expect_error(ErrorKind::data, {path_, "not empty", "thesis.tex"},
               [&] { RunDirectory::create(path_, configuration); });
  EXPECT_FALSE(fs::exists(path_ + "/.lock"));
  fs::remove(path_ + "/thesis.tex");
  write_bytes(path_ + "/.lock", "");  // of a process that was killed at once
  write_bytes(path_ + "/.ockham-1-0.partial", "");
  RunDirectory::create(path_, configuration);
  EXPECT_FALSE(fs::exists(path_ + "/.ockham-1-0.partial"));
  expect_error(ErrorKind::data, {path_, "holds a run already", "--resume"},
               [&] { RunDirectory::create(path_, configuration); });
}

TEST_F(RunDirectoryTest, IsMadeAgainWhereAKilledProcessHadBegun) {
  const std::map<RunFile, std::string> first = {{RunFile::configuration, "epochs = 100\n"}, {RunFile::messages, "[]"}};
  RunDirectory::create(path_, configuration, first);
  EXPECT_EQ(read_bytes(path_ + "/config.toml"), "epochs = 100\n");
  EXPECT_FALSE(fs::exists(path_ + "/.ockham-begun"));

  // Killed before the format was recorded: no run yet.
  fs::remove(path_ + "/format.json");
  write_bytes(path_ + "/.ockham-begun", "");
  expect_error(ErrorKind::data, {"no format.json"}, [&] { RunDirectory::open(path_); });
  RunDirectory::create(path_, configuration, first);
  EXPECT_FALSE(fs::exists(path_ + "/.ockham-begun"));

  // Killed right after: a run.
  write_bytes(path_ + "/.ockham-begun", "");
  RunDirectory::open(path_, RunAccess::write).expect_configuration(configuration);
  EXPECT_FALSE(fs::exists(path_ + "/.ockham-begun"));

  // What looks like a part of a run is somebody's own without the mark, and other files are so even with it.
  fs::remove(path_ + "/format.json");
  expect_error(ErrorKind::data, {path_, "not empty"}, [&] { RunDirectory::create(path_, configuration); });
  write_bytes(path_ + "/.ockham-begun", "");
  write_bytes(path_ + "/thesis.tex", "years of work");
  expect_error(ErrorKind::data, {"thesis.tex"}, [&] { RunDirectory::create(path_, configuration); });
}

TEST_F(RunDirectoryTest, IsWrittenByOneProcessAndReadByMany) {
  const RunDirectory run = RunDirectory::create(path_, configuration);
  expect_error(ErrorKind::failure, {path_, "in use by process"}, [&] { RunDirectory::open(path_, RunAccess::write); });
  EXPECT_EQ(RunDirectory::open(path_).configuration(), configuration);
}

TEST_F(RunDirectoryTest, IsClearedOfLeftoversWhenItIsContinued) {
  RunDirectory::create(path_, configuration);
  write_bytes(path_ + "/.ockham-1-0.partial", "half");
  write_bytes(path_ + "/checkpoint/.ockham-1-1.partial", "half");
  RunDirectory::open(path_, RunAccess::write);
  EXPECT_FALSE(fs::exists(path_ + "/.ockham-1-0.partial"));
  EXPECT_FALSE(fs::exists(path_ + "/checkpoint/.ockham-1-1.partial"));
}

TEST_F(RunDirectoryTest, IsRefusedWhenItIsNone) {
  expect_error(ErrorKind::data, {path_, "does not exist"}, [&] { RunDirectory::open(path_); });
  write_bytes(path_, "");
  expect_error(ErrorKind::data, {path_, "not a directory"}, [&] { RunDirectory::open(path_); });
  fs::remove(path_);
  fs::create_directories(path_);
  expect_error(ErrorKind::data, {path_, "no run directory"}, [&] { RunDirectory::open(path_); });
  expect_error(ErrorKind::data, {path_, "no run directory"}, [&] { RunDirectory::open(path_, RunAccess::write); });
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(RunDirectoryTest, IsRefusedWhenItsFormatIsUnknown) {
  expect_refused_format(R"({"kind": "ockham run", "format": 2, "configuration": {}})",
                        {path_, "run format 2", "newer"});
  expect_refused_format(R"({"kind": "ockham run", "format": 0, "configuration": {}})", {"impossible"});
  expect_refused_format(R"({"kind": "ockham run", "format": 1})", {"no configuration"});
  expect_refused_format(R"({"kind": "ockham run", "format": 1, "configuration": {"epochs": 3}})", {"'epochs'"});
  for (const std::string text : {"", "{", "[]", "{}", "\xff", R"({"kind": "other", "format": 1})",
                                 R"({"kind": "ockham run", "format": "1"})", R"({"kind": "ockham run"})"}) {
    expect_refused_format(text, {"format.json", "cannot be understood"});
  }
}

TEST_F(RunDirectoryTest, SaysWhatDiffersFromItsConfiguration) {
  const RunDirectory run = RunDirectory::create(path_, configuration);
  expect_error(ErrorKind::usage, {path_, "another configuration", "epochs was '100' and is now '200'"}, [&] {
    run.expect_configuration({{"epochs", "200"}, {"network", "mlp:50"}});
  });
  expect_error(ErrorKind::failure, {"UTF-8"}, [&] { RunDirectory::create(directory_.path("x"), {{"a", "\xff"}}); });
}

TEST_F(RunDirectoryTest, NamesItsCheckpoints) {
  const RunDirectory run = RunDirectory::create(path_, configuration);
  EXPECT_EQ(run.checkpoint_path("candidate-0.restart_1"), path_ + "/checkpoint/candidate-0.restart_1.safetensors");
  for (const std::string& name : {std::string(), std::string("../x"), std::string("a/b"), std::string("."),
                                  std::string("a\0b", 3), std::string(".hidden")}) {
    expect_error(ErrorKind::failure, {"checkpoint cannot have the name"}, [&] { run.checkpoint_path(name); });
  }
  write_bytes(run.checkpoint_path("b"), "");
  write_bytes(run.checkpoint_path("a.1"), "");
  write_bytes(path_ + "/checkpoint/notes.txt", "");
  EXPECT_EQ(run.checkpoint_names(), (std::vector<std::string>{"a.1", "b"}));
  run.remove_checkpoints();
  EXPECT_TRUE(run.checkpoint_names().empty());
  EXPECT_TRUE(fs::exists(path_ + "/checkpoint/notes.txt"));
}

TEST_F(RunDirectoryTest, NewPathsNeverCollide) {
  const std::string parent = directory_.path("ockham-runs");
  std::vector<std::string> paths(16);
  std::vector<std::thread> threads;
  for (auto& path : paths) threads.emplace_back([&path, &parent] { path = new_run_path(parent); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), paths.size());
  const std::regex pattern(R"(.*/ockham-runs/\d{4}-\d\d-\d\d-\d{6}(-\d+)?)");
  for (const auto& path : paths) {
    EXPECT_TRUE(std::regex_match(path, pattern)) << path;
    EXPECT_TRUE(fs::is_directory(path)) << path;
  }
  RunDirectory::create(paths[0], configuration);
}

}  // namespace
}  // namespace ockham
