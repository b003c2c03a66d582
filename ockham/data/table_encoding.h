// From a table of text to tensors: learnt from the training table, applied to any other, kept with the model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/data/csv.h"

namespace ockham {

enum class Task { automatic, regression, classification };
enum class MissingValues { refuse, impute };

struct EncodingOptions {
  std::vector<std::string> targets;               // several for regression; empty takes the last column
  Task task = Task::automatic;                    // see `learn_encoding`
  MissingValues missing = MissingValues::refuse;  // a silent guess would be part of the model
  std::vector<std::string> categorical;           // columns of numbers that are names, or text that looks like numbers
  std::vector<std::string> drop;                  // columns that are no inputs
};

enum class ColumnKind { numeric, categorical };

struct ColumnEncoding {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  double mean = 0;  // numeric: (x - mean) / sd, with the sd of the training rows (divided by N)
  double sd = 1;
  std::vector<std::string> levels;  // categorical: one feature of 0 or 1 each, in this (sorted) order
  bool missing_level = false;       // categorical: one more feature, at the end, for a missing value
};

struct TargetEncoding {
  std::string name;
  double mean = 0;  // regression: z = (y - mean) / sd
  double sd = 1;
};

/// A plain value. C is the number of targets (regression) or of classes.
struct TableEncoding {
  Task task = Task::regression;  // never automatic
  MissingValues missing = MissingValues::refuse;
  std::vector<ColumnEncoding> inputs;
  std::vector<TargetEncoding> targets;  // one for classification
  std::vector<std::string> classes;     // classification: their names; class k is the k-th
  bool numeric_classes = false;         // sorted and compared as numbers: "1.0" is "1"
  std::vector<std::string> columns;     // all of the training table, for tables without a header
  bool had_header = true;
  std::vector<std::string> messages;  // each guess, with the flag that overrides it
};

/// Looks at every column of the training table.
/// Inputs: all columns but targets and dropped ones. A column of numbers is numeric, one of text categorical; mixed
/// ones are refused when more than half are numbers. Constant columns are dropped, and so is text that differs in more
/// than half of the rows (at least 20): an identifier. Missing values are refused, or imputed: the mean for numbers, a
/// level of their own for categories. Targets never are. Task: several targets are a regression. One is a
/// classification when it is text, or when all its values are integers from -1 to 20, the smallest at most 1, each on 5
/// rows or more in the mean; else a regression. Throws Error(data) with file, line and column; also for one row only, a
/// target that is all equal, one class only, more classes than half the rows, no inputs left.
TableEncoding learn_encoding(const CsvTable& table, const EncodingOptions& options);

/// Inputs [N, D], float64. Columns are matched by name (by position when neither table has a header). Throws
/// Error(data) for a missing column, a category that training did not have, text in a column of numbers, a missing
/// value unless imputed. `messages` receives the columns that were ignored and the values that were imputed.
at::Tensor encode_inputs(const TableEncoding& encoding, const CsvTable& table,
                         std::vector<std::string>* messages = nullptr);

/// Regression: z [N, C], float64. Classification: class indices [N], int64.
at::Tensor encode_targets(const TableEncoding& encoding, const CsvTable& table);

/// Are all target columns in this table?
bool has_targets(const TableEncoding& encoding, const CsvTable& table);

/// One name per encoded feature [D]: "height", "colour=red", "colour=(missing)".
std::vector<std::string> feature_names(const TableEncoding& encoding);

/// The scales of the targets [C], float64: y = mean + sd z. Zeros and ones for a classification.
at::Tensor target_means(const TableEncoding& encoding);
at::Tensor target_scales(const TableEncoding& encoding);

/// A log density (evidence or log likelihood) of N examples of standardised targets, in the targets' own units. By the
/// change of variables y = mean + sd z, with p(y) dy = p(z) dz for every example and target:
///   log p(y) = log p(z) - N Σ_c log sd_c.
/// A probability of classes is unchanged.
double log_density_in_target_units(const TableEncoding& encoding, double log_density, int64_t examples);

/// As JSON text and back; numbers survive exactly. Reading throws Error(data) when the text is not such an encoding.
std::string format_encoding(const TableEncoding& encoding);
TableEncoding parse_encoding(const std::string& json);

}  // namespace ockham
