#include "ockham/curvature/estimate_plain_mlp.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/linalg/gram.h"
#include "ockham/linalg/product_gram.h"

namespace ockham {
namespace {

constexpr int64_t kFewWeights = 4096;     // for a dense matrix: larger ones are for the general way, which plans memory
constexpr int64_t kFewEntries = 1 << 23;  // of rows Φ that are written down
constexpr double kFewGradients = 0.65;    // of g: if no more of them differ from zero, most products do not

bool has_all_that_is_asked(const PlainMlp& mlp, const CurvatureOptions& options) {
  if (options.structure == Structure::full && mlp.network().layout().total() > kFewWeights) return false;
  return !options.verify && !options.root_derivatives && !options.likelihood_gradient &&
         options.structure != Structure::block && options.observe.without_recognisers.empty() &&
         options.observe.leave_unexplained.empty();
}

/// Goes through the K columns of the root: a layer's g is the column's after each step.
class Columns {
 public:
  Columns(PlainMlp& mlp, const at::Tensor& root) : mlp_(mlp), root_(root) {}
  int64_t count() const { return root_.size(2); }
  bool next() {
    if (++at_ == count()) return false;
    mlp_.backward(root_.select(2, at_).contiguous());
    return true;
  }
  int64_t at() const { return at_; }

