// Running another program.
#pragma once

#include <string>
#include <vector>

namespace ockham::app {

struct ProcessOutcome {
  int exit_code = 0;   // 127: there is no such program; 128 + n: ended by signal n
  std::string errors;  // what it said on stderr
};

/// Runs a program of the PATH in a directory and waits for it. It reads nothing, and what it prints is dropped.
ProcessOutcome run_process(const std::vector<std::string>& command, const std::string& directory);

/// Ends the program that `run_process` waits for, with all that it started, and keeps `run_process` from returning and
/// from beginning another one: for the end of this process.
void end_processes();

}  // namespace ockham::app
