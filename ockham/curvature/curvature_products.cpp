#include "ockham/curvature/curvature_products.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/base/error.h"
#include "ockham/observe/observe_forward.h"

namespace ockham {
namespace {

// Every batch writes a gradient of P numbers for each vector: with few examples that takes longer than making it.
constexpr int64_t kMostAtOnce = 1024;
constexpr int64_t kBytesAtOnce = int64_t{128} << 20;  // of the layers' outputs and the root of Λ

int64_t examples_at_once(const Observation& seen, int64_t columns) {
  const int64_t examples = seen.outputs().size(0), outputs = seen.outputs().size(1);
  int64_t numbers = outputs * (2 + columns);
  for (const LayerCall& call : seen.calls()) {
    int64_t size = 1;
    for (const int64_t side : call.output_shape) size *= side;
    numbers += size / examples;
  }
  const int64_t bytes = numbers * static_cast<int64_t>(seen.outputs().element_size());
  return std::clamp<int64_t>(kBytesAtOnce / bytes, 1, kMostAtOnce);
}

}  // namespace

CurvatureProducts::CurvatureProducts(const Network& network, const Likelihood& likelihood, const Dataset& data,
                                     const Hyperparameters& hyperparameters, Options options)
    : network_(network),
      likelihood_(likelihood),
      data_(data),
      hyperparameters_(hyperparameters),
      options_(std::move(options)),
      passed_(part_of(data.size(), options_.part)) {
  if (options_.kind == CurvatureKind::mc_fisher) {
    throw Error(ErrorKind::usage,
                "Products with the Monte-Carlo Fisher would sample anew in every pass; use the Gauss-Newton or the "
                "empirical Fisher (--curvature ggn or ef).");
  }
  const int64_t few = std::min<int64_t>(2, data.size());
  const at::Tensor inputs = data.inputs().narrow(0, 0, few);
  const Observation seen = observe_forward(network, inputs.is_floating_point() ? inputs.to(network.dtype()) : inputs);
  const int64_t outputs = seen.outputs().size(1);
  targets_ = prepare_targets(likelihood, data.targets(), outputs, network.dtype());
  RootOptions root;
  root.kind = options_.kind;
  batch_size_ =
      options_.batch_size > 0 ? options_.batch_size : examples_at_once(seen, root_columns(likelihood, outputs, root));
  mode_ = options_.tangents ? *options_.tangents : choose_tangent_mode(network, inputs);
}

int64_t CurvatureProducts::batches() const { return (passed_.length + batch_size_ - 1) / batch_size_; }

void CurvatureProducts::for_each_batch(bool derivatives,
                                       const std::function<void(const BatchJacobian&, const OutputRoot&)>& work) const {
  RootOptions root;
  root.kind = options_.kind;
  root.derivatives = derivatives;
  for (int64_t first = passed_.first, number = 1; first < passed_.end(); first += batch_size_, ++number) {
    const Batch batch = data_.slice(first, std::min(batch_size_, passed_.end() - first));
    const BatchJacobian jacobian(network_, batch.inputs, mode_);
    work(jacobian, output_root(likelihood_, jacobian.outputs(), targets_.narrow(0, first, batch.inputs.size(0)),
                               hyperparameters_, root, {}));
    if (options_.progress) options_.progress(number);
  }
}

at::Tensor CurvatureProducts::push_forward(const BatchJacobian& batch, const at::Tensor& rows) {
  std::vector<at::Tensor> tangents;
  for (int64_t s = 0; s < rows.size(0); ++s) tangents.push_back(batch.times(rows[s]));
  return at::stack(tangents);
}

at::Tensor CurvatureProducts::multiply(const at::Tensor& rows) const {
  const at::Tensor vectors = rows.to(network_.dtype());
  at::Tensor sums = at::zeros(rows.sizes(), at::kDouble);
  for_each_batch(false, [&](const BatchJacobian& batch, const OutputRoot& root) {
    const at::Tensor tangents = push_forward(batch, vectors).permute({1, 2, 0});  // [N, C, S]
    const at::Tensor columns = root.root.bmm(root.root.transpose(1, 2).bmm(tangents));
    for (int64_t s = 0; s < rows.size(0); ++s) {
      at::Tensor sum = sums[s];
      batch.add_transposed(columns.select(2, s).contiguous(), sum);
    }
  });
  if (options_.total) options_.total(sums);
  return sums;
}

at::Tensor CurvatureProducts::root_forms(const at::Tensor& left, const at::Tensor& right) const {
  const at::Tensor lefts = left.to(network_.dtype()), rights = right.to(network_.dtype());
  at::Tensor sums;
  for_each_batch(true, [&](const BatchJacobian& batch, const OutputRoot& root) {
    const at::Tensor from = push_forward(batch, lefts).permute({1, 0, 2}),
                     to = push_forward(batch, rights).permute({1, 0, 2});
    if (!sums.defined()) sums = at::zeros({left.size(0), static_cast<int64_t>(root.derivatives.size())}, at::kDouble);
    for (size_t m = 0; m < root.derivatives.size(); ++m) {
      // Λ̇ = R Ṙᵀ + Ṙ Rᵀ
      const auto form = [&](const at::Tensor& first, const at::Tensor& second) {
        return (from.bmm(first) * to.bmm(second)).sum(at::IntArrayRef({0, 2}), false, at::kDouble);
      };
      sums.select(1, static_cast<int64_t>(m))
          .add_(form(root.root, root.derivatives[m]))
          .add_(form(root.derivatives[m], root.root));
    }
  });
  if (options_.total) options_.total(sums);
  return sums;
}

}  // namespace ockham
