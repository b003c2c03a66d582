#include "ockham/store/run_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/printable.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* format_file = "/format.json";
constexpr const char* checkpoint_directory = "/checkpoint";
constexpr const char* begun_file = "/.ockham-begun";  // while it is being made: what is here is ours
constexpr const char* checkpoint_suffix = ".safetensors";
constexpr const char* run_kind = "ockham run";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{} {}", path, why));
}

const char* file_name(RunFile file) {
  switch (file) {
    case RunFile::summary:
      return "run.json";
    case RunFile::configuration:
      return "config.toml";
    case RunFile::messages:
      return "messages.json";
    case RunFile::model:
      return "model.safetensors";
    case RunFile::trace:
      return "trace.csv";
    case RunFile::metrics:
      return "metrics.jsonl";
    case RunFile::report:
      return "report.html";
  }
  return "";
}

bool is_json(RunFile file) { return file == RunFile::summary || file == RunFile::messages; }

bool is_run(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path + format_file, ignored);
}

bool is_of_a_run(const std::string& name) {
  for (const RunFile file : {RunFile::summary, RunFile::configuration, RunFile::messages, RunFile::model,
                             RunFile::trace, RunFile::metrics, RunFile::report})
    if (name == file_name(file)) return true;
  return "/" + name == checkpoint_directory;
}

/// Nothing there but what a process that was killed in `create` may have left. Without its mark nothing that could be
/// somebody else's is taken for that.
void expect_vacant(const std::string& path) {
  std::error_code failure;
  if (!fs::exists(path, failure)) return;
  if (!fs::is_directory(path, failure)) refuse(path, "is a file; choose a directory for the run");
  if (is_run(path)) refuse(path, "holds a run already; continue it with --resume, or choose another directory");
  fs::directory_iterator entries(path, failure);
  if (failure) refuse(path, fmt::format("cannot be read: {}", failure_reason(failure.value())));
  const bool begun = fs::is_regular_file(path + begun_file, failure);
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name != ".lock" && name.rfind(".ockham-", 0) != 0 && !(begun && is_of_a_run(name))) {
      refuse(path,
             fmt::format("is not empty and no run of ockham (it holds {}); choose a new or empty directory", name));
    }
  }
}

std::string without_end_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void remove_all_partial_files(const std::string& path) {
  remove_partial_files(path);
  remove_partial_files(path + checkpoint_directory);
}

}  // namespace

RunDirectory RunDirectory::create(const std::string& given, const RunConfiguration& configuration,
                                  const std::map<RunFile, std::string>& first_files) {
  const std::string path = without_end_slash(given);
  std::error_code ignored;
  expect_vacant(path);
  make_directories(path);
  RunDirectory run(path, RunLock(path));
  expect_vacant(path);  // again: another process may have come first
  remove_all_partial_files(path);
  write_atomically(path + begun_file, "");
  make_directories(path + checkpoint_directory);
  for (const auto& [file, file_text] : first_files) run.write(file, file_text);
  run.configuration_ = configuration;
  const nlohmann::ordered_json format = {{"kind", run_kind},
                                         {"format", run_format_version},
                                         {"fingerprint", fingerprint(configuration)},
                                         {"configuration", configuration}};
  std::string text;
  try {
    text = format.dump(2) + "\n";
  } catch (const Json::exception&) {
    throw Error(ErrorKind::failure, fmt::format("{}: the configuration is no UTF-8 text and cannot be kept", path));
  }
  write_atomically(path + format_file, text);  // from here on it is a run
  fs::remove(path + begun_file, ignored);
  return run;
}

RunDirectory RunDirectory::open(const std::string& given, RunAccess access) {
  const std::string path = without_end_slash(given);
  std::error_code failure;
  if (!fs::exists(path, failure)) refuse(path, "does not exist; a run directory is made by ockham fit");
  if (!fs::is_directory(path, failure)) refuse(path, "is not a directory; a run directory of ockham fit is expected");
  if (!is_run(path)) refuse(path, "is no run directory: it has no format.json; one is made by ockham fit");
  RunDirectory run(path, access == RunAccess::write ? RunLock(path) : RunLock());
  run.read_format();
  if (access == RunAccess::write) {
    remove_all_partial_files(path);
    fs::remove(path + begun_file, failure);
    make_directories(path + checkpoint_directory);
  }
  return run;
}

