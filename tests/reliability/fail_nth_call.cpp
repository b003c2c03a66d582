// For LD_PRELOAD: counts the calls by which a program changes a directory, and lets the n-th one fail or kill the
// program.
//   OCKHAM_FAIL_DIRECTORY  calls that touch this directory, or what is in it, count
//   OCKHAM_FAIL_CALLS      which of them, e.g. "write,fsync,rename" (default: all)
//   OCKHAM_FAIL_AT         the n-th of these, from 1 (default: none); with OCKHAM_FAIL_ONWARDS also all after it
//   OCKHAM_FAIL_HOW        kill-before, kill-after, kill-torn (half of a write is done), short (half of it, then on),
//                          or the name of an error: ENOSPC, EIO, EROFS
//   OCKHAM_FAIL_LOG        a line "n call path" for each call that counts is added to this file
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

enum class How { nothing, kill_before, kill_after, kill_torn, short_write, error };

struct Plan {
  std::string directory = variable("OCKHAM_FAIL_DIRECTORY");
  std::string calls = "," + variable("OCKHAM_FAIL_CALLS") + ",";
  std::string log = variable("OCKHAM_FAIL_LOG");
  long at = std::atol(variable("OCKHAM_FAIL_AT").c_str());
  bool onwards = !variable("OCKHAM_FAIL_ONWARDS").empty();
  How how = How::error;
  int error = EIO;
  std::atomic<long> count{0};

  Plan() {
    const std::string word = variable("OCKHAM_FAIL_HOW");
    if (word == "kill-before") how = How::kill_before;
    if (word == "kill-after") how = How::kill_after;
    if (word == "kill-torn") how = How::kill_torn;
    if (word == "short") how = How::short_write;
    if (word == "ENOSPC") error = ENOSPC;
    if (word == "EROFS") error = EROFS;
  }
  bool names(const char* call) const {
    return calls == ",," || calls.find("," + std::string(call) + ",") != std::string::npos;
  }
};

Plan& plan() {
  static Plan* const one = new Plan;  // never destroyed: calls come until the very end
  return *one;
}

