#include <cmath>
#include <string>
#include <vector>

#include "ockham/data/table_encoding.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

EncodingOptions target(const std::string& name, Task task = Task::automatic) {
  EncodingOptions options;
  options.targets = {name};
  options.task = task;
  return options;
}

TableEncoding learn(const std::string& text, const EncodingOptions& options) {
  return learn_encoding(parse_csv(text, "t.csv"), options);
}

void expect_refusal(const std::string& text, const EncodingOptions& options,
                    const std::vector<std::string>& mentioned) {
  expect_error(ErrorKind::data, mentioned, [&] { learn(text, options); });
}

bool says(const TableEncoding& encoding, const std::string& part, const std::string& flag) {
  for (const std::string& message : encoding.messages) {
    if (message.find(part) != std::string::npos && message.find(flag) != std::string::npos) return true;
  }
  return false;
}

/// A table with an input column 0, 1, 2, ... and the given targets.
std::string with_targets(const std::vector<std::string>& targets) {
  std::string text = "a,y\n";
  for (size_t n = 0; n < targets.size(); ++n) text += std::to_string(n) + "," + targets[n] + "\n";
  return text;
}

std::vector<std::string> repeated(const std::vector<std::string>& values, int times) {
  std::vector<std::string> all;
  for (int k = 0; k < times; ++k) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(LearnEncoding, MeasuresNumbersAndSortsCategories) {
  const TableEncoding encoding = learn("a,colour,y\n1,red,0.5\n3,blue,1.5\n5,red,2.5\n7,green,3.5\n", target("y"));
  ASSERT_EQ(encoding.inputs.size(), 2u);
  EXPECT_DOUBLE_EQ(encoding.inputs[0].mean, 4);
  EXPECT_DOUBLE_EQ(encoding.inputs[0].sd, std::sqrt(5.0));
  EXPECT_EQ(encoding.inputs[1].levels, (std::vector<std::string>{"blue", "green", "red"}));
  EXPECT_EQ(encoding.task, Task::regression);
  EXPECT_DOUBLE_EQ(encoding.targets[0].mean, 2);
  EXPECT_DOUBLE_EQ(encoding.targets[0].sd, std::sqrt(1.25));
  EXPECT_TRUE(says(encoding, "regression", "--task"));
  EXPECT_TRUE(says(encoding, "'colour' is text", "--drop"));
  EXPECT_EQ(feature_names(encoding), (std::vector<std::string>{"a", "colour=blue", "colour=green", "colour=red"}));
}

TEST(LearnEncoding, GuessesTheTask) {
  const auto task_of = [](const std::vector<std::string>& targets) {
    return learn(with_targets(targets), target("y")).task;
  };
  EXPECT_EQ(task_of(repeated({"yes", "no"}, 2)), Task::classification);
  EXPECT_EQ(task_of(repeated({"0", "1"}, 5)), Task::classification);
  EXPECT_EQ(task_of(repeated({"-1", "1"}, 5)), Task::classification);
  EXPECT_EQ(task_of(repeated({"1.0", "2.0", "4.0"}, 5)), Task::classification);
  EXPECT_EQ(task_of(repeated({"0", "1"}, 4)), Task::regression) << "too few rows to look like classes";
  EXPECT_EQ(task_of(repeated({"3", "4", "5"}, 50)), Task::regression) << "a score, not the number of a class";
  EXPECT_EQ(task_of(repeated({"0", "0.5"}, 50)), Task::regression);
  EXPECT_EQ(task_of(repeated({"0", "1", "50"}, 50)), Task::regression);
}

TEST(LearnEncoding, NamesClassesInOrder) {
  const TableEncoding numbers = learn(with_targets(repeated({"10", "9", "1.0", "1"}, 10)), target("y"));
  EXPECT_EQ(numbers.classes, (std::vector<std::string>{"1", "9", "10"}));
  EXPECT_TRUE(numbers.numeric_classes);
  const TableEncoding texts = learn(with_targets(repeated({"b", "a", "10"}, 2)), target("y", Task::classification));
  EXPECT_EQ(texts.classes, (std::vector<std::string>{"10", "a", "b"}));
  EXPECT_FALSE(texts.numeric_classes);
}

TEST(LearnEncoding, TakesTheLastColumnOrSeveralTargets) {
  const TableEncoding last = learn("a,y\n1,2.5\n2,3.5\n", {});
  EXPECT_EQ(last.targets[0].name, "y");
  EXPECT_TRUE(says(last, "'y', the last column", "--target"));
  EncodingOptions two;
  two.targets = {"y", "a"};
  const TableEncoding several = learn("a,b,y\n1,2,5\n2,3,7\n", two);
  EXPECT_EQ(several.inputs.size(), 1u);
  EXPECT_EQ(several.targets.size(), 2u);
  EXPECT_DOUBLE_EQ(several.targets[0].mean, 6);
  EXPECT_DOUBLE_EQ(several.targets[1].mean, 1.5);
}

TEST(LearnEncoding, DropsConstantsEmptyColumnsAndIdentifiers) {
  std::string text = "same,word,empty,rounded,id,a,y\n";
  for (int row = 0; row < 30; ++row) {
    text += "5,x,,0.30000000000000004,id" + std::to_string(row) + "," + std::to_string(row) + "," +
            std::to_string(row * row) + ".5\n";
  }
  const TableEncoding encoding = learn(text, target("y"));
  ASSERT_EQ(encoding.inputs.size(), 1u);
  EXPECT_EQ(encoding.inputs[0].name, "a");
  for (const char* name : {"'same'", "'word'", "'empty'", "'rounded'"})
    EXPECT_TRUE(says(encoding, name, "dropped")) << name;
  EXPECT_TRUE(says(encoding, "'id' is dropped", "--categorical id"));
  EXPECT_TRUE(says(encoding, "'a' counts the rows", "--drop a"));
  EncodingOptions kept = target("y");
  kept.categorical = {"id"};
  kept.drop = {"a"};
  const TableEncoding other = learn(text, kept);
  ASSERT_EQ(other.inputs.size(), 1u);
  EXPECT_EQ(other.inputs[0].levels.size(), 30u);
}

TEST(LearnEncoding, RefusesOrImputesMissingValues) {
  const std::string text = "a,c,y\n1,x,1.5\n?,x,2.5\n3,,3.5\n5,z,4.5\n";
  expect_refusal(text, target("y"), {"t.csv, line 3", "'a'", "--impute"});
  EncodingOptions impute = target("y");
  impute.missing = MissingValues::impute;
  const TableEncoding encoding = learn(text, impute);
  EXPECT_DOUBLE_EQ(encoding.inputs[0].mean, 3);
  EXPECT_TRUE(encoding.inputs[1].missing_level);
  EXPECT_TRUE(says(encoding, "'a': 1 missing", "mean"));
  EXPECT_TRUE(says(encoding, "'c': 1 missing", "category of their own"));
  EXPECT_EQ(feature_names(encoding).back(), "c=(missing)");
  expect_refusal("a,y\n1,1.5\n2,NA\n3,4\n", impute, {"line 3", "'y'", "never imputed"});
}

TEST(LearnEncoding, RefusesBadColumns) {
  expect_refusal("a,y\n1,1.5\n2,2.5\nabc,3.5\n4,4.5\n", target("y"),
                 {"line 4", "'a'", "'abc' is not a number", "--categorical a"});
  expect_refusal("a,y\n1,1.5\n2,2.5\n3,abc\n4,4.5\n", target("y"),
                 {"line 4", "'y'", "'abc' is not a number", "--task"});
  expect_refusal("a;y\n1,5;1\n2,5;2\n", target("y"), {"line 2", "'1,5'", "decimal comma"});
  expect_refusal("a,y\n1,1.5\ninf,2.5\n", target("y"), {"line 3", "'a'", "'inf'", "too large"});
  expect_refusal("a,y\n5,1.5\n5,2.5\n", target("y"), {"t.csv", "no input column", "'a' is dropped"});
  expect_refusal("a:y\n5:1.5\n5:2.5\n", {}, {"t.csv", "only one column", "'a:y'", "commas"});
}

TEST(LearnEncoding, RefusesWhatOnlyAReaderTakesForNumbers) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"1,5", "decimal comma"}, {"1 234", "thousands"}, {"12%", "percent sign"}, {"'12", "apostrophe"}};
  for (const auto& [field, reason] : kinds) {
    const std::string inputs = "a;y\n" + field + ";1.5\n" + field + ";2.5\n7;3.5\n8;1\n9;2\n";
    expect_refusal(inputs, target("y"), {"line 2, column 'a'", "'" + field + "'", reason});
    const std::string all = "y;a\n" + field + ";1.5\n" + field + ";2.5\n" + field + ";3.5\n";
    expect_refusal(all, target("a"), {"line 2, column 'y'", reason});
    expect_refusal(all, target("y"), {"line 2, column 'y'", reason});
  }
  expect_refusal("a,y\n1,2024-01-31\n2,2024-02-01\n", target("y"), {"line 2", "'y'", "date"});
  CsvOptions headless;
  headless.header = HeaderRow::absent;
  expect_error(ErrorKind::data, {"line 1", "'x2'", "--header yes"},
               [&] { learn_encoding(parse_csv("a,b\n1,2\n2,3\n3,4\n", "t.csv", headless), {}); });
}

