#include "tests/support/sample_reports.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace ockham::testing {
namespace {

// The standard library's distributions differ between implementations; this one does not.
class Noise {
 public:
  explicit Noise(uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform()); }

 private:
  std::mt19937_64 engine_;
};

struct Sketch {
  const char* network;
  int64_t parameters;
  double log_evidence, log_likelihood;
};

ReportTrace make_trace(const Sketch& sketch, int64_t epochs, double noise, Noise& random) {
  ReportTrace trace;
  const int64_t layers =
      1 + std::count(sketch.network, sketch.network + std::char_traits<char>::length(sketch.network), '-') +
      (sketch.network[0] == 'm' ? 1 : 0);
  for (int64_t layer = 0; layer < layers; ++layer) {
    trace.groups.push_back(std::to_string(2 * layer) + ".weight");
    trace.groups.push_back(std::to_string(2 * layer) + ".bias");
  }
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const double share = static_cast<double>(epoch) / static_cast<double>(epochs), left = std::exp(-8 * share);
    ReportTraceRow row;
    row.epoch = epoch;
    row.log_evidence = sketch.log_evidence - 1500 * left + 1.5 * random.normal() * (1 - share);
    row.loss =
        -sketch.log_likelihood / 691 + 3 * left * (1 + 100.0 / (100 + sketch.parameters)) + 0.01 * random.normal();
    if (noise > 0) row.noise = {noise * std::pow(std::abs(sketch.log_evidence) / 500, 0.4) * (1 + 6 * left)};
    if (noise == 0) row.temperature = 1 - 0.3 * (1 - left);
    for (size_t group = 0; group < trace.groups.size(); ++group)
      row.precisions.push_back(std::exp((1 - left) * (2.0 * std::sin(1.7 * static_cast<double>(group)) + 1)));
    trace.rows.push_back(row);
  }
  return trace;
}

void add_candidates(RunReport& report, const std::vector<Sketch>& sketches, int64_t epochs, double noise) {
  Noise random(7);
  double total = 0;
  for (const Sketch& sketch : sketches) total += std::exp(sketch.log_evidence - sketches[0].log_evidence);
  for (const Sketch& sketch : sketches) {
    ReportCandidate candidate;
    candidate.network = sketch.network;
    candidate.parameters = sketch.parameters;
    candidate.restarts = 3;
    candidate.log_evidence = sketch.log_evidence;
    candidate.spread = 0.4 + 2 * random.uniform();
    candidate.log_evidence_best = sketch.log_evidence + candidate.spread;
    candidate.probability = std::exp(sketch.log_evidence - sketches[0].log_evidence) / total;
    candidate.log_likelihood = sketch.log_likelihood;
    candidate.log_prior = -1.2 * static_cast<double>(sketch.parameters);
    candidate.log_det = 2 * (sketch.log_likelihood + candidate.log_prior - candidate.log_evidence_best) +
                        1.8378770664093453 * static_cast<double>(sketch.parameters);
    candidate.epochs = epochs;
    candidate.seconds = 2 + 0.004 * static_cast<double>(sketch.parameters);
    candidate.gradient_norm = 0.02 * random.uniform();
    candidate.trace = make_trace(sketch, epochs, noise, random);
    report.candidates.push_back(candidate);
  }
  const ReportTrace& trace = report.candidates[0].trace;
  for (size_t group = 0; group < trace.groups.size(); ++group)
    report.prior_precisions.push_back({trace.groups[group], trace.rows.back().precisions[group]});
}

void describe(RunReport& report, const char* data, const char* task, const char* target) {
  report.data = data;
  report.task = task;
  report.targets = target;
  report.run = "ockham-runs/2026-11-16-021000";
  report.when = "2026-11-16 02:10 UTC";
  report.seconds = 131.4;
  report.comparability = "full structure, GGN curvature";
  report.versions = {{"ockham", "0.1.0"}, {"libtorch", "1.13.0"}, {"BLAS", "OpenBLAS 0.3.21, SkylakeX"}};
  report.settings = {{"--epochs", "2000"},    {"--optimizer", "adam"}, {"--lr", "0.01, cosine"},
                     {"--structure", "full"}, {"--curvature", "ggn"},  {"--prior", "ard"},
                     {"--restarts", "3"},     {"--seed", "0"},         {"--batch-size", "691"},
                     {"--frequency", "1"},    {"--hyper-steps", "1"},  {"--hyper-lr", "0.01"}};
  report.messages = {"task: regression, because the target has 586 different numbers (--task)",
                     "column id is constant and was dropped"};
}

std::vector<ReportPrediction> make_predictions(int64_t count, double noise, Noise& random) {
  std::vector<ReportPrediction> predictions;
  for (int64_t i = 0; i < count; ++i) {
    ReportPrediction prediction;
    prediction.mean = (random.uniform() < 0.5 ? 14 : 32) + 4 * random.normal();
    prediction.sd = noise * (0.9 + 0.3 * random.uniform());
    prediction.target = prediction.mean + prediction.sd * random.normal();
    predictions.push_back(prediction);
  }
  return predictions;
}

