#include "app/predict_source.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/table_options.h"
#include "ockham/base/error.h"
#include "ockham/data/csv_field.h"
#include "ockham/data/csv_stream.h"
#include "ockham/data/npy.h"
#include "ockham/predict/table_predictions.h"

namespace ockham::app {
namespace {

/// Few enough for the memory, enough for the threads.
int64_t rows_at_once(int64_t columns) {
  constexpr int64_t most_fields = int64_t{1} << 21, most_parts = 16;
  return predict_part * std::clamp<int64_t>(most_fields / predict_part / columns, 1, most_parts);
}

class CsvSource : public PredictSource {
 public:
  explicit CsvSource(const PredictFlags& flags)
      : stream_(flags.data, csv_options(flags.table)), name_(flags.data == "-" ? "standard input" : flags.data) {}
  std::string name() const override { return name_; }
  std::optional<CsvTable> next() override { return stream_.next(rows_at_once(stream_.columns())); }
  std::optional<double> share() const override { return stream_.share(); }

 private:
  CsvStream stream_;
  std::string name_;
};

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
  return array.to(at::kDouble).reshape({array.size(0), -1}).contiguous();
}

class ArraySource : public PredictSource {
 public:
  ArraySource(const PredictFlags& flags, const TableEncoding& encoding)
      : inputs_path_(flags.inputs), inputs_(read_matrix(flags.inputs)) {
    names_ = columns_of_array(encoding, flags.inputs, inputs_.size(1));
    if (flags.targets.empty()) return;
    targets_ = read_matrix(flags.targets);
    const std::vector<std::string> known = target_names(encoding);
    if (targets_.size(0) != inputs_.size(0))
      throw Error(ErrorKind::data, fmt::format("{} has {} examples, but {} has {}; they must agree", flags.inputs,
                                               inputs_.size(0), flags.targets, targets_.size(0)));
    if (targets_.size(1) != static_cast<int64_t>(known.size()))
      throw Error(ErrorKind::data, fmt::format("{}: has {} columns, but the model has {} targets", flags.targets,
                                               targets_.size(1), known.size()));
    names_.insert(names_.end(), known.begin(), known.end());
  }
  std::string name() const override { return inputs_path_; }
  std::optional<CsvTable> next() override {
    const int64_t count = std::min(rows_at_once(static_cast<int64_t>(names_.size())), inputs_.size(0) - done_);
    if (count == 0) return std::nullopt;
    CsvTable table;
    table.path = inputs_path_;
    table.names = names_;
    std::string text;
    std::vector<uint64_t> places;
    std::vector<int64_t> lines;
    for (const int64_t end = done_ + count; done_ < end; ++done_) {
      append_numbers(inputs_, text, places);
      if (targets_.defined()) append_numbers(targets_, text, places);
      lines.push_back(done_ + 2);  // as if there were a header
    }
    table.set_fields(std::move(text), std::move(places), std::move(lines));
    return table;
  }
  std::optional<double> share() const override {
    return static_cast<double>(done_) / static_cast<double>(inputs_.size(0));
  }

 private:
  /// The next row of an array as fields; the digits of a number give it back exactly.
  void append_numbers(const at::Tensor& array, std::string& text, std::vector<uint64_t>& places) const {
    const double* value = array.data_ptr<double>() + done_ * array.size(1);
    for (int64_t column = 0; column < array.size(1); ++column) {
      const std::string field = fmt::format("{}", *value++);
      places.push_back(CsvTable::place_at(text.size(), field.size()));
      text += field;
    }
  }

  std::string inputs_path_;
  at::Tensor inputs_, targets_;  // [N, columns] float64
  std::vector<std::string> names_;
  int64_t done_ = 0;
};

}  // namespace

std::unique_ptr<PredictSource> open_predict_source(const PredictFlags& flags, const TableEncoding& encoding) {
  if (flags.inputs.empty()) return std::make_unique<CsvSource>(flags);
  return std::make_unique<ArraySource>(flags, encoding);
}

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

}  // namespace ockham::app
