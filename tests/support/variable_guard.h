// A variable of the environment that a test may change, as it was before when the test ends.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace ockham::testing {

class VariableGuard {
 public:
  explicit VariableGuard(std::string name) : name_(std::move(name)) {
    if (const char* value = std::getenv(name_.c_str())) before_ = value;
  }
  ~VariableGuard() { before_ ? set(*before_) : unset(); }
  VariableGuard(const VariableGuard&) = delete;
  VariableGuard& operator=(const VariableGuard&) = delete;

  void set(const std::string& value) const { setenv(name_.c_str(), value.c_str(), 1); }
  void unset() const { unsetenv(name_.c_str()); }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace ockham::testing
