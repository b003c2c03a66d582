// A layer call: one recognised use of parameters in a forward pass, in a form that curvature can read without knowing
// the operator.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ockham/linalg/image_windows.h"

namespace ockham {

/// A weight that multiplies rows. For each example n the gradient of the weight is Σ_s left_{n,s} ⊗ right_{n,s}, where
/// one side holds unfolded inputs a and the other back-propagated gradients g; which side follows from the weight's own
/// memory layout (linear, convolution: [out][in...], gradients left; embedding, transposed convolution, x @ W:
/// [in][out...], gradients right).
struct MatrixUse {
  enum class Operator { linear, convolution, transposed_convolution, embedding };
  Operator kind = Operator::linear;
  bool gradient_left = true;
  int64_t groups = 1;
  // convolutions, one entry per spatial dimension
  std::vector<int64_t> kernel, stride, padding, dilation;
  int64_t padding_index = -1;  // embedding rows that never learn
  int64_t rows = 0;            // embedding: size of the vocabulary
};

/// The bias of a matrix use: gradients summed over positions, with a Kronecker rule of its own.
struct BiasUse {};

/// A parameter that scales (factor defined) or shifts (factor undefined) the output elementwise after broadcasting:
/// Fixup's scalars, layer, group and batch norm. The gradient of the parameter is Σ over broadcast positions of g ·
/// factor.
struct ElementwiseUse {
  at::Tensor factor;                   // like the output, or broadcastable to it; undefined for a shift
  double multiplier = 1;               // ±alpha of add and sub
  std::vector<int64_t> aligned_shape;  // the parameter's shape seen at the rank of the output (1 where broadcast)
};

struct ParameterUse {
  size_t parameter = 0;  // index in the layout
  std::variant<MatrixUse, BiasUse, ElementwiseUse> how;
};

struct LayerCall {
  std::string operator_name;          // "aten::linear", for messages
  at::Tensor input;                   // detached input of the matrix use, [N, ...]; undefined for elementwise uses
  std::vector<ParameterUse> uses;     // a weight and perhaps its bias, or elementwise parameters
  std::vector<int64_t> output_shape;  // [N, ...]
  int64_t examples = 0;               // N
  int64_t batch_dimension = 0;  // which dimension of input and output counts the examples; its size is a multiple of N
                                // when positions were folded into it, example by example
};

/// Rows of a matrix use: [G, N, S, D], G groups, N examples, S positions. For an embedding the input side is the index
/// [N, S].
at::Tensor input_rows(const LayerCall& call, const MatrixUse& use);
at::Tensor gradient_rows(const LayerCall& call, const MatrixUse& use, const at::Tensor& output_gradient);
/// The windows of a 2-D convolution that the ways of linalg/image_windows.h serve: one group, at least as
/// many rows of windows as a window has. Empty for other uses.
std::optional<WindowShape> window_shape(const LayerCall& call, const MatrixUse& use);
/// Rows of the bias of a matrix use: [N, S, C].
at::Tensor bias_rows(const LayerCall& call, const at::Tensor& output_gradient);
/// Per-example gradient of an elementwise parameter: [N, p].
at::Tensor elementwise_gradient(const LayerCall& call, const ElementwiseUse& use, const at::Tensor& output_gradient);
/// Per-example gradient of any use, [N, p] with p the flattened parameter. The plain and exact way, for every
/// structure.
at::Tensor per_example_gradient(const LayerCall& call, const ParameterUse& use, const at::Tensor& output_gradient);
/// The same for examples [first, first + count) only: [count, p].
at::Tensor per_example_gradient(const LayerCall& call, const ParameterUse& use, const at::Tensor& output_gradient,
                                int64_t first, int64_t count);

}  // namespace ockham
