#include "ockham/base/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "ockham/base/atomic_file.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view partial_prefix = ".ockham-";
constexpr std::string_view partial_suffix = ".partial";

/// The names of this process's temporary files, where a signal handler can read them: fixed memory, no locks.
struct Place {
  std::atomic<bool> taken{false};
  std::atomic<bool> filled{false};
  char path[PATH_MAX];
};
constexpr int place_count = 16;  // files at once; further ones are only not known to signal handlers
Place places[place_count];
std::atomic<bool> ending{false};

int enter(const std::string& path) {
  if (path.size() >= sizeof places[0].path) return -1;
  for (int i = 0; i < place_count; ++i) {
    if (places[i].taken.exchange(true)) continue;
    std::memcpy(places[i].path, path.c_str(), path.size() + 1);
    places[i].filled = true;
    return i;
  }
  return -1;
}

void leave(int place) {
  if (place < 0) return;
  places[place].filled = false;
  places[place].taken = false;
}

bool is_partial(const std::string& name) {
  return name.size() > partial_prefix.size() + partial_suffix.size() && name.rfind(partial_prefix, 0) == 0 &&
         name.compare(name.size() - partial_suffix.size(), partial_suffix.size(), partial_suffix) == 0;
}

bool lock(int descriptor) {
  int result;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool has_name(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

}  // namespace

PartialFile::PartialFile(const std::string& directory) {
  while (!open_new(directory)) {
  }
}

/// False when another try with the next number may work.
bool PartialFile::open_new(const std::string& directory) {
  static std::atomic<unsigned> counter{0};
  // The name does not grow with that of the file, which may be as long as the file system allows.
  path_ = fmt::format("{}/{}{}-{}{}", directory, partial_prefix, ::getpid(), counter++, partial_suffix);
  place_ = enter(path_);
  if (ending) errno = ECANCELED;
  file_ = Descriptor(ending ? -1 : open_file(path_, O_WRONLY | O_CREAT | O_EXCL));
  if (file_.number() < 0) {
    const int reason = errno;
    leave(place_);
    if (reason == EEXIST) return false;  // a killed process with our number left one
    throw std::system_error(reason, std::generic_category());
  }
  lock(file_.number());  // a file system without locks has no other use for it
  if (has_name(file_.number())) return true;
  leave(place_);  // somebody cleared it away before it was locked
  return false;
}

PartialFile::~PartialFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
  leave(place_);
}

bool PartialFile::rename_to(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) return false;
  path_.clear();
  return true;
}

void remove_partial_files(const std::string& directory) {
  std::error_code ignored;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (is_partial(entry.path().filename().string())) found.push_back(entry.path().string());
  for (const std::string& path : found) {
    const Descriptor file(open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() >= 0 && lock(file.number())) ::unlink(path.c_str());
  }
}

void remove_unfinished_files() {
  ending = true;
  for (const Place& place : places)
    if (place.filled) ::unlink(place.path);
}

}  // namespace ockham
