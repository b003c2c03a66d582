#include "tests/support/run_tool.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/support/temporary_directory.h"

namespace ockham::testing {

ToolRun run_tool(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  const std::string out = directory.path("stdout"), err = directory.path("stderr");
  const std::string program = std::string(OCKHAM_BINARY_DIR) + "/ockham";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT, 0600),
              err_file = ::open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out_file, 1);
    ::dup2(err_file, 2);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ToolRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_bytes(out);
  run.err = read_bytes(err);
  return run;
}

}  // namespace ockham::testing
