// Small problems on disk for tests that run the tool.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {

/// A fixture with a network 2-4-3 (tanh), inputs x.npy [12, 2], classes y.npy [12] and real targets r.npy [12, 3].
class ToolFixture : public ::testing::Test {
 protected:
  ToolFixture();

  std::string path(const std::string& name) const { return directory_.path(name); }
  std::string write(const std::string& name, const at::Tensor& array) const;  // returns the path

  /// `evidence` with the fixture's files and the given flags; a flag given here replaces the standard one.
  std::vector<std::string> arguments(const std::vector<std::string>& flags) const;
  ToolRun run(const std::vector<std::string>& flags) const { return run_tool(arguments(flags)); }
  /// Runs with --json, expects success and returns the object.
  nlohmann::json run_json(std::vector<std::string> flags) const;
  /// Expects this exit code and one line on stderr that starts with "ockham: " and mentions the parts.
  void expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                      const std::vector<std::string>& flags) const;

 private:
  TemporaryDirectory directory_;
};

}  // namespace ockham::testing
