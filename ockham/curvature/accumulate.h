// Private to curvature/: sums the contributions of batches into blocks. Each accumulator has the same verbs:
// begin_batch once a batch, add_column for each of its parts once a back-propagated column, finish at the end.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "ockham/curvature/batch_gradients.h"
#include "ockham/curvature/curvature.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/linalg/gram.h"

namespace ockham {

/// Sum of tensors in the network's type, moved to float64 before float32 rounding could matter.
class SafeSum {
 public:
  /// The tensor to add into in place (zero at first), in the type of `like`.
  at::Tensor& partial(at::IntArrayRef shape, const at::TensorOptions& like);
  void added();                                    // counts one addition
  at::Tensor finish(at::IntArrayRef shape) const;  // float64

 private:
  at::Tensor partial_, total_;
  int64_t additions_ = 0;
};

/// Exact rows [N, p] of some parameters together: Σ ΦᵀΦ as a matrix, or the rows themselves.
class DenseAccumulator {
 public:
  struct Plan {
    std::vector<size_t> parameters;
    int64_t size = 0;         // p
    bool rows = false;        // keep Φ instead of the matrix
    int64_t row_count = 0;    // N·K over the data set, in row form
    int64_t derivatives = 0;  // M
  };
  explicit DenseAccumulator(Plan plan);
  void begin_batch(const BatchGradients& batch);
  std::vector<BatchGradients::Part> parts() const;
  void add_column(const BatchGradients& batch, size_t part);
  CurvatureBlock finish(int64_t examples);

 private:
  Plan plan_;
  GramAccumulator gram_;
  at::Tensor rows_;
  std::vector<at::Tensor> row_derivatives_, matrix_derivatives_;
  void keep_factors(const BatchGradients& batch);
  std::vector<RowFactors> factors_;
  void keep_rows(at::Tensor& kept, const at::Tensor& rows, const BatchGradients& batch) const;
  int64_t first_row_ = 0, row_count_ = 0;  // of the current batch
};

/// Squares of per-example gradients, without building them for a linear layer used once on one position, and without
/// keeping them for most convolutions.
class DiagonalAccumulator {
 public:
  DiagonalAccumulator(std::vector<size_t> parameters, std::vector<size_t> by_autograd, const ParameterLayout& layout,
                      int64_t derivatives);
  void begin_batch(const BatchGradients& batch);
  std::vector<BatchGradients::Part> parts() const;
  void add_column(const BatchGradients& batch, size_t part);
  CurvatureBlock finish(int64_t examples);

 private:
  struct Parameter {
    size_t index = 0;
    int64_t size = 0;
    bool by_autograd = false;
    SafeSum sum;
    std::vector<SafeSum> derivatives;
    std::optional<size_t> bias;          // another of the parameters, whose squares are Σ_n of this one's Σ_k g²
    bool from_weight = false;            // and that one
    std::optional<WindowShape> windows;  // sum is [out, k1·k2·C] in the order of linalg/image_windows.h
    // the current batch, for the product form: Σ_k g² [N, D0] (and Σ_k g ġ) waiting for the squares of the inputs
    std::vector<at::Tensor> squares;
  };
  void find_biases(const BatchGradients& batch);
  void add_by_autograd(Parameter& parameter, const BatchGradients& batch);
  void add_products(Parameter& parameter, const BatchGradients& batch);
  void add_windows(Parameter& parameter, const BatchGradients& batch);
  void add_per_example(Parameter& parameter, const BatchGradients& batch);
  void finish_batch(Parameter& parameter, const BatchGradients& batch);
  static at::Tensor in_weight_order(const Parameter& parameter);  // its sum
  std::vector<Parameter> parameters_;
};

/// One weight with Kronecker factors by the rules of docs/mathematics.md, and its bias where that shares the output
/// factor.
class KroneckerAccumulator {
 public:
  struct Plan {
    size_t weight = 0;
    std::optional<size_t> shared_bias;  // its curvature is the gradient factor (times S with `expand`)
    KroneckerRule rule = KroneckerRule::expand;
    int64_t derivatives = 0;
  };
  explicit KroneckerAccumulator(Plan plan) : plan_(std::move(plan)) {}
  void begin_batch(const BatchGradients& batch);
  std::vector<BatchGradients::Part> parts() const;
  void add_column(const BatchGradients& batch, size_t part);
  std::vector<CurvatureBlock> finish(int64_t examples);

 private:
  at::Tensor gradient_rows_of(const BatchGradients& batch, int64_t derivative) const;  // [G, rows, D]
  void add_grouped(std::vector<GramAccumulator>& grams, const at::Tensor& rows);
  Plan plan_;
  bool gradient_left_ = true;
  int64_t positions_ = 0;     // S over all uses
  at::Tensor input_factor();  // summed, [G, D, D]
  std::vector<GramAccumulator> inputs_, gradients_;
  std::optional<WindowGram> windows_;  // convolutions, where it serves
  at::Tensor counts_;                  // embedding: occurrences of each row
  std::vector<at::Tensor> derivatives_;
};

/// Exact block of a bias that shares no factor: positions as in its layer's rule.
class BiasAccumulator {
 public:
  struct Plan {
    size_t bias = 0;
    int64_t size = 0;
    KroneckerRule rule = KroneckerRule::expand;
    int64_t derivatives = 0;
  };
  explicit BiasAccumulator(Plan plan);
  void begin_batch(const BatchGradients&) {}
  std::vector<BatchGradients::Part> parts() const;
  void add_column(const BatchGradients& batch, size_t part);
  CurvatureBlock finish(int64_t examples);

 private:
  at::Tensor rows_of(const BatchGradients& batch, int64_t derivative) const;
  Plan plan_;
  GramAccumulator gram_;
  std::vector<at::Tensor> derivatives_;
};

using Accumulator = std::variant<DenseAccumulator, DiagonalAccumulator, KroneckerAccumulator, BiasAccumulator>;

}  // namespace ockham
