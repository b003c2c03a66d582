#include "ockham/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace ockham {

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

bool Descriptor::close() {
  const int closing = std::exchange(number_, -1);
  return closing < 0 || ::close(closing) == 0;
}

int open_file(const std::string& path, int flags) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

bool reach_disk(int descriptor) {
  while (::fsync(descriptor) != 0) {
    // Some file systems cannot sync a directory or a pipe; the write itself has succeeded.
    if (errno == EINVAL || errno == ENOTSUP) return true;
    if (errno != EINTR) return false;
  }
  return true;
}

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace ockham
