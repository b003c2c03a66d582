// Private to base: the temporary file that a new content is written to before it gets its name.
#pragma once

#include <string>

#include "ockham/base/descriptor.h"

namespace ockham {

/// A new, empty file in the directory, under a name of its own; removed at the end unless it was renamed. It is locked
/// while it lives, so that `remove_partial_files` of another process leaves it alone.
class PartialFile {
 public:
  /// Throws std::system_error with the reason.
  explicit PartialFile(const std::string& directory);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int descriptor() const { return file_.number(); }
  /// Gives it its name; false and errno when that fails.
  bool rename_to(const std::string& path);

 private:
  bool open_new(const std::string& directory);

  std::string path_;
  Descriptor file_{-1};
  int place_ = -1;  // in the list for `remove_unfinished_files`
};

}  // namespace ockham
