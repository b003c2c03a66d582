#include "app/fit_pictures.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "app/fit_image_samples.h"
#include "ockham/assess/classification.h"
#include "ockham/assess/regression.h"
#include "ockham/predict/table_predictions.h"

namespace ockham::app {
namespace {

constexpr int64_t kMostPoints = 2000, kQuickPoints = 200;
constexpr int64_t kBandPoints = 301, kMapPoints = 61;

const std::vector<double> kLevels = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};

/// At most so many examples, evenly spaced.
at::Tensor thinned_places(const Dataset& data, int64_t most) {
  if (data.size() <= most) return at::arange(data.size(), at::kLong);
  return at::linspace(0, static_cast<double>(data.size() - 1), most, at::kDouble).to(at::kLong);
}

Dataset thinned(const Dataset& data, int64_t most = kMostPoints) {
  if (data.size() <= most) return data;
  const at::Tensor places = thinned_places(data, most);
  return Dataset(data.inputs().index_select(0, places), data.targets().index_select(0, places));
}

std::vector<double> to_vector(const at::Tensor& values) {
  const at::Tensor plain = values.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

/// Targets [N, C] in their own units.
at::Tensor own_units(const TableEncoding& encoding, const at::Tensor& targets) {
  const at::Tensor columns = targets.dim() == 1 ? targets.unsqueeze(1) : targets;
  return columns * target_scales(encoding) + target_means(encoding);
}

struct Split {
  std::vector<ReportPrediction> predictions;
  std::vector<ReportCoverage> coverage;
};

Split regression_split(const RegressionTable& table, const at::Tensor& targets, int64_t target) {
  Split split;
  const at::Tensor mean = table.mean.select(1, target), sd = table.sd.select(1, target),
                   truth = targets.select(1, target);
  const std::vector<double> means = to_vector(mean), sds = to_vector(sd), truths = to_vector(truth);
  for (size_t i = 0; i < means.size(); ++i) split.predictions.push_back({truths[i], means[i], sds[i]});
  for (const CoveragePoint& point :
       measure_coverage(mean.unsqueeze(1), sd.square().unsqueeze(1), truth.unsqueeze(1), kLevels))
    split.coverage.push_back({point.level, point.coverage});
  return split;
}

void add_regressions(const TrainedModel& trained, const FitData& data, int64_t most, RunReport& report) {
  const auto predict = [&](const Dataset& examples) {
    const Dataset few = thinned(examples, most);
    return std::make_pair(predict_table(trained, few.inputs()).regression, own_units(data.encoding, few.targets()));
  };
  const auto [train, train_targets] = predict(data.training);
  std::optional<std::pair<RegressionTable, at::Tensor>> test;
  if (data.test) test = predict(*data.test);
  for (size_t target = 0; target < data.encoding.targets.size(); ++target) {
    ReportRegression picture;
    picture.target = data.encoding.targets[target].name;
    picture.train_total = data.training.size();
    Split split = regression_split(train, train_targets, static_cast<int64_t>(target));
    picture.train = std::move(split.predictions);
    picture.train_coverage = std::move(split.coverage);
    if (test) {
      split = regression_split(test->first, test->second, static_cast<int64_t>(target));
      picture.test_total = data.test->size();
      picture.test = std::move(split.predictions);
      picture.test_coverage = std::move(split.coverage);
    }
    report.regressions.push_back(std::move(picture));
  }
}

void add_classification(const TrainedModel& trained, const FitData& data, const CandidateResult& result,
                        RunReport& report) {
  ReportClassification& picture = report.classification;
  picture.classes = data.encoding.classes;
  const auto fill = [&](const Dataset& examples, const PredictiveScores& scores, const char* split,
                        std::vector<ReportReliabilityBin>& bins, std::vector<std::vector<int64_t>>& confusion) {
    at::Tensor rows = scores.linearised_rows, probabilities = scores.linearised_probabilities;
    if (!rows.defined()) {
      rows = thinned_places(examples, kMostPoints);
      probabilities = class_probabilities(predict_outputs(trained, examples.inputs().index_select(0, rows)));
    }
    const at::Tensor targets = examples.targets().index_select(0, rows);
    for (const ReliabilityBin& bin : tabulate_reliability(probabilities, targets))
      bins.push_back({bin.lower, bin.upper, bin.count, bin.count > 0 ? bin.mean_confidence : not_given,
                      bin.count > 0 ? bin.accuracy : not_given});
    const at::Tensor counts = count_confusions(probabilities, targets).contiguous();
    for (int64_t row = 0; row < counts.size(0); ++row) {
      const int64_t* first = counts.data_ptr<int64_t>() + row * counts.size(1);
      confusion.emplace_back(first, first + counts.size(1));
    }
    if (data.images)
      add_image_samples(Dataset(examples.inputs().index_select(0, rows), targets), rows, probabilities, split, report);
  };
  fill(data.training, result.train, "training", picture.train_reliability, picture.train_confusion);
  picture.train_total = data.training.size();
  if (!data.test) return;
  fill(*data.test, *result.test, "test", picture.test_reliability, picture.test_confusion);
  picture.test_total = data.test->size();
}

/// The values of a numeric input: as the network sees them, and in its own units.
struct Axis {
  const ColumnEncoding& column;
  double low = 0, high = 0;  // encoded, with a margin around the training examples

  Axis(const ColumnEncoding& encoding, const at::Tensor& values, double margin) : column(encoding) {
    low = values.min().item<double>();
    high = values.max().item<double>();
    const double more = margin * (high - low);
    low -= more;
    high += more;
  }
  at::Tensor grid(int64_t points) const { return at::linspace(low, high, points, at::kDouble); }
  at::Tensor own_units(const at::Tensor& encoded) const { return encoded * column.sd + column.mean; }
};

void add_bands(const TrainedModel& trained, const FitData& data, RunReport& report) {
  const Axis axis(data.encoding.inputs[0], data.training.inputs(), 0.25);
  const at::Tensor grid = axis.grid(kBandPoints);
  const RegressionTable table = predict_table(trained, grid.unsqueeze(1)).regression;
  for (size_t target = 0; target < data.encoding.targets.size(); ++target) {
    const int64_t column = static_cast<int64_t>(target);
    ReportBand band;
    band.input = axis.column.name;
    band.target = data.encoding.targets[target].name;
    band.x = to_vector(axis.own_units(grid));
    band.mean = to_vector(table.mean.select(1, column));
    band.sd_epistemic = to_vector(table.sd_epistemic.select(1, column));
    band.sd_noise = to_vector(table.sd_noise.select(1, column));
    const auto points = [&](const Dataset& examples, std::vector<ReportPoint>& list) {
      const Dataset few = thinned(examples);
      const std::vector<double> x = to_vector(axis.own_units(few.inputs().select(1, 0))),
                                y = to_vector(own_units(data.encoding, few.targets()).select(1, column));
      for (size_t i = 0; i < x.size(); ++i) list.push_back({x[i], y[i]});
    };
    points(data.training, band.train);
    if (data.test) points(*data.test, band.test);
    report.bands.push_back(std::move(band));
  }
}

void add_map(const TrainedModel& trained, const FitData& data, RunReport& report) {
  const Axis first(data.encoding.inputs[0], data.training.inputs().select(1, 0), 0.1),
      second(data.encoding.inputs[1], data.training.inputs().select(1, 1), 0.1);
  const at::Tensor x1 = first.grid(kMapPoints), x2 = second.grid(kMapPoints);
  // Row by row of x2, as ReportMap wants it.
  const at::Tensor inputs = at::stack({x1.repeat({kMapPoints}), x2.repeat_interleave(kMapPoints)}, 1);
  const TablePredictions predictions = predict_table(trained, inputs);
  const bool regression = data.is_regression();
  const at::Tensor surfaces = regression ? predictions.regression.mean : predictions.probabilities;
  ReportMap map;
  map.input1 = first.column.name;
  map.input2 = second.column.name;
  map.probabilities = !regression;
  map.x1 = to_vector(first.own_units(x1));
  map.x2 = to_vector(second.own_units(x2));
  for (int64_t surface = 0; surface < surfaces.size(1); ++surface) {
    const size_t index = static_cast<size_t>(surface);
    map.surfaces.push_back(regression ? data.encoding.targets[index].name : data.encoding.classes[index]);
    map.values.push_back(to_vector(surfaces.select(1, surface)));
  }
  const auto points = [&](const Dataset& examples, std::vector<ReportMapPoint>& list) {
    const Dataset few = thinned(examples);
    const std::vector<double> a = to_vector(first.own_units(few.inputs().select(1, 0))),
                              b = to_vector(second.own_units(few.inputs().select(1, 1))),
                              y = to_vector(regression ? own_units(data.encoding, few.targets()).select(1, 0)
                                                       : few.targets());
    for (size_t i = 0; i < a.size(); ++i) list.push_back({a[i], b[i], y[i]});
  };
  points(data.training, map.train);
  if (data.test) points(*data.test, map.test);
  report.maps.push_back(std::move(map));
}

}  // namespace

void add_pictures(const FitResults& results, const FitData& data, RunReport& report) {
  const TrainedModel& trained = *results.selected;
  const CandidateResult& result = results.candidates.front();
  if (data.images) return add_classification(trained, data, result, report);
  const std::vector<ColumnEncoding>& inputs = data.encoding.inputs;
  const bool numeric = std::all_of(inputs.begin(), inputs.end(),
                                   [](const ColumnEncoding& column) { return column.kind == ColumnKind::numeric; });
  if (data.is_regression()) {
    add_regressions(trained, data, results.in_time ? kMostPoints : kQuickPoints, report);
    if (numeric && inputs.size() == 1) add_bands(trained, data, report);
  } else {
    add_classification(trained, data, result, report);
  }
  if (numeric && inputs.size() == 2 && (!data.is_regression() || data.encoding.targets.size() == 1))
    add_map(trained, data, report);
}

}  // namespace ockham::app
