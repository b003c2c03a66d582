// One writer per run directory.
#pragma once

#include <string>

namespace ockham {

/// Holds RUN/.lock while it lives; the system lets go when the process ends, however it ends.
class RunLock {
 public:
  RunLock() = default;  // holds nothing
  /// Throws Error(failure) naming the process that has it.
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;

  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace ockham
