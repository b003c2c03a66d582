#include "ockham/curvature/decomposed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "ockham/base/error.h"
#include "ockham/curvature/decomposed_diagonal.h"
#include "ockham/curvature/decomposed_kronecker.h"
#include "ockham/curvature/decomposed_matrix.h"
#include "ockham/curvature/decomposed_rows.h"

namespace ockham {
namespace {

using DecomposedBlock = std::variant<DecomposedMatrix, DecomposedRows, DecomposedKronecker, DecomposedDiagonal>;

struct MakeBlock {
  const std::shared_ptr<const Prior>& prior;
  EigenStore& store;
  bool damping;

  DecomposedBlock operator()(const DenseBlock& block) const {
    BlockSpan span(prior, block.parameters);
    if (block.rows.defined()) return DecomposedRows(block, std::move(span), store);
    return DecomposedMatrix(block, std::move(span), store);
  }
  DecomposedBlock operator()(const KroneckerBlock& block) const {
    return DecomposedKronecker(block, BlockSpan(prior, {block.parameter}), store, damping);
  }
  DecomposedBlock operator()(const DiagonalBlock& block) const {
    return DecomposedDiagonal(block, BlockSpan(prior, block.parameters), store);
  }
};

void list_decompositions(const DecomposedMatrix& block, std::vector<size_t>& with, std::vector<size_t>& without) {
  block.list_decompositions(with, without);
}
void list_decompositions(const DecomposedKronecker& block, std::vector<size_t>& with, std::vector<size_t>& without) {
  block.list_decompositions(with, without);
}
template <class Block>
void list_decompositions(const Block&, std::vector<size_t>&, std::vector<size_t>&) {}

void expect_evaluations(DecomposedMatrix& block, int64_t count) { block.expect_evaluations(count); }
void expect_evaluations(DecomposedRows& block, int64_t count) { block.expect_evaluations(count); }
template <class Block>
void expect_evaluations(Block&, int64_t) {}

std::string name_of(const DecomposedBlock& block) {
  return std::visit([](const auto& kind) { return kind.span().name(); }, block);
}

bool is_finite(const at::Tensor& values) { return !values.defined() || values.isfinite().all().item<bool>(); }
bool is_finite(const CurvatureBlock& block) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) return is_finite(dense->matrix) && is_finite(dense->rows);
  if (const auto* diagonal = std::get_if<DiagonalBlock>(&block)) return is_finite(diagonal->diagonal);
  const auto& kronecker = std::get<KroneckerBlock>(block);
  return is_finite(kronecker.left) && is_finite(kronecker.right);
}

}  // namespace

struct DecomposedCurvature::State {
  Curvature curvature;
  std::shared_ptr<const Prior> prior;
  EigenStore store;
  std::vector<DecomposedBlock> blocks;
  int64_t derivatives = 0;  // M
  std::mutex mutex;         // over the blocks' caches

