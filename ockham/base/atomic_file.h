// Files that are whole or not there: what a reader, or the next start after a crash, finds is the old content or the
// new one. Knows no libtorch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ockham {

class Descriptor;
class PartialFile;

/// A file that is written piece by piece under a temporary name in the same directory; `commit` brings it to the disk
/// and renames. A symbolic link is followed and stays; an existing file keeps its permissions; a device or pipe is
/// written directly. Everything throws Error(failure) with the path and the reason; without a commit the old file is
/// untouched, and no temporary one is left, also by earlier processes that were killed while they wrote there.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::string path_, target_;  // as given, and where symbolic links lead
  std::unique_ptr<PartialFile> partial_;
  std::unique_ptr<Descriptor> device_;  // instead of it
};

/// The pieces, one after the other, as an AtomicFile.
void write_atomically(const std::string& path, const std::vector<std::string_view>& pieces);
void write_atomically(const std::string& path, std::string_view bytes);

enum class Durability { cached, on_disk };

/// Adds the line and its newline by a single write, and creates the file at the first. A write that fails half-way is
/// taken back. `on_disk` waits for the disk. Throws Error(failure).
void append_line(const std::string& path, std::string_view line, Durability durability = Durability::cached);

/// Keeps the first `lines` lines, atomically: what a crash left after them, complete or torn, goes. Throws
/// Error(data) when the file has fewer.
void keep_lines(const std::string& path, int64_t lines);

/// The whole file. Throws Error(data) when it is missing, a directory or cannot be read.
std::string read_file(const std::string& path);

/// Removes temporary files that killed processes left in a directory; those that somebody is writing stay.
void remove_partial_files(const std::string& directory);

/// Removes the temporary files of this process and begins no more, for its sudden end. Safe in a signal handler.
void remove_unfinished_files();

/// Makes a directory and its parents, on the disk; none of it is an error when it is there. Throws Error(failure).
void make_directories(const std::string& path);

/// "the disk is full" and the like for an errno, for the end of a sentence.
std::string failure_reason(int error_number);

}  // namespace ockham
