#include "ockham/curvature/batch_gradients.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "ockham/curvature/example_gradients.h"

namespace ockham {
namespace {

constexpr int64_t kStackedNumbers = int64_t{1} << 22;  // of gradients that are held at once: 16 MB in float32

// rows[n] = left[n] ⊗ right[n]. By hand: broadcasting starts anew for every few numbers of a narrow layer, and takes
// four times as long.
void write_products(const at::Tensor& left, const at::Tensor& right, at::Tensor& rows) {
  const int64_t height = left.size(1), width = right.size(1);
  const float *a = left.data_ptr<float>(), *b = right.data_ptr<float>();
  for (int64_t n = 0; n < rows.size(0); ++n, a += height, b += width) {
    float* to = rows.data_ptr<float>() + n * rows.stride(0);
    for (int64_t i = 0; i < height; ++i, to += width)
      for (int64_t j = 0; j < width; ++j) to[j] = a[i] * b[j];
  }
}

}  // namespace

BatchGradients::BatchGradients(const Network& network, const Observation& observation, const OutputRoot& root,
                               const std::vector<size_t>& by_autograd)
    : network_(network),
      observation_(observation),
      root_(root),
      uses_(network.layout().count()),
      gradients_(1 + root.derivatives.size()),
      autograd_rows_(network.layout().count()) {
  for (size_t c = 0; c < observation.calls().size(); ++c) {
    for (const ParameterUse& use : observation.calls()[c].uses) uses_[use.parameter].push_back({c, &use});
  }
  if (by_autograd.empty()) return;
  for (int64_t d = -1; d < derivatives(); ++d) {
    const at::Tensor& columns = d < 0 ? root.root : root.derivatives[d];
    const auto rows = example_gradients(network, observation.inputs(), columns, by_autograd);
    for (size_t i = 0; i < by_autograd.size(); ++i) autograd_rows_[by_autograd[i]].push_back(rows[i]);
  }
}

bool BatchGradients::has_product_rows(size_t parameter) const {
  if (uses_[parameter].size() != 1) return false;
  const auto* matrix = std::get_if<MatrixUse>(&uses_[parameter][0].use->how);
  const LayerCall& layer = call(uses_[parameter][0].call);
  return matrix != nullptr && matrix->kind == MatrixUse::Operator::linear && layer.input.dim() == 2 &&
         layer.input.size(0) == layer.examples;
}

void BatchGradients::pass_at_once(const std::vector<Part>& parts, const std::function<void(size_t)>& add) {
  for (int64_t d = -1; d < derivatives(); ++d) {
    const at::Tensor& columns = d < 0 ? root_.root : root_.derivatives[d];
    gradients_[d + 1] = observation_.backward(columns.select(2, column_).contiguous());
  }
  for (size_t part = 0; part < parts.size(); ++part) add(part);
}

int64_t BatchGradients::columns_together() const {
  int64_t numbers = 0;  // of one column at all layers
  for (const LayerCall& call : observation_.calls())
    numbers += std::accumulate(call.output_shape.begin(), call.output_shape.end(), int64_t{1}, std::multiplies<>());
  const int64_t most = std::max<int64_t>(1, kStackedNumbers / std::max<int64_t>(1, numbers));
  const int64_t times = (columns() + most - 1) / most;
  return (columns() + times - 1) / times;
}

bool BatchGradients::take_from_stack() {
  if (column_ >= stack_end_) {
    const int64_t count = std::min(columns_together(), columns() - column_);
    stack_.assign(observation_.calls().size(), at::Tensor());
    const at::Tensor some = root_.root.narrow(2, column_, count).permute({2, 0, 1}).contiguous();
    if (!observation_.backward_together(some,
                                        [&](size_t call, const at::Tensor& gradients) { stack_[call] = gradients; }))
      return false;
    stack_first_ = column_;
    stack_end_ = column_ + count;
  }
  gradients_[0].resize(stack_.size());
  for (size_t call = 0; call < stack_.size(); ++call)
    gradients_[0][call] = stack_[call].defined() ? stack_[call][column_ - stack_first_] : at::Tensor();
  return true;
}

void BatchGradients::next_column(const std::vector<Part>& parts, const std::function<void(size_t)>& add) {
  ++column_;
  if (derivatives() > 0) return pass_at_once(parts, add);
  if (columns() > 1 && take_from_stack()) {
    for (size_t part = 0; part < parts.size(); ++part) add(part);
    return;
  }
  const size_t calls = observation_.calls().size();
  std::vector<std::set<size_t>> calls_of(parts.size()), parts_at(calls);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t parameter : parts[part]) {
      if (!autograd_rows_[parameter].empty()) continue;
      for (const UseInBatch& use : uses_[parameter]) {
        calls_of[part].insert(use.call);
        parts_at[use.call].insert(part);
      }
    }
  }
  std::vector<std::set<size_t>> awaited = calls_of;
  std::vector<bool> added(parts.size());
  gradients_[0].assign(calls, at::Tensor());
  observation_.backward(root_.root.select(2, column_).contiguous(), [&](size_t call, const at::Tensor& gradient) {
    if (!parts_at[call].empty()) gradients_[0][call] = gradient;
    const std::set<size_t> waiting = parts_at[call];
    for (size_t part : waiting) {
      awaited[part].erase(call);
      if (!awaited[part].empty()) continue;
      add(part);
      added[part] = true;
      for (size_t seen : calls_of[part]) {
        parts_at[seen].erase(part);
        if (parts_at[seen].empty()) gradients_[0][seen].reset();
      }
    }
  });
  for (size_t part = 0; part < parts.size(); ++part)
    if (!added[part]) add(part);  // some of its gradients do not exist
  gradients_[0].assign(calls, at::Tensor());
}

