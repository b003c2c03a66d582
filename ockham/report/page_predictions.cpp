#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ockham/report/page_parts.h"
#include "ockham/report/text.h"

namespace ockham::report {
namespace {

template <typename Row, typename Field>
bool any_finite(const std::vector<Row>& train, const std::vector<Row>& test, Field field) {
  const auto finite = [&](const Row& row) { return std::isfinite(field(row)); };
  return std::any_of(train.begin(), train.end(), finite) || std::any_of(test.begin(), test.end(), finite);
}

double residual_of(const ReportPrediction& p) { return p.target - p.mean; }
double standardised_of(const ReportPrediction& p) { return p.sd > 0 ? residual_of(p) / p.sd : not_given; }
double coverage_of(const ReportCoverage& point) { return point.coverage; }
double accuracy_of(const ReportReliabilityBin& bin) { return bin.count > 0 ? bin.accuracy : not_given; }

std::string shown_of(const char* split, size_t shown, int64_t total) {
  if (total <= static_cast<int64_t>(shown)) return "";
  return fmt::format(" {} of the {} {} examples are shown.", format_count(static_cast<int64_t>(shown)),
                     format_count(total), split);
}

std::string regression_figures(const ReportRegression& regression, size_t index, bool several) {
  const std::string of = several ? ": " + regression.target : "";
  std::string figures;
  if (any_finite(regression.train, regression.test, residual_of)) {
    const std::string shown = shown_of("training", regression.train.size(), regression.train_total) +
                              shown_of("test", regression.test.size(), regression.test_total);
    figures += make_figure(
        {"predicted", "Predictions against targets" + of, "On the line the prediction is the target." + shown, index});
    figures += make_figure({"residuals", "Residuals" + of,
                            "Target minus prediction. A trend or a funnel is what the network missed.", index});
  }
  if (any_finite(regression.train, regression.test, standardised_of))
    figures += make_figure({"standardised", "Standardised residuals" + of,
                            "Residuals over the predicted standard deviation. Honest uncertainties follow the curve of "
                            "the standard normal.",
                            index});
  if (any_finite(regression.train_coverage, regression.test_coverage, coverage_of))
    figures += make_figure({"calibration", "Calibration" + of,
                            "The share of targets inside the central intervals. Below the diagonal the predictions are "
                            "too sure of themselves.",
                            index});
  return figures;
}

bool is_square(const std::vector<std::vector<int64_t>>& matrix) {
  return !matrix.empty() && std::all_of(matrix.begin(), matrix.end(),
                                        [&](const std::vector<int64_t>& row) { return row.size() == matrix.size(); });
}

/// Examples that the bins count.
size_t count_of(const std::vector<ReportReliabilityBin>& bins) {
  size_t count = 0;
  for (const ReportReliabilityBin& bin : bins) count += static_cast<size_t>(bin.count);
  return count;
}

std::string classification_figures(const ReportClassification& classification) {
  const std::string train_shown =
      shown_of("training", count_of(classification.train_reliability), classification.train_total);
  const std::string test_shown = shown_of("test", count_of(classification.test_reliability), classification.test_total);
  std::string figures;
  if (any_finite(classification.train_reliability, classification.test_reliability, accuracy_of))
    figures += make_figure({"reliability", "Reliability",
                            std::string() +
                                "Accuracy against confidence: honest probabilities lie on the diagonal, too sure ones "
                                "below. Larger marks hold more examples." +
                                train_shown + test_shown});
  const std::string text = "Rows are the true classes, columns the predicted ones; the shade is the share of the row.";
  if (is_square(classification.test_confusion))
    figures += make_figure({"confusion", "Confusion matrix, test data", text + test_shown, 0, "test"});
  if (is_square(classification.train_confusion))
    figures += make_figure({"confusion", "Confusion matrix, training data", text + train_shown, 0, "train"});
  return figures;
}

bool is_drawable(const ReportBand& band) {
  const size_t size = band.x.size();
  return size > 1 && band.mean.size() == size && band.sd_epistemic.size() == size && band.sd_noise.size() == size;
}

bool is_drawable(const ReportMap& map) {
  const size_t size = map.x1.size() * map.x2.size();
  return size > 0 && !map.values.empty() && map.surfaces.size() == map.values.size() &&
         std::all_of(map.values.begin(), map.values.end(),
                     [&](const std::vector<double>& surface) { return surface.size() == size; });
}

std::string surface_figures(const RunReport& report) {
  std::string figures;
  for (size_t i = 0; i < report.bands.size(); ++i)
    if (is_drawable(report.bands[i]))
      figures += make_figure({"band", "Prediction of " + report.bands[i].target,
                              "Mean with two standard deviations: what the network does not know (epistemic) inside, "
                              "with the noise outside.",
                              i, "", true});
  for (size_t i = 0; i < report.maps.size(); ++i) {
    if (!is_drawable(report.maps[i])) continue;
    const bool classes = report.maps[i].probabilities;
    figures += make_figure({"map", classes ? "Class probabilities" : "Prediction of " + report.maps[i].surfaces[0],
                            classes ? "The colour is the most probable class, stronger where it is surer; the line is "
                                      "where two classes are equally probable."
                                    : "The predicted mean, stronger where it is higher.",
                            i, "", true});
  }
  return figures;
}

}  // namespace

std::string render_predictions(const RunReport& report) {
  std::string body = surface_figures(report);
  for (size_t i = 0; i < report.regressions.size(); ++i)
    body += regression_figures(report.regressions[i], i, report.regressions.size() > 1);
  body += classification_figures(report.classification);
  return make_section("predictions", "Predictions of the selected network", body);
}

}  // namespace ockham::report