 private:
  PlainMlp& mlp_;
  const at::Tensor& root_;
  int64_t at_ = -1;
};

std::vector<size_t> all_parameters(const PlainMlp& mlp) {
  std::vector<size_t> all(mlp.network().layout().count());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

/// Weights (Σ_k g²)ᵀ a², biases Σ_n Σ_k g².
CurvatureBlock sum_squares(const PlainMlp& mlp, Columns columns) {
  std::vector<at::Tensor> squares(mlp.layers().size());
  while (columns.next()) {
    for (size_t l = 0; l < squares.size(); ++l) {
      if (squares[l].defined())
        squares[l].addcmul_(mlp.gradient(l), mlp.gradient(l));
      else
        squares[l] = mlp.gradient(l).square();
    }
  }
  const ParameterLayout& layout = mlp.network().layout();
  const at::Tensor diagonal = at::empty({layout.total()}, squares[0].options());
  for (size_t l = 0; l < squares.size(); ++l) {
    const ParameterSlot &weight = layout[mlp.layers()[l].weight], &bias = layout[mlp.layers()[l].bias];
    at::Tensor weights = diagonal.narrow(0, weight.offset, weight.size).view(weight.shape);
    at::mm_out(weights, squares[l].t(), mlp.input(l).square());
    at::Tensor biases = diagonal.narrow(0, bias.offset, bias.size);
    at::sum_out(biases, squares[l], 0);
  }
  DiagonalBlock block;
  block.parameters = all_parameters(mlp);
  block.diagonal = diagonal.to(at::kDouble);
  return block;
}

/// Σ_k gᵀg and aᵀa / N for a weight; its bias has the first of the two.
std::vector<CurvatureBlock> multiply_factors(const PlainMlp& mlp, Columns columns, int64_t examples) {
  std::vector<GramAccumulator> gradients;
  for (size_t l = 0; l < mlp.layers().size(); ++l) gradients.emplace_back(mlp.outputs(l));
  while (columns.next()) {
    const bool last = columns.at() + 1 == columns.count();
    // An accumulator may keep rows until it has enough; the next column overwrites them.
    for (size_t l = 0; l < gradients.size(); ++l) gradients[l].add(last ? mlp.gradient(l) : mlp.gradient(l).clone());
  }
  std::vector<size_t> order(mlp.layers().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return mlp.layers()[a].weight < mlp.layers()[b].weight; });
  std::vector<CurvatureBlock> blocks;
  for (const size_t l : order) {
    GramAccumulator inputs(mlp.input(l).size(1));
    inputs.add(mlp.input(l));
    KroneckerBlock weight;
    weight.parameter = mlp.layers()[l].weight;
    weight.left = gradients[l].finish().unsqueeze(0);
    weight.right = inputs.finish().unsqueeze(0).div_(static_cast<double>(examples));
    DenseBlock bias;
    bias.parameters = {mlp.layers()[l].bias};
    bias.matrix = weight.left[0];
    blocks.push_back(std::move(weight));
    blocks.push_back(std::move(bias));
  }
  return blocks;
}

// The K columns of an example follow each other.
void keep_column(const at::Tensor& kept, const at::Tensor& rows, const Columns& columns) {
  kept.view({rows.size(0), columns.count(), rows.size(1)}).select(1, columns.at()).copy_(rows);
}

/// rows[n] = g_n ⊗ a_n and g_n, each where its parameter lies; a row follows the last after `stride` numbers.
template <class Scalar, class Kept>
void write_rows(const PlainMlp& mlp, Kept* rows, int64_t stride) {
  const ParameterLayout& layout = mlp.network().layout();
  for (size_t l = 0; l < mlp.layers().size(); ++l) {
    const ParameterSlot &weight = layout[mlp.layers()[l].weight], &bias = layout[mlp.layers()[l].bias];
    const at::Tensor inputs = mlp.input(l).contiguous(), gradients = mlp.gradient(l).contiguous();
    const int64_t d = inputs.size(1), o = gradients.size(1);
    const Scalar *a = inputs.data_ptr<Scalar>(), *g = gradients.data_ptr<Scalar>();
    for (int64_t n = 0; n < inputs.size(0); ++n, a += d, g += o) {
      Kept* to = rows + n * stride;
      std::copy_n(g, o, to + bias.offset);
      to += weight.offset;
      for (int64_t i = 0; i < o; ++i, to += d)
        for (int64_t j = 0; j < d; ++j) to[j] = static_cast<Kept>(g[i] * a[j]);
    }
  }
}

/// All parameters together: Φ itself, where it has fewer rows than weights.
DenseBlock keep_rows(const PlainMlp& mlp, Columns columns) {
  const int64_t examples = mlp.input(0).size(0), weights = mlp.network().layout().total();
  const int64_t count = examples * columns.count();
  DenseBlock block;
  block.rows = at::empty({count, weights}, at::kDouble);
  for (size_t l = 0; l < mlp.layers().size(); ++l) {
    const at::Tensor left = at::empty({count, mlp.outputs(l)}, at::kDouble);
    // A copy: the next pass writes over its inputs, and a fit may outlive it.
    const at::Tensor inputs = mlp.input(l).to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
    block.row_factors.push_back({mlp.layers()[l].weight, left, inputs});
    block.row_factors.push_back({mlp.layers()[l].bias, left, at::ones({examples, 1}, at::kDouble)});
  }
  while (columns.next()) {
    AT_DISPATCH_FLOATING_TYPES(mlp.network().dtype(), "keep_rows", [&] {
      double* first = block.rows.data_ptr<double>() + columns.at() * weights;
      write_rows<scalar_t>(mlp, first, columns.count() * weights);
    });
    for (size_t l = 0; l < mlp.layers().size(); ++l)
      keep_column(block.row_factors[2 * l].left, mlp.gradient(l), columns);  // its bias has the same
  }
  return block;
}

/// Φᵀ Φ of the column that was sent back last, from its rows.
at::Tensor multiply_rows(const PlainMlp& mlp) {
  const int64_t weights = mlp.network().layout().total();
  const at::Tensor rows = at::empty({mlp.input(0).size(0), weights}, mlp.input(0).options());
  AT_DISPATCH_FLOATING_TYPES(mlp.network().dtype(), "multiply_rows",
                             [&] { write_rows<scalar_t>(mlp, rows.data_ptr<scalar_t>(), weights); });
  GramAccumulator gram(weights);
  gram.add(rows.to(type_for_gram(weights, rows.scalar_type())));
  return gram.finish();
}

/// Φᵀ Φ from the factors of the rows, which are not written down; lefts [N, K, o] for each layer.
at::Tensor multiply_row_factors(const PlainMlp& mlp, const std::vector<at::Tensor>& lefts) {
  const ParameterLayout& layout = mlp.network().layout();
  std::vector<ProductColumns> parts;
  for (size_t l = 0; l < lefts.size(); ++l) {
    const PlainMlp::Layer& layer = mlp.layers()[l];
    const at::ScalarType type = type_for_gram(layout.total(), lefts[l].scalar_type());
    parts.push_back({lefts[l].to(type), mlp.input(l).to(type).contiguous(), layout[layer.weight].offset,
                     layout[layer.bias].offset});
  }
  return gram_of_products(parts, layout.total());
}

/// Whether an activation (ReLU) has taken many gradients away.
bool has_few_gradients(const PlainMlp& mlp) {
  int64_t there = 0, all = 0;
  for (size_t l = 0; l + 1 < mlp.layers().size(); ++l) {
    there += at::count_nonzero(mlp.gradient(l)).item<int64_t>();
    all += mlp.gradient(l).numel();
  }
  return static_cast<double>(there) < kFewGradients * static_cast<double>(all);
}

/// All parameters together: Φᵀ Φ.
DenseBlock multiply(const PlainMlp& mlp, Columns columns) {
  const size_t layers = mlp.layers().size();
  std::vector<at::Tensor> lefts;
  DenseBlock block;
  if (columns.count() == 1) {
    columns.next();
    for (size_t l = 0; l < layers; ++l) lefts.push_back(mlp.gradient(l).unsqueeze(1));
    const bool few_entries = lefts[0].size(0) * mlp.network().layout().total() <= kFewEntries;
    block.matrix = few_entries && !has_few_gradients(mlp) ? multiply_rows(mlp) : multiply_row_factors(mlp, lefts);
    return block;
  }
  for (size_t l = 0; l < layers; ++l)
    lefts.push_back(at::empty({mlp.input(l).size(0), columns.count(), mlp.outputs(l)}, mlp.input(l).options()));
  while (columns.next())
    for (size_t l = 0; l < layers; ++l) keep_column(lefts[l], mlp.gradient(l), columns);
  block.matrix = multiply_row_factors(mlp, lefts);
  return block;
}

CurvatureBlock collect_rows(const PlainMlp& mlp, const Columns& columns, int64_t all_examples,
                            CurvatureOptions::DenseForm form) {
  const bool by_rows = form == CurvatureOptions::DenseForm::automatic
                           ? all_examples * columns.count() < mlp.network().layout().total()
                           : form == CurvatureOptions::DenseForm::rows;
  DenseBlock block = by_rows ? keep_rows(mlp, columns) : multiply(mlp, columns);
  block.parameters = all_parameters(mlp);
  return block;
}

}  // namespace

std::optional<CurvatureEstimate> estimate_plain_mlp(PlainMlp& mlp, const Likelihood& likelihood, const Dataset& data,
                                                    const Hyperparameters& hyperparameters,
                                                    const CurvatureOptions& options) {
  if (!has_all_that_is_asked(mlp, options)) return std::nullopt;
  if (data.inputs().scalar_type() != mlp.network().dtype()) return std::nullopt;
  const at::NoGradGuard no_gradients;
  const Range passed = part_of(data.size(), options.part);
  if (passed.length == 0) return std::nullopt;  // refused there
  const Batch batch = data.slice(passed.first, passed.length);
  const at::Tensor& outputs = mlp.forward(batch.inputs);
  if (!std::isfinite(outputs.sum().item<double>())) return std::nullopt;  // the general way says which one is not

  CurvatureEstimate estimate{{}, DataFit(likelihood, hyperparameters, false), {}, {}, {}, outputs.size(1)};
  estimate.data_fit.add(outputs, batch.targets);
  RootOptions root_options;
  root_options.kind = options.kind;
  root_options.mc_samples = options.mc_samples;
  const at::Generator generator = random_stream({options.seed, 0x6d63666973686572});
  const OutputRoot root = output_root(likelihood, outputs, batch.targets, hyperparameters, root_options, generator);
  const Columns columns(mlp, root.root);
  if (options.structure == Structure::diagonal)
    estimate.curvature.blocks.push_back(sum_squares(mlp, columns));
  else if (options.structure == Structure::kronecker)
    estimate.curvature.blocks = multiply_factors(mlp, columns, data.size());
  else
    estimate.curvature.blocks.push_back(collect_rows(mlp, columns, data.size(), options.dense_form));
  if (options.progress) options.progress(data.size());
  return estimate;
}

}  // namespace ockham
