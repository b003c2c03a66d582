// ockham fit: from a table or images to a chosen network.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/counted.h"
#include "app/durations.h"
#include "app/fit_report.h"
#include "app/fit_summary.h"
#include "app/fit_trace.h"
#include "app/fit_training.h"
#include "app/ranks.h"
#include "app/say.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<std::string> read_messages(const RunDirectory& run) {
  try {
    return nlohmann::json::parse(run.read(RunFile::messages));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::data,
                fmt::format("{}: is no list of messages; it is damaged, remove it", run.path_of(RunFile::messages)));
  }
}

/// Made only now that data and flags are known to be good. Its messages are those of its beginning.
RunDirectory open_run(const FitPlan& plan, const RunConfiguration& configuration, Messages& messages) {
  if (plan.flags.resume) {
    RunDirectory run = RunDirectory::open(plan.flags.out, RunAccess::write);
    run.expect_configuration(configuration);
    if (run.has(RunFile::messages)) messages.recall(read_messages(run));
    return run;
  }
  return RunDirectory::create(
      plan.flags.out.empty() ? new_run_path() : plan.flags.out, configuration,
      {{RunFile::messages, nlohmann::json(messages.all()).dump(1)}, {RunFile::configuration, fit_toml(plan.flags)}});
}

/// A finished run that is asked to go on has nothing to do but to say what it found.
int say_again(const RunDirectory& run, const FitFlags& flags) {
  if (!flags.common.quiet) say(fmt::format("{} is complete already\n", run.path()));
  if (flags.common.json) {
    fmt::print("{}", run.read(RunFile::summary));
  } else {
    fmt::print("report:  {0}/report.html\npredict: ockham predict {0} {1}\n", run.path(),
               flags.inputs.empty() && std::filesystem::is_directory(flags.data) ? "DIR" : "NEW.csv");
  }
  return 0;
}

/// Its summary is the last file of a run, and says whether there is more to do. A model that was removed is made again.
bool is_complete(const RunDirectory& run) {
  if (!run.has(RunFile::summary) || !run.has(RunFile::model)) return false;
  const auto summary = nlohmann::json::parse(run.read(RunFile::summary));
  return summary.is_object() && summary.contains("complete") ? summary["complete"] == true
                                                             : run.checkpoint_names().empty();
}

}  // namespace

int run_fit(const FitFlags& given) {
  const auto start = Clock::now();
  FitFlags flags = given;
  const std::unique_ptr<Communicator> ranks = join_ranks(given.ranks, flags.common);
  Messages messages(flags.common.quiet);
  ProgressLine line(flags.common.quiet);
  messages.hold();
  line.show("reading the data");
  std::optional<FitData> read;
  std::optional<FitPlan> planned;
  attempt_together(*ranks, [&] {
    read = read_fit_data(flags, messages);
    planned = plan_fit(flags, *read, messages, line);
    if (ranks->size() == 1 || shares_candidates(*planned, *ranks))
      expect_memory(*planned, *read);
    else
      expect_rows_for_all(*ranks, read->training.size());
  });
  const FitData& data = *read;
  const FitPlan& plan = *planned;
  const RunConfiguration configuration = fit_configuration(plan.flags, data);
  expect_the_same(*ranks, fingerprint(configuration));
  std::optional<RunDirectory> opened;  // by rank 0
  bool complete = false;
  attempt_together(*ranks, [&] {
    if (!is_first(*ranks)) return;
    opened = open_run(plan, configuration, messages);
    complete = is_complete(*opened);
    if (complete) opened->remove_checkpoints();  // a process may have been killed before it came to that
  });
  const std::string path = broadcast_text(*ranks, opened ? opened->path() : "");
  line.clear();
  messages.release();
  if (is_true_anywhere(*ranks, complete)) return opened ? say_again(*opened, flags) : 0;
  const auto trainings_planned = static_cast<int64_t>(plan.candidates.size() * plan.options.restarts);
  if (!flags.common.quiet) {
    say(fmt::format("{}, {}{}; {} of up to {}: time budget about {}\n",
                    counted(data.training.size(), data.images ? "image" : "example"),
                    counted(data.features(), data.images ? "number" : "feature"), data.images ? " each" : "",
                    counted(trainings_planned, "training"), counted(plan.options.online.epochs, "epoch"),
                    duration(plan.expected_seconds)));
    say(fmt::format("run directory: {}\n", path));
  }

  const auto training_start = Clock::now();
  const std::string way_on = fmt::format("'ockham fit --resume --out {}' goes on", path);
  const InterruptWatch interrupt(opened ? "ockham: interrupted; " + way_on : "");
  FitTrainings trainings;
  try {
    const RunDirectory* const run = opened ? &*opened : nullptr;
    trainings = train_in_directory(plan, data, {run, path, fingerprint(configuration), *ranks}, interrupt, line);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::peer_lost || dynamic_cast<const SharedError*>(&error) != nullptr) throw;
    // Of ranks that are interrupted some are gone sooner than others.
    if (interrupt.interrupted()) return interrupt.say_farewell();
    line.clear();
    throw Error(ErrorKind::peer_lost, fmt::format("{}; {}, with any number of ranks", error.what(), way_on));
  }
  if (trainings.end == TrainingsEnd::interrupted) return interrupt.say_farewell();
  interrupt.stop_waiting();  // the checkpoints hold everything
  if (!opened) return 0;     // the rest is for one process
  const RunDirectory& run = *opened;
  const TimeIsOver time_is_over = [&, limit = flags.common.time_limit] {
    return trainings.end == TrainingsEnd::time_limit || (limit > 0 && seconds_since(training_start) > limit);
  };
  const std::string trace = trace_csv(plan, data, trainings.all);
  const FitResults results = assess_trainings(plan, data, std::move(trainings.all), time_is_over, line);
  const std::optional<FitBaseline> baseline = search_baseline(plan, data, messages, time_is_over, line);

  line.show("writing the report");
  FitSummary summary{plan, data, results, baseline, trainings.end, run.path(), messages.all(), seconds_since(start)};
  save_trained_model(run.path_of(RunFile::model), *results.selected);
  run.write(RunFile::trace, trace);
  write_fit_report(summary, run);
  const std::string json = fit_json(summary);
  run.write(RunFile::summary, json);
  if (trainings.end == TrainingsEnd::complete && results.in_time) run.remove_checkpoints();
  line.clear();
  fmt::print("{}", flags.common.json ? json : fit_table(summary));
  return 0;
}

}  // namespace ockham::app