[[noreturn]] void die() {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

std::string path_of(int descriptor) {
  char link[64], target[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : "";
}

std::string absolute(int directory, const char* path) {
  if (path == nullptr) return "";
  if (path[0] == '/') return path;
  char here[PATH_MAX];
  const std::string start = directory != AT_FDCWD ? path_of(directory) : getcwd(here, sizeof here) ? here : "";
  return start + "/" + (std::strncmp(path, "./", 2) == 0 ? path + 2 : path);
}

bool is_inside(const std::string& path) {
  const std::string& directory = plan().directory;
  return !directory.empty() && path.compare(0, directory.size(), directory) == 0 &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

/// What happens to this call.
How look_at(const char* call, const std::string& path) {
  Plan& now = plan();
  if (!is_inside(path) || !now.names(call)) return How::nothing;
  const long number = ++now.count;
  if (!now.log.empty()) {
    const std::string line = std::to_string(number) + " " + call + " " + path + "\n";
    const long file = syscall(SYS_openat, AT_FDCWD, now.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) {
      syscall(SYS_write, file, line.data(), line.size());
      syscall(SYS_close, file);
    }
  }
  const bool mine = now.at > 0 && (number == now.at || (now.onwards && number > now.at));
  if (!mine) return How::nothing;
  if (now.how == How::kill_before) die();
  return now.how;
}

/// A call without a length: `real` does it, and a partial write is a whole one.
template <class Call>
auto pass(const char* name, const std::string& path, Call real) -> decltype(real()) {
  const How how = look_at(name, path);
  if (how == How::error) {
    errno = plan().error;
    return -1;
  }
  const auto result = real();
  if (how == How::kill_after || how == How::kill_torn) die();
  return result;
}

/// `real` writes so many bytes.
template <class Call>
ssize_t pass_bytes(const char* name, const std::string& path, size_t length, Call real) {
  const How how = look_at(name, path);
  if (how == How::error) {
    errno = plan().error;
    return -1;
  }
  const bool half = how == How::kill_torn || (how == How::short_write && length > 1);
  const ssize_t result = real(half ? length / 2 : length);
  if (how == How::kill_after || how == How::kill_torn) die();
  return result;
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define REAL(name) next<decltype(name)>(#name)
#define WITH_MODE(flags)                         \
  va_list arguments;                             \
  va_start(arguments, flags);                    \
  const mode_t mode = mode_of(flags, arguments); \
  va_end(arguments)

extern "C" {

ssize_t write(int file, const void* bytes, size_t length) {
  return pass_bytes("write", path_of(file), length, [&](size_t n) { return REAL(write)(file, bytes, n); });
}
ssize_t pwrite(int file, const void* bytes, size_t length, off_t place) {
  return pass_bytes("pwrite", path_of(file), length, [&](size_t n) { return REAL(pwrite)(file, bytes, n, place); });
}
ssize_t pwrite64(int file, const void* bytes, size_t length, off64_t place) {
  return pass_bytes("pwrite", path_of(file), length, [&](size_t n) { return REAL(pwrite64)(file, bytes, n, place); });
}
ssize_t writev(int file, const iovec* parts, int count) {
  return pass("writev", path_of(file), [&] { return REAL(writev)(file, parts, count); });
}
int fsync(int file) {
  return pass("fsync", path_of(file), [&] { return REAL(fsync)(file); });
}
int fdatasync(int file) {
  return pass("fsync", path_of(file), [&] { return REAL(fdatasync)(file); });
}
int ftruncate(int file, off_t length) noexcept {
  return pass("ftruncate", path_of(file), [&] { return REAL(ftruncate)(file, length); });
}
int ftruncate64(int file, off64_t length) noexcept {
  return pass("ftruncate", path_of(file), [&] { return REAL(ftruncate64)(file, length); });
}
int fchmod(int file, mode_t mode) noexcept {
  return pass("fchmod", path_of(file), [&] { return REAL(fchmod)(file, mode); });
}
int close(int file) {
  const std::string path = plan().directory.empty() ? "" : path_of(file);
  const int flags = path.empty() ? 0 : static_cast<int>(syscall(SYS_fcntl, file, F_GETFL));
  if ((flags & O_ACCMODE) == O_RDONLY) return static_cast<int>(syscall(SYS_close, file));
  const How how = look_at("close", path);
  const int result = static_cast<int>(syscall(SYS_close, file));  // closed whatever is reported, as in Linux
  if (how == How::kill_after || how == How::kill_torn) die();
  if (how != How::error) return result;
  errno = plan().error;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  return pass("rename", absolute(AT_FDCWD, to), [&] { return REAL(rename)(from, to); });
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return pass("rename", absolute(to_directory, to),
              [&] { return REAL(renameat)(from_directory, from, to_directory, to); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  return pass("mkdir", absolute(AT_FDCWD, path), [&] { return REAL(mkdir)(path, mode); });
}
int unlink(const char* path) noexcept {
  return pass("unlink", absolute(AT_FDCWD, path), [&] { return REAL(unlink)(path); });
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  return pass("unlink", absolute(directory, path), [&] { return REAL(unlinkat)(directory, path, flags); });
}
int rmdir(const char* path) noexcept {
  return pass("unlink", absolute(AT_FDCWD, path), [&] { return REAL(rmdir)(path); });
}
int remove(const char* path) noexcept {
  return pass("unlink", absolute(AT_FDCWD, path), [&] { return REAL(remove)(path); });
}

int open(const char* path, int flags, ...) {
  WITH_MODE(flags);
  const auto real = [&] { return REAL(open)(path, flags, mode); };
  return writes(flags) ? pass("open", absolute(AT_FDCWD, path), real) : real();
}
int open64(const char* path, int flags, ...) {
  WITH_MODE(flags);
  const auto real = [&] { return REAL(open64)(path, flags, mode); };
  return writes(flags) ? pass("open", absolute(AT_FDCWD, path), real) : real();
}
int openat(int directory, const char* path, int flags, ...) {
  WITH_MODE(flags);
  const auto real = [&] { return REAL(openat)(directory, path, flags, mode); };
  return writes(flags) ? pass("open", absolute(directory, path), real) : real();
}

}  // extern "C"
