#include "ockham/store/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham {
namespace {

/// " by process 123", or nothing when the holder has not written its number yet.
std::string holder(int descriptor) {
  char text[32] = {};
  const ssize_t count = ::pread(descriptor, text, sizeof text - 1, 0);
  const long process = count > 0 ? std::strtol(text, nullptr, 10) : 0;
  return process > 0 ? fmt::format(" by process {}", process) : std::string();
}

}  // namespace

RunLock::RunLock(const std::string& directory) {
  const std::string path = directory + "/.lock";
  const int opened = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0) {
    throw Error(ErrorKind::failure, fmt::format("{} cannot be written to: {}", directory, failure_reason(errno)));
  }
  int result;
  do {
    result = ::flock(opened, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    const int reason = errno;
    const std::string sentence =
        reason == EWOULDBLOCK
            ? fmt::format("{} is in use{}; wait for it to end, or choose another directory", directory, holder(opened))
            : fmt::format("{} cannot be locked ({}); choose a directory on a local disk", directory,
                          failure_reason(reason));
    ::close(opened);
    throw Error(ErrorKind::failure, sentence);
  }
  descriptor_ = opened;
  // The number is only for the sentence above: a lock without it still locks.
  const std::string number = fmt::format("{}\n", ::getpid());
  if (::ftruncate(opened, 0) != 0 || ::pwrite(opened, number.data(), number.size(), 0) < 0) return;
}

RunLock::~RunLock() {
  if (held()) ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace ockham
