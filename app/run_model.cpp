#include "app/run_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "ockham/base/error.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {

TrainedModel load_run_model(const std::string& path) {
  const RunDirectory run = RunDirectory::open(path);
  if (!run.has(RunFile::model))
    throw Error(ErrorKind::data, fmt::format("{0}: the run has no model: it is not finished, or the file was removed; "
                                             "'ockham fit --resume --out {0}' makes it",
                                             run.path()));
  return load_trained_model(run.path_of(RunFile::model));
}

void expect_other_file(const std::string& flag, const std::string& written, const std::string& read) {
  std::error_code ignored;
  if (std::filesystem::is_directory(written, ignored))
    throw Error(ErrorKind::usage, fmt::format("{} {}: is a directory; give the name of a file", flag, written));
  if (!read.empty() && std::filesystem::equivalent(written, read, ignored) && !ignored)
    throw Error(ErrorKind::usage, fmt::format("{} {}: is the file that is read; give another name", flag, written));
}

}  // namespace ockham::app
