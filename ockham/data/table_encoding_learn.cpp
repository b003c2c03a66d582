#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ockham/base/error.h"
#include "ockham/base/nearest_word.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/table_column.h"
#include "ockham/data/table_encoding.h"

namespace ockham {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorKind::data, sentence); }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The column that a flag names; the error suggests the nearest one.
int64_t require_column(const CsvTable& table, const std::string& name, const char* flag) {
  const int64_t column = table.find_column(name);
  if (column >= 0) return column;
  const std::string hint = did_you_mean(name, table.names);
  std::string shown = fmt::format(
      "{}", fmt::join(table.names.begin(), table.names.begin() + std::min<size_t>(table.names.size(), 12), ", "));
  if (table.names.size() > 12) shown += ", ...";
  refuse(fmt::format("{}: there is no column {} (from {}){}", table.path, quote_field(name), flag,
                     hint.empty() ? fmt::format("; the columns are {}", shown) : hint));
}

void check_flags(const CsvTable& table, const EncodingOptions& options, const std::vector<std::string>& targets) {
  for (const std::string& name : options.drop) require_column(table, name, "--drop");
  for (const std::string& name : options.categorical) {
    require_column(table, name, "--categorical");
    if (contains(options.drop, name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("column '{}' is both in --categorical and in --drop; remove it from one", name));
    }
    if (contains(targets, name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("column '{}' is the target, and --categorical is for inputs; use --task "
                              "classification",
                              name));
    }
  }
  std::set<std::string> seen;
  for (const std::string& name : targets) {
    require_column(table, name, "--target");
    if (!seen.insert(name).second) throw Error(ErrorKind::usage, fmt::format("--target names column '{}' twice", name));
    if (contains(options.drop, name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("column '{}' is both in --target and in --drop; remove it from one", name));
    }
  }
  if (targets.size() > 1 && options.task == Task::classification) {
    throw Error(ErrorKind::usage,
                "--task classification takes one target column; several are possible for a regression");
  }
}

/// The distinct values when they look like numbers of classes, else nothing.
std::vector<double> class_numbers(const ColumnContents& contents, int64_t rows) {
  constexpr size_t most = 20;
  std::set<double> distinct;
  for (const double value : contents.values) {
    if (value != std::floor(value) || value < -1 || value > 20) return {};
    distinct.insert(value);
    if (distinct.size() > most) return {};
  }
  const bool enough_rows = rows >= 5 * static_cast<int64_t>(distinct.size());
  if (!enough_rows || *distinct.begin() > 1) return {};
  return {distinct.begin(), distinct.end()};
}

Task decide_task(const CsvTable& table, int64_t column, const ColumnContents& contents,
                 std::vector<std::string>& messages) {
  const bool readable = contents.near_numbers || contents.dates;
  if (contents.texts > contents.numbers && !readable) {
    messages.push_back(
        fmt::format("task: classification, because the target '{}' is text (--task overrides)", table.names[column]));
    return Task::classification;
  }
  refuse_text(table, column, contents, "--task classification if these are classes");
  const size_t classes = class_numbers(contents, table.rows()).size();
  if (classes > 1) {
    messages.push_back(
        fmt::format("task: classification, because the target '{}' has {} distinct small integers (--task regression "
                    "overrides)",
                    table.names[column], classes));
    return Task::classification;
  }
  messages.push_back(
      fmt::format("task: regression, because the target '{}' has numbers that do not look like classes "
                  "(--task classification overrides)",
                  table.names[column]));
  return Task::regression;
}

void learn_classes(const CsvTable& table, int64_t column, const ColumnContents& contents, TableEncoding& encoding) {
  encoding.numeric_classes = contents.texts == 0;
  if (encoding.numeric_classes) {
    const std::set<double> distinct(contents.values.begin(), contents.values.end());
    for (const double value : distinct) encoding.classes.push_back(number_name(value));
  } else {
    encoding.classes = distinct_fields(table, column);
  }
  const auto count = static_cast<int64_t>(encoding.classes.size());
  const std::string what = fmt::format("{}: the target column {}", table.path, quote_field(table.names[column]));
  if (count == 1) {
    refuse(fmt::format("{} has only one class, {}; a classification needs at least two", what,
                       quote_field(encoding.classes[0])));
  }
  if (2 * count > table.rows()) {
    refuse(
        fmt::format("{} has {} classes in {} rows, but at most half as many classes as rows can be learnt; use --task "
                    "regression if they are numbers, or choose another --target",
                    what, count, table.rows()));
  }
}

void learn_targets(const CsvTable& table, const EncodingOptions& options, const std::vector<std::string>& names,
                   TableEncoding& encoding) {
  encoding.task = options.task;
  if (encoding.task == Task::automatic && names.size() > 1) {
    encoding.task = Task::regression;
    encoding.messages.push_back("task: regression, because there are several targets");
  }
  for (const std::string& name : names) {
    const int64_t column = table.find_column(name);
    const ColumnContents contents = look_at(table, column);
    if (contents.missing > 0) {
      refuse(fmt::format("{}: the target is missing; a target is never imputed, remove the row",
                         table.place_name(contents.first_missing, column)));
    }
    if (encoding.task == Task::automatic) encoding.task = decide_task(table, column, contents, encoding.messages);
    TargetEncoding target{name, 0, 1};
    if (encoding.task == Task::classification) {
      learn_classes(table, column, contents, encoding);
    } else {
      refuse_text(table, column, contents, "--task classification if these are classes");
      const Moments moments = measure(table, column, contents.values);
      if (moments.constant) {
        refuse(fmt::format(
            "{}: the target column {} is {} in every row; there is nothing to learn, choose another --target",
            table.path, quote_field(name), number_name(contents.values[0])));
      }
      target.mean = moments.mean;
      target.sd = moments.sd;
    }
    encoding.targets.push_back(std::move(target));
  }
}

