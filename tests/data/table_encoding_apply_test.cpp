#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "ockham/data/table_encoding.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

CsvTable parse(const std::string& text) { return parse_csv(text, "new.csv"); }

const char* const training = "a,colour,y\n1,red,0.5\n3,blue,1.5\n5,red,2.5\n7,green,3.5\n";

TableEncoding learn(const std::string& text = training, const EncodingOptions& options = {}) {
  return learn_encoding(parse_csv(text, "train.csv"), options);
}

void expect_refusal(const TableEncoding& encoding, const std::string& text, const std::vector<std::string>& mentioned) {
  expect_error(ErrorKind::data, mentioned, [&] { encode_inputs(encoding, parse(text)); });
}

TEST(EncodeTable, StandardisesTheTrainingTable) {
  const TableEncoding encoding = learn();
  const at::Tensor inputs = encode_inputs(encoding, parse(training));
  ASSERT_EQ(inputs.sizes().vec(), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(inputs.scalar_type(), at::kDouble);
  EXPECT_NEAR(inputs.select(1, 0).mean().item<double>(), 0, 1e-15);
  EXPECT_NEAR(inputs.select(1, 0).std(false).item<double>(), 1, 1e-15);
  const at::Tensor one_hot = at::tensor({0., 0., 1., 1., 0., 0., 0., 0., 1., 0., 1., 0.}, at::kDouble).view({4, 3});
  EXPECT_TRUE(inputs.narrow(1, 1, 3).equal(one_hot));
  const at::Tensor targets = encode_targets(encoding, parse(training));
  ASSERT_EQ(targets.sizes().vec(), (std::vector<int64_t>{4, 1}));
  const at::Tensor own_units = target_means(encoding) + target_scales(encoding) * targets;
  EXPECT_TRUE(own_units.allclose(at::tensor({0.5, 1.5, 2.5, 3.5}, at::kDouble).view({4, 1})));
}

TEST(EncodeTable, MatchesColumnsByNameAndIgnoresOthers) {
  const TableEncoding encoding = learn();
  std::vector<std::string> messages;
  const at::Tensor inputs = encode_inputs(encoding, parse("note,colour,a\nx,red,1\ny,blue,3\n"), &messages);
  EXPECT_TRUE(inputs.equal(encode_inputs(encoding, parse(training)).narrow(0, 0, 2)));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("'note'"), std::string::npos);
  EXPECT_FALSE(has_targets(encoding, parse("colour,a\nred,1\n")));
  EXPECT_TRUE(has_targets(encoding, parse("y,colour,a\n1,red,1\n")));
}

TEST(EncodeTable, RefusesWhatTrainingDidNotHave) {
  const TableEncoding encoding = learn();
  expect_refusal(encoding, "a,y\n1,2\n", {"new.csv", "'colour' is missing"});
  expect_refusal(encoding, "a,color\n1,red\n", {"'colour' is missing", "is 'color' meant"});
  expect_refusal(encoding, "a,colour\n1,red\n2,yellow\n",
                 {"new.csv, line 3, column 'colour'", "'yellow'", "'blue', 'green', 'red'"});
  expect_refusal(encoding, "a,colour\n1,red\nx,red\n", {"line 3, column 'a'", "'x'", "number is expected"});
  expect_refusal(encoding, "a,colour\n1,red\n,red\n", {"line 3, column 'a'", "missing", "--impute"});
  expect_refusal(encoding, "a,colour\n1,red\n2,NA\n", {"line 3, column 'colour'", "missing"});
  expect_refusal(encoding, "1,red\n2,red\n", {"no header"});
  expect_error(ErrorKind::data, {"line 2, column 'y'", "never imputed"},
               [&] { encode_targets(encoding, parse("a,y\n1,NA\n2,3\n")); });
}

TEST(EncodeTable, ImputesTheMeanOrAnOwnCategory) {
  EncodingOptions options;
  options.missing = MissingValues::impute;
  const std::string text = "a,c,d,y\n1,x,u,1.5\n?,x,v,2.5\n3,,u,3.5\n5,z,v,4.5\n";
  const TableEncoding encoding = learn(text, options);
  std::vector<std::string> messages;
  const at::Tensor inputs = encode_inputs(encoding, parse(text), &messages);
  EXPECT_EQ(inputs[1][0].item<double>(), 0);
  EXPECT_TRUE(inputs[2].narrow(0, 1, 3).equal(at::tensor({0., 0., 1.}, at::kDouble)));
  EXPECT_EQ(messages.size(), 2u);
  expect_refusal(encoding, "a,c,d\n1,x,?\n2,x,u\n",
                 {"column 'd'", "no value of this category was missing in training"});
}

TEST(EncodeTable, EncodesClassesByTheirNames) {
  std::string text = "a,y\n";
  for (int row = 0; row < 30; ++row) text += std::to_string(row) + "," + std::to_string(row % 3) + "\n";
  const TableEncoding numbers = learn(text);
  EXPECT_TRUE(encode_targets(numbers, parse("a,y\n1,2.0\n2,0\n")).equal(at::tensor({2, 0}, at::kLong)));
  expect_error(ErrorKind::data, {"line 3, column 'y'", "'3'", "'0', '1', '2'"},
               [&] { encode_targets(numbers, parse("a,y\n1,2\n2,3\n")); });
  const TableEncoding words = learn("a,y\n1,no\n2,yes\n3,no\n4,yes\n");
  EXPECT_TRUE(encode_targets(words, parse("a,y\n1,yes\n2,no\n")).equal(at::tensor({1, 0}, at::kLong)));
}

TEST(EncodeTable, CountsColumnsWhereNoTableHasAHeader) {
  EncodingOptions options;
  options.targets = {"x1"};
  const TableEncoding encoding = learn("0.5,1,10\n1.5,2,30\n2.5,3,20\n", options);
  const at::Tensor with = encode_inputs(encoding, parse("0,1,10\n0,3,20\n"));
  EXPECT_TRUE(with.equal(encode_inputs(encoding, parse("1,10\n3,20\n")))) << "the target may be left out";
  EXPECT_FALSE(has_targets(encoding, parse("1,10\n3,20\n")));
  expect_refusal(encoding, "1\n3\n", {"1 columns", "3", "2 without"});
}

}  // namespace
}  // namespace ockham
