#include "ockham/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "ockham/base/descriptor.h"
#include "ockham/base/error.h"
#include "ockham/base/partial_file.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_write(const std::string& path, int error_number) {
  throw Error(ErrorKind::failure, fmt::format("{} cannot be written: {}", path, failure_reason(error_number)));
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GB at a time.
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;  // it would be tried for ever
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Where a path leads, so that a symbolic link stays one.
std::string followed(const std::string& path) {
  std::error_code failure;
  if (!fs::is_symlink(path, failure)) return path;
  const fs::path target = fs::weakly_canonical(path, failure);
  return failure ? path : target.string();
}

/// Once in a process for each directory: whoever was killed while writing there left its file.
void clear_once(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> cleared;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!cleared.insert(directory).second) return;
  }
  remove_partial_files(directory);
}

/// Brings new or renamed entries of a directory to the disk. One that may be written but not read cannot be synced.
bool sync_directory(const std::string& path) {
  const Descriptor directory(open_file(path, O_RDONLY | O_DIRECTORY));
  return directory.number() < 0 || reach_disk(directory.number());
}

}  // namespace

std::string failure_reason(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "the disk is full; free some space";
    case EDQUOT:
      return "the disk quota is used up; free some space";
    case EFBIG:
      return "it is larger than the limit for files (ulimit -f)";
    case EROFS:
      return "the file system is read-only; choose another place";
    case ENOENT:
      return "its directory does not exist; make it first";
    case ENOTDIR:
      return "a part of its path is a file, not a directory";
    case EISDIR:
      return "it is a directory";
    case EACCES:
    case EPERM:
      return "permission denied; check the permissions of the file and its directory";
    case ENAMETOOLONG:
      return "its name is too long";
    case EIO:
      return "the disk reports an error";
    default:
      return std::generic_category().message(error_number);
  }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(followed(path)) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    device_ = std::make_unique<Descriptor>(open_file(path, O_WRONLY));
    if (device_->number() < 0) refuse_write(path, errno);
    return;
  }
  // Renaming would replace even a file that its owner protected.
  if (exists && ::access(path.c_str(), W_OK) != 0) refuse_write(path, errno);
  const std::string directory = directory_of(target_);
  clear_once(directory);
  try {
    partial_ = std::make_unique<PartialFile>(directory);
  } catch (const std::system_error& error) {
    refuse_write(path, error.code().value());
  }
  if (exists && ::fchmod(partial_->descriptor(), status.st_mode & 07777) != 0) refuse_write(path, errno);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  if (!write_all(device_ ? device_->number() : partial_->descriptor(), bytes)) refuse_write(path_, errno);
}

void AtomicFile::commit() {
  if (device_) {
    if (!device_->close()) refuse_write(path_, errno);
    return;
  }
  if (!reach_disk(partial_->descriptor()) || !partial_->rename_to(target_)) refuse_write(path_, errno);
  if (!sync_directory(directory_of(target_))) refuse_write(path_, errno);
}

void write_atomically(const std::string& path, const std::vector<std::string_view>& pieces) {
  AtomicFile file(path);
  for (const std::string_view piece : pieces) file.write(piece);
  file.commit();
}

void write_atomically(const std::string& path, std::string_view bytes) {
  write_atomically(path, std::vector<std::string_view>{bytes});
}

void append_line(const std::string& path, std::string_view line, Durability durability) {
  if (line.find('\n') != std::string_view::npos) {
    throw Error(ErrorKind::failure, fmt::format("{}: a line with a newline inside cannot be added", path));
  }
  Descriptor file(open_file(path, O_WRONLY | O_CREAT | O_APPEND));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) refuse_write(path, errno);
  std::string whole(line);
  whole += '\n';
  if (!write_all(file.number(), whole)) {
    const int reason = errno;
    if (S_ISREG(status.st_mode) && ::ftruncate(file.number(), status.st_size) != 0) refuse_write(path, errno);
    refuse_write(path, reason);
  }
  if (durability == Durability::on_disk && !reach_disk(file.number())) refuse_write(path, errno);
}

void keep_lines(const std::string& path, int64_t lines) {
  const std::string text = read_file(path);
  size_t end = 0;
  for (int64_t line = 0; line < lines; ++line) {
    const size_t newline = text.find('\n', end);
    if (newline == std::string::npos) {
      throw Error(ErrorKind::data,
                  fmt::format("{} has {} whole lines but {} are expected; it was cut or changed", path, line, lines));
    }
    end = newline + 1;
  }
  if (end < text.size()) write_atomically(path, std::string_view(text).substr(0, end));
}

std::string read_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::data, fmt::format("{}: {}", path, why)); };
  Descriptor file(open_file(path, O_RDONLY));
  if (file.number() < 0 && errno == ENOENT) refuse("no such file");
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
    refuse(fmt::format("cannot be opened: {}", failure_reason(errno)));
  }
  if (S_ISDIR(status.st_mode)) refuse("is a directory; a file is expected");
  std::string text;
  text.reserve(static_cast<size_t>(status.st_size));
  char block[65536];
  while (true) {
    const ssize_t count = ::read(file.number(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(fmt::format("cannot be read: {}", failure_reason(errno)));
    if (count == 0) return text;
    text.append(block, static_cast<size_t>(count));
  }
}

void make_directories(const std::string& path) {
  std::error_code failure;
  std::vector<fs::path> missing;  // the deepest first
  for (fs::path place = fs::path(path).lexically_normal(); !place.empty() && !fs::exists(place, failure);
       place = place.parent_path())
    missing.push_back(place);
  failure.clear();
  fs::create_directories(path, failure);
  if (!failure && !fs::is_directory(path, failure)) failure = std::make_error_code(std::errc::not_a_directory);
  if (failure) {
    throw Error(ErrorKind::failure,
                fmt::format("the directory {} cannot be made: {}", path, failure_reason(failure.value())));
  }
  // Files in a directory that is not on the disk yet would go with it.
  for (const fs::path& place : missing) {
    if (!sync_directory(directory_of(place.string())))
      throw Error(ErrorKind::failure, fmt::format("the directory {} cannot be made: {}", path, failure_reason(errno)));
  }
}

}  // namespace ockham
