#include "experiments/run_experiment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "experiments/kept_cells.h"
#include "ockham/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

namespace fs = std::filesystem;

/// An experiment of a few cells that write down when they ran.
class Runs : public ::testing::Test {
 protected:
  Runs() {
    experiment_.name = "made";
    experiment_.cells = [this](const Settings&) { return cells_; };
    options_.directory = directory_.path("out");
    options_.say = [this](const std::string& sentence) { said_.push_back(sentence); };
  }

  void add(const std::string& name, double cost, std::function<Json(const CellContext&)> run = {}) {
    if (!run) run = [](const CellContext&) { return Json{{"value", 1.5}}; };
    cells_.push_back({name, {{"epochs", 3}}, cost, [this, name, run](const CellContext& context) {
                        {
                          const std::lock_guard<std::mutex> lock(mutex_);
                          ran_.push_back(name);
                        }
                        return run(context);
                      }});
  }
  ExperimentRun run() { return run_experiment(experiment_, {}, options_); }

  testing::TemporaryDirectory directory_;
  Experiment experiment_;
  RunOptions options_;
  std::vector<Cell> cells_;
  std::vector<std::string> ran_, said_;
  std::mutex mutex_;
};

TEST_F(Runs, TheDearestFirstAndKeepsEachOne) {
  add("a/cheap", 1), add("a/dear", 9), add("b/middle", 5);
  const ExperimentRun first = run();
  EXPECT_EQ(ran_, (std::vector<std::string>{"a/dear", "b/middle", "a/cheap"}));
  EXPECT_EQ(first.results.size(), 3u);
  EXPECT_EQ(first.results.at("a/dear").at("value"), 1.5);
  EXPECT_EQ(first.computed, 3);
  EXPECT_TRUE(fs::exists(directory_.path("out/cells/a__dear.json")));
  EXPECT_TRUE(fs::is_empty(directory_.path("out/working"))) << "what cells needed while they ran";

  const ExperimentRun second = run();
  EXPECT_EQ(ran_.size(), 3u) << "nothing is repeated";
  EXPECT_EQ(second.results, first.results);
  EXPECT_EQ(second.kept, 3);
  EXPECT_EQ(said_, std::vector<std::string>{});
}

TEST_F(Runs, OtherSettingsAreComputedAgainAndThisIsSaid) {
  add("a", 1), add("b", 1);
  run();
  cells_[1].settings["epochs"] = 4;
  EXPECT_EQ(run().computed, 1);
  EXPECT_EQ(ran_.back(), "b");
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("b: kept with other settings"), std::string::npos);
}

TEST_F(Runs, ADamagedFileIsAsNone) {
  add("a", 1);
  run();
  testing::write_bytes(directory_.path("out/cells/a.json"), "{\"settings\": {");
  EXPECT_EQ(run().computed, 1);
}

TEST_F(Runs, AFailedCellDoesNotStopTheOthers) {
  add("bad", 9, [](const CellContext&) -> Json { throw Error(ErrorKind::data, "the file is gone"); });
  add("worse", 8, [](const CellContext&) -> Json { throw Error(ErrorKind::numerical, "not finite"); });
  add("odd", 7, [](const CellContext&) -> Json { throw std::runtime_error("what\nis this"); });
  add("good", 1);
  const ExperimentRun first = run();
  EXPECT_EQ(first.results.size(), 1u);
  EXPECT_EQ(first.failures.at("bad"), "the file is gone");
  EXPECT_EQ(first.failures.at("worse"), "not finite");
  EXPECT_EQ(first.failures.at("odd"), "unexpected failure: what");
  EXPECT_EQ(first.missing, std::vector<std::string>{});
  ran_.clear();
  EXPECT_EQ(run().failures, first.failures);
  EXPECT_EQ(ran_, (std::vector<std::string>{"bad", "odd"}))
      << "a numerical failure is final, the others may have passed";
}

TEST_F(Runs, OnlyCellsWithAllWords) {
  add("energy/kron/split-0", 1), add("energy/full/split-0", 1), add("yacht/kron/split-0", 1);
  options_.only = {"yacht"};
  EXPECT_EQ(run().results.size(), 1u);
  options_.only = {"energy", "kron"};
  const ExperimentRun second = run();
  EXPECT_EQ(ran_, (std::vector<std::string>{"yacht/kron/split-0", "energy/kron/split-0"}));
  EXPECT_EQ(second.results.size(), 2u) << "kept cells are shown as well";
  EXPECT_EQ(second.missing, (std::vector<std::string>{"energy/full/split-0"}));
  options_.only = {"energy", "diag"};
  testing::expect_error(ErrorKind::usage, {"--only energy --only diag", "energy/kron/split-0"}, [&] { run(); });
}

