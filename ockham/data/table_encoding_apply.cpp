#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/nearest_word.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/encoding_notes.h"
#include "ockham/data/table_column.h"
#include "ockham/data/table_encoding.h"

namespace ockham {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorKind::data, sentence); }

bool is_target(const TableEncoding& encoding, const std::string& name) {
  return std::any_of(encoding.targets.begin(), encoding.targets.end(),
                     [&](const TargetEncoding& target) { return target.name == name; });
}

/// The names of the table's columns as training knew them. Without headers the position counts; the targets may be left
/// out of a table to predict.
std::vector<std::string> known_names(const TableEncoding& encoding, const CsvTable& table) {
  if (encoding.had_header || table.had_header) return table.names;
  if (table.names.size() == encoding.columns.size()) return encoding.columns;
  std::vector<std::string> names;
  for (const std::string& name : encoding.columns) {
    if (!is_target(encoding, name)) names.push_back(name);
  }
  if (table.names.size() != names.size()) {
    refuse(
        fmt::format("{}: has {} columns and no header, but the training table had {} (or {} without the target); give "
                    "the same columns in the same order",
                    table.path, table.names.size(), encoding.columns.size(), names.size()));
  }
  return names;
}

/// Columns by name; a search through the list would take minutes for a table of 100,000 columns.
using Positions = std::unordered_map<std::string, int64_t>;

Positions index_names(const std::vector<std::string>& names) {
  Positions positions;
  for (const std::string& name : names) positions.emplace(name, static_cast<int64_t>(positions.size()));
  return positions;
}

int64_t require_column(const TableEncoding& encoding, const CsvTable& table, const Positions& positions,
                       const std::string& name) {
  const auto found = positions.find(name);
  if (found != positions.end()) return found->second;
  if (encoding.had_header && !table.had_header) {
    refuse(fmt::format("{}: has no header row, but the column {} is needed, as in training; add the header", table.path,
                       quote_field(name)));
  }
  // A column that training knows is not the misspelt one.
  const Positions known = index_names(encoding.columns);
  std::vector<std::string> strange;
  for (const auto& [other, position] : positions) {
    if (known.count(other) == 0) strange.push_back(other);
  }
  const std::string near = nearest_word(name, strange);
  refuse(fmt::format("{}: the column {} is missing, which the model was trained with; {}", table.path,
                     quote_field(name),
                     near.empty() ? "add it" : fmt::format("is {} meant? Rename it", quote_field(near))));
}

double number_at(const CsvTable& table, int64_t row, int64_t column) {
  const std::string_view field = table.field(row, column);
  const auto number = parse_number(field);
  if (!number) {
    refuse(fmt::format("{}: {} came, but a number is expected, as in training", table.place_name(row, column),
                       quote_field(field)));
  }
  if (!(std::abs(*number) <= 1e150)) {
    refuse(fmt::format("{}: {} is too large; numbers must be within 1e150", table.place_name(row, column),
                       quote_field(field)));
  }
  return *number;
}

[[noreturn]] void refuse_missing(const CsvTable& table, int64_t row, int64_t column, const std::string& advice) {
  refuse(fmt::format("{}: the value is missing; {}", table.place_name(row, column), advice));
}

/// Writes one numeric column; returns how many values were imputed. A strided view would cost an index a value.
int64_t encode_numbers(const TableEncoding& encoding, const ColumnEncoding& input, const CsvTable& table,
                       int64_t column, double* features, int64_t stride) {
  int64_t imputed = 0;
  for (int64_t row = 0; row < table.rows(); ++row, features += stride) {
    const std::string_view field = table.field(row, column);
    if (is_missing(field)) {
      if (encoding.missing == MissingValues::refuse) {
        refuse_missing(table, row, column, "fill it in, or train with --impute");
      }
      ++imputed;  // the mean is 0 here
    } else {
      *features = (number_at(table, row, column) - input.mean) / input.sd;
    }
  }
  return imputed;
}

std::string list_levels(const std::vector<std::string>& levels) {
  std::vector<std::string> shown;
  for (size_t k = 0; k < std::min<size_t>(levels.size(), 8); ++k) shown.push_back(quote_field(levels[k]));
  return fmt::format("{}{}", fmt::join(shown, ", "), levels.size() > shown.size() ? ", ..." : "");
}

std::unordered_map<std::string_view, int64_t> index_levels(const std::vector<std::string>& levels) {
  std::unordered_map<std::string_view, int64_t> index;
  for (const std::string& level : levels) index.emplace(level, static_cast<int64_t>(index.size()));
  return index;
}

int64_t encode_categories(const ColumnEncoding& input, const CsvTable& table, int64_t column, double* features,
                          int64_t stride) {
  const auto index = index_levels(input.levels);
  int64_t imputed = 0;
  for (int64_t row = 0; row < table.rows(); ++row, features += stride) {
    const std::string_view field = table.field(row, column);
    if (is_missing(field)) {
      if (!input.missing_level) {
        refuse_missing(table, row, column, "no value of this category was missing in training, so fill it in");
      }
      features[input.levels.size()] = 1;
      ++imputed;
      continue;
    }
    const auto level = index.find(field);
    if (level == index.end()) {
      refuse(fmt::format("{}: the category {} did not occur in training, which had {}{}; correct it or remove the row",
                         table.place_name(row, column), quote_field(field), list_levels(input.levels),
                         did_you_mean(std::string(field), input.levels)));
    }
    features[level->second] = 1;
  }
  return imputed;
}

