#include "app/npm_package.h"

#include <fmt/format.h>

#include <sstream>

#include "app/process.h"
#include "app/tar_archive.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;

/// npm prints "npm ERR! code E404" (in later versions "npm error"), then what happened.
std::string reason_of(const std::string& errors) {
  std::istringstream lines(errors);
  std::string code;
  for (std::string line; std::getline(lines, line);) {
    for (const std::string start : {"npm ERR! ", "npm error "}) {
      if (line.rfind(start, 0) != 0) continue;
      const std::string said = line.substr(start.size());
      if (said.rfind("code ", 0) != 0 && said.rfind("syscall", 0) != 0 && said.rfind("errno", 0) != 0) return said;
      if (code.empty()) code = said;
    }
  }
  return code;
}

}  // namespace

fs::path unpack_npm_package(const std::string& package, const fs::path& directory) {
  const ProcessOutcome outcome =
      run_process({"env", "npm_config_cache=" + (directory / "npm-cache").string(), "npm_config_update_notifier=false",
                   "npm_config_fetch_retries=1", "npm_config_fetch_timeout=60000", "npm", "pack", package},
                  directory.string());
  if (outcome.exit_code == 127) throw Error(ErrorKind::failure, "there is no npm (Debian package npm)");
  if (outcome.exit_code != 0) {
    const std::string reason = reason_of(outcome.errors);
    throw Error(ErrorKind::failure,
                fmt::format("'npm pack {}' failed{}{}", package, reason.empty() ? "" : ": ", reason));
  }
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".tgz") return unpack_tar(entry.path(), directory / "unpacked") / "package";
  }
  throw Error(ErrorKind::failure, fmt::format("'npm pack {}' left no package", package));
}

}  // namespace ockham::app
