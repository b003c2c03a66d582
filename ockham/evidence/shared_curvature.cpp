#include "ockham/evidence/shared_curvature.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ockham/distributed/agreement.h"
#include "ockham/evidence/flat_exchange.h"

namespace ockham {
namespace {

/// What all ranks have of a block, each for its part of the data.
struct BlockParts {
  FlatSum& sum;
  FlatGather& gather;

  void operator()(DenseBlock& block) const {
    sum.add_symmetric(block.matrix);
    for (at::Tensor& derivative : block.matrix_derivatives) sum.add_symmetric(derivative);
    gather.add(block.rows);
    for (RowFactors& factors : block.row_factors) {
      gather.add(factors.left);
      gather.add(factors.right);
    }
    for (at::Tensor& derivative : block.row_derivatives) gather.add(derivative);
    gather.add(block.jacobian);
  }
  void operator()(KroneckerBlock& block) const {
    add_factor(block.left);
    add_factor(block.right);
    for (at::Tensor& derivative : block.derivatives) add_factor(derivative);
  }
  void operator()(DiagonalBlock& block) const {
    sum.add(block.diagonal);
    for (at::Tensor& derivative : block.derivatives) sum.add(derivative);
  }
  void add_factor(at::Tensor& factor) const { factor.dim() == 3 ? sum.add_symmetric(factor) : sum.add(factor); }
};

constexpr double kWorthSharing = 1e8;  // n³ in all: about 20 ms, many times a round trip

}  // namespace

void sum_parts(CurvatureEstimate& estimate, const Likelihood& likelihood, const Hyperparameters& hyperparameters,
               Communicator& communicator) {
  FlatSum sum;
  FlatGather gather;
  for (CurvatureBlock& block : estimate.curvature.blocks) std::visit(BlockParts{sum, gather}, block);
  sum.add(estimate.gradient);
  for (at::Tensor& derivative : estimate.gradient_derivatives) sum.add(derivative);

  DataFit::Summary fit = estimate.data_fit.summary();
  at::Tensor numbers =
      at::tensor({static_cast<double>(fit.examples), fit.value, fit.temperature_gradient}, at::kDouble);
  sum.add(numbers);
  sum.add(fit.squared_residuals);
  const bool kept = fit.kept_outputs.defined();
  const at::ScalarType target_type = kept ? fit.kept_targets.scalar_type() : at::kDouble;
  if (kept) fit.kept_targets = fit.kept_targets.to(at::kDouble);  // class numbers are exact
  gather.add(fit.kept_outputs);
  gather.add(fit.kept_targets);

  sum.run(communicator);
  gather.run(communicator);

  fit.examples = static_cast<int64_t>(numbers[0].item<double>());
  fit.value = numbers[1].item<double>();
  fit.temperature_gradient = numbers[2].item<double>();
  if (kept) fit.kept_targets = fit.kept_targets.to(target_type);
  estimate.data_fit = DataFit(likelihood, hyperparameters, fit);
}

CurvatureEstimate estimate_together(const Network& network, const Likelihood& likelihood, const Dataset& data,
                                    const Hyperparameters& hyperparameters, CurvatureOptions options,
                                    Communicator& communicator) {
  const bool in_parts = splits(options);
  if (in_parts) options.part = communicator.part();
  std::optional<CurvatureEstimate> estimate;
  attempt_together(communicator,
                   [&] { estimate = estimate_curvature(network, likelihood, data, hyperparameters, options); });
  if (in_parts) sum_parts(*estimate, likelihood, hyperparameters, communicator);
  return *std::move(estimate);
}

std::vector<int64_t> share_by_cost(const std::vector<double>& costs, int64_t ranks) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  std::vector<double> load(static_cast<size_t>(ranks), 0.0);
  std::vector<int64_t> owner(costs.size());
  for (const size_t one : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += costs[one];
    owner[one] = least - load.begin();
  }
  return owner;
}

DecomposeMany share_decompositions(Communicator& communicator) {
  return [&communicator](const std::vector<at::Tensor>& matrices, bool vectors) {
    std::vector<double> costs;
    for (const at::Tensor& matrix : matrices) costs.push_back(std::pow(static_cast<double>(matrix.size(0)), 3));
    if (std::accumulate(costs.begin(), costs.end(), 0.0) < kWorthSharing) return symmetric_eigen(matrices, vectors);
    const std::vector<int64_t> owner = share_by_cost(costs, communicator.size());
    std::vector<at::Tensor> mine;
    for (size_t i = 0; i < matrices.size(); ++i)
      if (owner[i] == communicator.rank()) mine.push_back(matrices[i]);
    std::vector<SymmetricEigen> done;
    attempt_together(communicator, [&] { done = symmetric_eigen(mine, vectors); });
    std::vector<SymmetricEigen> all(matrices.size());
    auto next = done.begin();
    for (size_t i = 0; i < matrices.size(); ++i) {
      if (owner[i] == communicator.rank()) all[i] = *next++;
    }
    for (int64_t rank = 0; rank < communicator.size(); ++rank) {
      FlatCopy copy;
      for (size_t i = 0; i < matrices.size(); ++i) {
        if (owner[i] != rank) continue;
        const int64_t n = matrices[i].size(0);
        if (rank != communicator.rank()) {
          all[i].values = at::empty({n}, at::kDouble);
          if (vectors) all[i].vectors = at::empty({n, n}, at::kDouble);
        }
        copy.add(all[i].values);
        if (vectors) copy.add(all[i].vectors);
      }
      copy.run(communicator, rank);
    }
    return all;
  };
}

}  // namespace ockham
