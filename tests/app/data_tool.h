// What the tests of `ockham data` share: commands in an empty directory, and programs that pretend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variable_guard.h"

namespace ockham::testing {

namespace fs = std::filesystem;

constexpr int done = 0, failure = 1, usage = 2, data = 3;

/// Every command runs in a new empty directory.
class DataTool : public ::testing::Test {
 protected:
  DataTool() : before_(fs::current_path()) {
    fs::create_directory(path("here"));
    fs::create_directory(path("temporary"));
    fs::current_path(path("here"));
    scratch_.set(path("temporary"));
  }
  ~DataTool() override {
    fs::current_path(before_);
    EXPECT_TRUE(fs::is_empty(path("temporary"))) << "temporary files were left";
  }

  std::string path(const std::string& name) const { return directory_.path(name); }
  static ToolRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "data");
    return run_tool(arguments);
  }
  static void expect_done(const std::vector<std::string>& arguments) {
    const ToolRun outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, done) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  /// One line, and nothing new in the directory.
  static void expect_refusal(int exit_code, const std::vector<std::string>& mentioned,
                             const std::vector<std::string>& arguments) {
    const auto files = [] { return std::distance(fs::directory_iterator("."), fs::directory_iterator()); };
    const auto files_before = files();
    const ToolRun outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("ockham: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const auto& part : mentioned)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    EXPECT_EQ(files(), files_before);
  }

  /// Puts a program before all others in the PATH.
  void pretend(const std::string& program, const std::string& script) {
    fs::create_directory(path("bin"));
    write_bytes(path("bin/" + program), "#!/bin/sh\n" + script);
    fs::permissions(path("bin/" + program), fs::perms::owner_all);
    search_path_.set(path("bin") + ":/usr/bin:/bin");
  }
  /// An apt-get that gives a package with one file of this content.
  void pretend_package(const std::string& file, const std::string& content) {
    const fs::path tree = path("tree");
    fs::create_directories(tree / "DEBIAN");
    fs::create_directories((tree / file).parent_path());
    write_bytes((tree / file).string(), content);
    write_bytes((tree / "DEBIAN/control").string(),
                "Package: made\nVersion: 1\nArchitecture: all\nMaintainer: nobody <a@b.c>\nDescription: x\n");
    const std::string build = "dpkg-deb --root-owner-group --build '" + tree.string() + "' '" + path("made.deb") + "'";
    ASSERT_EQ(std::system((build + " > /dev/null 2>&1").c_str()), 0) << build;
    pretend("apt-get", "cp '" + path("made.deb") + "' .\n");
  }

 private:
  TemporaryDirectory directory_;
  fs::path before_;
  VariableGuard search_path_{"PATH"}, scratch_{"TMPDIR"};
};

}  // namespace ockham::testing
