#include <ATen/ATen.h>

#include "ockham/curvature/accumulate.h"

namespace ockham {
namespace {

// Each parameter's rows are written where they belong: a copy of all of them costs as much as making them.
at::Tensor joined_rows(const BatchGradients& batch, const std::vector<size_t>& parameters, int64_t derivative) {
  if (parameters.size() == 1) return batch.per_example(parameters[0], derivative);
  const ParameterLayout& layout = batch.network().layout();
  int64_t width = 0, first = 0;
  for (size_t parameter : parameters) width += layout[parameter].size;
  const at::Tensor rows = at::empty({batch.examples(), width}, batch.root().root.options());
  for (size_t parameter : parameters) {
    at::Tensor part = rows.narrow(1, first, layout[parameter].size);
    batch.write_per_example(parameter, derivative, part);
    first += layout[parameter].size;
  }
  return rows;
}

}  // namespace

DenseAccumulator::DenseAccumulator(Plan plan) : plan_(std::move(plan)), gram_(plan_.size) {
  const at::TensorOptions options = at::TensorOptions().dtype(at::kDouble);
  for (int64_t d = 0; d < plan_.derivatives; ++d) {
    if (plan_.rows)
      row_derivatives_.push_back(at::empty({plan_.row_count, plan_.size}, options));
    else
      matrix_derivatives_.push_back(at::zeros({plan_.size, plan_.size}, options));
  }
  if (plan_.rows) rows_ = at::empty({plan_.row_count, plan_.size}, options);
}

void DenseAccumulator::begin_batch(const BatchGradients& batch) {
  first_row_ += row_count_;
  row_count_ = batch.examples() * batch.columns();
}

// Rows are ordered by example, then column, so that they do not depend on the batches.
void DenseAccumulator::keep_rows(at::Tensor& kept, const at::Tensor& rows, const BatchGradients& batch) const {
  kept.narrow(0, first_row_, row_count_)
      .view({batch.examples(), batch.columns(), kept.size(1)})
      .select(1, batch.column())
      .copy_(rows);
}

// Only where rows do not move: their derivatives would need factors of their own.
void DenseAccumulator::keep_factors(const BatchGradients& batch) {
  if (batch.column() == 0 && first_row_ == 0) {
    for (size_t parameter : plan_.parameters) {
      if (!batch.has_product_rows(parameter)) continue;
      const UseInBatch& use = batch.uses(parameter)[0];
      const int64_t examples = plan_.row_count / batch.columns();
      const int64_t inputs = batch.call(use.call).input.size(1), outputs = batch.call(use.call).output_shape[1];
      const bool gradient_left = std::get<MatrixUse>(use.use->how).gradient_left;
      const auto empty = [](int64_t rows, int64_t columns) { return at::zeros({rows, columns}, at::kDouble); };
      factors_.push_back({parameter, gradient_left ? empty(plan_.row_count, outputs) : empty(examples, inputs),
                          gradient_left ? empty(examples, inputs) : empty(plan_.row_count, outputs)});
    }
  }
  for (RowFactors& kept : factors_) {
    const UseInBatch& use = batch.uses(kept.parameter)[0];
    const bool gradient_left = std::get<MatrixUse>(use.use->how).gradient_left;
    const at::Tensor& gradient = batch.output_gradient(use.call);
    at::Tensor& gradients = gradient_left ? kept.left : kept.right;
    if (gradient.defined()) keep_rows(gradients, gradient, batch);
    at::Tensor& inputs = gradient_left ? kept.right : kept.left;
    if (batch.column() == 0)
      inputs.narrow(0, first_row_ / batch.columns(), batch.examples()).copy_(batch.call(use.call).input);
  }
}

std::vector<BatchGradients::Part> DenseAccumulator::parts() const { return {plan_.parameters}; }

void DenseAccumulator::add_column(const BatchGradients& batch, size_t) {
  if (plan_.rows && plan_.derivatives == 0) keep_factors(batch);
  const at::Tensor rows = joined_rows(batch, plan_.parameters, -1);
  if (plan_.rows)
    keep_rows(rows_, rows, batch);
  else
    gram_.add(rows.to(type_for_gram(plan_.size, rows.scalar_type())));
  for (int64_t d = 0; d < plan_.derivatives; ++d) {
    const at::Tensor moved = joined_rows(batch, plan_.parameters, d);
    if (plan_.rows)
      keep_rows(row_derivatives_[d], moved, batch);
    else
      matrix_derivatives_[d].add_(symmetric_cross(rows, moved));
  }
}

CurvatureBlock DenseAccumulator::finish(int64_t) {
  DenseBlock block;
  block.parameters = plan_.parameters;
  if (plan_.rows) {
    block.rows = rows_;
    block.row_factors = factors_;
    block.row_derivatives = row_derivatives_;
  } else {
    block.matrix = gram_.finish();
    block.matrix_derivatives = matrix_derivatives_;
  }
  return block;
}

}  // namespace ockham
