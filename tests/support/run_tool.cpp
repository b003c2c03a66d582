#include "tests/support/run_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace ockham::testing {

RunningTool::RunningTool(const std::vector<std::string>& arguments) {
  const std::string out = directory_.path("stdout"), err = directory_.path("stderr");
  const std::string program = std::string(OCKHAM_BINARY_DIR) + "/ockham";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ == 0) {
    const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT, 0600),
              err_file = ::open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out_file, 1);
    ::dup2(err_file, 2);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
}

bool RunningTool::running() {
  if (process_ > 0 && ::waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
  return process_ > 0;
}

void RunningTool::send(int signal) {
  if (process_ > 0) ::kill(process_, signal);
}

ToolRun RunningTool::wait() {
  if (process_ > 0) ::waitpid(process_, &status_, 0);
  process_ = -1;
  ToolRun run;
  run.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  run.out = read_bytes(directory_.path("stdout"));
  run.err = read_bytes(directory_.path("stderr"));
  return run;
}

ToolRun run_tool(const std::vector<std::string>& arguments) { return RunningTool(arguments).wait(); }

}  // namespace ockham::testing
