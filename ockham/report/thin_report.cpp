#include <algorithm>
#include <cmath>
#include <iterator>

#include "ockham/report/run_report.h"

namespace ockham {
namespace {

constexpr size_t trace_rows = 400, points = 2000, band_points = 400, map_side = 81, trace_groups = 16,
                 listed_values = 400, confusion_classes = 100, map_values = 40000;

/// `count` indices out of `size`, evenly spread, with the first and the last.
std::vector<size_t> spread_indices(size_t size, size_t count) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < std::min(size, count); ++i)
    indices.push_back(size <= count ? i : (i * (size - 1) + (count - 1) / 2) / (count - 1));
  return indices;
}

template <typename Value>
std::vector<Value> pick(const std::vector<Value>& values, const std::vector<size_t>& indices) {
  std::vector<Value> picked;
  for (size_t index : indices)
    if (index < values.size()) picked.push_back(values[index]);
  return picked;
}

template <typename Value>
void thin_evenly(std::vector<Value>& values, size_t count) {
  if (values.size() > count) values = pick(values, spread_indices(values.size(), count));
}

// The first and last row and the extremes of every stretch between: a spike of one epoch must stay visible.
void thin_rows(std::vector<ReportTraceRow>& rows) {
  if (rows.size() <= trace_rows) return;
  const size_t stretches = (trace_rows - 2) / 2, inner = rows.size() - 2;
  const auto lower = [&](size_t a, size_t b) {
    const double first = rows[a].log_evidence, second = rows[b].log_evidence;
    return std::isnan(second) ? false : std::isnan(first) || first < second;
  };
  std::vector<size_t> kept = {0};
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    std::vector<size_t> indices;
    for (size_t i = stretch * inner / stretches; i < (stretch + 1) * inner / stretches; ++i) indices.push_back(i + 1);
    const auto [least, most] = std::minmax_element(indices.begin(), indices.end(), lower);
    kept.push_back(std::min(*least, *most));
    if (*least != *most) kept.push_back(std::max(*least, *most));
  }
  kept.push_back(rows.size() - 1);
  rows = pick(rows, kept);
}

// One line a group is unreadable with many of them, and a `diagonal` prior has one a weight.
void summarise_groups(ReportTrace& trace) {
  const size_t count = trace.groups.size();
  if (count <= trace_groups) return;
  const std::string of = " of " + std::to_string(count);
  trace.groups = {"largest" + of, "median" + of, "smallest" + of};
  for (ReportTraceRow& row : trace.rows) {
    std::vector<double> sorted;
    std::copy_if(row.precisions.begin(), row.precisions.end(), std::back_inserter(sorted),
                 [](double value) { return std::isfinite(value); });
    std::sort(sorted.begin(), sorted.end());
    row.precisions = {not_given, not_given, not_given};
    if (!sorted.empty()) row.precisions = {sorted.back(), sorted[(sorted.size() - 1) / 2], sorted.front()};
  }
}

void thin_predictions(std::vector<ReportPrediction>& predictions, int64_t& total) {
  if (total == 0) total = static_cast<int64_t>(predictions.size());
  thin_evenly(predictions, points);
}

/// Sorted by `before` when they are too many to be read in their own order.
template <typename Order>
void thin_values(std::vector<ReportValue>& values, Order before) {
  if (values.size() <= listed_values) return;
  values.erase(std::remove_if(values.begin(), values.end(), [](const auto& v) { return std::isnan(v.value); }),
               values.end());
  std::sort(values.begin(), values.end(), [&](const auto& a, const auto& b) { return before(a.value, b.value); });
  thin_evenly(values, listed_values);
}

void thin_confusion(std::vector<std::vector<int64_t>>& confusion) {
  if (confusion.size() > confusion_classes) confusion.clear();
}

void thin_band(ReportBand& band) {
  for (std::vector<double>* column : {&band.x, &band.mean, &band.sd_epistemic, &band.sd_noise})
    thin_evenly(*column, band_points);
  thin_evenly(band.train, points);
  thin_evenly(band.test, points);
}

void thin_map(ReportMap& map) {
  const double surfaces = static_cast<double>(std::max<size_t>(map.values.size(), 1));
  const size_t side = std::max<size_t>(2, std::min(map_side, static_cast<size_t>(std::sqrt(map_values / surfaces))));
  const std::vector<size_t> columns = spread_indices(map.x1.size(), side), rows = spread_indices(map.x2.size(), side);
  std::vector<size_t> cells;
  for (size_t row : rows)
    for (size_t column : columns) cells.push_back(row * map.x1.size() + column);
  map.x1 = pick(map.x1, columns);
  map.x2 = pick(map.x2, rows);
  for (std::vector<double>& surface : map.values) surface = pick(surface, cells);
  thin_evenly(map.train, points);
  thin_evenly(map.test, points);
}

}  // namespace

RunReport thin_report(RunReport report) {
  for (ReportCandidate& candidate : report.candidates) {
    thin_rows(candidate.trace.rows);
    summarise_groups(candidate.trace);
  }
  for (ReportRegression& regression : report.regressions) {
    thin_predictions(regression.train, regression.train_total);
    thin_predictions(regression.test, regression.test_total);
  }
  thin_values(report.prior_precisions, [](double a, double b) { return a > b; });
  thin_values(report.relevances, [](double a, double b) { return a < b; });
  thin_confusion(report.classification.train_confusion);
  thin_confusion(report.classification.test_confusion);
  for (ReportBand& band : report.bands) thin_band(band);
  for (ReportMap& map : report.maps) thin_map(map);
  return report;
}

}  // namespace ockham
