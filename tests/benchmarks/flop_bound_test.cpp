#include "benchmarks/flop_bound.h"

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "ockham/network/architectures.h"

namespace ockham::bench {
namespace {

constexpr int64_t kClasses = 10;

CurvatureOptions options_of(Structure structure, CurvatureKind kind) {
  CurvatureOptions options;
  options.structure = structure;
  options.kind = kind;
  return options;
}

FlopBound bound(const char* spec, std::vector<int64_t> shape, int64_t examples, const CurvatureOptions& options) {
  const Network network = make_architecture(spec, shape, kClasses, at::kFloat, 0);
  shape.insert(shape.begin(), examples);
  return bound_flop(network, Categorical{}, Dataset(at::zeros(shape), at::zeros({examples}, at::kLong)), options);
}

// 3-4-2 with two classes, by hand: products 2·3·4 = 24 and 2·4·2 = 16.
TEST(FlopBound, CountsASmallPerceptronByHand) {
  const std::vector<LayerSizes> layers =
      observe_layers(make_architecture("mlp:4", {3}, 2, at::kFloat, 0), std::vector<int64_t>{3});
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].product(), 24);
  EXPECT_EQ(layers[1].product(), 16);
  EXPECT_FALSE(layers[0].gradients_below);
  EXPECT_TRUE(layers[1].gradients_below);
  EXPECT_EQ(count_training(layers, 5), 5 * (2 * 24 + 3 * 16));

  PassSizes sizes;
  sizes.examples = 5;
  sizes.columns = 3;
  sizes.parameter_sizes = {12, 4, 8, 2};
  const double passes = 24 + 16 + 3 * 16;
  EXPECT_EQ(count_curvature(layers, sizes, options_of(Structure::diagonal, CurvatureKind::ggn)),
            5 * (passes + 24 + 16));
  EXPECT_EQ(count_curvature(layers, sizes, options_of(Structure::kronecker, CurvatureKind::ggn)),
            5 * (passes + 3 * 4 + 4 * 5 + 3 * (4 * 5 + 2 * 3)));
  // 15 rows: fewer than the 26 weights, but more than those of any parameter alone.
  const double gradients = 3 * (12 + 8);
  EXPECT_EQ(count_curvature(layers, sizes, options_of(Structure::full, CurvatureKind::ggn)), 5 * (passes + gradients));
  EXPECT_EQ(count_curvature(layers, sizes, options_of(Structure::block, CurvatureKind::ggn)),
            5 * (passes + gradients) + 15 * (12 * 13 + 4 * 5 + 8 * 9 + 2 * 3));
  CurvatureOptions matrix = options_of(Structure::full, CurvatureKind::ggn);
  matrix.dense_form = CurvatureOptions::DenseForm::matrix;
  EXPECT_EQ(count_curvature(layers, sizes, matrix), 5 * (passes + gradients) + 15 * 26 * 27);
}

TEST(FlopBound, CountsConvolutionsByHand) {
  LayerSizes layer;
  layer.positions = 12 * 12;
  layer.inputs = 9 * 64;
  layer.outputs = 96;
  EXPECT_EQ(layer.product(), 2.0 * 144 * 576 * 96);
  EXPECT_EQ(layer.output_factor(KroneckerRule::expand), 144.0 * 96 * 97);
  EXPECT_EQ(layer.output_factor(KroneckerRule::paper), 96.0 * 97);
  EXPECT_EQ(layer.input_factor(KroneckerRule::expand), 144.0 * 576 * 577);
  EXPECT_EQ(layer.input_factor(KroneckerRule::reduce), 576.0 * 577);
  layer.windows = WindowRows{12, 12, 3, 192};
  EXPECT_EQ(layer.input_factor(KroneckerRule::expand),
            14.0 * 12 * 192 * 193 + 13.0 * 12 * 2 * 192 * 192 + 12.0 * 12 * 2 * 192 * 192);

  const CurvatureOptions diagonal = options_of(Structure::diagonal, CurvatureKind::ggn);
  PassSizes sizes;
  sizes.columns = 9;
  EXPECT_EQ(count_curvature({layer}, sizes, diagonal), (1 + 9 + 9) * layer.product());
}

