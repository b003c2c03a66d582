#include "app/scratch_directory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::app {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() {
  std::error_code trouble;
  std::string pattern = (fs::temp_directory_path(trouble) / "ockham-XXXXXX").string();
  if (trouble || ::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorKind::failure, fmt::format("no temporary directory can be made ({}); set TMPDIR to one with room",
                                                failure_reason(trouble ? trouble.value() : errno)));
  }
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ockham::app
