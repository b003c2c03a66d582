#include "ockham/evidence/minibatch_bound.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/curvature/dense_memory.h"
#include "ockham/observe/verified_observer.h"

namespace ockham {
namespace {

constexpr int64_t kRows = 1024, kFewestExamples = 32;
// Any machine has this much, and asking it what it has costs as much as a small batch.
constexpr int64_t kNotWorthAsking = int64_t{32} << 20;

void add_scaled(at::Tensor& sum, const at::Tensor& term, double factor) {
  // [0] where a likelihood has no such hyperparameter, or where its derivative is not known.
  if (term.defined() && term.numel() == sum.numel()) sum = sum + factor * term;
}

/// sum += factor · term, in every term; `value` too, in which all of them are linear.
void add_scaled(Evidence& sum, const Evidence& term, double factor) {
  sum.log_likelihood += factor * term.log_likelihood;
  sum.log_prior += factor * term.log_prior;
  sum.log_det += factor * term.log_det;
  sum.value += factor * term.value;
  add_scaled(sum.gradient.log_prior_precision, term.gradient.log_prior_precision, factor);
  add_scaled(sum.gradient.log_noise, term.gradient.log_noise, factor);
  add_scaled(sum.gradient.log_temperature, term.gradient.log_temperature, factor);
}

DenseSize size_of(const Model& model, const at::Tensor& inputs, int64_t examples, const LaplaceOptions& options) {
  const at::NoGradGuard no_gradients;
  const at::Tensor first = inputs.narrow(0, 0, 1);
  const at::Tensor output = model.network.forward(first.is_floating_point() ? first.to(model.network.dtype()) : first);
  const ParameterLayout& layout = model.network.layout();
  DenseSize size;
  size.weights = layout.total();
  size.parameters = static_cast<int64_t>(layout.count());
  size.examples = examples;
  size.outputs = output.dim() == 1 ? 1 : output.size(1);
  size.columns = root_columns(model.likelihood, size.outputs, {options.curvature.kind});
  if (options.curvature.root_derivatives) size.derivatives = root_hyperparameter_count(model.likelihood, size.outputs);
  return size;
}

/// Of a batch, its companions and the first batch, which are held together.
int64_t bytes_of(DenseSize size, const PartitionSizes& sizes) {
  size.examples = sizes.largest;
  const int64_t batch = least_dense_block_bytes(size);
  if (sizes.shared == 0) return batch;
  size.examples = sizes.shared;
  return 2 * batch + least_dense_block_bytes(size);
}

/// The largest batch that fits, with as large a share of companions, by bisection: the bytes grow with it.
int64_t most_examples(const DenseSize& size, const PartitionSizes& sizes, int64_t budget) {
  int64_t fits = 0, too_many = sizes.largest;
  while (too_many - fits > 1) {
    const int64_t middle = (fits + too_many) / 2;
    const bool room = bytes_of(size, {middle, middle * sizes.shared / sizes.largest}) <= budget;
    (room ? fits : too_many) = middle;
  }
  return fits;
}

void check_additive(const CurvatureOptions& options) {
  if (options.structure == Structure::kronecker)
    throw Error(ErrorKind::usage,
                "The Kronecker structure of batches does not bound that of all data; use the full, block or diagonal "
                "structure for the minibatch bound.");
  if (options.kind == CurvatureKind::mc_fisher)
    throw Error(ErrorKind::usage,
                "The minibatch bound is one of a curvature without draws; use the GGN or the empirical Fisher.");
}

/// v of the examples of a fit; of none of them: v_∅, for which `any` fit of the weights will do.
Evidence value_of(const LaplaceFit* fit, const LaplaceFit& any, const Hyperparameters& hyperparameters) {
  return fit == nullptr ? evidence_of_prior(any, hyperparameters) : evidence(*fit, hyperparameters);
}

const LaplaceFit* pointer_to(const std::optional<LaplaceFit>& fit) { return fit ? &*fit : nullptr; }

void add(MinibatchBound& bound, const BatchFit& fit, const Hyperparameters& hyperparameters, double weight) {
  bound.add(fit.batch, value_of(pointer_to(fit.companions), fit.batch, hyperparameters), weight);
}

}  // namespace

Evidence evidence_of_prior(const LaplaceFit& any, const Hyperparameters& at) {
  const Prior::Statistics& statistics = any.mode_statistics;
  Evidence result;
  result.log_prior = Prior::log_density(statistics, at.log_prior_precision);
  result.log_det = at::dot(statistics.count, at.log_prior_precision).item<double>();
  const at::Tensor penalty = -0.5 * at.log_prior_precision.exp() * statistics.squared_norm;
  result.value = penalty.sum().item<double>();
  result.gradient = {penalty, at::zeros({0}, at::kDouble), at::zeros({0}, at::kDouble)};
  return result;
}

MinibatchBound::MinibatchBound(Evidence first, const Hyperparameters& hyperparameters)
    : hyperparameters_(hyperparameters.clone()), sum_(std::move(first)) {}

void MinibatchBound::add(const LaplaceFit& batch, const Evidence& companions, double weight) {
  check_additive(batch.options.curvature);
  const Evidence together = ockham::evidence(batch, hyperparameters_);
  if (sum_.gradient.log_noise.numel() == 0) sum_.gradient.log_noise = at::zeros_like(together.gradient.log_noise);
  if (sum_.gradient.log_temperature.numel() == 0)
    sum_.gradient.log_temperature = at::zeros_like(together.gradient.log_temperature);
  add_scaled(sum_, together, weight);
  add_scaled(sum_, companions, -weight);
}

Evidence minibatch_bound(const std::vector<BatchFit>& batches, const Hyperparameters& hyperparameters,
                         const LaplaceFit* first) {
  if (batches.empty())
    throw Error(ErrorKind::usage,
                "The minibatch bound needs the fit of at least one batch; give those of a partition.");
  MinibatchBound bound(value_of(first, batches.front().batch, hyperparameters), hyperparameters);
  for (const BatchFit& batch : batches) add(bound, batch, hyperparameters, 1);
  return bound.evidence();
}

Evidence estimate_bound(const BatchFit& batch, int64_t batches, const Hyperparameters& hyperparameters,
                        const LaplaceFit* first) {
  MinibatchBound bound(value_of(first, batch.batch, hyperparameters), hyperparameters);
  add(bound, batch, hyperparameters, static_cast<double>(batches));
  return bound.evidence();
}

int64_t batch_bytes(const Model& model, const at::Tensor& inputs, int64_t examples, const LaplaceOptions& options) {
  return least_dense_block_bytes(size_of(model, inputs, examples, options));
}

void check_batches(const Model& model, const at::Tensor& inputs, const PartitionSizes& sizes,
                   const LaplaceOptions& options) {
  check_additive(options.curvature);
  if (options.curvature.structure != Structure::full) return;  // the pass plans for itself
  const DenseSize size = size_of(model, inputs, sizes.largest, options);
  const int64_t needed = bytes_of(size, sizes), given = options.curvature.memory_budget;
  if (given <= 0 && needed <= kNotWorthAsking) return;
  const int64_t budget = given > 0 ? given : default_memory_budget();
  if (needed <= budget) return;
  const int64_t most = most_examples(size, sizes, budget);
  throw Error(
      ErrorKind::usage,
      fmt::format("A batch of {} examples of a network of {} weights and {} outputs needs {} ({} bytes) for its "
                  "evidence, but the memory budget is {}; {}.",
                  sizes.largest, size.weights, size.outputs, human_bytes(needed), needed, human_bytes(budget),
                  most > 0 ? fmt::format("batches of {} fit (--evidence-batch), or raise the budget (--memory)",
                                         most == 1 ? "one example" : fmt::format("{} examples", most))
                           : "not even one example fits, so raise the budget (--memory)"));
}

int64_t automatic_evidence_batch(int64_t columns) {
  return std::max(kFewestExamples, kRows / std::max<int64_t>(1, columns));
}

Dataset batch_of(const Dataset& data, const at::Tensor& examples) {
  const Batch batch = data.gather(examples);
  return Dataset(batch.inputs, batch.targets);
}

PartitionBound bound_over_partition(const Model& model, const Dataset& data, const Partition& partition,
                                    const LaplaceOptions& options) {
  if (partition.batches.empty()) throw Error(ErrorKind::usage, "The partition has no batches; give at least one.");
  PartitionBound result;
  result.shared = partition.shared;
  result.largest_batch = partition.first.numel();
  for (const at::Tensor& own : partition.batches)
    result.largest_batch = std::max(result.largest_batch, result.shared + own.numel());
  check_batches(model, data.inputs(), {result.largest_batch, 0}, options);
  LaplaceOptions of_batch = options;
  // Once for all: a batch may be too small to tell a network that mixes its examples.
  if (options.curvature.verify)
    of_batch.curvature.observe.leave_unexplained =
        VerifiedObserver(model.network, data.inputs(), options.curvature.observe).left_unexplained();
  of_batch.curvature.verify = false;
  int64_t done = 0, known = 0;  // of the examples, each counted once; companions of the fit that is made
  if (options.curvature.progress)
    of_batch.curvature.progress = [&](int64_t here) {
      options.curvature.progress(done + std::max<int64_t>(0, here - known));
    };
  const auto fit = [&](const at::Tensor& examples) {
    LaplaceFit made = fit_laplace(model, batch_of(data, examples), of_batch);
    result.seconds_curvature += made.seconds_curvature;
    result.seconds_decompose += made.seconds_decompose;
    return made;
  };

  const Hyperparameters& at = model.hyperparameters;
  std::optional<MinibatchBound> bound;
  if (partition.first.numel() > 0) {
    const LaplaceFit first = fit(partition.first);
    bound.emplace(ockham::evidence(first, at), at);
    result.clipped_eigenvalues += first.curvature.clipped_eigenvalues();
    result.batches = 1;
    done = partition.first.numel();
  }
  for (size_t b = 0; b < partition.batches.size(); ++b) {
    const at::Tensor companions = partition.companions_of(b);
    known = companions.numel();
    std::optional<Evidence> before;
    if (known > 0) before = ockham::evidence(fit(companions), at);
    const LaplaceFit batch = fit(at::cat({companions, partition.batches[b]}));
    if (!before) before = evidence_of_prior(batch, at);
    if (!bound) bound.emplace(*before, at);
    bound->add(batch, *before);
    if (result.messages.empty()) result.messages = batch.messages;
    result.clipped_eigenvalues += batch.curvature.clipped_eigenvalues();
    done += partition.batches[b].numel();
    ++result.batches;
  }
  result.evidence = bound->evidence();
  return result;
}

}  // namespace ockham
