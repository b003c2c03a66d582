#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>

#include "app/messages.h"
#include "app/predict_data.h"
#include "app/predict_flags.h"
#include "app/predict_images.h"
#include "app/predict_table.h"
#include "app/prediction_output.h"
#include "app/progress_line.h"
#include "app/run_model.h"
#include "app/say.h"
#include "app/scores_report.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr int64_t standard_samples = 1000;

PredictMethod method_of(MethodChoice choice) {
  switch (choice) {
    case MethodChoice::map:
      return PredictMethod::map;
    case MethodChoice::linearised:
      return PredictMethod::linearised;
    case MethodChoice::probit:
      return PredictMethod::probit;
    case MethodChoice::sampled:
      return PredictMethod::sampled;
    default:
      return PredictMethod::automatic;
  }
}

/// A method that the task does not have is refused before the data are read.
void check_method(const PredictFlags& flags, const TrainedModel& trained) {
  const bool for_classes = flags.method == MethodChoice::probit || flags.method == MethodChoice::sampled;
  if (for_classes && trained.encoding.task == Task::regression)
    throw Error(ErrorKind::usage,
                fmt::format("--method {}: it is for classes, but the run is a regression, whose linearised predictive "
                            "has a closed form; use linearised or map",
                            word_of(flags.method)));
}

/// Throws when the time is over.
std::function<void(int64_t)> watch_time(double limit, Clock::time_point start) {
  return [limit, start](int64_t done) {
    if (limit > 0 && seconds_since(start) > limit)
      throw Error(
          ErrorKind::failure,
          fmt::format("--time-limit: {} examples were done in {} s; give more time, or --method map", done, limit));
  };
}

/// How far it is, besides.
std::function<void(int64_t)> watch(const PredictJob& job, const PredictData& data) {
  return [show = count_examples(job.line, fmt::format("predicting {}:", data.name), data.inputs.size(0)),
          check_time = job.check_time](int64_t done) {
    check_time(done);
    show(done);
  };
}

PredictReport predict_images(const PredictJob& job, PredictionOutput& output) {
  PredictData data = read_predict_images(job.flags, job.trained, job.messages);
  std::optional<PredictData> others;
  if (!job.flags.ood.empty()) others = read_other_images(job.flags, job.trained, job.messages);
  job.line.clear();
  job.messages.release();
  data.progress = watch(job, data);
  if (others) others->progress = watch(job, *others);
  PredictOptions options = job.options;
  options.progress = data.progress;
  PredictReport report;
  report.examples = data.inputs.size(0);
  report.rows.places = data.places;
  report.rows.files = data.files;
  report.rows.predictions = predict_table(job.trained, data.inputs, options);
  expect_finite(report.rows.predictions);
  assess_images(job.trained, data, others, options, report);
  job.line.clear();
  output.add(report.rows);
  return report;
}

}  // namespace

int run_predict(const PredictFlags& given) {
  const auto start = Clock::now();
  PredictFlags flags = given;
  Messages messages(flags.common.quiet);
  if (!flags.out.empty()) {
    for (const std::string& read : {flags.data, flags.inputs, flags.targets})
      expect_other_file("--out", flags.out, read);
  }
  ProgressLine line(flags.common.quiet);
  messages.hold();
  line.show("reading the run and the data");
  const TrainedModel trained = load_run_model(flags.run);
  check_method(flags, trained);
  if (flags.samples > 0 && flags.method != MethodChoice::sampled)
    messages.add("--samples is not used: it belongs to --method sampled");
  if (flags.samples == 0) flags.samples = standard_samples;

  PredictOptions options;
  options.method = method_of(flags.method);
  options.scope = flags.scope == ScopeChoice::last_layer ? PosteriorScope::last_layer : PosteriorScope::whole;
  options.samples = flags.samples;
  options.seed = flags.common.seed;
  options.memory_budget = flags.common.memory;
  const PredictJob job{flags, trained, options, messages, line, watch_time(flags.common.time_limit, start)};
  PredictionOutput output(flags, trained);
  PredictReport report = trained.images ? predict_images(job, output) : predict_table_rows(job, output);
  report.messages = messages.all();
  report.seconds = seconds_since(start);
  output.finish(report);

  if (flags.common.json || flags.common.quiet) return 0;
  if (!flags.out.empty()) say(fmt::format("{} predictions in {}\n", report.examples, flags.out));
  if (report.scores) {
    const bool sampled = trained.images && flags.method == MethodChoice::sampled;
    say(fmt::format("{}\n", scores_words(*report.scores, sampled ? "sampled" : "probit")));
  }
  if (report.ood) say(fmt::format("{}\n", ood_words(*report.ood)));
  return 0;
}

}  // namespace ockham::app
