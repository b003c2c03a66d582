#include <ATen/ATen.h>

#include "ockham/curvature/accumulate.h"

namespace ockham {
namespace {

const MatrixUse& matrix_of(const UseInBatch& use) { return std::get<MatrixUse>(use.use->how); }

at::Tensor stack_groups(std::vector<GramAccumulator>& grams) {
  std::vector<at::Tensor> matrices;
  for (GramAccumulator& gram : grams) matrices.push_back(gram.finish());
  return matrices.size() == 1 ? matrices[0].unsqueeze(0) : at::stack(matrices);
}

// [G, N, S, D] to [G, N·S, D].
at::Tensor all_positions(const at::Tensor& rows) { return rows.reshape({rows.size(0), -1, rows.size(3)}); }

// One-hot rows summed over the positions: counts [1, N, 1, V].
at::Tensor index_counts(const at::Tensor& indices, const MatrixUse& use, const at::TensorOptions& options) {
  at::Tensor counts = at::zeros({indices.size(0), use.rows}, options);
  counts.scatter_add_(1, indices, at::ones(indices.sizes(), options));
  if (use.padding_index >= 0) counts.select(1, use.padding_index).zero_();
  return counts.unsqueeze(0).unsqueeze(2);
}

}  // namespace

void KroneckerAccumulator::add_grouped(std::vector<GramAccumulator>& grams, const at::Tensor& rows) {
  if (grams.empty()) grams.assign(rows.size(0), GramAccumulator(rows.size(2)));
  for (int64_t g = 0; g < rows.size(0); ++g) grams[g].add(rows[g]);
}

void KroneckerAccumulator::begin_batch(const BatchGradients& batch) {
  int64_t positions = 0;
  at::Tensor summed;  // `reduce`: Σ_s a over all uses, [G, N, 1, D]
  for (const UseInBatch& in_batch : batch.uses(plan_.weight)) {
    const MatrixUse& use = matrix_of(in_batch);
    gradient_left_ = use.gradient_left;
    const LayerCall& call = batch.call(in_batch.call);
    if (const auto shape = window_shape(call, use);
        shape && shape->stride_height == 1 && plan_.rule != KroneckerRule::reduce) {
      if (!windows_) windows_.emplace(*shape, call.input.size(1));
      windows_->add(call.input);
      positions += shape->out_height(call.input) * shape->out_width(call.input) * call.input.size(0) / call.examples;
      continue;
    }
    at::Tensor rows = input_rows(call, use);
    if (use.kind == MatrixUse::Operator::embedding) {
      positions += rows.size(1);
      if (plan_.rule != KroneckerRule::reduce) {
        const at::Tensor counts = at::bincount(rows.reshape(-1), {}, use.rows).to(at::kDouble);
        if (use.padding_index >= 0) counts[use.padding_index] = 0;
        counts_ = counts_.defined() ? counts_ + counts : counts;
        continue;
      }
      rows = index_counts(rows, use, batch.root().root.options());
    } else {
      positions += rows.size(2);
    }
    if (plan_.rule == KroneckerRule::reduce) {
      const at::Tensor sum = rows.sum(2, /*keepdim=*/true);
      summed = summed.defined() ? summed + sum : sum;
    } else {
      add_grouped(inputs_, all_positions(rows));
    }
  }
  if (summed.defined()) add_grouped(inputs_, all_positions(summed / static_cast<double>(positions)));
  positions_ = positions;
}

at::Tensor KroneckerAccumulator::gradient_rows_of(const BatchGradients& batch, int64_t derivative) const {
  std::vector<at::Tensor> positions;
  at::Tensor summed;
  for (const UseInBatch& in_batch : batch.uses(plan_.weight)) {
    const at::Tensor& gradient = batch.output_gradient(in_batch.call, derivative);
    if (!gradient.defined()) continue;
    const at::Tensor rows = gradient_rows(batch.call(in_batch.call), matrix_of(in_batch), gradient);
    if (plan_.rule == KroneckerRule::expand) {
      positions.push_back(all_positions(rows));
    } else {
      const at::Tensor sum = rows.sum(2, /*keepdim=*/true);
      summed = summed.defined() ? summed + sum : sum;
    }
  }
  if (summed.defined()) return all_positions(summed);
  if (positions.empty()) return {};
  return positions.size() == 1 ? positions[0] : at::cat(positions, 1);
}

std::vector<BatchGradients::Part> KroneckerAccumulator::parts() const { return {{plan_.weight}}; }

void KroneckerAccumulator::add_column(const BatchGradients& batch, size_t) {
  if (const auto stacked = batch.stacked_rows(plan_.weight)) {
    if (stacked->defined()) add_grouped(gradients_, stacked->unsqueeze(0));
    return;
  }
  const at::Tensor rows = gradient_rows_of(batch, -1);
  if (!rows.defined()) return;
  add_grouped(gradients_, rows);
  derivatives_.resize(plan_.derivatives);
  for (int64_t d = 0; d < plan_.derivatives; ++d) {
    const at::Tensor moved = gradient_rows_of(batch, d);
    if (!moved.defined()) continue;
    const at::Tensor product = at::bmm(rows.transpose(1, 2), moved).to(at::kDouble);
    const at::Tensor cross = product + product.transpose(1, 2);
    derivatives_[d] = derivatives_[d].defined() ? derivatives_[d] + cross : cross;
  }
}

at::Tensor KroneckerAccumulator::input_factor() {
  if (counts_.defined()) return counts_.unsqueeze(0);
  if (!windows_) return stack_groups(inputs_);
  const at::Tensor windows = windows_->finish().unsqueeze(0);
  return inputs_.empty() ? windows : windows + stack_groups(inputs_);
}

std::vector<CurvatureBlock> KroneckerAccumulator::finish(int64_t examples) {
  const double position_scale = plan_.rule == KroneckerRule::expand ? 1.0 / static_cast<double>(positions_) : 1.0;
  KroneckerBlock block;
  block.parameter = plan_.weight;
  block.gradient_left = gradient_left_;
  const at::Tensor inputs = input_factor().div_(static_cast<double>(examples));
  const at::Tensor gradients = stack_groups(gradients_).mul_(position_scale);
  block.left = gradient_left_ ? gradients : inputs;
  block.right = gradient_left_ ? inputs : gradients;
  for (const at::Tensor& derivative : derivatives_) {
    block.derivatives.push_back(derivative.defined() ? derivative * position_scale : at::zeros_like(gradients));
  }
  std::vector<CurvatureBlock> blocks = {block};
  if (plan_.shared_bias) {
    DenseBlock bias;
    bias.parameters = {*plan_.shared_bias};
    bias.matrix = gradients[0];
    bias.factor = plan_.rule == KroneckerRule::expand ? static_cast<double>(positions_) : 1.0;
    for (const at::Tensor& derivative : block.derivatives) bias.matrix_derivatives.push_back(derivative[0]);
    blocks.push_back(bias);
  }
  return blocks;
}

BiasAccumulator::BiasAccumulator(Plan plan) : plan_(std::move(plan)), gram_(plan_.size) {}

at::Tensor BiasAccumulator::rows_of(const BatchGradients& batch, int64_t derivative) const {
  if (plan_.rule != KroneckerRule::expand) return batch.per_example(plan_.bias, derivative);
  std::vector<at::Tensor> rows;
  for (const UseInBatch& use : batch.uses(plan_.bias)) {
    const at::Tensor& gradient = batch.output_gradient(use.call, derivative);
    if (gradient.defined()) rows.push_back(bias_rows(batch.call(use.call), gradient).reshape({-1, plan_.size}));
  }
  if (rows.empty()) return at::zeros({batch.examples(), plan_.size}, batch.root().root.options());
  return rows.size() == 1 ? rows[0] : at::cat(rows, 0);
}

std::vector<BatchGradients::Part> BiasAccumulator::parts() const { return {{plan_.bias}}; }

void BiasAccumulator::add_column(const BatchGradients& batch, size_t) {
  const at::Tensor rows = rows_of(batch, -1);
  gram_.add(rows);
  derivatives_.resize(plan_.derivatives);
  for (int64_t d = 0; d < plan_.derivatives; ++d) {
    const at::Tensor cross = symmetric_cross(rows, rows_of(batch, d)).to(at::kDouble);
    derivatives_[d] = derivatives_[d].defined() ? derivatives_[d] + cross : cross;
  }
}

CurvatureBlock BiasAccumulator::finish(int64_t) {
  DenseBlock block;
  block.parameters = {plan_.bias};
  block.matrix = gram_.finish();
  block.matrix_derivatives = derivatives_;
  return block;
}

}  // namespace ockham
