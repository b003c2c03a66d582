#include "app/predict_report.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/scores_report.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

using Json = nlohmann::ordered_json;

/// All numbers of an example in one row, and their names.
struct Columns {
  std::vector<std::string> names;
  std::vector<double> scales;  // of the targets behind them; 1 for probabilities
  at::Tensor values;           // [N, names] float64
  at::Tensor likeliest;        // [N] int64 for classes, else undefined
};

Columns columns_of(const TableEncoding& encoding, const TablePredictions& predictions) {
  Columns columns;
  if (predictions.probabilities.defined()) {
    for (const std::string& name : encoding.classes) columns.names.push_back("p_" + name);
    columns.scales.assign(columns.names.size(), 1);
    columns.values = predictions.probabilities.contiguous();
    columns.likeliest = columns.values.argmax(1);
    return columns;
  }
  const RegressionTable& table = predictions.regression;
  const std::vector<std::pair<std::string, at::Tensor>> parts = {
      {"mean", table.mean},         {"sd", table.sd},           {"sd_epistemic", table.sd_epistemic},
      {"sd_noise", table.sd_noise}, {"lower95", table.lower95}, {"upper95", table.upper95}};
  std::vector<at::Tensor> values;
  for (size_t c = 0; c < encoding.targets.size(); ++c) {
    for (const auto& [name, part] : parts) {
      columns.names.push_back(encoding.targets.size() == 1 ? name : encoding.targets[c].name + "_" + name);
      columns.scales.push_back(encoding.targets[c].sd);
      values.push_back(part.select(1, static_cast<int64_t>(c)));
    }
  }
  columns.values = at::stack(values, 1).contiguous();
  return columns;
}

std::string csv_field(const std::string& text) {
  if (!text.empty() && text.find_first_of(",;\t\"\r\n ") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

/// The shortest text that is no further from the value than `tolerance`: as many digits as the prediction deserves.
std::string shortest(double value, double tolerance) {
  const auto is_near = [&](const std::string& text) {
    return std::abs(std::strtod(text.c_str(), nullptr) - value) <= tolerance;
  };
  const std::string single = fmt::format("{}", static_cast<float>(value));
  if (is_near(single)) return single;
  for (int digits = std::numeric_limits<float>::max_digits10; digits < std::numeric_limits<double>::max_digits10;
       ++digits) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    if (is_near(text)) return text;
  }
  return fmt::format("{}", value);
}

/// How far a written number may be from the computed one: as far as the rounding of a float32 network's outputs. That
/// is relative to the scale of a target where it is smaller than the target itself: a year, an hour since 1970.
double tolerance_of(double value, double scale, at::ScalarType type) {
  return type == at::kDouble ? 0 : std::min(std::abs(value), scale) * std::numeric_limits<float>::epsilon();
}

std::string image_name(const PredictReport& report, int64_t row) {
  const auto place = static_cast<size_t>(row);
  return report.files.empty() ? std::to_string(report.places[place]) : csv_field(report.files[place]);
}

const char* word_of(PredictMethod method) {
  switch (method) {
    case PredictMethod::map:
      return "map";
    case PredictMethod::linearised:
      return "linearised";
    case PredictMethod::probit:
      return "probit";
    case PredictMethod::sampled:
      return "sampled";
    default:
      return "auto";
  }
}

}  // namespace

void expect_finite(const TablePredictions& predictions) {
  const RegressionTable& table = predictions.regression;
  for (const at::Tensor& values : {predictions.probabilities, table.mean, table.sd, table.lower95, table.upper95}) {
    if (!values.defined()) continue;
    const at::Tensor bad = at::logical_not(values.isfinite()).any(1);
    if (!bad.any().item<bool>()) continue;
    throw Error(ErrorKind::numerical,
                fmt::format("the prediction for example {} (of {}, counted from 1) is not a finite number; check its "
                            "inputs for values far outside those of training",
                            bad.to(at::kByte).argmax().item<int64_t>() + 1, values.size(0)));
  }
}

std::string predictions_csv(const TrainedModel& trained, const PredictReport& report) {
  const TableEncoding& encoding = trained.encoding;
  const at::ScalarType type = trained.model.network.dtype();
  const Columns columns = columns_of(encoding, report.predictions);
  const bool images = !report.places.empty();
  std::string text = images ? "image," : "";
  if (columns.likeliest.defined()) text += "class,";
  for (size_t i = 0; i < columns.names.size(); ++i) text += (i > 0 ? "," : "") + csv_field(columns.names[i]);
  text += '\n';
  std::vector<std::string> classes;
  for (const std::string& name : encoding.classes) classes.push_back(csv_field(name));
  const double* value = columns.values.data_ptr<double>();
  for (int64_t row = 0; row < columns.values.size(0); ++row) {
    if (images) text += image_name(report, row) + ",";
    if (columns.likeliest.defined()) text += classes[columns.likeliest.data_ptr<int64_t>()[row]] + ",";
    for (size_t i = 0; i < columns.names.size(); ++i, ++value)
      text += (i > 0 ? "," : "") + shortest(*value, tolerance_of(*value, columns.scales[i], type));
    text += '\n';
  }
  return text;
}

std::string predictions_json(const TrainedModel& trained, const PredictFlags& flags, const PredictReport& report) {
  const TableEncoding& encoding = trained.encoding;
  const Columns columns = columns_of(encoding, report.predictions);
  Json json;
  json["schema"] = 1;
  json["run"] = flags.run;
  json["network"] = trained.network;
  json["task"] = encoding.task == Task::classification ? "classification" : "regression";
  json["method"] = word_of(report.predictions.method);
  if (report.predictions.method == PredictMethod::sampled) json["samples"] = flags.samples;
  if (report.predictions.method != PredictMethod::map) json["scope"] = word_of(flags.scope);
  json["examples"] = columns.values.size(0);
  json["targets"] = Json::array();
  for (const TargetEncoding& target : encoding.targets) json["targets"].push_back(target.name);
  if (encoding.task == Task::classification) json["classes"] = encoding.classes;
  Json rows = Json::array();
  const double* value = columns.values.data_ptr<double>();
  for (int64_t row = 0; row < columns.values.size(0); ++row) {
    Json one = Json::object();
    if (!report.files.empty())
      one["image"] = report.files[static_cast<size_t>(row)];
    else if (!report.places.empty())
      one["image"] = report.places[static_cast<size_t>(row)];
    if (columns.likeliest.defined()) one["class"] = encoding.classes[columns.likeliest.data_ptr<int64_t>()[row]];
    for (const std::string& name : columns.names) one[name] = *value++;
    rows.push_back(std::move(one));
  }
  json["predictions"] = std::move(rows);
  json["metrics"] = report.scores ? scores_json(*report.scores) : Json(nullptr);
  if (report.ood)
    json["ood"] = {{"data", report.ood->name},
                   {"examples", report.ood->examples},
                   {"score", "entropy of the predicted probabilities"},
                   {"auroc", report.ood->auroc},
                   {"auroc_map", report.ood->auroc_map}};
  json["messages"] = report.messages;
  json["seconds"] = report.seconds;
  return json.dump() + "\n";
}

}  // namespace ockham::app
