// Private to base: a file descriptor that has one owner.
#pragma once

#include <string>

namespace ockham {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int number() const { return number_; }
  /// False and errno when the system reports that something was not written after all.
  bool close();

 private:
  int number_;
};

/// open(2) with O_CLOEXEC and the user's permissions, again when a signal came in between; -1 and errno when it fails.
int open_file(const std::string& path, int flags);

/// Waits until content, or the entries of a directory, are on the disk; false and errno when it fails.
bool reach_disk(int descriptor);

/// The directory that a file is in, "." for a plain name.
std::string directory_of(const std::string& path);

}  // namespace ockham
