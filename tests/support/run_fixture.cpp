#include "tests/support/run_fixture.h"

#include <algorithm>
#include <sstream>

#include "ockham/store/run_directory.h"

namespace ockham::testing {

std::string RunFixture::make_run(const std::string& name, const TrainedModel& trained) const {
  const RunDirectory run = RunDirectory::create(path(name), {{"network", trained.network}});
  save_trained_model(run.path_of(RunFile::model), trained);
  return run.path();
}

std::string RunFixture::write_table(const std::string& name, const CsvTable& table) const {
  write_csv(path(name), table);
  return path(name);
}

std::string RunFixture::write_text(const std::string& name, const std::string& text) const {
  write_bytes(path(name), text);
  return path(name);
}

nlohmann::json RunFixture::run_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const ToolRun result = run_tool(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(json.is_object()) << result.out;
  return json.is_object() ? json : nlohmann::json::object();
}

void RunFixture::expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                                const std::vector<std::string>& arguments) {
  const ToolRun result = run_tool(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("ockham: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const auto& part : mentioned)
    EXPECT_NE(result.err.find(part), std::string::npos) << "'" << part << "' is not in: " << result.err;
}

nlohmann::json without_times(nlohmann::json summary) {
  for (const char* name : {"seconds", "run"}) summary.erase(name);
  for (nlohmann::json& candidate : summary["candidates"])
    for (const char* name : {"seconds", "seconds_training", "seconds_curvature"}) candidate.erase(name);
  return summary;
}

std::vector<std::vector<std::string>> split_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

}  // namespace ockham::testing