TEST(FlopBound, ObservesTheLayersOf3c3d) {
  const auto layers = observe_layers(make_architecture("cnn:3c3d", {3, 32, 32}, kClasses, at::kFloat, 0),
                                     std::vector<int64_t>{3, 32, 32});
  ASSERT_EQ(layers.size(), 6u);
  const std::vector<std::vector<int64_t>> expected = {{784, 75, 64},  {144, 576, 96}, {36, 864, 128},
                                                      {1, 1152, 512}, {1, 512, 256},  {1, 256, 10}};
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i].positions, expected[i][0]) << i;
    EXPECT_EQ(layers[i].inputs, expected[i][1]) << i;
    EXPECT_EQ(layers[i].outputs, expected[i][2]) << i;
    EXPECT_EQ(layers[i].windows.has_value(), i < 3) << i;
    EXPECT_EQ(layers[i].gradients_below, i > 0) << i;
  }
}

TEST(FlopBound, IsWhatTheDocumentationSaysOf3c3d) {
  const int64_t examples = 4;
  const FlopBound ggn = bound("cnn:3c3d", {3, 32, 32}, examples, options_of(Structure::kronecker, CurvatureKind::ggn));
  EXPECT_NEAR(ggn.train_epoch / examples, 91e6, 0.5e6);
  EXPECT_NEAR(ggn.curvature / examples, 360e6, 2e6);
  EXPECT_NEAR(ggn.ratio(), 4.0, 0.06);
}

TEST(FlopBound, IsWhatTheDocumentationSaysOfThePerceptron) {
  const int64_t batch = 128;
  const char* spec = "mlp:1024-512-256-128";
  const FlopBound ggn = bound(spec, {784}, batch, options_of(Structure::kronecker, CurvatureKind::ggn));
  EXPECT_NEAR(ggn.train_epoch, 0.94e9, 0.01e9);  // 1.15e9 with the gradient of the inputs, which nobody asks for
  EXPECT_NEAR(ggn.curvature, 3.83e9, 0.02e9);
  // As many products as training: forward, one backward pass, one product of squares.
  const FlopBound ef = bound(spec, {784}, batch, options_of(Structure::diagonal, CurvatureKind::empirical_fisher));
  EXPECT_DOUBLE_EQ(ef.ratio(), 1);
  const FlopBound mc = bound(spec, {784}, batch, options_of(Structure::diagonal, CurvatureKind::mc_fisher));
  EXPECT_DOUBLE_EQ(mc.ratio(), 1);
}

TEST(FlopBound, TakesAColumnForEachOutputOfAGaussian) {
  const Network network = make_architecture("mlp:4", {3}, 2, at::kFloat, 0);
  const Dataset data(at::zeros({5, 3}), at::zeros({5, 2}));
  const CurvatureOptions diagonal = options_of(Structure::diagonal, CurvatureKind::ggn);
  EXPECT_EQ(bound_flop(network, Gaussian{}, data, diagonal).curvature, 5 * (40 + 2 * 16 + 40));
}

// Fixup's scalars come before its layers or after them, and no layer is missed for it.
TEST(FlopBound, ObservesAResNet) {
  const auto layers = observe_layers(make_architecture("resnet:depth=20", {3, 32, 32}, kClasses, at::kFloat, 0),
                                     std::vector<int64_t>{3, 32, 32});
  ASSERT_EQ(layers.size(), 20u);
  EXPECT_EQ(layers[0].positions, 1024);
  EXPECT_TRUE(layers[1].windows.has_value());
  EXPECT_FALSE(layers[7].windows.has_value()) << "a convolution that moves down two rows at a time is unfolded";
  EXPECT_EQ(layers[7].positions, 256);
  EXPECT_EQ(layers[19].positions, 1);
}

}  // namespace
}  // namespace ockham::bench