std::optional<at::Tensor> BatchGradients::stacked_rows(size_t parameter) const {
  if (column_ < stack_first_ || column_ >= stack_end_ || !has_product_rows(parameter)) return std::nullopt;
  const at::Tensor& gradients = stack_[uses_[parameter][0].call];
  return column_ == stack_first_ && gradients.defined() ? gradients.flatten(0, 1) : at::Tensor();
}

const at::Tensor& BatchGradients::output_gradient(size_t call, int64_t derivative) const {
  return gradients_[derivative + 1][call];
}

at::Tensor BatchGradients::per_example(size_t parameter, int64_t derivative) const {
  return per_example(parameter, derivative, 0, examples());
}

void BatchGradients::write_per_example(size_t parameter, int64_t derivative, at::Tensor& rows) const {
  if (!autograd_rows_[parameter].empty() || !has_product_rows(parameter)) {
    rows.copy_(per_example(parameter, derivative));
    return;
  }
  const UseInBatch& use = uses_[parameter][0];
  const at::Tensor& gradient = output_gradient(use.call, derivative);
  if (!gradient.defined()) {
    rows.zero_();
    return;
  }
  const bool gradient_left = std::get<MatrixUse>(use.use->how).gradient_left;
  const at::Tensor& left = gradient_left ? gradient : call(use.call).input;
  const at::Tensor& right = gradient_left ? call(use.call).input : gradient;
  if (rows.scalar_type() == at::kFloat && rows.stride(1) == 1)
    return write_products(left.contiguous(), right.contiguous(), rows);
  at::Tensor products = rows.view({left.size(0), left.size(1), right.size(1)});
  at::mul_out(products, left.unsqueeze(2), right.unsqueeze(1));
}

at::Tensor BatchGradients::per_example(size_t parameter, int64_t derivative, int64_t first, int64_t count) const {
  if (!autograd_rows_[parameter].empty()) {
    return autograd_rows_[parameter][derivative + 1].select(1, column_).narrow(0, first, count);
  }
  at::Tensor sum;
  for (const UseInBatch& use : uses_[parameter]) {
    const at::Tensor& gradient = output_gradient(use.call, derivative);
    if (!gradient.defined()) continue;
    const bool whole = count == examples();
    const at::Tensor rows = whole ? per_example_gradient(call(use.call), *use.use, gradient)
                                  : per_example_gradient(call(use.call), *use.use, gradient, first, count);
    sum = sum.defined() ? sum + rows : rows;
  }
  if (sum.defined()) return sum;
  return at::zeros({count, network_.layout()[parameter].size}, root_.root.options());
}

}  // namespace ockham