int64_t width_of(const ColumnEncoding& input) {
  return input.kind == ColumnKind::numeric ? 1 : static_cast<int64_t>(input.levels.size()) + input.missing_level;
}

at::Tensor encode_classes(const TableEncoding& encoding, const CsvTable& table, int64_t column) {
  const auto index = index_levels(encoding.classes);
  at::Tensor targets = at::empty({table.rows()}, at::kLong);
  auto* classes = targets.data_ptr<int64_t>();
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, column);
    if (is_missing(field)) refuse_missing(table, row, column, "a target is never imputed, remove the row");
    const auto number = encoding.numeric_classes ? parse_number(field) : std::nullopt;
    const std::string name = number ? number_name(*number) : std::string(field);
    const auto found = index.find(name);
    if (found == index.end()) {
      refuse(fmt::format("{}: the class {} did not occur in training, which had {}", table.place_name(row, column),
                         quote_field(field), list_levels(encoding.classes)));
    }
    classes[row] = found->second;
  }
  return targets;
}

}  // namespace

at::Tensor encode_inputs(const TableEncoding& encoding, const CsvTable& table, EncodingNotes& notes) {
  const std::vector<std::string> names = known_names(encoding, table);
  const Positions positions = index_names(names);
  int64_t width = 0;
  std::vector<int64_t> columns;
  for (const ColumnEncoding& input : encoding.inputs) {
    columns.push_back(require_column(encoding, table, positions, input.name));
    width += width_of(input);
  }
  if (table.rows() > default_memory_budget() / 8 / width) {
    refuse(fmt::format("{}: {} rows of {} features do not fit into memory; drop columns with many categories (--drop)",
                       table.path, table.rows(), width));
  }
  at::Tensor inputs = at::zeros({table.rows(), width}, at::kDouble);
  double* features = inputs.data_ptr<double>();
  notes.imputed.resize(encoding.inputs.size());
  for (size_t k = 0; k < encoding.inputs.size(); ++k) {
    const ColumnEncoding& input = encoding.inputs[k];
    notes.imputed[k] += input.kind == ColumnKind::numeric
                            ? encode_numbers(encoding, input, table, columns[k], features, width)
                            : encode_categories(input, table, columns[k], features, width);
    features += width_of(input);
  }
  const Positions known = index_names(encoding.columns);
  notes.ignored.clear();
  for (const std::string& name : names) {
    if (known.count(name) == 0) notes.ignored.push_back(name);
  }
  return inputs;
}

std::vector<std::string> describe_notes(const EncodingNotes& notes, const TableEncoding& encoding,
                                        const std::string& path) {
  std::vector<std::string> messages;
  for (size_t k = 0; k < notes.imputed.size(); ++k) {
    const ColumnEncoding& input = encoding.inputs[k];
    if (notes.imputed[k] == 0) continue;
    messages.push_back(
        fmt::format("{}: {} missing values in column '{}' become {}", path, notes.imputed[k], input.name,
                    input.kind == ColumnKind::numeric ? "the mean of training" : "a category of their own"));
  }
  std::vector<std::string> ignored;
  for (const std::string& name : notes.ignored) ignored.push_back(quote_field(name));
  if (!ignored.empty()) {
    messages.push_back(
        fmt::format("{}: columns that the model was not trained with are ignored: {}", path, fmt::join(ignored, ", ")));
  }
  return messages;
}

at::Tensor encode_inputs(const TableEncoding& encoding, const CsvTable& table, std::vector<std::string>* messages) {
  EncodingNotes notes;
  at::Tensor inputs = encode_inputs(encoding, table, notes);
  if (messages != nullptr) {
    for (std::string& message : describe_notes(notes, encoding, table.path)) messages->push_back(std::move(message));
  }
  return inputs;
}

at::Tensor encode_targets(const TableEncoding& encoding, const CsvTable& table) {
  const Positions positions = index_names(known_names(encoding, table));
  if (encoding.task == Task::classification) {
    return encode_classes(encoding, table, require_column(encoding, table, positions, encoding.targets[0].name));
  }
  const auto outputs = static_cast<int64_t>(encoding.targets.size());
  at::Tensor targets = at::empty({table.rows(), outputs}, at::kDouble);
  for (int64_t c = 0; c < outputs; ++c) {
    const TargetEncoding& target = encoding.targets[c];
    const int64_t column = require_column(encoding, table, positions, target.name);
    double* values = targets.data_ptr<double>() + c;
    for (int64_t row = 0; row < table.rows(); ++row, values += outputs) {
      if (is_missing(table.field(row, column))) {
        refuse_missing(table, row, column, "a target is never imputed, remove the row");
      }
      *values = (number_at(table, row, column) - target.mean) / target.sd;
    }
  }
  return targets;
}

bool has_targets(const TableEncoding& encoding, const CsvTable& table) {
  const Positions positions = index_names(known_names(encoding, table));
  return std::all_of(encoding.targets.begin(), encoding.targets.end(),
                     [&](const TargetEncoding& target) { return positions.count(target.name) > 0; });
}

}  // namespace ockham
