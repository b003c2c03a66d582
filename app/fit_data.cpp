#include "app/fit_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>

#include "app/array_table.h"
#include "app/fit_images.h"
#include "app/image_arrays.h"
#include "app/table_options.h"
#include "ockham/base/error.h"
#include "ockham/data/csv.h"
#include "ockham/data/csv_rows.h"
#include "ockham/data/npy.h"
#include "ockham/store/run_configuration.h"

namespace ockham::app {
namespace {

std::vector<std::string> numbered(const std::string& letter, int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 1; i <= count; ++i) names.push_back(letter + std::to_string(i));
  return names;
}

CsvTable read_arrays(const FitFlags& flags) {
  const at::Tensor inputs = read_npy(flags.inputs), targets = read_npy(flags.targets);
  if (inputs.dim() < 1 || targets.dim() < 1 || inputs.size(0) != targets.size(0))
    throw Error(ErrorKind::data, fmt::format("{} has {} examples, but {} has {}; they must agree", flags.inputs,
                                             inputs.dim() < 1 ? 0 : inputs.size(0), flags.targets,
                                             targets.dim() < 1 ? 0 : targets.size(0)));
  std::vector<std::vector<std::string>> rows;
  append_columns(flags.inputs, inputs, rows);
  append_columns(flags.targets, targets, rows);
  std::vector<std::string> names = numbered("x", inputs.dim() == 1 ? 1 : inputs.size(1));
  const bool several = targets.dim() == 2 && targets.size(1) > 1;
  for (const std::string& name : several ? numbered("y", targets.size(1)) : std::vector<std::string>{"y"})
    names.push_back(name);
  CsvTable table = make_table(flags.inputs, names, rows);
  return table;
}

EncodingOptions encoding_options(const FitFlags& flags, const CsvTable& table) {
  EncodingOptions options;
  options.targets = flags.target;
  if (!flags.inputs.empty())
    for (const std::string& name : table.names)
      if (name.front() == 'y') options.targets.push_back(name);
  options.task = flags.task == TaskChoice::regression       ? Task::regression
                 : flags.task == TaskChoice::classification ? Task::classification
                                                            : Task::automatic;
  options.missing = flags.impute ? MissingValues::impute : MissingValues::refuse;
  options.categorical = flags.categorical;
  options.drop = flags.drop;
  return options;
}

/// A likelihood on the command line decides the task, and must not contradict it.
Task expected_task(LikelihoodChoice likelihood) {
  switch (likelihood) {
    case LikelihoodChoice::gaussian:
    case LikelihoodChoice::poisson:
      return Task::regression;
    case LikelihoodChoice::categorical:
    case LikelihoodChoice::bernoulli:
      return Task::classification;
    default:
      return Task::automatic;
  }
}

Dataset encode(const TableEncoding& encoding, const CsvTable& table, std::vector<std::string>* messages) {
  const at::Tensor inputs = encode_inputs(encoding, table, messages);
  return Dataset(inputs, encode_targets(encoding, table));
}

}  // namespace

std::string data_checksum(TableEncoding encoding, const Dataset& data) {
  encoding.messages.clear();  // what was guessed, and what was said of it, is no part of the data
  const auto bytes = [](const at::Tensor& tensor) {
    const at::Tensor values = tensor.contiguous();
    return std::string(static_cast<const char*>(values.data_ptr()), values.nbytes());
  };
  return fingerprint(
      {{"encoding", format_encoding(encoding)}, {"inputs", bytes(data.inputs())}, {"targets", bytes(data.targets())}});
}

FitData read_fit_data(const FitFlags& flags, Messages& messages) {
  const bool arrays = !flags.inputs.empty();
  std::error_code trouble;  // is said when the file is read
  if (arrays ? are_image_arrays(flags.inputs) : std::filesystem::is_directory(flags.data, trouble))
    return read_fit_images(flags, messages);
  expect_table_flags(flags);
  CsvTable table = arrays ? read_arrays(flags) : read_csv(flags.data, csv_options(flags.table));
  messages.add(table.messages);
  std::optional<CsvTable> test_table;
  if (!flags.test.empty()) test_table = read_csv(flags.test, csv_options(flags.table));
  if (flags.test_fraction > 0) {
    const auto [training, test] = divide_rows(table.rows(), flags.test_fraction, flags.common.seed);
    test_table = take_rows(table, test);
    table = take_rows(table, training);
  }

  EncodingOptions options = encoding_options(flags, table);
  const Task wanted = expected_task(flags.likelihood);
  if (wanted != Task::automatic && options.task != Task::automatic && options.task != wanted)
    throw Error(ErrorKind::usage,
                fmt::format("--likelihood {}: it is not for a {}; leave one of --likelihood and "
                            "--task out",
                            word_of(flags.likelihood), wanted == Task::regression ? "classification" : "regression"));
  if (wanted != Task::automatic) options.task = wanted;
  TableEncoding encoding = learn_encoding(table, options);
  // Counts must stay counts.
  if (flags.likelihood == LikelihoodChoice::poisson)
    for (TargetEncoding& target : encoding.targets) target.mean = 0, target.sd = 1;
  messages.add(encoding.messages);

  std::vector<std::string> ignored;
  Dataset training = encode(encoding, table, nullptr);
  std::optional<Dataset> test;
  if (test_table) {
    if (!has_targets(encoding, *test_table))
      throw Error(ErrorKind::data, fmt::format("{}: there is no column '{}', the target; test numbers need it",
                                               test_table->path, encoding.targets.front().name));
    test = encode(encoding, *test_table, &ignored);
    if (!flags.test.empty()) messages.add(ignored);
  }
  const std::string name = flags.data == "-"
                               ? "standard input"
                               : std::filesystem::path(arrays ? flags.inputs : flags.data).filename().string();
  const std::string sum = data_checksum(encoding, training);
  return {name, std::move(encoding), std::move(training), std::move(test), sum, std::nullopt};
}

}  // namespace ockham::app
