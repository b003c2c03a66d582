#include "app/predict_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/array_table.h"
#include "app/predict_images.h"
#include "app/table_options.h"
#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/csv_rows.h"
#include "ockham/data/npy.h"

namespace ockham::app {
namespace {

std::vector<std::string> target_names(const TableEncoding& encoding) {
  std::vector<std::string> names;
  for (const TargetEncoding& target : encoding.targets) names.push_back(target.name);
  return names;
}

/// The columns that an array of this width stands for: all of training but the targets, or the inputs alone.
std::vector<std::string> columns_of_array(const TableEncoding& encoding, const std::string& path, int64_t width) {
  const std::vector<std::string> targets = target_names(encoding);
  std::vector<std::string> all, inputs;
  for (const std::string& name : encoding.columns)
    if (std::find(targets.begin(), targets.end(), name) == targets.end()) all.push_back(name);
  for (const ColumnEncoding& input : encoding.inputs) inputs.push_back(input.name);
  for (const auto* names : {&all, &inputs})
    if (static_cast<int64_t>(names->size()) == width) return *names;
  throw Error(ErrorKind::data, fmt::format("{}: has {} columns, but the training table had {} beside the target", path,
                                           width, all.size()));
}

at::Tensor read_matrix(const std::string& path) {
  const at::Tensor array = read_npy(path);
  if (array.dim() < 1 || array.size(0) == 0)
    throw Error(ErrorKind::data, fmt::format("{}: the array is empty; [N, D] is expected", path));
  return array.reshape({array.size(0), -1});
}

CsvTable read_arrays(const PredictFlags& flags, const TableEncoding& encoding) {
  const at::Tensor inputs = read_matrix(flags.inputs);
  std::vector<std::string> names = columns_of_array(encoding, flags.inputs, inputs.size(1));
  std::vector<std::vector<std::string>> rows;
  append_columns(flags.inputs, inputs, rows);
  if (!flags.targets.empty()) {
    const at::Tensor targets = read_matrix(flags.targets);
    const std::vector<std::string> known = target_names(encoding);
    if (targets.size(0) != inputs.size(0))
      throw Error(ErrorKind::data, fmt::format("{} has {} examples, but {} has {}; they must agree", flags.inputs,
                                               inputs.size(0), flags.targets, targets.size(0)));
    if (targets.size(1) != static_cast<int64_t>(known.size()))
      throw Error(ErrorKind::data, fmt::format("{}: has {} columns, but the model has {} targets", flags.targets,
                                               targets.size(1), known.size()));
    append_columns(flags.targets, targets, rows);
    names.insert(names.end(), known.begin(), known.end());
  }
  return make_table(flags.inputs, names, rows);
}

/// Rows in which every target has a value.
std::vector<int64_t> rows_with_targets(const TableEncoding& encoding, const CsvTable& table) {
  std::vector<int64_t> columns, rows;
  for (const std::string& name : target_names(encoding)) {
    int64_t column = table.find_column(name);
    // Without headers the position counts.
    if (column < 0) {
      const auto place = std::find(encoding.columns.begin(), encoding.columns.end(), name);
      column = place - encoding.columns.begin();
    }
    if (column < table.columns()) columns.push_back(column);
  }
  for (int64_t row = 0; row < table.rows(); ++row) {
    const bool known = std::none_of(columns.begin(), columns.end(),
                                    [&](int64_t column) { return is_missing(table.field(row, column)); });
    if (known) rows.push_back(row);
  }
  return rows;
}

}  // namespace

PredictData read_predict_data(const PredictFlags& flags, const TrainedModel& trained, Messages& messages) {
  if (trained.images) return read_predict_images(flags, trained, messages);
  expect_table_data(flags);
  const TableEncoding& encoding = trained.encoding;
  const bool arrays = !flags.inputs.empty();
  const CsvTable table = arrays ? read_arrays(flags, encoding) : read_csv(flags.data, csv_options(flags.table));
  if (!arrays) messages.add(table.messages);
  std::vector<std::string> notes;
  PredictData data;
  data.name = table.path;
  data.inputs = encode_inputs(encoding, table, &notes);
  messages.add(notes);
  if (!has_targets(encoding, table)) return data;
  const std::vector<int64_t> rows = rows_with_targets(encoding, table);
  const auto missing = table.rows() - static_cast<int64_t>(rows.size());
  if (missing > 0)
    messages.add(fmt::format("{}: {} of {} rows have no target and are left out of the metrics", table.path, missing,
                             table.rows()));
  if (rows.empty()) return data;
  data.scored.emplace(data.inputs.index_select(0, at::tensor(rows, at::kLong)),
                      encode_targets(encoding, missing > 0 ? take_rows(table, rows) : table));
  return data;
}

}  // namespace ockham::app