  State(Curvature given, Prior given_prior, const DecomposeOptions& options)
      : curvature(std::move(given)), prior(std::make_shared<const Prior>(std::move(given_prior))) {
    blocks.reserve(curvature.blocks.size());
    for (const CurvatureBlock& block : curvature.blocks) {
      blocks.push_back(std::visit(MakeBlock{prior, store, options.damping}, block));
    }
    check_coverage();
    check_derivatives();
    std::vector<size_t> with_vectors, values_only;
    for (const DecomposedBlock& block : blocks) {
      std::visit([&](const auto& kind) { list_decompositions(kind, with_vectors, values_only); }, block);
    }
    // Lists, so that they run in parallel; a shared factor of both lists is decomposed once, with vectors.
    if (options.eigenvectors) {
      with_vectors.insert(with_vectors.end(), values_only.begin(), values_only.end());
      values_only.clear();
    }
    for (std::vector<size_t>* indices : {&with_vectors, &values_only}) {
      std::sort(indices->begin(), indices->end());
      indices->erase(std::unique(indices->begin(), indices->end()), indices->end());
      try {
        store.compute(*indices, indices == &with_vectors, options.decompose);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::numerical) name_what_is_not_finite();
        throw;
      }
    }
  }

  /// A matrix knows no names.
  void name_what_is_not_finite() const {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (is_finite(curvature.blocks[i])) continue;
      throw Error(ErrorKind::numerical, "The curvature of " + name_of(blocks[i]) +
                                            " is not finite; the weights have diverged or the data are out of range: "
                                            "use a smaller learning rate (--lr), scaled data, or float64.");
    }
  }

  void check_coverage() const {
    int64_t covered = 0;
    for (const DecomposedBlock& block : blocks) {
      covered += std::visit([](const auto& kind) { return kind.span().size(); }, block);
    }
    if (covered != prior->layout().total()) {
      throw Error(ErrorKind::failure, "The curvature covers " + std::to_string(covered) +
                                          " weights, but the network has " + std::to_string(prior->layout().total()) +
                                          ".");
    }
  }

  void check_derivatives() {
    for (const DecomposedBlock& block : blocks) {
      derivatives = std::max(derivatives, std::visit([](const auto& kind) { return kind.derivative_count(); }, block));
    }
    for (const DecomposedBlock& block : blocks) {
      std::visit(
          [&](const auto& kind) {
            if (kind.derivative_count() == derivatives || (kind.derivative_count() == 0 && kind.is_zero())) return;
            throw Error(ErrorKind::failure, "The curvature of " + kind.span().name() + " has " +
                                                std::to_string(kind.derivative_count()) +
                                                " root derivatives, others have " + std::to_string(derivatives) + ".");
          },
          block);
    }
  }

  PrecisionPoint prepare(const PrecisionPoint& point) const {
    if (!(point.scale > 0) || !std::isfinite(point.scale)) {
      throw Error(ErrorKind::numerical,
                  "The scale of the curvature is " + std::to_string(point.scale) +
                      ", it must be positive and finite; check the noise and the likelihood weight.");
    }
    PrecisionPoint prepared = point;
    prepared.log_prior_precision = point.log_prior_precision.detach().to(at::kDouble).reshape(-1).contiguous();
    if (prepared.log_prior_precision.numel() != prior->size()) {
      throw Error(ErrorKind::usage, "There are " + std::to_string(prepared.log_prior_precision.numel()) +
                                        " prior precisions, but the prior has " + std::to_string(prior->size()) +
                                        " groups.");
    }
    const double* logs = prepared.log_prior_precision.data_ptr<double>();
    if (!std::all_of(logs, logs + prior->size(), [](double value) { return std::isfinite(value); })) {
      throw Error(ErrorKind::numerical, "A log prior precision is not finite.");
    }
    // Below this a shift is what restoring a value from text may change.
    if (!point.root_shift.defined() || !(point.root_shift.abs() > 1e-12).any().item<bool>()) {
      prepared.root_shift = at::Tensor();
    } else if (point.root_shift.numel() != derivatives) {
      throw Error(
          ErrorKind::usage,
          "The temperature (or noise per output) differs from that of the curvature pass, which kept no derivatives "
          "with respect to it; fit again there, or with root_derivatives.");
    } else {
      prepared.root_shift = point.root_shift.detach().to(at::kDouble).reshape(-1).contiguous();
    }
    return prepared;
  }
};

DecomposedCurvature::DecomposedCurvature(Curvature curvature, Prior prior, DecomposeOptions options)
    : state_(std::make_shared<State>(std::move(curvature), std::move(prior), options)) {}

LogDeterminant DecomposedCurvature::log_determinant(const PrecisionPoint& given) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  LogDeterminant total;
  total.gradient_log_prior_precision = at::zeros({state_->prior->size()}, at::kDouble);
  if (state_->derivatives > 0) total.gradient_root = at::zeros({state_->derivatives}, at::kDouble);
  for (DecomposedBlock& block : state_->blocks) {
    std::visit([&](auto& kind) { kind.add_log_determinant(point, total); }, block);
    if (std::isfinite(total.value)) continue;
    throw Error(ErrorKind::numerical,
                "The log determinant of the posterior precision of " + name_of(block) +
                    " is not finite; check the curvature and the prior precisions, or use float64.");
  }
  return total;
}