TEST(LearnEncoding, LeavesOutDates) {
  const TableEncoding encoding = learn("day,a,y\n2024-01-31,1,1.5\n2024-01-31,2,2.5\n2024-02-01,3,3.5\n", target("y"));
  EXPECT_EQ(encoding.inputs.size(), 1u);
  EXPECT_TRUE(says(encoding, "dates", "--categorical day"));
}

TEST(LearnEncoding, RefusesBadTargets) {
  expect_refusal("height,price\n1,2\n2,3\n", target("prize"), {"t.csv", "'prize'", "did you mean 'price'"});
  expect_refusal("height,price\n1,2\n2,3\n", target("zzz"), {"'zzz'", "height, price"});
  expect_refusal("a,y\n1,2\n", target("y"), {"only one row"});
  expect_refusal(with_targets(repeated({"3"}, 30)), target("y"), {"'y' is 3 in every row"});
  expect_refusal(with_targets(repeated({"no"}, 30)), target("y"), {"only one class", "'no'"});
  expect_refusal(with_targets({"a", "b", "c", "d", "a"}), target("y"), {"4 classes in 5 rows"});
  expect_refusal(with_targets({"a", "b", "a", "b"}), target("y", Task::regression),
                 {"line 2", "'a' is not a number", "--task classification"});
}

TEST(LearnEncoding, RefusesFlagsThatContradict) {
  EncodingOptions both = target("y");
  both.drop = {"y"};
  expect_error(ErrorKind::usage, {"'y'", "--drop"}, [&] { learn("a,y\n1,2\n2,3\n", both); });
  for (const char* name : {"y", "a"}) {
    EncodingOptions options = target("y");
    options.categorical = {name};
    options.drop = {"a"};
    expect_error(ErrorKind::usage, {name, "--categorical"}, [&] { learn("a,b,y\n1,2,2\n2,3,3\n", options); });
  }
  EncodingOptions unknown = target("y");
  unknown.drop = {"height"};
  expect_refusal("heigth,y\n1,2\n2,3\n", unknown, {"--drop", "did you mean 'heigth'"});
  EncodingOptions twice;
  twice.targets = {"y", "y"};
  expect_error(ErrorKind::usage, {"twice"}, [&] { learn("a,y\n1,2\n2,3\n", twice); });
}

}  // namespace
}  // namespace ockham
