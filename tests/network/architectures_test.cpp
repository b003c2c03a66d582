#include "ockham/network/architectures.h"

#include <ATen/ATen.h>

#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

int64_t parameters_of(const std::string& spec, const std::vector<int64_t>& shape, int64_t outputs) {
  return make_architecture(spec, shape, outputs, at::kFloat, 0).layout().total();
}

TEST(Architectures, ParameterCounts) {
  EXPECT_EQ(parameters_of("linear", {13}, 1), 14);
  EXPECT_EQ(parameters_of("mlp:50", {13}, 1), 13 * 50 + 50 + 50 + 1);
  EXPECT_EQ(parameters_of("mlp:1024-512-256-128", {1, 28, 28}, 10), 1494154);
  EXPECT_EQ(parameters_of("cnn:3c3d", {3, 32, 32}, 10), 895210);
  EXPECT_EQ(parameters_of("cnn:3c3d", {1, 28, 28}, 10), 892010);
}

TEST(Architectures, OutputsHaveTheRightShape) {
  const at::Tensor images = at::randn({2, 3, 32, 32});
  for (const char* spec :
       {"linear", "mlp:5-4,act=tanh", "cnn:3c3d", "cnn:width=4", "resnet:depth=8,width=4", "resnet"}) {
    const Network network = make_architecture(spec, {3, 32, 32}, 7, at::kFloat, 0);
    EXPECT_EQ(network.forward(images).sizes().vec(), (std::vector<int64_t>{2, 7})) << spec;
  }
}

TEST(Architectures, AnMlpIsItsFormula) {
  const Network network = make_architecture("mlp:3,act=tanh", {2, 2}, 2, at::kDouble, 5);
  const auto& p = network.parameters();
  const at::Tensor x = at::randn({6, 2, 2}, at::kDouble);
  const at::Tensor expected = at::addmm(p[3], at::addmm(p[1], x.view({6, 4}), p[0].t()).tanh(), p[2].t());
  EXPECT_TRUE(network.forward(x).allclose(expected, 1e-13, 1e-13));
  EXPECT_EQ(network.layout()[0].name, "hidden1.weight");
  EXPECT_EQ(network.layout()[3].name, "output.bias");
}

TEST(Architectures, ReluIsTheDefaultActivation) {
  const at::Tensor x = at::randn({6, 4}, at::kDouble);
  EXPECT_TRUE(make_architecture("mlp:9", {4}, 1, at::kDouble, 5)
                  .forward(x)
                  .equal(make_architecture("mlp:9,act=relu", {4}, 1, at::kDouble, 5).forward(x)));
}

TEST(Architectures, WeightsComeFromTheSeedAndNotFromTheGlobalGenerator) {
  at::manual_seed(1);
  const at::Tensor first = make_architecture("mlp:50", {4}, 1, at::kDouble, 7).flat_parameters();
  at::rand({10});
  EXPECT_TRUE(make_architecture("mlp:50", {4}, 1, at::kDouble, 7).flat_parameters().equal(first));
  EXPECT_FALSE(make_architecture("mlp:50", {4}, 1, at::kDouble, 8).flat_parameters().equal(first));
  EXPECT_TRUE(
      make_architecture("mlp:50", {4}, 1, at::kFloat, 7).flat_parameters().equal(first.to(at::kFloat).to(at::kDouble)));
  EXPECT_LE(first.narrow(0, 0, 250).abs().max().item<double>(), 0.5);  // 1/sqrt(4)
  EXPECT_GT(first.narrow(0, 0, 250).abs().max().item<double>(), 0.45);
}

/// TensorFlow's "same" max pooling by its definition, for the first stage of 3c3d.
at::Tensor pool_by_definition(const at::Tensor& x) {
  const int64_t size = x.size(3), out = (size + 1) / 2, total = std::max<int64_t>((out - 1) * 2 + 3 - size, 0);
  const int64_t before = total / 2, after = total - before;
  return at::max_pool2d(at::constant_pad_nd(x, {before, after, before, after}, -1e30), {3, 3}, {2, 2});
}

TEST(Architectures, ThreeCThreeDIsItsDefinition) {
  for (const int64_t size : {28, 32}) {
    const Network network = make_architecture("cnn:3c3d", {1, size, size}, 10, at::kDouble, 3);
    const auto& p = network.parameters();
    const at::Tensor input = at::randn({2, 1, size, size}, at::kDouble);
    at::Tensor x = pool_by_definition(at::conv2d(input, p[0], p[1]).relu());
    x = pool_by_definition(at::conv2d(x, p[2], p[3]).relu());
    x = pool_by_definition(at::conv2d(x, p[4], p[5], {1, 1}, {1, 1}).relu());
    x = at::linear(at::linear(x.flatten(1), p[6], p[7]).relu(), p[8], p[9]).relu();
    EXPECT_TRUE(network.forward(input).allclose(at::linear(x, p[10], p[11]), 1e-12, 1e-12));
  }
}

TEST(Architectures, MisspeltSpecsGetASuggestion) {
  const std::vector<std::pair<std::string, std::string>> slips = {{"mpl:50", "did you mean 'mlp'"},
                                                                  {"liner", "did you mean 'linear'"},
                                                                  {"mlp:50,act=tahn", "did you mean 'tanh'"},
                                                                  {"cnn:3c3", "did you mean '3c3d'"},
                                                                  {"resnet:dept=20", "did you mean 'depth'"},
                                                                  {"mlp:50-x", "'x'"},
                                                                  {"mlp", "hidden widths"},
                                                                  {"mlp:0", "positive"},
                                                                  {"mlp:50,60", "mlp:50-50"},
                                                                  {"linear:3", "no settings"},
                                                                  {"resnet:depth=21", "6 n + 2"},
                                                                  {"transformer", "linear, mlp, cnn, resnet"}};
  for (const auto& [spec, part] : slips) {
    expect_error(ErrorKind::usage, {part}, [&] { make_architecture(spec, {3, 32, 32}, 10, at::kFloat, 0); });
  }
  EXPECT_NO_THROW(check_architecture("mlp:50-50,act=gelu"));
  expect_error(ErrorKind::usage, {"mlp"}, [] { check_architecture("mpl:50"); });
  expect_error(ErrorKind::usage, {"images", "[4]"}, [] { make_architecture("cnn:3c3d", {4}, 1, at::kFloat, 0); });
  expect_error(ErrorKind::usage, {"images"}, [] { make_architecture("cnn:3c3d", {1, 4, 4}, 1, at::kFloat, 0); });
}

}  // namespace
}  // namespace ockham
