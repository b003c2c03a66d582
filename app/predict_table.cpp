#include "app/predict_table.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/predict_images.h"
#include "app/predict_source.h"
#include "ockham/data/csv_rows.h"
#include "ockham/data/encoding_notes.h"
#include "ockham/predict/streamed_scores.h"

namespace ockham::app {
namespace {

/// The examples of a part whose targets are known; absent when there are none.
std::optional<Dataset> examples_with_targets(const TableEncoding& encoding, const CsvTable& table,
                                             const at::Tensor& inputs, int64_t& missing) {
  if (!has_targets(encoding, table)) return std::nullopt;
  const std::vector<int64_t> rows = rows_with_targets(encoding, table);
  const auto known = static_cast<int64_t>(rows.size());
  missing += table.rows() - known;
  if (known == 0) return std::nullopt;
  if (known == table.rows()) return Dataset(inputs, encode_targets(encoding, table));
  return Dataset(inputs.index_select(0, at::tensor(rows, at::kLong)), encode_targets(encoding, take_rows(table, rows)));
}

/// Shows how far the work is, and looks at the time.
class Watch {
 public:
  Watch(const PredictJob& job, const PredictSource& source) : job_(job), source_(source) {}
  std::function<void(int64_t)> from(int64_t before) const {
    return [this, before](int64_t done) {
      job_.check_time(before + done);
      if (job_.line.due()) job_.line.show(words(before + done));
    };
  }

 private:
  std::string words(int64_t done) const {
    const auto share = source_.share();
    const std::string far = share ? fmt::format("{:.0f} %", 100 * *share) : fmt::format("{} rows", done);
    return fmt::format("predicting {}: {}", source_.name(), far);
  }

  const PredictJob& job_;
  const PredictSource& source_;
};

}  // namespace

PredictReport predict_table_rows(const PredictJob& job, PredictionOutput& output) {
  expect_table_data(job.flags);
  const TableEncoding& encoding = job.trained.encoding;
  const auto source = open_predict_source(job.flags, encoding);
  const Watch watch(job, *source);
  ScoreOptions scoring;
  scoring.memory_budget = job.flags.common.memory;
  PredictReport report;
  scoring.progress = scoring.map_progress = [&](int64_t) { watch.from(report.examples)(0); };
  StreamedScores scores(job.trained, scoring);
  PredictOptions options = job.options;
  EncodingNotes notes;
  int64_t missing = 0;
  while (const auto table = source->next()) {
    job.messages.add(table->messages);
    const at::Tensor inputs = encode_inputs(encoding, *table, notes);
    const auto known = examples_with_targets(encoding, *table, inputs, missing);
    if (report.examples == 0) {
      job.line.clear();
      job.messages.release();
    }
    options.first = report.examples;
    options.progress = watch.from(report.examples);
    report.rows.predictions = predict_table(job.trained, inputs, options);
    expect_finite(report.rows.predictions, report.examples);
    if (known) scores.add(*known);
    output.add(report.rows);
    report.examples += table->rows();
  }
  if (scores.examples() > 0) report.scores = scores.finish();
  job.line.clear();
  job.messages.add(describe_notes(notes, encoding, source->name()));
  if (missing > 0)
    job.messages.add(fmt::format("{}: {} of {} rows have no target and are left out of the metrics", source->name(),
                                 missing, report.examples));
  return report;
}

}  // namespace ockham::app
