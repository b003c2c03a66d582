#include "ockham/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "ockham/base/error.h"

namespace ockham {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view partial_prefix = ".ockham-";
constexpr std::string_view partial_suffix = ".partial";

[[noreturn]] void refuse_write(const std::string& path, int error_number) {
  throw Error(ErrorKind::failure, fmt::format("{} cannot be written: {}", path, failure_reason(error_number)));
}

/// Owns a descriptor; `close` reports what the destructor cannot.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool close() {
    const int closing = number_;
    number_ = -1;
    return closing < 0 || ::close(closing) == 0;
  }

 private:
  int number_;
};

/// Removes the temporary file unless it was renamed.
class PartialFile {
 public:
  explicit PartialFile(std::string path) : path_(std::move(path)) {}
  ~PartialFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  void release() { path_.clear(); }

 private:
  std::string path_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GB at a time.
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool write_pieces(int descriptor, const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    if (!write_all(descriptor, piece)) return false;
  }
  return true;
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
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

int open_file(const std::string& path, int flags) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// A new temporary file; its name does not grow with the file's, which may be as long as the file system allows.
std::string open_partial(const std::string& path, int& descriptor) {
  static std::atomic<unsigned> counter{0};
  while (true) {
    const std::string partial =
        fmt::format("{}/{}{}-{}{}", directory_of(path), partial_prefix, ::getpid(), counter++, partial_suffix);
    descriptor = open_file(partial, O_WRONLY | O_CREAT | O_EXCL);
    if (descriptor >= 0) return partial;
    if (errno != EEXIST) refuse_write(path, errno);  // a killed process with our number left one
  }
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

void write_atomically(const std::string& path, const std::vector<std::string_view>& pieces) {
  std::error_code failure;
  std::string target = path;
  if (fs::is_symlink(path, failure)) {
    const fs::path followed = fs::weakly_canonical(path, failure);
    if (!failure) target = followed.string();
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor device(open_file(path, O_WRONLY));
    if (device.number() < 0 || !write_pieces(device.number(), pieces)) refuse_write(path, errno);
    return;
  }
  // Renaming would replace even a file that its owner protected.
  if (exists && ::access(path.c_str(), W_OK) != 0) refuse_write(path, errno);

  int opened = -1;
  const std::string partial = open_partial(target, opened);
  PartialFile unfinished(partial);
  Descriptor file(opened);
  if (exists && ::fchmod(file.number(), status.st_mode & 07777) != 0) refuse_write(path, errno);
  if (!write_pieces(file.number(), pieces) || !reach_disk(file.number()) || !file.close()) refuse_write(path, errno);
  if (::rename(partial.c_str(), target.c_str()) != 0) refuse_write(path, errno);
  unfinished.release();
  Descriptor directory(open_file(directory_of(target), O_RDONLY | O_DIRECTORY));
  if (directory.number() >= 0 && !reach_disk(directory.number())) refuse_write(path, errno);
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

void remove_partial_files(const std::string& directory) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > partial_prefix.size() + partial_suffix.size() && name.rfind(partial_prefix, 0) == 0 &&
        name.compare(name.size() - partial_suffix.size(), partial_suffix.size(), partial_suffix) == 0) {
      found.push_back(entry.path());
    }
  }
  for (const auto& path : found) fs::remove(path, ignored);
}

void make_directories(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (!failure && !fs::is_directory(path, failure)) failure = std::make_error_code(std::errc::not_a_directory);
  if (failure) {
    throw Error(ErrorKind::failure,
                fmt::format("the directory {} cannot be made: {}", path, failure_reason(failure.value())));
  }
}

}  // namespace ockham
