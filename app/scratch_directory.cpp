#include "app/scratch_directory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "app/process.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::app {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() {
  std::error_code trouble;
  const fs::path parent = fs::temp_directory_path(trouble);
  const int reason = trouble ? trouble.value() : make(parent / "ockham-XXXXXX");
  if (reason == 0) return;
  throw Error(ErrorKind::failure, fmt::format("no temporary directory can be made ({}); set TMPDIR to one with room",
                                              failure_reason(reason)));
}

ScratchDirectory::ScratchDirectory(const fs::path& parent) {
  const int reason = make(parent / ".ockham-XXXXXX");
  if (reason == 0) return;
  throw Error(ErrorKind::failure,
              fmt::format("{}: nothing can be written there: {}", parent.string(), failure_reason(reason)));
}

ScratchDirectory::~ScratchDirectory() { remove(); }

int ScratchDirectory::make(const fs::path& pattern) {
  const std::lock_guard<std::mutex> lock(mutex_);
  clean_up_.emplace([this] {
    end_processes();
    remove();
  });
  std::string path = pattern.string();
  if (::mkdtemp(path.data()) == nullptr) return errno;
  path_ = path;
  return 0;
}

void ScratchDirectory::remove() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace ockham::app