void DecomposedCurvature::expect_evaluations(int64_t count) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  for (DecomposedBlock& block : state_->blocks)
    std::visit([&](auto& kind) { ockham::expect_evaluations(kind, count); }, block);
}

at::Tensor DecomposedCurvature::solve(const PrecisionPoint& given, const at::Tensor& vector) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor result = at::empty_like(vector);
  for (DecomposedBlock& block : state_->blocks) {
    std::visit(
        [&](auto& kind) {
          kind.span().scatter(kind.solve(point, kind.span().gather(vector).unsqueeze(0)).squeeze(0), result);
        },
        block);
  }
  return result;
}

double DecomposedCurvature::curvature_form(const PrecisionPoint& given, const at::Tensor& vector) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  double total = 0;
  for (DecomposedBlock& block : state_->blocks) {
    total += std::visit([&](auto& kind) { return kind.curvature_form(point, kind.span().gather(vector)); }, block);
  }
  return total;
}

at::Tensor DecomposedCurvature::prior_form(const PrecisionPoint& given, const at::Tensor& vector) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor total = at::zeros({state_->prior->size()}, at::kDouble);
  for (DecomposedBlock& block : state_->blocks) {
    std::visit([&](auto& kind) { kind.add_prior_form(point, kind.span().gather(vector), total); }, block);
  }
  return total;
}

at::Tensor DecomposedCurvature::root_form(const PrecisionPoint& given, const at::Tensor& vector) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor total = at::zeros({state_->derivatives}, at::kDouble);
  for (DecomposedBlock& block : state_->blocks) {
    std::visit([&](auto& kind) { kind.add_root_form(point, kind.span().gather(vector), total); }, block);
  }
  return total;
}

at::Tensor DecomposedCurvature::output_covariance(const PrecisionPoint& given, const at::Tensor& jacobian) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor total = at::zeros({jacobian.size(0), jacobian.size(1), jacobian.size(1)}, at::kDouble);
  for (DecomposedBlock& block : state_->blocks) {
    total.add_(std::visit([&](auto& kind) { return kind.covariance(point, kind.span().gather(jacobian)); }, block));
  }
  return total;
}

OutputPosterior DecomposedCurvature::output_posterior(const PrecisionPoint& given, at::ScalarType type) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<BlockCovariance> blocks;
  for (DecomposedBlock& block : state_->blocks) {
    blocks.push_back(std::visit([&](auto& kind) { return kind.output_covariance(point, type); }, block));
  }
  return OutputPosterior(std::move(blocks));
}

at::Tensor DecomposedCurvature::apply_root(const PrecisionPoint& given, const at::Tensor& rows, bool transposed) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor result = at::empty(rows.sizes(), rows.options());
  for (DecomposedBlock& block : state_->blocks) {
    std::visit(
        [&](auto& kind) { kind.span().scatter(kind.apply_root(point, kind.span().gather(rows), transposed), result); },
        block);
  }
  return result;
}

at::Tensor DecomposedCurvature::apply_root(const PrecisionPoint& point, const at::Tensor& rows) const {
  return apply_root(point, rows, false);
}

at::Tensor DecomposedCurvature::apply_root_transposed(const PrecisionPoint& point, const at::Tensor& rows) const {
  return apply_root(point, rows, true);
}

at::Tensor DecomposedCurvature::sample(const PrecisionPoint& given, int64_t samples, at::Generator generator) const {
  const PrecisionPoint point = state_->prepare(given);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  at::Tensor result = at::empty({samples, state_->prior->layout().total()}, at::kDouble);
  for (DecomposedBlock& block : state_->blocks) {
    std::visit([&](auto& kind) { kind.span().scatter(kind.sample(point, samples, generator), result); }, block);
  }
  return result;
}

int64_t DecomposedCurvature::clipped_eigenvalues() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->store.clipped();
}
int64_t DecomposedCurvature::root_derivative_count() const { return state_->derivatives; }
const Curvature& DecomposedCurvature::curvature() const { return state_->curvature; }
const Prior& DecomposedCurvature::prior() const { return *state_->prior; }

}  // namespace ockham