/// n, n + 1, n + 2, ... down a table of some length.
bool counts_rows(const std::vector<double>& values) {
  for (size_t row = 1; row < values.size(); ++row) {
    if (values[row] != values[row - 1] + 1) return false;
  }
  return values.size() >= 20;
}

class InputLearner {
 public:
  InputLearner(const CsvTable& table, const EncodingOptions& options, TableEncoding& encoding)
      : table_(table), options_(options), encoding_(encoding) {}

  void learn(int64_t column) {
    const std::string& name = table_.names[column];
    const ColumnContents contents = look_at(table_, column);
    const bool asked = contains(options_.categorical, name);
    if (contents.missing == table_.rows()) return drop(name, "it has no values");
    if (contents.missing > 0 && options_.missing == MissingValues::refuse) {
      refuse(fmt::format("{}: the value is missing ({} of {} in this column); fill it in, or use --impute or --drop {}",
                         table_.place_name(contents.first_missing, column), contents.missing, table_.rows(),
                         shell_word(name)));
    }
    if (!asked && contents.dates && contents.texts > contents.numbers) {
      return drop(name, fmt::format("its texts are dates or times; write them as numbers, for example of days, to use "
                                    "them (--categorical {} keeps it as it is)",
                                    shell_word(name)));
    }
    if (!asked && (contents.numbers > contents.texts || contents.near_numbers)) {
      refuse_text(table_, column, contents, fmt::format("--categorical {0} or --drop {0}", shell_word(name)));
    }
    if (asked || contents.texts > 0) {
      learn_categories(column, contents, asked);
    } else {
      learn_numbers(column, contents);
    }
  }

  /// Throws Error(data) when nothing was kept.
  void finish() const {
    if (!encoding_.inputs.empty()) return;
    refuse(fmt::format("{}: no input column is left beside the target; at least one that varies is needed{}{}",
                       table_.path, last_drop_.empty() ? "" : "; ", last_drop_));
  }

 private:
  void drop(const std::string& name, const std::string& why) {
    last_drop_ = fmt::format("column '{}' is dropped: {}", name, why);
    encoding_.messages.push_back(last_drop_);
  }

  void learn_numbers(int64_t column, const ColumnContents& contents) {
    const Moments moments = measure(table_, column, contents.values);
    if (moments.constant) return drop(table_.names[column], "all its values are equal");
    ColumnEncoding input;
    input.name = table_.names[column];
    input.mean = moments.mean;
    input.sd = moments.sd;
    if (contents.missing > 0) {
      encoding_.messages.push_back(fmt::format("column '{}': {} missing values become its mean, {:.6g} (--impute)",
                                               input.name, contents.missing, input.mean));
    }
    if (counts_rows(contents.values)) {
      encoding_.messages.push_back(
          fmt::format("column '{0}' counts the rows; --drop {0} leaves it out if it means nothing", input.name));
    }
    encoding_.inputs.push_back(std::move(input));
  }

  void learn_categories(int64_t column, const ColumnContents& contents, bool asked) {
    ColumnEncoding input;
    input.name = table_.names[column];
    input.kind = ColumnKind::categorical;
    input.levels = distinct_fields(table_, column);
    input.missing_level = contents.missing > 0;
    const auto levels = static_cast<int64_t>(input.levels.size());
    if (levels + input.missing_level == 1) return drop(input.name, "all its values are equal");
    if (!asked && table_.rows() >= 20 && 2 * levels > table_.rows()) {
      return drop(input.name,
                  fmt::format("its {} different texts in {} rows look like an identifier (--categorical {} keeps it)",
                              levels, table_.rows(), shell_word(input.name)));
    }
    if (!asked) {
      encoding_.messages.push_back(
          fmt::format("column '{}' is text: {} categories, one feature each (--drop {} leaves it out)", input.name,
                      levels, shell_word(input.name)));
    }
    if (contents.missing > 0) {
      encoding_.messages.push_back(fmt::format(
          "column '{}': {} missing values become a category of their own (--impute)", input.name, contents.missing));
    }
    encoding_.inputs.push_back(std::move(input));
  }

  const CsvTable& table_;
  const EncodingOptions& options_;
  TableEncoding& encoding_;
  std::string last_drop_;
};

}  // namespace

TableEncoding learn_encoding(const CsvTable& table, const EncodingOptions& options) {
  TableEncoding encoding;
  encoding.missing = options.missing;
  encoding.columns = table.names;
  encoding.had_header = table.had_header;
  std::vector<std::string> targets = options.targets;
  if (targets.empty()) {
    targets.push_back(table.names.back());
    encoding.messages.push_back(fmt::format("target: '{}', the last column (--target overrides)", targets[0]));
  }
  check_flags(table, options, targets);
  if (table.columns() == 1) {
    refuse(
        fmt::format("{}: there is only one column, {}, and a target and inputs are needed; if another character stands "
                    "between the fields, replace it by commas",
                    table.path, quote_field(table.names[0])));
  }
  if (table.rows() < 2) refuse(fmt::format("{}: there is only one row of data; at least two are needed", table.path));
  learn_targets(table, options, targets, encoding);
  InputLearner inputs(table, options, encoding);
  for (int64_t column = 0; column < table.columns(); ++column) {
    const std::string& name = table.names[column];
    if (!contains(targets, name) && !contains(options.drop, name)) inputs.learn(column);
  }
  inputs.finish();
  return encoding;
}

}  // namespace ockham
