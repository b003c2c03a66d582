#include "experiments/uci_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/base/sha256.h"
#include "ockham/data/csv_rows.h"

namespace ockham::paper {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kRegressionStream = 0x7563692d39300000, kClassificationStream = 0x7563692d37300000;

std::vector<int64_t> rows_of(const Json& list, const UciTable& table, const std::string& path) {
  std::vector<int64_t> rows;
  if (list.is_array())
    for (const Json& row : list)
      if (row.is_number_integer() && row.get<int64_t>() >= 0 && row.get<int64_t>() < table.rows())
        rows.push_back(row.get<int64_t>());
  if (rows.empty() || rows.size() != list.size())
    throw Error(ErrorKind::data, fmt::format("{}: expected lists of rows from 0 to {} under 'train' and 'test'; remove "
                                             "the file to draw the splits by the seed",
                                             path, table.rows() - 1));
  return rows;
}

void read_splits(const std::string& path, UciTable& table, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array() || json.empty())
    throw Error(
        ErrorKind::data,
        fmt::format("{}: expected a list of {{\"train\": [rows], \"test\": [rows]}} in JSON; remove the file to "
                    "draw the splits by the seed",
                    path));
  for (const Json& one : json) {
    const Json none = Json::array();
    table.splits.push_back({rows_of(one.is_object() ? one.value("train", none) : none, table, path),
                            {},
                            rows_of(one.is_object() ? one.value("test", none) : none, table, path)});
  }
}

std::optional<fs::path> find_table(const std::string& directory, const std::string& name) {
  for (const fs::path& place : {fs::path(directory), fs::path(directory) / "uci"})
    if (fs::exists(place / (name + ".csv"))) return place;
  return std::nullopt;
}

UciTable read_table(const fs::path& place, const std::string& name) {
  const std::string path = (place / (name + ".csv")).string(), splits = (place / "splits" / (name + ".json")).string();
  std::string bytes = read_file(path);
  UciTable table;
  table.name = name;
  table.table = std::make_shared<CsvTable>(parse_csv(bytes, path));
  if (fs::exists(splits)) {
    const std::string text = read_file(splits);
    read_splits(splits, table, text);
    bytes += text;
  }
  table.digest = sha256(bytes).substr(0, 12);
  return table;
}

Dataset encode_rows(const TableEncoding& encoding, const CsvTable& rows) {
  return Dataset(encode_inputs(encoding, rows), encode_targets(encoding, rows));
}

}  // namespace

std::vector<UciTable> read_uci_tables(const std::string& directory, const std::vector<std::string>& names) {
  std::vector<UciTable> tables;
  for (const std::string& name : names)
    if (const auto place = find_table(directory, name)) tables.push_back(read_table(*place, name));
  if (tables.empty())
    throw Error(ErrorKind::data,
                fmt::format("--data {}: there is no {}.csv, nor any other of {}, here or in uci/; get the tables from "
                            "the UCI repository (archive.ics.uci.edu) as CSV files with a header and the target last",
                            directory, names.front(), fmt::join(names.begin() + 1, names.end(), ", ")));
  return tables;
}

RowSplit regression_split(const UciTable& table, int64_t index, uint64_t seed) {
  if (index < static_cast<int64_t>(table.splits.size())) return table.splits[static_cast<size_t>(index)];
  auto [training, test] =
      divide_rows(table.rows(), 0.1, stream_seed({seed, static_cast<uint64_t>(index), kRegressionStream}));
  return {std::move(training), {}, std::move(test)};
}

RowSplit classification_split(const UciTable& table, int64_t index, uint64_t seed) {
  const auto key = [&](uint64_t part) {
    return stream_seed({seed, static_cast<uint64_t>(index), kClassificationStream, part});
  };
  auto [rest, test] = divide_rows(table.rows(), 0.15, key(0));
  const auto [training, validation] = divide_rows(static_cast<int64_t>(rest.size()), 0.15 / 0.85, key(1));
  RowSplit split;
  split.test = std::move(test);
  for (const int64_t row : training) split.training.push_back(rest[static_cast<size_t>(row)]);
  for (const int64_t row : validation) split.validation.push_back(rest[static_cast<size_t>(row)]);
  return split;
}

int64_t EncodedSplit::outputs() const {
  return static_cast<int64_t>(encoding.task == Task::classification ? encoding.classes.size()
                                                                    : encoding.targets.size());
}

EncodedSplit encode_split(const UciTable& table, const RowSplit& split, Task task) {
  const CsvTable training = take_rows(*table.table, split.training);
  EncodingOptions options;
  options.task = task;
  TableEncoding encoding = learn_encoding(training, options);
  EncodedSplit parts{encoding, encode_rows(encoding, training),
                     encode_rows(encoding, take_rows(*table.table, split.test)), std::nullopt};
  if (!split.validation.empty()) parts.validation = encode_rows(encoding, take_rows(*table.table, split.validation));
  return parts;
}

}  // namespace ockham::paper
