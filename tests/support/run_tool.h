// Runs the built `ockham` and collects what it says.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace ockham::testing {

struct ToolRun {
  int exit_code = -1;
  std::string out, err;
};

/// Arguments are passed as they are, without a shell.
ToolRun run_tool(const std::vector<std::string>& arguments);

/// The tool, running beside the test, to be sent signals.
class RunningTool {
 public:
  explicit RunningTool(const std::vector<std::string>& arguments);

  bool running();
  void send(int signal);
  int process() const { return process_; }
  ToolRun wait();

 private:
  TemporaryDirectory directory_;
  int process_ = -1;
  int status_ = 0;
};

}  // namespace ockham::testing
