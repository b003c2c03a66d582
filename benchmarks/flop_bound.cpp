#include "benchmarks/flop_bound.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "ockham/observe/observe_forward.h"

namespace ockham::bench {
namespace {

constexpr int64_t kObserved = 3;  // examples: more than one, so that shapes tell which dimension counts them

double symmetric_product(int64_t rows, int64_t size) {
  return static_cast<double>(rows) * static_cast<double>(size) * static_cast<double>(size + 1);
}

double input_factor_along_width(const WindowRows& windows) {
  const int64_t heights = windows.out_height + windows.kernel_height - 1;
  double sum = symmetric_product(heights * windows.out_width, windows.row_inputs);
  for (int64_t shift = 1; shift < windows.kernel_height; ++shift)
    sum += 2.0 * static_cast<double>((heights - shift) * windows.out_width) *
           static_cast<double>(windows.row_inputs * windows.row_inputs);
  return sum;
}

LayerSizes sizes_of(const LayerCall& call, const MatrixUse& use) {
  LayerSizes layer;
  layer.groups = use.groups;
  const at::Tensor gradients = gradient_rows(call, use, at::zeros(call.output_shape));  // [G, N, S, D]
  layer.positions = gradients.size(2);
  layer.outputs = gradients.size(3);
  layer.looks_up = use.kind == MatrixUse::Operator::embedding;
  layer.inputs = layer.looks_up ? use.rows : input_rows(call, use).size(3);
  if (const auto shape = window_shape(call, use); shape && shape->stride_height == 1) {
    const at::Tensor& images = call.input;
    layer.windows = WindowRows{shape->out_height(images), shape->out_width(images), shape->kernel_height,
                               shape->kernel_width * images.size(1)};
  }
  return layer;
}

double forward_products(const LayerSizes& layer) { return layer.looks_up ? 0 : layer.product(); }

double backward_products(const LayerSizes& layer) { return layer.gradients_below ? forward_products(layer) : 0; }

/// Each example's gradient for one column.
double example_gradient(const LayerSizes& layer) {
  if (layer.looks_up) return 0;
  return layer.positions == 1 ? layer.product() / 2 : layer.product();
}

double count_diagonal(const LayerSizes& layer, int64_t columns) {
  if (layer.looks_up) return 0;
  return layer.positions == 1 ? layer.product() : static_cast<double>(columns) * layer.product();
}

double count_kronecker(const LayerSizes& layer, int64_t columns, KroneckerRule rule) {
  return layer.input_factor(rule) + static_cast<double>(columns) * layer.output_factor(rule);
}

/// Of N examples, for blocks of these sizes.
double count_dense(const PassSizes& sizes, const std::vector<int64_t>& blocks, CurvatureOptions::DenseForm form) {
  using Form = CurvatureOptions::DenseForm;
  const int64_t rows = sizes.examples * sizes.columns;
  double sum = 0;
  for (const int64_t size : blocks) {
    const bool in_rows = form == Form::automatic ? rows < size : form == Form::rows;
    if (!in_rows) sum += symmetric_product(rows, size);
  }
  return sum;
}

}  // namespace

double LayerSizes::product() const {
  return 2.0 * static_cast<double>(groups * positions) * static_cast<double>(inputs) * static_cast<double>(outputs);
}

double LayerSizes::input_factor(KroneckerRule rule) const {
  if (looks_up) return 0;  // it is diagonal: counts
  const double groups_factor = static_cast<double>(groups);
  if (rule == KroneckerRule::reduce) return groups_factor * symmetric_product(1, inputs);
  const double unfolded = groups_factor * symmetric_product(positions, inputs);
  return windows ? std::min(unfolded, input_factor_along_width(*windows)) : unfolded;
}

double LayerSizes::output_factor(KroneckerRule rule) const {
  return static_cast<double>(groups) * symmetric_product(rule == KroneckerRule::expand ? positions : 1, outputs);
}

std::vector<LayerSizes> observe_layers(const Network& network, at::IntArrayRef input_shape) {
  std::vector<int64_t> shape = {kObserved};
  shape.insert(shape.end(), input_shape.begin(), input_shape.end());
  const Observation observation = observe_forward(network, at::zeros(shape, at::TensorOptions(network.dtype())));
  std::vector<LayerSizes> layers;
  for (const LayerCall& call : observation.calls()) {
    for (const ParameterUse& use : call.uses) {
      const auto* matrix = std::get_if<MatrixUse>(&use.how);
      if (matrix == nullptr) continue;
      layers.push_back(sizes_of(call, *matrix));
      layers.back().gradients_below = &call != &observation.calls().front();
    }
  }
  return layers;
}

double count_training(const std::vector<LayerSizes>& layers, int64_t examples) {
  double sum = 0;
  for (const LayerSizes& layer : layers) sum += 2 * forward_products(layer) + backward_products(layer);
  return sum * static_cast<double>(examples);
}

double count_curvature(const std::vector<LayerSizes>& layers, const PassSizes& sizes, const CurvatureOptions& options) {
  const auto columns = static_cast<double>(sizes.columns), examples = static_cast<double>(sizes.examples);
  double sum = 0;
  for (const LayerSizes& layer : layers) {
    sum += forward_products(layer) + columns * backward_products(layer);
    switch (options.structure) {
      case Structure::kronecker:
        sum += count_kronecker(layer, sizes.columns, options.kronecker_rule);
        break;
      case Structure::diagonal:
        sum += count_diagonal(layer, sizes.columns);
        break;
      case Structure::full:
      case Structure::block:
        sum += columns * example_gradient(layer);
        break;
    }
  }
  sum *= examples;
  const int64_t total = std::accumulate(sizes.parameter_sizes.begin(), sizes.parameter_sizes.end(), int64_t{0});
  if (options.structure == Structure::full) sum += count_dense(sizes, {total}, options.dense_form);
  if (options.structure == Structure::block) sum += count_dense(sizes, sizes.parameter_sizes, options.dense_form);
  return sum;
}

FlopBound bound_flop(const Network& network, const Likelihood& likelihood, const Dataset& data,
                     const CurvatureOptions& options) {
  const auto layers = observe_layers(network, data.inputs().sizes().slice(1));
  PassSizes sizes;
  sizes.examples = data.size();
  RootOptions root;
  root.kind = options.kind;
  root.mc_samples = options.mc_samples;
  const int64_t outputs = network.forward(data.inputs().narrow(0, 0, 1)).size(1);
  sizes.columns = root_columns(likelihood, outputs, root);
  for (size_t i = 0; i < network.layout().count(); ++i) sizes.parameter_sizes.push_back(network.layout()[i].size);
  return {count_training(layers, sizes.examples), count_curvature(layers, sizes, options)};
}

}  // namespace ockham::bench
