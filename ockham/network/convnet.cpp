#include "ockham/network/convnet.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ockham/base/error.h"
#include "ockham/network/channels_last.h"
#include "ockham/network/initialise.h"

namespace ockham {
namespace {

/// TensorFlow's "same" pooling of width 3 and stride 2: an odd size is padded on both sides, an even one at its end
/// only, which is what rounding up (ceil_mode) does.
at::Tensor pool(const at::Tensor& x) {
  const int64_t pad_rows = x.size(2) % 2, pad_columns = x.size(3) % 2;
  return at::max_pool2d(x, {3, 3}, {2, 2}, {pad_rows, pad_columns}, {1, 1}, /*ceil_mode=*/true);
}

int64_t pooled(int64_t size) { return (size + 1) / 2; }

/// Height or width after the three stages; 0 when the image is too small.
int64_t final_size(int64_t size) {
  size = pooled(size - 4);
  if (size < 3) return 0;
  return pooled(pooled(size - 2));
}

}  // namespace

Network make_3c3d(const std::vector<int64_t>& input_shape, int64_t outputs, at::ScalarType dtype, uint64_t seed) {
  const bool is_image = input_shape.size() == 3;
  const int64_t rows = is_image ? final_size(input_shape[1]) : 0, columns = is_image ? final_size(input_shape[2]) : 0;
  if (rows < 1 || columns < 1) {
    throw Error(ErrorKind::usage,
                fmt::format("cnn:3c3d needs images [channels, height, width] of at least 9 x 9, but the inputs "
                            "have shape [{}]; use an mlp",
                            fmt::join(input_shape, ", ")));
  }
  ParameterMaker maker(seed, dtype);
  const auto conv1 = maker.layer("conv1", {64, input_shape[0], 5, 5});
  const auto conv2 = maker.layer("conv2", {96, 64, 3, 3});
  const auto conv3 = maker.layer("conv3", {128, 96, 3, 3});
  const auto dense1 = maker.layer("dense1", {512, 128 * rows * columns});
  const auto dense2 = maker.layer("dense2", {256, 512});
  const auto output = maker.layer("output", {outputs, 256});
  return Network(maker.take(), [=](const at::Tensor& inputs) {
    at::Tensor x = pool(at::conv2d(channels_last(inputs), conv1.weight, conv1.bias).relu());
    x = pool(at::conv2d(x, conv2.weight, conv2.bias).relu());
    x = pool(at::conv2d(x, conv3.weight, conv3.bias, {1, 1}, {1, 1}).relu());
    x = at::linear(x.flatten(1), dense1.weight, dense1.bias).relu();
    x = at::linear(x, dense2.weight, dense2.bias).relu();
    return at::linear(x, output.weight, output.bias);
  });
}

}  // namespace ockham