std::vector<ReportCoverage> make_coverage(double shift) {
  std::vector<ReportCoverage> curve;
  for (int i = 1; i < 20; ++i) curve.push_back({0.05 * i, 0.05 * i + shift * std::sin(3.14159 * 0.05 * i)});
  return curve;
}

std::vector<double> make_grid(double low, double high, int64_t count) {
  std::vector<double> grid;
  for (int64_t i = 0; i < count; ++i)
    grid.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1));
  return grid;
}

std::vector<ReportReliabilityBin> make_reliability(double shift, int64_t total) {
  std::vector<ReportReliabilityBin> bins;
  for (int b = 0; b < 15; ++b) {
    ReportReliabilityBin bin{b / 15.0, (b + 1) / 15.0, b < 4 ? 0 : total * (b + 1) * (b + 1) / 1200, not_given,
                             not_given};
    if (bin.count > 0) {
      bin.mean_confidence = (b + 0.55) / 15.0;
      bin.accuracy = std::min(1.0, bin.mean_confidence + shift * std::sin(0.9 * b));
    }
    bins.push_back(bin);
  }
  return bins;
}

}  // namespace

RunReport regression_report(int64_t epochs) {
  RunReport report;
  describe(report, "data/energy.csv", "regression", "heating load");
  report.examples = 691, report.test_examples = 77, report.features = 8;
  report.warnings = {"mlp:50-50 and mlp:50 are not decided by more than the spread over their restarts (--restarts)"};
  add_candidates(report,
                 {{"mlp:50-50", 3051, -512.31, -391.2},
                  {"mlp:50", 501, -513.05, -437.9},
                  {"mlp:20-20", 621, -521.77, -452.3},
                  {"mlp:20", 201, -548.12, -497.6},
                  {"mlp:50-50-50", 5601, -560.4, -377.5},
                  {"linear", 9, -1713.66, -1684.2}},
                 epochs, 0.48);
  ReportCandidate failed;
  failed.network = "mlp:200-200,act=relu";
  failed.parameters = 42201;
  failed.failure = "the loss was not finite after epoch 12: lower --lr";
  report.candidates.push_back(failed);
  Noise random(3);
  for (ReportCandidate& candidate : report.candidates) {
    if (!candidate.failure.empty()) continue;
    const double error = 0.4 + random.uniform() / 5;
    candidate.train = {{"rmse", error - 0.05}, {"nll", error + 0.1}, {"nll_bayes", error + 0.08}};
    candidate.test = {{"rmse", error}, {"nll", error + 0.21}, {"nll_bayes", error + 0.17}};
  }
  ReportRegression regression;
  regression.target = "heating load (kWh/m²)";
  regression.train = make_predictions(691, 0.48, random);
  regression.test = make_predictions(77, 0.55, random);
  regression.train_coverage = make_coverage(0.03);
  regression.test_coverage = make_coverage(-0.06);
  report.regressions = {regression};
  const std::vector<std::string> inputs = {"relative compactness", "surface area", "wall area",    "roof area",
                                           "overall height",       "orientation",  "glazing area", hostile_name};
  for (size_t i = 0; i < inputs.size(); ++i)
    report.relevances.push_back({inputs[i], std::exp(0.9 * static_cast<double>((5 * i) % 8) - 1)});
  ReportBaseline baseline{"mlp:50", "validation log likelihood per example", {}, 0.1,
                          93.2,     {{"rmse", 0.52}, {"nll", 0.79}}};
  for (int i = 0; i < 11; ++i)
    baseline.rows.push_back({std::pow(10.0, 0.5 * i - 3), -0.7 - 0.03 * (i - 4) * (i - 4) - 0.002 * i, 8.4});
  report.baselines = {baseline};
  return report;
}

RunReport classification_report() {
  RunReport report;
  describe(report, "data/iris & more.csv", "classification", "species");
  report.examples = 1200, report.test_examples = 300, report.features = 12;
  add_candidates(
      report,
      {{"mlp:50,act=relu", 905, -233.4, -170.1}, {"mlp:20,act=relu", 365, -235.9, -188}, {"linear", 65, -301.2, -277}},
      600, 0);
  for (ReportCandidate& candidate : report.candidates) {
    candidate.train = {{"accuracy", 0.961}, {"nll", 0.142}};
    candidate.test = {{"accuracy", 0.9433}, {"nll", 0.171}, {"nll_bayes", 0.165}, {"ece", 0.0213}, {"brier", 0.088}};
  }
  ReportClassification& classes = report.classification;
  classes.classes = {"setosa", "versicolor", "virginica", hostile_name, "Ωmega"};
  classes.train_reliability = make_reliability(0.02, 1200);
  classes.test_reliability = make_reliability(0.05, 300);
  classes.train_confusion = {
      {238, 1, 0, 0, 0}, {0, 231, 9, 0, 1}, {0, 12, 226, 2, 0}, {0, 0, 1, 240, 0}, {2, 0, 0, 0, 237}};
  classes.test_confusion = {{61, 0, 0, 0, 0}, {0, 55, 5, 0, 0}, {0, 7, 52, 0, 1}, {0, 0, 1, 59, 0}, {1, 0, 0, 2, 56}};
  return report;
}

