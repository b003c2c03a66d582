// ockham paper: runs an experiment of the paper, keeps its cells, and shows what they gave beside the paper's numbers.
#include "app/paper_flags.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "app/durations.h"
#include "app/interrupt.h"
#include "app/progress_line.h"
#include "app/say.h"
#include "experiments/experiment_files.h"
#include "experiments/table_text.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/cpu.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/nearest_word.h"

namespace ockham::app {
namespace {

using paper::Experiment;
using paper::Json;

void print_list(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Experiment& one : paper::experiments())
      list.push_back(
          {{"name", one.name}, {"title", one.title}, {"place", one.place}, {"needs", one.needs}, {"takes", one.takes}});
    fmt::print("{}\n", Json{{"schema", 1}, {"experiments", list}}.dump(2));
    return;
  }
  for (const Experiment& one : paper::experiments())
    fmt::print("{}\n    {}\n    in the paper: {}\n    needs: {}\n    takes: {}\n", one.name, one.title, one.place,
               one.needs, one.takes);
  fmt::print("\n'ockham paper EXPERIMENT --data DIR' runs one; --quick takes minutes.\n");
}

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& one : paper::experiments()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  const std::string nearest = did_you_mean(name, names);
  throw Error(ErrorKind::usage,
              fmt::format("there is no experiment '{}'{}", name,
                          nearest.empty() ? fmt::format(": it is one of {}", fmt::join(names, ", ")) : nearest));
}

int64_t count_workers(const PaperFlags& flags) {
  if (flags.workers > 0) return flags.workers;
  if (flags.common.threads > 0) return flags.common.threads;
  const char* wish = std::getenv("OMP_NUM_THREADS");
  return std::max(1, wish == nullptr ? available_cpus() : std::atoi(wish));
}

Json settings_json(const PaperFlags& flags) {
  const auto own_or = [](int64_t value) { return value > 0 ? Json(value) : Json(nullptr); };
  return {{"data", flags.data},        {"out", flags.out},
          {"quick", flags.quick},      {"splits", own_or(flags.splits)},
          {"seed", flags.common.seed}, {"epochs", own_or(flags.epochs)},
          {"only", flags.only},        {"train_size", own_or(flags.train_size)}};
}

std::string describe(const paper::RunProgress& now, bool all) {
  std::string text = fmt::format("{}/{} cells", now.done, now.total);
  if (now.seconds_left > 0.5) text += fmt::format(", about {} left", duration(now.seconds_left));
  size_t shown = 0;
  for (const auto& [name, fraction] : now.running) {
    if (!all && ++shown > 2) break;
    text += fmt::format(" | {} {:.0f} %", name, 100 * fraction);
  }
  return text;
}

void print_for_people(const Experiment& experiment, const paper::ExperimentReport& report) {
  fmt::print("{} ({})\n\n", experiment.title, experiment.place);
  for (const paper::Claim& claim : report.presentation.claims)
    fmt::print("{:<7} {}\n        {}\n", paper::verdict_word(claim.verdict), claim.statement, claim.grounds);
  for (const paper::Table& table : report.presentation.tables) fmt::print("\n{}", paper::plain_text(table));
  fmt::print("\n");
  for (const auto& [name, sentence] : report.run.failures) fmt::print("failed: {}: {}\n", name, sentence);
  if (!report.run.missing.empty())
    fmt::print("{} cells are not computed yet, e.g. {}\n", report.run.missing.size(), report.run.missing.front());
}

}  // namespace

int run_paper(const PaperFlags& flags) {
  if (flags.experiment.empty()) {
    print_list(flags.common.json);
    return 0;
  }
  const Experiment& experiment = find_experiment(flags.experiment);
  if (flags.out.empty())  // a shell variable that is not set: results would go to the root of the file system
    throw Error(ErrorKind::usage, "--out: a directory is expected, the name is empty");
  const int64_t workers = count_workers(flags);
  const int64_t memory = flags.common.memory > 0 ? flags.common.memory : default_memory_budget();

  paper::Settings settings;
  settings.data = flags.data;
  settings.splits = flags.splits;
  settings.epochs = flags.epochs;
  settings.train_size = flags.train_size;
  settings.quick = flags.quick;
  settings.seed = flags.common.seed;
  settings.memory = memory / workers;

  const auto start = std::chrono::steady_clock::now();
  const InterruptWatch interrupt("ockham: interrupted; the same command again goes on");
  bool out_of_time = false;
  paper::ExperimentReport report;
  {
    ProgressLine line(flags.common.quiet);
    paper::RunOptions options;
    options.directory = flags.out;
    options.workers = workers;
    options.only = flags.only;
    options.interrupted = [&] {
      const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      out_of_time = flags.common.time_limit > 0 && passed > flags.common.time_limit;
      return interrupt.interrupted() || out_of_time;
    };
    options.progress = [&](const paper::RunProgress& now) {
      if (line.due()) line.show(describe(now, line.terminal()));
    };
    options.say = [&](const std::string& sentence) { line.print(sentence); };
    report.settings = settings_json(flags);
    report.run = paper::run_experiment(experiment, settings, options);
  }
  report.presentation = experiment.present(settings, report.run.results);
  const std::string page = write_experiment_files(flags.out, experiment, report);
  if (flags.common.json) {
    Json json = to_json(experiment, report);
    json["page"] = page;
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_for_people(experiment, report);
    fmt::print("the page: {}\n", page);
  }
  std::fflush(stdout);

  int code = 0;
  if (report.run.interrupted && out_of_time && !flags.common.quiet)
    say("the time limit is over; the same command again goes on\n");
  if (report.run.interrupted && !out_of_time) code = interrupt.say_farewell();
  if (report.run.abandoned) {  // cells that did not hear of it still run
    remove_unfinished_files();
    std::_Exit(code);
  }
  return code;
}

}  // namespace ockham::app
