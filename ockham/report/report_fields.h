// Private to report: the fields of every part under their names in report.json, listed once for writing and reading.
#pragma once

#include <type_traits>

#include "ockham/report/run_report.h"

namespace ockham::report {

// `Part` is deduced as const for writing; `visit` is called with the name and the field.
template <typename Part, typename Of>
using enable_for = std::enable_if_t<std::is_same_v<std::remove_const_t<Part>, Of>, int>;

template <typename Part, typename Visit, enable_for<Part, ReportValue> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("name", part.name), visit("value", part.value);
}

template <typename Part, typename Visit, enable_for<Part, ReportText> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("name", part.name), visit("value", part.value);
}

template <typename Part, typename Visit, enable_for<Part, ReportTraceRow> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("epoch", part.epoch), visit("log_evidence", part.log_evidence), visit("loss", part.loss);
  visit("noise", part.noise), visit("temperature", part.temperature), visit("precisions", part.precisions);
}

template <typename Part, typename Visit, enable_for<Part, ReportTrace> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("groups", part.groups), visit("rows", part.rows);
}

template <typename Part, typename Visit, enable_for<Part, ReportCandidate> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("network", part.network), visit("parameters", part.parameters), visit("restarts", part.restarts);
  visit("log_evidence", part.log_evidence), visit("log_evidence_best", part.log_evidence_best);
  visit("spread", part.spread), visit("half_width", part.half_width), visit("probability", part.probability);
  visit("log_likelihood", part.log_likelihood), visit("log_prior", part.log_prior), visit("log_det", part.log_det);
  visit("epochs", part.epochs), visit("seconds", part.seconds), visit("gradient_norm", part.gradient_norm);
  visit("failure", part.failure), visit("train", part.train), visit("test", part.test), visit("trace", part.trace);
}

template <typename Part, typename Visit, enable_for<Part, ReportPrediction> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("target", part.target), visit("mean", part.mean), visit("sd", part.sd);
}

template <typename Part, typename Visit, enable_for<Part, ReportCoverage> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("level", part.level), visit("coverage", part.coverage);
}

template <typename Part, typename Visit, enable_for<Part, ReportRegression> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("target", part.target), visit("train", part.train), visit("test", part.test);
  visit("train_total", part.train_total), visit("test_total", part.test_total);
  visit("train_coverage", part.train_coverage), visit("test_coverage", part.test_coverage);
}

template <typename Part, typename Visit, enable_for<Part, ReportReliabilityBin> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("lower", part.lower), visit("upper", part.upper), visit("count", part.count);
  visit("mean_confidence", part.mean_confidence), visit("accuracy", part.accuracy);
}

template <typename Part, typename Visit, enable_for<Part, ReportClassification> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("classes", part.classes);
  visit("train_reliability", part.train_reliability), visit("test_reliability", part.test_reliability);
  visit("train_confusion", part.train_confusion), visit("test_confusion", part.test_confusion);
  visit("train_total", part.train_total), visit("test_total", part.test_total);
}

template <typename Part, typename Visit, enable_for<Part, ReportImage> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("picture", part.picture), visit("place", part.place), visit("truth", part.truth);
  visit("predicted", part.predicted), visit("probability", part.probability);
}

template <typename Part, typename Visit, enable_for<Part, ReportImages> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("split", part.split), visit("looked_at", part.looked_at), visit("width", part.width);
  visit("height", part.height), visit("surest", part.surest), visit("least_sure", part.least_sure);
  visit("surest_mistakes", part.surest_mistakes);
}

template <typename Part, typename Visit, enable_for<Part, ReportPoint> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("x", part.x), visit("y", part.y);
}

template <typename Part, typename Visit, enable_for<Part, ReportBand> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("input", part.input), visit("target", part.target), visit("x", part.x), visit("mean", part.mean);
  visit("sd_epistemic", part.sd_epistemic), visit("sd_noise", part.sd_noise);
  visit("train", part.train), visit("test", part.test);
}

template <typename Part, typename Visit, enable_for<Part, ReportMapPoint> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("x1", part.x1), visit("x2", part.x2), visit("target", part.target);
}

template <typename Part, typename Visit, enable_for<Part, ReportMap> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("input1", part.input1), visit("input2", part.input2), visit("surfaces", part.surfaces);
  visit("probabilities", part.probabilities), visit("x1", part.x1), visit("x2", part.x2);
  visit("values", part.values), visit("train", part.train), visit("test", part.test);
}

template <typename Part, typename Visit, enable_for<Part, ReportBaselineRow> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("precision", part.precision), visit("validation", part.validation), visit("seconds", part.seconds);
}

template <typename Part, typename Visit, enable_for<Part, ReportBaseline> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("network", part.network), visit("score", part.score), visit("rows", part.rows);
  visit("chosen_precision", part.chosen_precision), visit("seconds", part.seconds), visit("test", part.test);
}

template <typename Part, typename Visit, enable_for<Part, RunReport> = 0>
void each_field(Part& part, Visit&& visit) {
  visit("title", part.title), visit("data", part.data), visit("task", part.task), visit("targets", part.targets);
  visit("examples", part.examples), visit("test_examples", part.test_examples), visit("features", part.features);
  visit("run", part.run), visit("when", part.when), visit("seconds", part.seconds);
  visit("comparability", part.comparability), visit("versions", part.versions), visit("settings", part.settings);
  visit("warnings", part.warnings), visit("messages", part.messages), visit("candidates", part.candidates);
  visit("prior_precisions", part.prior_precisions), visit("relevances", part.relevances);
  visit("regressions", part.regressions), visit("classification", part.classification);
  visit("images", part.images), visit("evidence_accuracy_rho", part.evidence_accuracy_rho);
  visit("bands", part.bands), visit("maps", part.maps), visit("baselines", part.baselines);
}

/// Parts that come in long lists are kept as columns, {"x": [...], "y": [...]}: a third of the size.
template <typename Part>
inline constexpr bool is_row = std::is_same_v<Part, ReportTraceRow> || std::is_same_v<Part, ReportPrediction> ||
                               std::is_same_v<Part, ReportCoverage> || std::is_same_v<Part, ReportReliabilityBin> ||
                               std::is_same_v<Part, ReportPoint> || std::is_same_v<Part, ReportMapPoint> ||
                               std::is_same_v<Part, ReportBaselineRow>;

}  // namespace ockham::report