void RunDirectory::read_format() {
  const std::string path = path_ + format_file;
  const Json format = Json::parse(read_file(path), nullptr, false);
  if (!format.is_object() || !format.contains("kind") || format["kind"] != run_kind || !format.contains("format") ||
      !format["format"].is_number_integer()) {
    refuse(path, "cannot be understood; it is damaged, or of another program");
  }
  const auto version = format["format"].get<int64_t>();
  if (version > run_format_version) {
    refuse(path_, fmt::format("has run format {}, but this ockham reads up to {}; use a newer ockham", version,
                              run_format_version));
  }
  if (version < 1) refuse(path, fmt::format("has the impossible run format {}; it is damaged", version));
  format_version_ = static_cast<int>(version);
  if (!format.contains("configuration") || !format["configuration"].is_object()) {
    refuse(path, "has no configuration; it is damaged");
  }
  for (const auto& [name, value] : format["configuration"].items()) {
    if (!value.is_string())
      refuse(path, fmt::format("has a configuration whose '{}' is no text; it is damaged", printable(name)));
    configuration_[name] = value.get<std::string>();
  }
}

void RunDirectory::expect_configuration(const RunConfiguration& now) const {
  const std::string differences = describe_differences(configuration_, now);
  if (differences.empty()) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} was made by another configuration and cannot be continued: {}; give the same flags and "
                          "data, or choose another directory",
                          path_, differences));
}

std::string RunDirectory::path_of(RunFile file) const { return fmt::format("{}/{}", path_, file_name(file)); }

bool RunDirectory::has(RunFile file) const {
  std::error_code ignored;
  return fs::is_regular_file(path_of(file), ignored);
}

void RunDirectory::expect_writable() const {
  if (!lock_.held()) throw Error(ErrorKind::failure, fmt::format("{} was opened for reading only", path_));
}

void RunDirectory::write(RunFile file, std::string_view text) const {
  expect_writable();
  if (is_json(file) && !Json::accept(text)) {
    throw Error(ErrorKind::failure, fmt::format("{} would not be JSON", path_of(file)));
  }
  write_atomically(path_of(file), text);
}

std::string RunDirectory::read(RunFile file) const {
  if (!has(file)) {
    refuse(path_, fmt::format("has no {}; the run is unfinished (continue it with --resume), or the file was removed",
                              file_name(file)));
  }
  std::string text = read_file(path_of(file));
  if (is_json(file) && !Json::accept(text)) refuse(path_of(file), "is damaged: it is no JSON");
  return text;
}

void RunDirectory::append_metrics(std::string_view line) const {
  expect_writable();
  append_line(path_of(RunFile::metrics), line);
}

void RunDirectory::keep_metrics(int64_t lines) const {
  expect_writable();
  if (lines > 0 || has(RunFile::metrics)) keep_lines(path_of(RunFile::metrics), lines);
}

std::string RunDirectory::checkpoint_path(const std::string& name) const {
  return ockham::checkpoint_path(path_, name);
}

std::string checkpoint_path(const std::string& run, const std::string& name) {
  const auto plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) ||
           std::string_view("._-").find(letter) != std::string_view::npos;
  };
  if (name.empty() || name[0] == '.' || !std::all_of(name.begin(), name.end(), plain)) {
    throw Error(ErrorKind::failure, fmt::format("a checkpoint cannot have the name '{}'", name));
  }
  return fmt::format("{}{}/{}{}", run, checkpoint_directory, name, checkpoint_suffix);
}

std::vector<std::string> RunDirectory::checkpoint_names() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_ + checkpoint_directory, ignored)) {
    if (entry.path().extension() == checkpoint_suffix) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void RunDirectory::remove_checkpoints() const {
  expect_writable();
  std::error_code ignored;
  for (const std::string& name : checkpoint_names()) fs::remove(checkpoint_path(name), ignored);
}

std::string new_run_path(const std::string& parent) {
  make_directories(parent);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d-%H%M%S", &local);
  for (int counter = 1;; ++counter) {
    std::string path = fmt::format("{}/{}", parent, stamp);
    if (counter > 1) path += fmt::format("-{}", counter);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) {
      throw Error(ErrorKind::failure, fmt::format("the directory {} cannot be made: {}", path, failure_reason(errno)));
    }
  }
}

}  // namespace ockham
