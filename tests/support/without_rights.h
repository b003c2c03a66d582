// Files that may not be read, also for tests that run as root.
#pragma once

#include <unistd.h>

namespace ockham::testing {

/// Root may read everything; while this lives, root is nobody.
class WithoutRights {
 public:
  WithoutRights() : was_root_(::geteuid() == 0) { works_ = !was_root_ || ::seteuid(nobody) == 0; }
  ~WithoutRights() {
    if (was_root_ && works_ && ::seteuid(0) != 0) ::_exit(1);
  }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;

  /// Not in a container that has no other users.
  bool works() const { return works_; }

 private:
  static constexpr uid_t nobody = 65534;
  bool was_root_, works_;
};

}  // namespace ockham::testing
