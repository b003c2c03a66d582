// Bad tables and flags for `ockham fit`: one clear sentence and the right exit code each, and nothing written.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr int usage = 2, data = 3;

/// Commands run in an empty directory of their own, beside the tables.
class FitRefusal : public ::testing::Test {
 protected:
  FitRefusal() : before_(fs::current_path()) {
    fs::create_directory(directory_.path("here"));
    fs::current_path(directory_.path("here"));
    write("good.csv", good_);
  }
  ~FitRefusal() override { fs::current_path(before_); }

  void write(const std::string& name, const std::string& content) const { write_bytes(directory_.path(name), content); }
  std::string path(const std::string& name) const { return directory_.path(name); }

  static std::map<std::string, std::string> all_files() {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(".")) {
      if (entry.path().filename() == ".lock") continue;  // names the process that had it last
      files[entry.path().string()] = entry.is_regular_file() ? read_bytes(entry.path().string()) : "";
    }
    return files;
  }

  /// What is not said is quick, should the tool not refuse.
  static ToolRun fit(Texts arguments) {
    for (const auto& [flag, value] : {std::pair{"--network", "linear"}, std::pair{"--epochs", "2"}}) {
      if (std::find(arguments.begin(), arguments.end(), flag) == arguments.end())
        arguments.insert(arguments.begin(), {flag, value});
    }
    arguments.insert(arguments.begin(), "fit");
    return run_tool(arguments);
  }

  void expect_refusal(int exit_code, const Texts& mentioned, const Texts& arguments) const {
    const auto files_before = all_files();
    const ToolRun outcome = fit(arguments);
    std::string command;
    for (const std::string& argument : arguments) command += " " + argument;
    SCOPED_TRACE("ockham fit" + command);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    const std::string sentence = outcome.err.substr(0, outcome.err.find('\n'));
    EXPECT_EQ(outcome.err, sentence + "\n") << "more than one line";
    EXPECT_EQ(sentence.rfind("ockham: ", 0), 0u) << outcome.err;
    EXPECT_LT(sentence.size(), 600u) << "a sentence, not a page: " << outcome.err;
    for (const auto& part : mentioned)
      EXPECT_NE(sentence.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    EXPECT_TRUE(all_files() == files_before) << "something was written";
  }
  /// The content as bad.csv, with --target y and further flags.
  void expect_bad_table(const std::string& content, Texts mentioned, const Texts& flags = {},
                        int exit_code = data) const {
    write("bad.csv", content);
    Texts arguments = {path("bad.csv"), "--target", "y"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    if (exit_code == data) mentioned.push_back("bad.csv");
    expect_refusal(exit_code, mentioned, arguments);
  }
  /// The good table with flags that are wrong.
  void expect_bad_flags(int exit_code, const Texts& mentioned, const Texts& flags) const {
    Texts arguments = {path("good.csv")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    expect_refusal(exit_code, mentioned, arguments);
  }

  const std::string good_ = "a,colour,price\n1,red,1.5\n2,blue,2.5\n3,red,2\n4,blue,4.5\n5,red,3\n6,blue,5\n";

 private:
  TemporaryDirectory directory_;
  fs::path before_;
};

TEST_F(FitRefusal, FilesThatAreNoTable) {
  expect_bad_table("", {"empty"});
  expect_bad_table("a,y\n", {"only a header"});
  expect_bad_table(std::string("a,y\n1,2\n3,\0\n", 12), {"line 3", "NUL"});
  expect_bad_table("a,y\nM\xfcller,2\n", {"line 2", "not UTF-8", "Latin-1"});
  expect_bad_table("\xff\xfe" + std::string("a\0,\0", 4), {"UTF-16"});
  expect_bad_table("PK\x03\x04 and so on", {"spreadsheet"});
  expect_refusal(data, {"nothing.csv", "no such file"}, {path("nothing.csv"), "--target", "y"});
  expect_refusal(data, {"here", "layout"}, {path("here"), "--target", "y"});
  ASSERT_EQ(std::system(("gzip -nkf '" + path("good.csv") + "'").c_str()), 0);
  const std::string packed = read_bytes(path("good.csv.gz"));
  write("cut.csv.gz", packed.substr(0, packed.size() / 2));
  expect_refusal(data, {"cut.csv.gz", "ends too early"}, {path("cut.csv.gz"), "--target", "price"});
}

TEST_F(FitRefusal, NamesThatLeadNowhere) {
  std::filesystem::create_symlink("loop", path("loop"));
  expect_refusal(data, {"loop", "symbolic links"}, {path("loop"), "--target", "y"});
  const std::string long_name = path(std::string(300, 'x'));
  expect_refusal(data, {long_name}, {long_name, "--target", "y"});
  std::string many_layers = "mlp:1";
  for (int layer = 0; layer < 200; ++layer) many_layers += "-1";
  expect_bad_flags(usage, {many_layers + "-x"}, {"--network", many_layers + "-x"});
}

TEST_F(FitRefusal, FilesThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  ::chmod(path("good.csv").c_str(), 0);
  expect_bad_flags(data, {"good.csv", "permissions"}, {"--target", "price"});
}

TEST_F(FitRefusal, LinesThatAreNoRows) {
  expect_bad_table("a,y\n1,2\n3\n", {"line 3", "1 field"});
  expect_bad_table("a,y\n1,2\n3,4,5\n", {"line 3", "3 fields"});
  expect_bad_table("a,y\n1,\"2\n3,4\n", {"line 2: column 2", "quote", "never closed"});
  expect_bad_table("# a comment\na,y\n1,2\n", {"line 1", "comment"});
  expect_bad_table("a,y\n1,2\n3," + std::string(1000000, 'x') + "\n", {"line 3: column 2", "1000000"});
  expect_bad_table("a,y\n1,2\n3,\"" + std::string(1000000, 'x') + "\"\n",
                   {"line 3: column 2", "quote", "100000 bytes"});
}

TEST_F(FitRefusal, NamesOfColumns) {
  expect_bad_table("a,b,a,y\n1,2,3,4\n5,6,7,8\n", {"line 1", "columns 1 and 3", "'a'"});
  expect_bad_table("a,,y\n1,2,3\n5,6,7\n", {"line 1", "column 2", "no name"});
  expect_bad_table("1,1\n2,3\n4,5\n", {"line 1", "'1'"}, {"--header", "yes"});
  write("bad.csv", "a,y\n1,2.5\n2,3.5\n3,4\n");
  expect_refusal(data, {"bad.csv, line 1, column 'x2'", "--header yes"},
                 {path("bad.csv"), "--header", "no", "--target", "x2"});
  write("bad.csv", "1,2\n2,3\n3,5\n");
  expect_refusal(data, {"bad.csv", "no column 'y'", "x1, x2"}, {path("bad.csv"), "--target", "y"});
}

TEST_F(FitRefusal, FieldsThatAreNoNumbers) {
  expect_bad_table("a,y\n1,1.5\n2,2.5\nabc,3.5\n4,4.5\n", {"line 4, column 'a'", "'abc' is not a number"});
  expect_bad_table("a,y\n1,1.5\n2,2.5\n3,abc\n4,4.5\n", {"line 4, column 'y'", "'abc' is not a number"});
  expect_bad_table("a,y\n1,1.5\ninf,2.5\n3,5\n", {"line 3, column 'a'", "'inf'"});
  expect_bad_table("a,y\n1,1.5\n2,1e999\n3,5\n", {"line 3, column 'y'", "1e999"});
  expect_bad_table("a;y\n1,5;2\n2,5;4\n", {"line 2, column 'a'", "decimal comma"});
  expect_bad_table("a;y\n1;2,5\n2;4,5\n", {"line 2, column 'y'", "decimal comma"});
  expect_bad_table("a,y\n\"1,234.5\",2\n\"2,345.5\",3\n", {"line 2, column 'a'", "thousands"});
  expect_bad_table("a,y\n10%,2\n20%,3\n", {"line 2, column 'a'", "percent"});
}

TEST_F(FitRefusal, MissingValues) {
  expect_bad_table("a,y\n1,2\n,3\n4,5\n", {"line 3, column 'a'", "missing", "--impute"});
  expect_bad_table("a,y\n1,2\n2,NA\n4,5\n", {"line 3, column 'y'", "missing"}, {"--impute"});
}

TEST_F(FitRefusal, TablesThatTeachNothing) {
  expect_bad_table("a,y\n1,2\n", {"one row"});
  expect_bad_table("a,y\n1,2\n2,2\n3,2\n", {"'y'", "2 in every row"});
  expect_bad_table("a,y\n1,no\n2,no\n3,no\n", {"'y'", "one class"});
  expect_bad_table("a,y\n1,p\n2,q\n3,r\n4,s\n5,p\n", {"'y'", "4 classes in 5 rows"});
  expect_bad_table("a,y\n1,2\n1,3\n1,4\n", {"no input column"});
  expect_bad_table("y\n1\n2\n3\n", {"only one column"});
  expect_bad_table("a,y\n1,2\n2,3\n3,4\n", {"no input column"}, {"--drop", "a"});
}

TEST_F(FitRefusal, TargetsThatDoNotFit) {
  expect_bad_flags(data, {"good.csv", "'prize'", "did you mean 'price'"}, {"--target", "prize"});
  expect_bad_flags(usage, {"--target", "'price' twice"}, {"--target", "price,price"});
  expect_bad_flags(usage, {"--target needs a value"}, {"--target"});
  expect_bad_flags(data, {"line 2, column 'colour'", "'red'"}, {"--target", "price,colour"});
  expect_bad_flags(usage, {"--task classification", "one target"}, {"--target", "price,a", "--task", "classification"});
  expect_bad_flags(data, {"line 2, column 'colour'", "'red'", "--task"},
                   {"--target", "colour", "--task", "regression"});
  expect_bad_flags(usage, {"'price'", "--drop"}, {"--target", "price", "--drop", "price"});
  expect_bad_flags(usage, {"'colour'", "--categorical"}, {"--target", "colour", "--categorical", "colour"});
  expect_bad_flags(data, {"'color'", "--categorical", "did you mean 'colour'"}, {"--categorical", "color"});
  expect_bad_flags(data, {"'b'", "--drop"}, {"--drop", "b"});
  expect_bad_flags(usage, {"--likelihood", "--task"}, {"--likelihood", "categorical", "--task", "regression"});
}

TEST_F(FitRefusal, TestTablesThatDoNotFit) {
  const auto expect_bad_test = [&](const std::string& content, Texts mentioned) {
    write("test.csv", content);
    mentioned.push_back("test.csv");
    expect_bad_flags(data, mentioned, {"--target", "price", "--test", path("test.csv")});
  };
  expect_bad_test("b,colour,price\n1,red,1\n", {"'a'", "missing"});
  expect_bad_test("a,colour\n1,red\n", {"'price'"});
  expect_bad_test("a,colour,price\n1,red,1\n2,green,2\n", {"line 3, column 'colour'", "'green'", "'blue', 'red'"});
  expect_bad_test("a,colour,price\n1,red,1\nx,red,2\n", {"line 3, column 'a'", "'x'"});
  expect_bad_test("", {"empty"});
  expect_bad_flags(data, {"none.csv", "no such file"}, {"--test", path("none.csv")});
  expect_bad_flags(usage, {"--test-fraction", "1.5"}, {"--test-fraction", "1.5"});
  expect_bad_flags(usage, {"--test-fraction", "'0'"}, {"--test-fraction", "0"});
  expect_bad_flags(usage, {"--test", "--test-fraction"}, {"--test", path("good.csv"), "--test-fraction", "0.5"});
  expect_bad_flags(usage, {"fraction", "row"}, {"--test-fraction", "0.99"});
}

TEST_F(FitRefusal, NetworksThatCannotBeMade) {
  expect_bad_flags(usage, {"mpl:50", "did you mean 'mlp"}, {"--network", "mpl:50"});
  expect_bad_flags(usage, {"mlp:0"}, {"--network", "mlp:0"});
  expect_bad_flags(usage, {"mlp:5x"}, {"--network", "mlp:5x"});
  expect_bad_flags(usage, {"mlp:50,act=tahn", "tanh"}, {"--network", "mlp:50,act=tahn"});
  expect_bad_flags(usage, {"cnn:3c3d"}, {"--network", "cnn:3c3d"});
  expect_bad_flags(data, {"none.pt", "no such file"}, {"--network", path("none.pt")});
}

TEST_F(FitRefusal, NetworksWithoutAnEvidence) {
  const auto save = [&](const std::string& forward) {
    TorchScriptBuilder()
        .parameter("weight", at::ones({1, 3}))
        .buffer("mean", at::zeros({1}))
        .buffer("variance", at::ones({1}))
        .define("def forward(self, x):\n    y = torch.linear(x, self.weight)\n    return " + forward + "\n")
        .save(path("net.pt"));
  };
  const auto expect_refused = [&](const Texts& mentioned) {
    expect_bad_flags(data, mentioned,
                     {"--target", "price", "--network", path("net.pt"), "--frequency", "2", "--out", "run"});
  };
  save("torch.batch_norm(y, None, None, self.mean, self.variance, True, 0.1, 1e-5, False)");
  expect_refused({"net.pt", "batch norm is in training mode"});
  save("torch.dropout(y, 0.5, True)");
  expect_refused({"net.pt", "dropout"});
  save("y - y.mean(0)");
  expect_refused({"net.pt", "other examples of its batch"});
  save("torch.cat([y, y], 1)");
  expect_bad_flags(usage, {"net.pt", "[N, 1]"}, {"--target", "price", "--network", path("net.pt")});
}

TEST_F(FitRefusal, NumbersOutOfRange) {
  const std::vector<std::pair<std::string, Texts>> wrong = {{"--epochs", {"-1", "0", "many"}},
                                                            {"--hyper-lr", {"nan", "0", "-1"}},
                                                            {"--lr", {"inf", "0"}},
                                                            {"--workers", {"0"}},
                                                            {"--restarts", {"0"}},
                                                            {"--batch-size", {"-5"}},
                                                            {"--noise", {"0"}},
                                                            {"--prior-precision", {"-1"}},
                                                            {"--hyper-steps", {"1.5"}}};
  for (const auto& [flag, values] : wrong) {
    for (const std::string& value : values) expect_bad_flags(usage, {flag, "'" + value + "'"}, {flag, value});
  }
  expect_bad_flags(usage, {"--structure", "did you mean 'kron'"}, {"--structure", "krno"});
  expect_bad_flags(usage, {"--separator", "comma"}, {"--separator", "dot"});
  expect_bad_flags(usage, {"--epoch", "did you mean --epochs"}, {"--epoch", "5"});
}

TEST_F(FitRefusal, DataGivenTwiceOrNotAtAll) {
  expect_refusal(usage, {"DATA is missing"}, {"--target", "y"});
  expect_bad_flags(usage, {"--inputs", "twice"}, {"--inputs", path("x.npy"), "--targets", path("y.npy")});
  expect_refusal(usage, {"--targets is missing"}, {"--inputs", path("x.npy")});
  expect_refusal(data, {"x.npy", "no such file"}, {"--inputs", path("x.npy"), "--targets", path("y.npy")});
}

TEST_F(FitRefusal, DirectoriesThatAreNoRunOfThis) {
  write_bytes("file", "mine");
  fs::create_directory("full");
  write_bytes("full/mine", "mine");
  expect_bad_flags(data, {"file"}, {"--out", "file"});
  expect_bad_flags(data, {"full"}, {"--out", "full"});
  expect_bad_flags(data, {"full"}, {"--out", "full", "--resume"});
  expect_bad_flags(data, {"nowhere"}, {"--out", "nowhere", "--resume"});
  expect_bad_flags(usage, {"--resume", "--out"}, {"--resume"});
  const ToolRun made = fit({path("good.csv"), "--target", "price", "--out", "run"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  expect_bad_flags(data, {"run", "--resume"}, {"--target", "price", "--out", "run"});
  expect_bad_flags(usage, {"run", "epochs"}, {"--target", "price", "--out", "run", "--resume", "--epochs", "3"});
  write("other.csv", good_ + "7,red,4\n");
  expect_refusal(usage, {"run"}, {path("other.csv"), "--target", "price", "--out", "run", "--resume"});
}

// A directory of a run that could never begin would be in the way of the next try.
TEST_F(FitRefusal, WhatDoesNotFitTheMemoryLeavesNoRunBehind) {
  expect_bad_flags(usage, {"--network mlp:50", "full structure", "memory budget is 10 kB", "diag", "--memory"},
                   {"--target", "price", "--network", "linear", "--network", "mlp:50", "--structure", "full",
                    "--memory", "10000", "--out", "run"});
  // The batches fit, the posterior of the predictions does not.
  expect_bad_flags(usage, {"--network mlp:50", "full structure", "memory budget is 12 kB"},
                   {"--target", "price", "--network", "mlp:50", "--structure", "full", "--evidence", "minibatch",
                    "--evidence-batch", "2", "--memory", "12000", "--out", "run"});
}

}  // namespace
}  // namespace ockham::testing