TEST_F(Runs, WorkersGiveTheSame) {
  for (int i = 0; i < 12; ++i)
    add("cell-" + std::to_string(i), i, [i](const CellContext& context) {
      context.go_on(0.5);
      return Json{{"value", i * i}};
    });
  options_.workers = 4;
  std::atomic<int64_t> most{0};
  options_.progress = [&](const RunProgress& now) { most = std::max<int64_t>(most, now.total); };
  const ExperimentRun several = run();
  options_.directory = directory_.path("other");
  options_.workers = 1;
  EXPECT_EQ(run().results, several.results);
  EXPECT_EQ(several.results.size(), 12u);
}

TEST_F(Runs, AnInterruptedCellGoesOnFromItsDirectory) {
  std::atomic<bool> interrupt{false};
  options_.interrupted = [&] { return interrupt.load(); };
  add("long", 2, [&](const CellContext& context) {
    const std::string state = context.directory + "/state";
    if (fs::exists(state)) return Json{{"went_on", testing::read_bytes(state)}};
    testing::write_bytes(state, "half");
    interrupt = true;
    while (context.go_on(0.5)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    throw Interrupted();
  });
  add("next", 1);
  const ExperimentRun first = run();
  EXPECT_TRUE(first.interrupted);
  EXPECT_FALSE(first.abandoned);
  EXPECT_EQ(first.missing, (std::vector<std::string>{"long", "next"}));
  interrupt = false;
  const ExperimentRun second = run();
  EXPECT_FALSE(second.interrupted);
  EXPECT_EQ(second.results.at("long").at("went_on"), "half");
  EXPECT_EQ(second.results.size(), 2u);
}

TEST_F(Runs, StateOfOtherSettingsIsThrownAway) {
  std::atomic<bool> interrupt{true};
  options_.interrupted = [&] { return interrupt.load(); };
  add("long", 2, [&](const CellContext& context) {
    if (fs::exists(context.directory + "/state")) return Json{{"went_on", true}};
    testing::write_bytes(context.directory + "/state", "half");
    while (context.go_on(0.5)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (interrupt) throw Interrupted();
    return Json{{"went_on", false}};
  });
  run();
  interrupt = false;
  cells_[0].settings["epochs"] = 5;
  cells_[0].run = [](const CellContext& context) {
    return Json{{"went_on", fs::exists(context.directory + "/state")}};
  };
  EXPECT_EQ(run().results.at("long").at("went_on"), false);
}

TEST_F(Runs, ACellThatDoesNotListenIsAbandoned) {
  std::atomic<bool> interrupt{false}, release{false}, released{false};
  options_.interrupted = [&] { return interrupt.load(); };
  options_.patience = 0.2;
  add("deaf", 1, [&](const CellContext&) {
    interrupt = true;
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    released = true;  // after this it has no need of the test's variables
    return Json{{"value", 1}};
  });
  const auto start = std::chrono::steady_clock::now();
  const ExperimentRun first = run();
  EXPECT_TRUE(first.abandoned);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2);
  EXPECT_EQ(first.missing, (std::vector<std::string>{"deaf"}));
  release = true;  // a process would have ended; here its thread must before its directory goes
  while (!released || fs::exists(directory_.path("out/working/deaf.lock")))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST_F(Runs, ACellThatAnotherProcessComputesIsLeftToIt) {
  add("shared", 1), add("mine", 1);
  fs::create_directories(directory_.path("out/working"));
  const CellLock other(directory_.path("out"), "shared");
  ASSERT_TRUE(other.taken());
  const ExperimentRun here = run();
  EXPECT_EQ(ran_, (std::vector<std::string>{"mine"}));
  EXPECT_EQ(here.missing, (std::vector<std::string>{"shared"}));
  EXPECT_NE(said_.at(0).find("another process"), std::string::npos);
}

TEST_F(Runs, NamesThatCannotBeKeptAreRefused) {
  add("a b", 1);
  testing::expect_error(ErrorKind::failure, {"a b"}, [&] { run(); });
  cells_.clear();
  add("twice", 1), add("twice", 1);
  testing::expect_error(ErrorKind::failure, {"twice"}, [&] { run(); });
}

}  // namespace
}  // namespace ockham::paper
