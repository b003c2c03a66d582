#include "app/tar_archive.h"

#include <fmt/format.h>

#include "app/process.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::app {

std::filesystem::path unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& directory) {
  // Not its parents: a signal may have just removed them.
  std::error_code trouble;
  std::filesystem::create_directory(directory, trouble);
  if (trouble)
    throw Error(ErrorKind::failure, fmt::format("the directory {} cannot be made: {}", directory.string(),
                                                failure_reason(trouble.value())));
  const ProcessOutcome outcome =
      run_process({"tar", "--extract", "--gzip", "--no-same-owner", "--file", archive.string()}, directory.string());
  if (outcome.exit_code == 127) throw Error(ErrorKind::failure, "there is no tar to unpack an archive with");
  if (outcome.exit_code != 0) {
    throw Error(ErrorKind::failure, fmt::format("tar cannot unpack {}: {}", archive.filename().string(),
                                                outcome.errors.substr(0, outcome.errors.find('\n'))));
  }
  return directory;
}

}  // namespace ockham::app
