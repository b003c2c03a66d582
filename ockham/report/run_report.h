// Everything that the report of a run shows, as plain values. A part that does not apply stays empty (a number: NaN),
// and the page leaves it out.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ockham {

inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

struct ReportValue {
  std::string name;
  double value = not_given;
};

struct ReportText {
  std::string name, value;
};

/// One curvature pass. Evidence and noise are in the target's own units.
struct ReportTraceRow {
  int64_t epoch = 0;
  double log_evidence = not_given;
  double loss = not_given;
  std::vector<double> noise;  // σ, one or one per target; empty without a noise
  double temperature = not_given;
  std::vector<double> precisions;  // in the order of the trace's groups
};

struct ReportTrace {
  std::vector<std::string> groups;  // of the prior: "0.weight", ...
  std::vector<ReportTraceRow> rows;
};

/// log evidence = fit + Occam: fit = log p(D|θ) = log_likelihood, Occam = evidence - fit = log_prior + (P/2) log 2π -
/// log_det/2. The terms are those of the restart that is kept.
struct ReportCandidate {
  std::string network;  // "mlp:50-50"
  int64_t parameters = 0;
  int64_t restarts = 1;
  double log_evidence = not_given;       // mean over the restarts: what ranks
  double log_evidence_best = not_given;  // of the restart that is kept
  double spread = not_given;             // standard deviation over the restarts
  double half_width = not_given;         // of the 95 % interval, when the evidence is an estimate
  double probability = not_given;        // posterior probability of the model, in 0 .. 1
  double log_likelihood = not_given, log_prior = not_given, log_det = not_given;
  int64_t epochs = 0;
  double seconds = not_given;
  double gradient_norm = not_given;
  std::string failure;                   // why it has no evidence; empty when it has one
  std::vector<ReportValue> train, test;  // metrics: "rmse", "nll", "nll_bayes", "accuracy", "ece", "brier", ...
  ReportTrace trace;                     // of the restart that is kept
};

struct ReportPrediction {
  double target = not_given;
  double mean = not_given;
  double sd = not_given;  // of y: epistemic and noise
};

struct ReportCoverage {
  double level = not_given;     // what the central interval promises
  double coverage = not_given;  // share of the targets inside it
};

/// One real target, in its own units. The totals are the numbers of examples when the predictions are only some of
/// them.
struct ReportRegression {
  std::string target;  // the column's name
  std::vector<ReportPrediction> train, test;
  int64_t train_total = 0, test_total = 0;  // 0: as many as there are predictions
  std::vector<ReportCoverage> train_coverage, test_coverage;
};

/// Examples with a confidence in (lower, upper].
struct ReportReliabilityBin {
  double lower = 0, upper = 0;
  int64_t count = 0;
  double mean_confidence = not_given, accuracy = not_given;
};

struct ReportClassification {
  std::vector<std::string> classes;
  std::vector<ReportReliabilityBin> train_reliability, test_reliability;
  std::vector<std::vector<int64_t>> train_confusion, test_confusion;  // [true class][predicted class]
  int64_t train_total = 0, test_total = 0;  // examples when the bins and matrices count only some; 0: they count all
};

/// An image and what the selected network says of it.
struct ReportImage {
  std::string picture;  // data: URI
  int64_t place = 0;    // in its data, from 0
  std::string truth, predicted;
  double probability = not_given;  // of the predicted class
};

struct ReportImages {
  std::string split;      // "test" or "training"
  int64_t looked_at = 0;  // images that these were chosen from
  int64_t width = 0, height = 0;
  std::vector<ReportImage> surest, least_sure, surest_mistakes;
};

struct ReportPoint {
  double x = not_given, y = not_given;
};

/// One real input and one real target: y(x) ~ N(mean, sd_epistemic² + sd_noise²), on a rising grid of x.
struct ReportBand {
  std::string input, target;  // column names
  std::vector<double> x, mean, sd_epistemic, sd_noise;
  std::vector<ReportPoint> train, test;
};

struct ReportMapPoint {
  double x1 = not_given, x2 = not_given;
  double target = not_given;  // classification: the index of the class; regression: the value
};

/// Two real inputs. values[s][i2 * x1.size() + i1] belongs to (x1[i1], x2[i2]): the probability of class s, or for
/// regression (one surface, named by the target) the mean.
struct ReportMap {
  std::string input1, input2;         // column names
  std::vector<std::string> surfaces;  // class names, or the target's name
  bool probabilities = true;          // false: a regression's mean
  std::vector<double> x1, x2;         // rising grids
  std::vector<std::vector<double>> values;
  std::vector<ReportMapPoint> train, test;
};

/// One point of the cross-validated grid search that one would do otherwise.
struct ReportBaselineRow {
  double precision = not_given;
  double validation = not_given;  // the higher the better
  double seconds = not_given;
};

struct ReportBaseline {
  std::string network;
  std::string score;  // what `validation` is: "validation log likelihood per example"
  std::vector<ReportBaselineRow> rows;
  double chosen_precision = not_given;
  double seconds = not_given;  // all of it, with retraining
  std::vector<ReportValue> test;
};

struct RunReport {
  std::string title;    // "" : made from the data file's name
  std::string data;     // the data file
  std::string task;     // "regression" or "classification"
  std::string targets;  // the target column(s)
  int64_t examples = 0, test_examples = 0, features = 0;
  std::string run;   // the run directory
  std::string when;  // "2026-11-16 02:10 UTC"
  double seconds = not_given;
  std::string comparability;         // "full structure, GGN curvature, Gaussian likelihood"
  std::vector<ReportText> versions;  // "ockham" 0.1.0, "libtorch" 1.13.0
  std::vector<ReportText> settings;  // flag and value
  std::vector<std::string> warnings, messages;

  std::vector<ReportCandidate> candidates;    // in ranking order, failed ones last; the first is the selected one
  std::vector<ReportValue> prior_precisions;  // of the selected one, by group
  /// Spearman's ρ between log evidence and test accuracy over the candidates: four or more of a classification.
  double evidence_accuracy_rho = not_given;
  std::vector<ReportValue> relevances;  // prior `ard`: input column and its precision; relevance is 1/precision

  std::vector<ReportRegression> regressions;  // one per target
  ReportClassification classification;
  ReportImages images;
  std::vector<ReportBand> bands;  // one input: one per target
  std::vector<ReportMap> maps;    // two inputs: one for all classes, or one per target
  std::vector<ReportBaseline> baselines;
};

/// The same report with at most 400 rows a trace (keeping the highest and lowest evidence of every stretch), 2000
/// predictions or points a split, and grids of at most 400 (band) or 81 x 81 (map) values. More than 16 groups in a
/// trace become their largest, median and smallest; a confusion matrix of more than 100 classes goes.
RunReport thin_report(RunReport report);

/// report.json of a run directory: every finite number survives, what is not finite becomes null and is read as NaN.
std::string format_report_data(const RunReport& report);
/// Throws Error(data) when it is no such file or made by a newer format.
RunReport parse_report_data(const std::string& json);

/// report.html: one self-contained page that loads nothing; the report is thinned first.
std::string render_report(const RunReport& report);

}  // namespace ockham
