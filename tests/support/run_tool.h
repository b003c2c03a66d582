// Runs the built `ockham` and collects what it says.
#pragma once

#include <string>
#include <vector>

namespace ockham::testing {

struct ToolRun {
  int exit_code = -1;
  std::string out, err;
};

/// Arguments are passed as they are, without a shell.
ToolRun run_tool(const std::vector<std::string>& arguments);

}  // namespace ockham::testing
