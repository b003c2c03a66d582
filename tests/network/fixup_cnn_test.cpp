#include "ockham/network/fixup_cnn.h"

#include <ATen/ATen.h>

#include "ockham/network/architectures.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using testing::expect_error;

struct Row {
  int64_t width, depth, parameters;
};

/// The paper's count is that of this network, and 39 for every block and 16 more, which its text does not explain.
void expect_counts(const std::vector<Row>& table, const std::vector<int64_t>& shape, int64_t classes) {
  for (const Row& row : table) {
    SCOPED_TRACE("width " + std::to_string(row.width) + ", depth " + std::to_string(row.depth));
    const Network network = make_fixup_cnn({row.width, row.depth}, shape, classes, at::kFloat, 0);
    EXPECT_EQ(network.layout().total(), row.parameters - 39 * row.depth - 16);
  }
}

TEST(FixupCnn, ParameterCountsFollowThePapersTablesUpToAConstantForEachBlock) {
  expect_counts({{2, 2, 566},    {4, 1, 748},     {2, 3, 864},    {8, 1, 1428},    {2, 4, 2074},   {4, 2, 1166},
                 {16, 1, 2788},  {32, 1, 5508},   {4, 3, 2296},   {2, 5, 6756},    {8, 2, 2798},   {16, 2, 7790},
                 {4, 4, 6978},   {8, 3, 7320},    {32, 2, 24686}, {4, 5, 25516},   {32, 3, 97944}, {8, 4, 25858},
                 {16, 3, 26008}, {32, 4, 393154}, {16, 4, 99906}, {32, 5, 1573356}},
                {1, 28, 28}, 10);
  expect_counts({{8, 1, 1572},    {4, 2, 1238},    {16, 1, 3076},   {32, 1, 6084},   {8, 2, 2942},
                 {64, 1, 12100},  {4, 4, 7050},    {16, 2, 8078},   {8, 3, 7464},    {4, 5, 25588},
                 {32, 2, 25262},  {8, 4, 26002},   {16, 3, 26296},  {64, 2, 87278},  {32, 3, 98520},
                 {16, 4, 100194}, {64, 3, 381208}, {16, 5, 395404}, {32, 4, 393730}, {64, 4, 1561410}},
                {3, 32, 32}, 10);
  expect_counts({{4, 1, 6670},    {8, 1, 13182},   {4, 2, 7808},    {4, 3, 8218},    {4, 4, 12900},
                 {16, 1, 26206},  {8, 2, 15992},   {32, 1, 52254},  {8, 3, 19074},   {4, 5, 31438},
                 {16, 2, 34088},  {8, 4, 37612},   {16, 3, 49426},  {32, 2, 77192},  {8, 5, 111510},
                 {32, 3, 144690}, {16, 4, 123324}, {16, 5, 418534}, {32, 4, 439900}, {32, 5, 1620102}},
                {3, 32, 32}, 100);
}

TEST(FixupCnn, IsItsFormula) {
  const Network network = make_fixup_cnn({3, 2}, {2, 9, 8}, 4, at::kDouble, 1);
  const at::Tensor theta = network.flat_parameters();
  network.set_flat_parameters(theta + 0.3 * at::randn_like(theta));
  std::vector<at::Tensor> p;
  for (const at::Tensor& parameter : network.parameters()) p.push_back(parameter.detach());
  const at::Tensor images = at::randn({5, 2, 9, 8}, at::kDouble);
  // Convolutions as products with unfolded windows, pooling by windows.
  const auto block = [&](const at::Tensor& x, size_t first) {
    const at::Tensor windows = at::im2col(x + p[first], {3, 3}, {1, 1}, {1, 1}, {1, 1});
    const at::Tensor weight = p[first + 1].flatten(1);
    const at::Tensor y = at::matmul(weight, windows) + p[first + 2].unsqueeze(1);
    return (y * p[first + 3] + p[first + 4]).clamp_min(0).reshape({x.size(0), -1, x.size(2), x.size(3)});
  };
  const at::Tensor second = block(block(images, 0), 5).narrow(2, 0, 8);
  const at::Tensor pooled = second.reshape({5, 6, 4, 2, 4, 2}).amax({3, 5});  // 4 x 4
  std::vector<at::Tensor> cells;                                              // windows {0,1}, {1,2}, {2,3} each way
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) cells.push_back(pooled.narrow(2, i, 2).narrow(3, j, 2).mean({2, 3}));
  const at::Tensor features = at::stack(cells, 2).flatten(1);
  EXPECT_TRUE(network.forward(images).allclose(at::addmm(p[11], features, p[10].t()), 1e-12, 1e-12));
}

TEST(FixupCnn, StartsAsFixupSays) {
  const Network network = make_fixup_cnn({64, 2}, {3, 16, 16}, 10, at::kDouble, 1);
  for (size_t i = 0; i < network.layout().count(); ++i) {
    const std::string& name = network.layout()[i].name;
    const at::Tensor value = network.parameters()[i].detach();
    if (name == "block2.conv.weight") {
      EXPECT_NEAR(value.std().item<double>(), std::sqrt(2.0 / (9 * 128)), 1e-3);
    } else if (name.find("conv.weight") == std::string::npos) {
      const double expected = name.find("scale") == std::string::npos ? 0 : 1;
      EXPECT_TRUE(value.eq(expected).all().item<bool>()) << name;
    }
  }
}

TEST(FixupCnn, SpecsAndTheirRefusals) {
  const auto count = [](const std::string& spec) {
    return make_architecture(spec, {1, 28, 28}, 10, at::kFloat, 0).layout().total();
  };
  EXPECT_EQ(count("cnn:width=8,depth=3"), make_fixup_cnn({8, 3}, {1, 28, 28}, 10, at::kFloat, 0).layout().total());
  EXPECT_EQ(count("cnn:depth=2"), count("cnn:width=16,depth=2"));
  EXPECT_NO_THROW(check_architecture("cnn:depth=5,width=2"));
  expect_error(ErrorKind::usage, {"did you mean 'width'"}, [] { check_architecture("cnn:widht=5"); });
  expect_error(ErrorKind::usage, {"'0'", "positive"}, [] { check_architecture("cnn:width=0"); });
  expect_error(ErrorKind::usage, {"3c3d", "width=16,depth=3"}, [] { check_architecture("cnn"); });
  expect_error(ErrorKind::usage, {"images", "[4]"}, [] { make_architecture("cnn:width=2", {4}, 1, at::kFloat, 0); });
  expect_error(ErrorKind::usage, {"halves the image 4 times", "8 x 8"}, [] {
    make_architecture("cnn:depth=5", {1, 8, 8}, 2, at::kFloat, 0);
  });
  expect_error(ErrorKind::usage, {"depth 99"}, [] { make_architecture("cnn:depth=99", {1, 8, 8}, 2, at::kFloat, 0); });
  EXPECT_EQ(make_architecture("cnn:width=2,depth=4", {1, 8, 8}, 2, at::kFloat, 0)
                .forward(at::randn({3, 1, 8, 8}))
                .sizes()
                .vec(),
            (std::vector<int64_t>{3, 2}));
}

}  // namespace
}  // namespace ockham
