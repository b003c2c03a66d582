// A finished run on disk, for tests of the subcommands that read one.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trained_cases.h"

namespace ockham::testing {

class RunFixture : public ::testing::Test {
 protected:
  /// RUN/model.safetensors of the case, in a new run directory; returns the directory.
  std::string make_run(const std::string& name, const TrainedModel& trained) const;
  /// A table as a CSV file; returns its path.
  std::string write_table(const std::string& name, const CsvTable& table) const;
  std::string write_text(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return directory_.path(name); }

  /// Runs with --json, expects success and returns the object.
  static nlohmann::json run_json(std::vector<std::string> arguments);
  /// Expects this exit code, nothing on stdout, and one line on stderr that begins with "ockham: " and mentions the
  /// parts.
  static void expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                             const std::vector<std::string>& arguments);

 private:
  TemporaryDirectory directory_;
};

/// A run.json without times and places, which differ between two runs of the same job.
nlohmann::json without_times(nlohmann::json summary);

/// The rows of a CSV text without quotes, the header first.
std::vector<std::vector<std::string>> split_csv(const std::string& text);

}  // namespace ockham::testing
