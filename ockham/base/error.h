// The one exception class: what went wrong, where, what was expected and what to do, in one sentence.
#pragma once

#include <stdexcept>
#include <string>

namespace ockham {

/// The kind decides the exit code of the tool; see docs of `exit_code`.
enum class ErrorKind { failure, usage, data, numerical, peer_lost };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// 1 failure while running, 2 wrong usage, 3 bad data or files, 4 numerical failure, 5 a peer was lost.
inline int exit_code(ErrorKind kind) { return static_cast<int>(kind) + 1; }

}  // namespace ockham
