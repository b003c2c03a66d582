// How many floating-point operations a training epoch and a curvature pass cannot do without: the matrix products of
// linear layers and convolutions, counted from the sizes of the layers. Adam, activations, pooling and everything else
// is left out, so both counts are lower bounds, and their quotient is the ratio of the two at the same rate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ockham/curvature/estimate_curvature.h"

namespace ockham::bench {

/// The windows of a convolution that share products (linalg/image_windows.h).
struct WindowRows {
  int64_t out_height = 1, out_width = 1;
  int64_t kernel_height = 1;
  int64_t row_inputs = 1;  // k2·C, the numbers in one row of a window
};

/// One use of a weight, for one example: `positions` rows of `inputs` numbers are multiplied with a matrix
/// [inputs, outputs], in each of `groups` groups.
struct LayerSizes {
  int64_t groups = 1, positions = 1, inputs = 0, outputs = 0;
  bool gradients_below = true;  // its input depends on parameters, so a gradient goes through it
  bool looks_up = false;        // an embedding: its forward pass and weight gradient have no products
  std::optional<WindowRows> windows;

  /// 2·groups·positions·inputs·outputs: forward; as many for the gradient of the input, and of the weight.
  double product() const;
  /// Σ a aᵀ over the positions, symmetric: positions·inputs·(inputs + 1) a group, or what linalg/image_windows does
  /// if that is less: with d = k2·C, W_out·((H_out + k1 - 1) d (d + 1) + Σ_{s=1}^{k1-1} (H_out + k1 - 1 - s) 2 d²).
  double input_factor(KroneckerRule rule) const;
  /// Σ g gᵀ over the positions of one column: positions·outputs·(outputs + 1) a group.
  double output_factor(KroneckerRule rule) const;
};

/// The layers that one forward pass on a few examples runs.
std::vector<LayerSizes> observe_layers(const Network& network, at::IntArrayRef input_shape);

/// What is counted, beside the layers.
struct PassSizes {
  int64_t examples = 1;                  // N
  int64_t columns = 1;                   // K back-propagated for each example: `root_columns`
  std::vector<int64_t> parameter_sizes;  // of each parameter tensor, for the dense structures
};

/// N (forward + input gradients but for the first layer + weight gradients).
double count_training(const std::vector<LayerSizes>& layers, int64_t examples);

/// N (forward + K backward passes to the outputs of the layers), no weight gradients and nothing below the first layer,
/// and
///   kron   the input factors once, the output factors for each of the K columns,
///   diag   for each linear layer on one position one product of squares, whatever K; elsewhere a product for each
///          example's gradient and column,
///   full   each example's gradients (one multiplication a weight on one position, else a product), and P (P + 1) for
///          each of the N K rows if there are at least as many as weights; with fewer, only the rows are kept,
///   block  the same for each parameter on its own.
double count_curvature(const std::vector<LayerSizes>& layers, const PassSizes& sizes, const CurvatureOptions& options);

struct FlopBound {
  double train_epoch = 0, curvature = 0;
  double ratio() const { return curvature / train_epoch; }
};

FlopBound bound_flop(const Network& network, const Likelihood& likelihood, const Dataset& data,
                     const CurvatureOptions& options);

}  // namespace ockham::bench