RunReport one_input_report() {
  RunReport report;
  describe(report, "toy:gap", "regression", "y");
  report.examples = 150, report.features = 1;
  add_candidates(
      report,
      {{"mlp:20-20,act=tanh", 481, -61.2, -20.4}, {"mlp:20,act=tanh", 61, -69.3, -38.1}, {"linear", 2, -161.2, -152.2}},
      800, 0.29);
  Noise random(11);
  ReportBand band;
  band.input = "x";
  band.target = "y";
  const auto curve = [](double x) { return std::sin(1.4 * x) + 0.2 * x; };
  for (int i = 0; i < 150; ++i) {
    const double x = i % 2 ? -4 + 2.6 * random.uniform() : 0.8 + 3.2 * random.uniform();
    band.train.push_back({x, curve(x) + 0.29 * random.normal()});
  }
  band.x = make_grid(-6, 6, 300);
  for (double x : band.x) {
    const double outside = std::max({0.0, -4 - x, x - 4, std::min(x + 1.4, 0.8 - x)});
    band.mean.push_back(curve(x));
    band.sd_epistemic.push_back(0.06 + 0.5 * outside);
    band.sd_noise.push_back(0.29);
  }
  report.bands = {band};
  ReportRegression regression;
  regression.target = "y";
  regression.train = make_predictions(150, 0.29, random);
  regression.train_coverage = make_coverage(0.01);
  report.regressions = {regression};
  return report;
}

RunReport two_inputs_report() {
  RunReport report;
  describe(report, "toy:banana", "classification", "class");
  report.examples = 265, report.test_examples = 100, report.features = 2;
  add_candidates(
      report,
      {{"mlp:50-50,act=tanh", 2802, -71.4, -39.2}, {"mlp:50,act=tanh", 252, -92.6, -61.8}, {"linear", 6, -169.9, -161}},
      500, 0);
  for (ReportCandidate& candidate : report.candidates)
    candidate.test = {{"accuracy", 0.91}, {"nll", 0.23}, {"ece", 0.031}};
  ReportMap map;
  map.input1 = "x1";
  map.input2 = "x2";
  map.surfaces = {"lower", "upper"};
  map.x1 = make_grid(-3, 3, 60);
  map.x2 = make_grid(-3, 3, 60);
  const auto probability = [](double x1, double x2) {
    return 1 / (1 + std::exp(-2.2 * (x2 - 0.6 * x1 * x1 + 0.9) / (0.5 + 0.3 * std::hypot(x1, x2))));
  };
  map.values.resize(2);
  for (double x2 : map.x2)
    for (double x1 : map.x1) {
      map.values[0].push_back(1 - probability(x1, x2));
      map.values[1].push_back(probability(x1, x2));
    }
  Noise random(5);
  for (int i = 0; i < 365; ++i) {
    const double x1 = 1.1 * random.normal(), x2 = random.normal();
    (i < 265 ? map.train : map.test).push_back({x1, x2, random.uniform() < probability(x1, x2) ? 1.0 : 0.0});
  }
  report.maps = {map};
  ReportClassification& classes = report.classification;
  classes.classes = {"lower", "upper"};
  classes.test_reliability = make_reliability(0.04, 100);
  classes.test_confusion = {{44, 5}, {4, 47}};
  return report;
}

RunReport two_inputs_regression_report() {
  RunReport report;
  describe(report, "hills.csv.gz", "regression", "height,width");
  report.title = "Hills over two inputs";
  report.examples = 400, report.features = 2;
  add_candidates(report, {{"mlp:50-50", 2751, 12.4, 71.9}}, 1, 0.1);
  ReportMap map{"longitude", "latitude", {"height"}, false, make_grid(0, 4, 40), make_grid(0, 3, 30), {{}}, {}, {}};
  for (double x2 : map.x2)
    for (double x1 : map.x1) map.values[0].push_back(1e6 * std::sin(x1) * std::cos(x2));
  map.train = {{1, 1, 4e5}, {2, 2, -3e5}, {3.2, 0.4, 1e4}};
  report.maps = {map};
  return report;
}

RunReport empty_report() {
  RunReport report;
  ReportCandidate failed;
  failed.network = "linear";
  failed.failure = "the evidence was not finite";
  report.candidates = {failed};
  return report;
}

}  // namespace ockham::testing
