#include "ockham/network/fixup_cnn.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ockham/base/error.h"
#include "ockham/network/channels_last.h"
#include "ockham/network/initialise.h"

namespace ockham {
namespace {

constexpr int64_t largest_depth = 20;  // more would halve any image to nothing and overflow the channels

struct Block {
  at::Tensor bias1, weight, bias, scale, bias2;
};

Block make_block(ParameterMaker& maker, const std::string& name, int64_t in, int64_t out) {
  Block block;
  block.bias1 = maker.constant(name + ".bias1", {1}, 0);
  block.weight =
      maker.normal(name + ".conv.weight", {out, in, 3, 3}, std::sqrt(2.0 / (9.0 * static_cast<double>(out))));
  block.bias = maker.constant(name + ".conv.bias", {out}, 0);
  block.scale = maker.constant(name + ".scale", {1}, 1);
  block.bias2 = maker.constant(name + ".bias2", {1}, 0);
  return block;
}

at::Tensor forward_block(const Block& block, const at::Tensor& x) {
  return (at::conv2d(x + block.bias1, block.weight, block.bias, {1, 1}, {1, 1}) * block.scale + block.bias2).relu();
}

/// Where the linear layer stands, [rows, columns], for images of this size after the blocks.
std::array<int64_t, 2> final_grid(int64_t depth, int64_t height, int64_t width) {
  static const std::array<std::array<int64_t, 2>, 5> grids = {{{4, 4}, {3, 3}, {2, 2}, {2, 1}, {1, 1}}};
  const auto& grid = grids[static_cast<size_t>(std::min<int64_t>(depth, 5) - 1)];
  return {std::min(grid[0], height), std::min(grid[1], width)};
}

}  // namespace

Network make_fixup_cnn(const FixupCnnOptions& options, const std::vector<int64_t>& input_shape, int64_t outputs,
                       at::ScalarType dtype, uint64_t seed) {
  if (options.width < 1 || options.depth < 1 || options.depth > largest_depth) {
    throw Error(ErrorKind::usage,
                fmt::format("a cnn has a width of at least 1 and a depth of 1 to {}, but width {} and depth {} were "
                            "asked for",
                            largest_depth, options.width, options.depth));
  }
  if (input_shape.size() != 3) {
    throw Error(ErrorKind::usage,
                fmt::format("cnn needs images [channels, height, width], but the inputs have shape [{}]; use an mlp",
                            fmt::join(input_shape, ", ")));
  }
  const int64_t halvings = options.depth - 1;
  const int64_t height = input_shape[1] >> halvings, width = input_shape[2] >> halvings;
  if (height < 1 || width < 1) {
    throw Error(ErrorKind::usage, fmt::format("a cnn of depth {} halves the image {} times, but it has {} x {} pixels; "
                                              "use a smaller depth",
                                              options.depth, halvings, input_shape[1], input_shape[2]));
  }
  ParameterMaker maker(seed, dtype);
  std::vector<Block> blocks;
  int64_t channels = input_shape[0];
  for (int64_t i = 0; i < options.depth; ++i) {
    const int64_t wanted = options.width << i;
    blocks.push_back(make_block(maker, fmt::format("block{}", i + 1), channels, wanted));
    channels = wanted;
  }
  const auto grid = final_grid(options.depth, height, width);
  const at::Tensor weight = maker.constant("output.weight", {outputs, channels * grid[0] * grid[1]}, 0);
  const at::Tensor bias = maker.constant("output.bias", {outputs}, 0);
  return Network(maker.take(), [=](const at::Tensor& inputs) {
    at::Tensor x = forward_block(blocks[0], channels_last(inputs));
    for (size_t i = 1; i < blocks.size(); ++i) x = at::max_pool2d(forward_block(blocks[i], x), {2, 2});
    return at::linear(at::adaptive_avg_pool2d(x, grid).flatten(1), weight, bias);
  });
}

}  // namespace ockham
