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

struct Column {
  std::string name;
  double scale = 1;  // of the target behind it; 1 for probabilities
};

const std::vector<std::pair<const char*, at::Tensor RegressionTable::*>> regression_parts = {
    {"mean", &RegressionTable::mean},
    {"sd", &RegressionTable::sd},
    {"sd_epistemic", &RegressionTable::sd_epistemic},
    {"sd_noise", &RegressionTable::sd_noise},
    {"lower95", &RegressionTable::lower95},
    {"upper95", &RegressionTable::upper95}};

std::vector<Column> columns_of(const TableEncoding& encoding) {
  std::vector<Column> columns;
  if (encoding.task == Task::classification) {
    for (const std::string& name : encoding.classes) columns.push_back({"p_" + name});
    return columns;
  }
  for (const TargetEncoding& target : encoding.targets)
    for (const auto& [name, part] : regression_parts)
      columns.push_back({encoding.targets.size() == 1 ? name : target.name + "_" + name, target.sd});
  return columns;
}

/// All numbers of an example in one row, [N, columns] float64, and the likeliest class of each.
struct Values {
  at::Tensor all, likeliest;
  explicit Values(const TablePredictions& predictions) {
    if (predictions.probabilities.defined()) {
      all = predictions.probabilities.contiguous();
      likeliest = all.argmax(1);
      return;
    }
    std::vector<at::Tensor> parts;
    for (int64_t target = 0; target < predictions.regression.mean.size(1); ++target)
      for (const auto& [name, part] : regression_parts)
        parts.push_back((predictions.regression.*part).select(1, target));
    all = at::stack(parts, 1).contiguous();
  }
  int64_t rows() const { return all.size(0); }
  const double* begin() const { return all.data_ptr<double>(); }
  bool has_classes() const { return likeliest.defined(); }
  size_t class_of(int64_t row) const { return static_cast<size_t>(likeliest.data_ptr<int64_t>()[row]); }
};

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

std::string image_name(const PredictedRows& rows, int64_t row) {
  const auto place = static_cast<size_t>(row);
  return rows.files.empty() ? std::to_string(rows.places[place]) : csv_field(rows.files[place]);
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

void expect_finite(const TablePredictions& predictions, int64_t before) {
  const RegressionTable& table = predictions.regression;
  for (const at::Tensor& values : {predictions.probabilities, table.mean, table.sd, table.lower95, table.upper95}) {
    if (!values.defined()) continue;
    const at::Tensor bad = at::logical_not(values.isfinite()).any(1);
    if (!bad.any().item<bool>()) continue;
    throw Error(ErrorKind::numerical,
                fmt::format("the prediction for example {} (counted from 1) is not a finite number; check its inputs "
                            "for values far outside those of training",
                            before + bad.to(at::kByte).argmax().item<int64_t>() + 1));
  }
}

std::string csv_header(const TrainedModel& trained) {
  std::string text = trained.images ? "image," : "";
  if (trained.encoding.task == Task::classification) text += "class,";
  const std::vector<Column> columns = columns_of(trained.encoding);
  for (size_t i = 0; i < columns.size(); ++i) text += (i > 0 ? "," : "") + csv_field(columns[i].name);
  return text + '\n';
}

std::string csv_rows(const TrainedModel& trained, const PredictedRows& rows) {
  const at::ScalarType type = trained.model.network.dtype();
  const std::vector<Column> columns = columns_of(trained.encoding);
  const Values values(rows.predictions);
  std::vector<std::string> classes;
  for (const std::string& name : trained.encoding.classes) classes.push_back(csv_field(name));
  std::string text;
  const double* value = values.begin();
  for (int64_t row = 0; row < values.rows(); ++row) {
    if (!rows.places.empty()) text += image_name(rows, row) + ",";
    if (values.has_classes()) text += classes[values.class_of(row)] + ",";
    for (size_t i = 0; i < columns.size(); ++i, ++value) {
      if (i > 0) text += ',';
      text += shortest(*value, tolerance_of(*value, columns[i].scale, type));
    }
    text += '\n';
  }
  return text;
}

std::string json_beginning(const TrainedModel& trained, const PredictFlags& flags, PredictMethod method) {
  const TableEncoding& encoding = trained.encoding;
  Json json;
  json["schema"] = 1;
  json["run"] = flags.run;
  json["network"] = trained.network;
  json["task"] = encoding.task == Task::classification ? "classification" : "regression";
  json["method"] = word_of(method);
  if (method == PredictMethod::sampled) json["samples"] = flags.samples;
  if (method != PredictMethod::map) json["scope"] = word_of(flags.scope);
  json["targets"] = Json::array();
  for (const TargetEncoding& target : encoding.targets) json["targets"].push_back(target.name);
  if (encoding.task == Task::classification) json["classes"] = encoding.classes;
  std::string text = json.dump();
  text.back() = ',';  // the object goes on
  return text + "\"predictions\":[";
}

std::string json_rows(const TrainedModel& trained, const PredictedRows& rows) {
  const std::vector<Column> columns = columns_of(trained.encoding);
  const Values values(rows.predictions);
  std::string text;
  const double* value = values.begin();
  for (int64_t row = 0; row < values.rows(); ++row) {
    Json one = Json::object();
    if (!rows.files.empty())
      one["image"] = rows.files[static_cast<size_t>(row)];
    else if (!rows.places.empty())
      one["image"] = rows.places[static_cast<size_t>(row)];
    if (values.has_classes()) one["class"] = trained.encoding.classes[values.class_of(row)];
    for (const Column& column : columns) one[column.name] = *value++;
    if (row > 0) text += ',';
    text += one.dump();
  }
  return text;
}

std::string json_ending(const PredictReport& report) {
  Json json;
  json["examples"] = report.examples;
  json["metrics"] = report.scores ? scores_json(*report.scores) : Json(nullptr);
  if (report.ood)
    json["ood"] = {{"data", report.ood->name},
                   {"examples", report.ood->examples},
                   {"score", "entropy of the predicted probabilities"},
                   {"auroc", report.ood->auroc},
                   {"auroc_map", report.ood->auroc_map}};
  json["messages"] = report.messages;
  json["seconds"] = report.seconds;
  return "]," + json.dump().substr(1) + "\n";
}

}  // namespace ockham::app
