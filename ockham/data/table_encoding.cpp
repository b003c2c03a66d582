#include "ockham/data/table_encoding.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ockham/base/error.h"
#include "ockham/base/printable.h"

namespace ockham {
namespace {

constexpr const char* format_name = "ockham table encoding";
constexpr int format_version = 1;

nlohmann::json to_json(const ColumnEncoding& input) {
  if (input.kind == ColumnKind::numeric) {
    return {{"name", input.name}, {"kind", "numeric"}, {"mean", input.mean}, {"sd", input.sd}};
  }
  return {
      {"name", input.name}, {"kind", "categorical"}, {"levels", input.levels}, {"missing_level", input.missing_level}};
}

/// One of two words, or an error: a damaged file must not pass for the other kind.
template <typename Kind>
Kind parse_word(const nlohmann::json& word, const char* first, Kind first_kind, const char* second, Kind second_kind) {
  const auto text = word.get<std::string>();
  if (text == first) return first_kind;
  if (text == second) return second_kind;
  throw Error(ErrorKind::data,
              fmt::format("the table encoding says '{}' where '{}' or '{}' is expected; the file is damaged",
                          printable(text), first, second));
}

void check_scale(double sd) {
  if (std::isfinite(sd) && sd > 0) return;
  throw Error(ErrorKind::data,
              fmt::format("the table encoding has a scale of {}; it must be positive, the file is damaged", sd));
}

ColumnEncoding parse_input(const nlohmann::json& json) {
  ColumnEncoding input;
  json.at("name").get_to(input.name);
  input.kind = parse_word(json.at("kind"), "numeric", ColumnKind::numeric, "categorical", ColumnKind::categorical);
  if (input.kind == ColumnKind::numeric) {
    json.at("mean").get_to(input.mean);
    json.at("sd").get_to(input.sd);
    check_scale(input.sd);
  } else {
    json.at("levels").get_to(input.levels);
    json.at("missing_level").get_to(input.missing_level);
  }
  return input;
}

TableEncoding parse_fields(const nlohmann::json& json) {
  TableEncoding encoding;
  encoding.task = parse_word(json.at("task"), "regression", Task::regression, "classification", Task::classification);
  encoding.missing = parse_word(json.at("missing"), "refuse", MissingValues::refuse, "impute", MissingValues::impute);
  for (const auto& input : json.at("inputs")) encoding.inputs.push_back(parse_input(input));
  for (const auto& target : json.at("targets")) {
    encoding.targets.push_back({target.at("name"), target.at("mean"), target.at("sd")});
    check_scale(encoding.targets.back().sd);
  }
  json.at("classes").get_to(encoding.classes);
  json.at("numeric_classes").get_to(encoding.numeric_classes);
  json.at("columns").get_to(encoding.columns);
  json.at("had_header").get_to(encoding.had_header);
  json.at("messages").get_to(encoding.messages);
  if (encoding.inputs.empty() || encoding.targets.empty()) {
    throw Error(ErrorKind::data, "the table encoding has no inputs or no targets; the file is damaged");
  }
  return encoding;
}

at::Tensor target_numbers(const TableEncoding& encoding, double TargetEncoding::*number, double for_classes) {
  if (encoding.task == Task::classification) {
    return at::full({static_cast<int64_t>(encoding.classes.size())}, for_classes, at::kDouble);
  }
  at::Tensor numbers = at::empty({static_cast<int64_t>(encoding.targets.size())}, at::kDouble);
  for (size_t c = 0; c < encoding.targets.size(); ++c) numbers.data_ptr<double>()[c] = encoding.targets[c].*number;
  return numbers;
}

}  // namespace

std::vector<std::string> feature_names(const TableEncoding& encoding) {
  std::vector<std::string> names;
  for (const ColumnEncoding& input : encoding.inputs) {
    if (input.kind == ColumnKind::numeric) names.push_back(input.name);
    for (const std::string& level : input.levels) names.push_back(input.name + "=" + level);
    if (input.missing_level) names.push_back(input.name + "=(missing)");
  }
  return names;
}

at::Tensor target_means(const TableEncoding& encoding) { return target_numbers(encoding, &TargetEncoding::mean, 0); }
at::Tensor target_scales(const TableEncoding& encoding) { return target_numbers(encoding, &TargetEncoding::sd, 1); }

double log_density_in_target_units(const TableEncoding& encoding, double log_density, int64_t examples) {
  if (encoding.task == Task::classification) return log_density;
  double log_scales = 0;
  for (const TargetEncoding& target : encoding.targets) log_scales += std::log(target.sd);
  return log_density - static_cast<double>(examples) * log_scales;
}

std::string format_encoding(const TableEncoding& encoding) {
  nlohmann::json json = {{"format", format_name},
                         {"version", format_version},
                         {"task", encoding.task == Task::classification ? "classification" : "regression"},
                         {"missing", encoding.missing == MissingValues::impute ? "impute" : "refuse"},
                         {"inputs", nlohmann::json::array()},
                         {"targets", nlohmann::json::array()},
                         {"classes", encoding.classes},
                         {"numeric_classes", encoding.numeric_classes},
                         {"columns", encoding.columns},
                         {"had_header", encoding.had_header},
                         {"messages", encoding.messages}};
  for (const ColumnEncoding& input : encoding.inputs) json["inputs"].push_back(to_json(input));
  for (const TargetEncoding& target : encoding.targets) {
    json["targets"].push_back({{"name", target.name}, {"mean", target.mean}, {"sd", target.sd}});
  }
  return json.dump(1);
}

TableEncoding parse_encoding(const std::string& json) {
  try {
    const auto fields = nlohmann::json::parse(json);
    if (fields.at("format") != format_name) throw Error(ErrorKind::data, "this JSON is not a table encoding of ockham");
    const int version = fields.at("version");
    if (version > format_version) {
      throw Error(ErrorKind::data,
                  fmt::format("the table encoding has version {}, but {} is the newest that can be read; use a "
                              "newer ockham",
                              version, format_version));
    }
    return parse_fields(fields);
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ErrorKind::data,
                fmt::format("the table encoding cannot be read ({}); the file is damaged", printable(problem.what())));
  }
}

}  // namespace ockham
