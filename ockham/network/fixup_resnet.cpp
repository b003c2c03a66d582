#include "ockham/network/fixup_resnet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/network/channels_last.h"
#include "ockham/network/initialise.h"

namespace ockham {
namespace {

struct Block {
  at::Tensor bias1a, conv1, bias1b, bias2a, conv2, scale, bias2b;
  int64_t stride = 1;
};

at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, int64_t stride) {
  return at::conv2d(x, weight, {}, {stride, stride}, {1, 1});
}

at::Tensor forward_block(const Block& block, const at::Tensor& x) {
  const at::Tensor shifted = x + block.bias1a;
  at::Tensor shortcut = x;
  if (block.stride > 1) {
    shortcut = shifted.slice(2, 0, INT64_MAX, block.stride).slice(3, 0, INT64_MAX, block.stride);
    shortcut = at::cat({shortcut, at::zeros_like(shortcut)}, 1);
  }
  const at::Tensor inner = (convolve(shifted, block.conv1, block.stride) + block.bias1b).relu();
  return (convolve(inner + block.bias2a, block.conv2, 1) * block.scale + block.bias2b + shortcut).relu();
}

Block make_block(ParameterMaker& maker, const std::string& name, int64_t in, int64_t out, double depth_scale) {
  Block block;
  block.stride = in == out ? 1 : 2;
  block.bias1a = maker.constant(name + ".bias1a", {1}, 0);
  block.conv1 = maker.normal(name + ".conv1.weight", {out, in, 3, 3},
                             std::sqrt(2.0 / (9.0 * static_cast<double>(out))) * depth_scale);
  block.bias1b = maker.constant(name + ".bias1b", {1}, 0);
  block.bias2a = maker.constant(name + ".bias2a", {1}, 0);
  block.conv2 = maker.constant(name + ".conv2.weight", {out, out, 3, 3}, 0);
  block.scale = maker.constant(name + ".scale", {1}, 1);
  block.bias2b = maker.constant(name + ".bias2b", {1}, 0);
  return block;
}

}  // namespace

Network make_fixup_resnet(const FixupResNetOptions& options, const std::vector<int64_t>& input_shape, int64_t outputs,
                          at::ScalarType dtype, uint64_t seed) {
  const int64_t blocks_per_stage = (options.depth - 2) / 6;
  if (options.depth != 6 * blocks_per_stage + 2 || blocks_per_stage < 1) {
    throw Error(
        ErrorKind::usage,
        fmt::format("the depth of a resnet is 8, 14, 20, 26, ... (6 n + 2), but {} was asked for", options.depth));
  }
  if (options.width < 1)
    throw Error(ErrorKind::usage, fmt::format("the width of a resnet must be positive, but it is {}", options.width));
  if (input_shape.size() != 3) {
    throw Error(ErrorKind::usage,
                fmt::format("resnet needs images [channels, height, width], but the inputs have shape [{}]; use an mlp",
                            fmt::join(input_shape, ", ")));
  }
  ParameterMaker maker(seed, dtype);
  const at::Tensor conv = maker.normal("conv.weight", {options.width, input_shape[0], 3, 3},
                                       std::sqrt(2.0 / (9.0 * static_cast<double>(options.width))));
  const at::Tensor bias1 = maker.constant("bias1", {1}, 0);
  const double depth_scale = 1 / std::sqrt(static_cast<double>(3 * blocks_per_stage));
  std::vector<Block> blocks;
  int64_t channels = options.width;
  for (int64_t stage = 0; stage < 3; ++stage) {
    const int64_t wanted = options.width << stage;
    for (int64_t i = 0; i < blocks_per_stage; ++i) {
      blocks.push_back(
          make_block(maker, fmt::format("stage{}.block{}", stage + 1, i + 1), channels, wanted, depth_scale));
      channels = wanted;
    }
  }
  const at::Tensor bias2 = maker.constant("bias2", {1}, 0);
  const at::Tensor weight = maker.constant("output.weight", {outputs, channels}, 0);
  const at::Tensor bias = maker.constant("output.bias", {outputs}, 0);
  return Network(maker.take(), [=](const at::Tensor& inputs) {
    at::Tensor x = (convolve(channels_last(inputs), conv, 1) + bias1).relu();
    for (const Block& block : blocks) x = forward_block(block, x);
    return at::linear(x.mean({2, 3}) + bias2, weight, bias);
  });
}

}  // namespace ockham
