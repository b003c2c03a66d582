#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>

#include "app/messages.h"
#include "app/predict_data.h"
#include "app/predict_flags.h"
#include "app/predict_images.h"
#include "app/predict_report.h"
#include "app/progress_line.h"
#include "app/run_model.h"
#include "app/scores_report.h"
#include "ockham/base/atomic_file.h"
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

/// The time limit, and how far it is.
std::function<void(int64_t)> watch(const CommonFlags& flags, const PredictData& data, Clock::time_point start,
                                   ProgressLine& line) {
  return [show = count_examples(line, fmt::format("predicting {}:", data.name), data.inputs.size(0)), start,
          limit = flags.time_limit](int64_t done) {
    if (limit > 0 && seconds_since(start) > limit)
      throw Error(
          ErrorKind::failure,
          fmt::format("--time-limit: {} examples were done in {} s; give more time, or --method map", done, limit));
    show(done);
  };
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
  PredictData data = read_predict_data(flags, trained, messages);
  std::optional<PredictData> others;
  if (!flags.ood.empty()) others = read_other_images(flags, trained, messages);
  line.clear();
  messages.release();
  data.progress = watch(flags.common, data, start, line);
  if (others) others->progress = watch(flags.common, *others, start, line);

  PredictOptions options;
  options.method = method_of(flags.method);
  options.scope = flags.scope == ScopeChoice::last_layer ? PosteriorScope::last_layer : PosteriorScope::whole;
  options.samples = flags.samples;
  options.seed = flags.common.seed;
  options.memory_budget = flags.common.memory;
  options.progress = data.progress;
  PredictReport report;
  report.places = data.places;
  report.files = data.files;
  report.predictions = predict_table(trained, data.inputs, options);
  expect_finite(report.predictions);
  if (trained.images) {
    assess_images(trained, data, others, options, report);
  } else if (data.scored) {
    ScoreOptions scoring;
    scoring.memory_budget = flags.common.memory;
    scoring.progress = scoring.map_progress = data.progress;
    report.scores = score(trained, *data.scored, scoring);
  }
  line.clear();
  report.messages = messages.all();
  report.seconds = seconds_since(start);

  if (!flags.out.empty()) write_atomically(flags.out, predictions_csv(trained, report));
  if (flags.common.json) {
    fmt::print("{}", predictions_json(trained, flags, report));
    return 0;
  }
  if (flags.out.empty()) {
    fmt::print("{}", predictions_csv(trained, report));
  } else if (!flags.common.quiet) {
    fmt::print(stderr, "{} predictions in {}\n", data.inputs.size(0), flags.out);
  }
  if (report.scores && !flags.common.quiet)
    fmt::print(
        stderr, "{}\n",
        scores_words(*report.scores, trained.images && flags.method == MethodChoice::sampled ? "sampled" : "probit"));
  if (report.ood && !flags.common.quiet) fmt::print(stderr, "{}\n", ood_words(*report.ood));
  return 0;
}

}  // namespace ockham::app
