#include "ockham/curvature/estimate_curvature.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/curvature/estimate_plain_mlp.h"
#include "ockham/curvature/folded_columns.h"
#include "ockham/curvature/plan.h"
#include "ockham/curvature/rebuild_dense.h"
#include "ockham/observe/verified_observer.h"

namespace ockham {
namespace {

constexpr int64_t kRowBytesAtOnce = int64_t{256} << 20;

// Of the layers' outputs at once, where the gradients of all are held beside them: otherwise the pass would need up to
// three times the memory of training.
constexpr int64_t kOutputBytesAtOnce = int64_t{64} << 20;
constexpr int64_t kFewestAtOnce = 64;  // with fewer examples the overhead of a batch is felt

/// Examples that are passed at once: no more than asked for, fewer where much would have to be held.
int64_t examples_at_once(const CurvatureOptions& options, const CurvaturePlan& plan, const Observation& seen) {
  int64_t count = std::max<int64_t>(1, options.batch_size);
  int64_t bytes = 0;
  for (const LayerCall& call : seen.calls()) {
    int64_t numbers = 1;
    for (const int64_t side : call.output_shape) numbers *= side;
    bytes += numbers / call.examples * static_cast<int64_t>(seen.outputs().element_size());
  }
  if (options.root_derivatives && bytes > 0) {
    const int64_t most = std::max(kFewestAtOnce, kOutputBytesAtOnce / bytes);
    const int64_t pieces = (count + most - 1) / most;
    count = (count + pieces - 1) / pieces;
  }
  if (plan.bytes_per_example > 0) count = std::clamp<int64_t>(kRowBytesAtOnce / plan.bytes_per_example, 1, count);
  return count;
}

void check_finite_outputs(const at::Tensor& outputs, int64_t first) {
  if (outputs.isfinite().all().item<bool>()) return;
  const int64_t row = outputs.isfinite().logical_not().any(1).nonzero()[0].item<int64_t>();
  throw Error(
      ErrorKind::numerical,
      fmt::format(
          "The network's output for example {} (counted from 0) is not finite; the weights have diverged (use a "
          "smaller learning rate, --lr) or the input is out of range.",
          first + row));
}

/// The order of a pass whose examples need differently many columns: like go together.
struct FoldedOrder {
  at::Tensor examples;  // [N]
  at::Tensor columns;   // [N], of examples[i], rising
};

bool folds(const CurvatureOptions& options) {
  return options.ggn_tolerance > 0 && options.kind == CurvatureKind::ggn &&
         (options.structure == Structure::kronecker || options.structure == Structure::diagonal);
}

/// By a forward pass over all data.
FoldedOrder order_by_columns(const Network& network, const Likelihood& likelihood, const Dataset& data,
                             const Hyperparameters& hyperparameters, const CurvatureOptions& options) {
  const at::NoGradGuard no_gradients;
  FoldingErrors all;
  std::vector<at::Tensor> mean_squares;
  for (int64_t first = 0; first < data.size(); first += options.batch_size) {
    const at::Tensor inputs = data.slice(first, options.batch_size).inputs;
    const at::Tensor outputs = network.forward(inputs.is_floating_point() ? inputs.to(network.dtype()) : inputs);
    check_finite_outputs(outputs, first);
    FoldingErrors some = folding_errors(root_by_weight(likelihood, outputs, hyperparameters, false).root);
    mean_squares.push_back(some.mean_squares);
    all.counts = std::move(some.counts);
    all.trace += some.trace;
    if (options.progress) options.progress(0);
  }
  all.mean_squares = at::cat(mean_squares);
  const auto [columns, examples] = columns_to_send(all, options.ggn_tolerance).sort(/*stable=*/true, 0, false);
  return {examples, columns};
}

OutputRoot identity_root(const at::Tensor& outputs) {
  OutputRoot root;
  root.root = at::eye(outputs.size(1), outputs.options()).expand({outputs.size(0), -1, -1});
  return root;
}

// Σ over the batch of ∇_θ (outputs · column), for all parameters, into sum [P].
void add_gradient(const Observation& observation, const Network& network, const at::Tensor& column, at::Tensor& sum) {
  std::vector<size_t> all(network.layout().count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto gradients = observation.parameter_gradients(column, all);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const ParameterSlot& slot = network.layout()[i];
    sum.narrow(0, slot.offset, slot.size).add_(gradients[i].reshape(-1));
  }
}

Curvature finish(CurvaturePlan& plan, int64_t examples) {
  Curvature curvature;
  for (Accumulator& accumulator : plan.accumulators) {
    if (auto* kronecker = std::get_if<KroneckerAccumulator>(&accumulator)) {
      for (CurvatureBlock& block : kronecker->finish(examples)) curvature.blocks.push_back(std::move(block));
    } else if (auto* dense = std::get_if<DenseAccumulator>(&accumulator)) {
      curvature.blocks.push_back(dense->finish(examples));
    } else if (auto* diagonal = std::get_if<DiagonalAccumulator>(&accumulator)) {
      curvature.blocks.push_back(diagonal->finish(examples));
    } else {
      curvature.blocks.push_back(std::get<BiasAccumulator>(accumulator).finish(examples));
    }
  }
  return curvature;
}

RootOptions root_options_of(const CurvatureOptions& options) {
  RootOptions root_options;
  root_options.kind = options.kind;
  root_options.mc_samples = options.mc_samples;
  root_options.derivatives = options.root_derivatives;
  return root_options;
}

struct ExampleCounts {
  int64_t all, passed;
};

PlanInput plan_input_of(const Network& network, const Likelihood& likelihood, const Observation& seen,
                        const ExampleCounts& examples, const CurvatureOptions& options) {
  const int64_t outputs = seen.outputs().size(1);
  const int64_t derivatives = options.root_derivatives ? root_hyperparameter_count(likelihood, outputs) : 0;
  const int64_t columns = root_columns(likelihood, outputs, root_options_of(options));
  return {network, seen, examples.all, columns, outputs, derivatives, examples.passed};
}

}  // namespace

void expect_curvature_fits(const Network& network, const Likelihood& likelihood, const Dataset& data,
                           const CurvatureOptions& options) {
  const VerifiedObserver observer(network, data.inputs(), options.observe, options.verify);
  const int64_t passed = part_of(data.size(), options.part).length;
  expect_within_budget(plan_input_of(network, likelihood, observer.sample(), {data.size(), passed}, options), options);
}

bool splits(const CurvatureOptions& options) { return options.kind != CurvatureKind::mc_fisher && !folds(options); }

CurvatureEstimate estimate_curvature(const Network& network, const Likelihood& likelihood, const Dataset& data,
                                     const Hyperparameters& hyperparameters, const CurvatureOptions& options) {
  if (options.part.count > 1 && !splits(options))
    throw Error(ErrorKind::usage,
                "A pass with the Monte-Carlo Fisher or folded columns cannot be made in parts; make it as a whole.");
  if (PlainMlp* mlp = HandmadePasses::of(network)) {
    if (auto by_hand = estimate_plain_mlp(*mlp, likelihood, data, hyperparameters, options)) return *std::move(by_hand);
  }
  const VerifiedObserver observer(network, data.inputs(), options.observe, options.verify);
  const Observation& seen = observer.sample();
  const int64_t outputs = seen.outputs().size(1), examples = data.size();
  const Range passed = part_of(examples, options.part);
  if (passed.length == 0)
    throw Error(ErrorKind::usage, fmt::format("{} examples cannot be shared out among {} ranks; start fewer of them.",
                                              examples, options.part.count));
  const at::Tensor targets = prepare_targets(likelihood, data.targets(), outputs, network.dtype());

  const RootOptions root_options = root_options_of(options);
  const PlanInput plan_input = plan_input_of(network, likelihood, seen, {examples, passed.length}, options);
  const int64_t derivatives = plan_input.derivatives;
  CurvaturePlan plan = plan_curvature(plan_input, options);

  CurvatureEstimate estimate{{}, DataFit(likelihood, hyperparameters, derivatives > 0), {}, {}, plan.messages, outputs};
  if (options.likelihood_gradient) {
    estimate.gradient = at::zeros({network.layout().total()}, at::kDouble);
    for (int64_t d = 0; d < derivatives; ++d)
      estimate.gradient_derivatives.push_back(at::zeros_like(estimate.gradient));
  }

  std::vector<BatchGradients::Part> parts;
  std::vector<std::function<void(const BatchGradients&)>> add_part;
  for (Accumulator& accumulator : plan.accumulators) {
    std::visit(
        [&](auto& a) {
          size_t number = 0;
          for (BatchGradients::Part& part : a.parts()) {
            parts.push_back(std::move(part));
            add_part.push_back([&a, number = number++](const BatchGradients& batch) { a.add_column(batch, number); });
          }
        },
        accumulator);
  }

  const int64_t batch_size = examples_at_once(options, plan, seen);
  const at::Generator generator = random_stream({options.seed, 0x6d63666973686572});
  std::optional<FoldedOrder> folded;
  if (folds(options)) folded = order_by_columns(network, likelihood, data, hyperparameters, options);
  for (int64_t first = passed.first; first < passed.end(); first += batch_size) {
    const int64_t count = std::min(batch_size, passed.end() - first);
    const at::Tensor chosen = folded ? folded->examples.narrow(0, first, count) : at::Tensor();
    const Batch batch = folded ? data.gather(chosen) : data.slice(first, count);
    const at::Tensor batch_targets = folded ? targets.index_select(0, chosen) : targets.narrow(0, first, count);
    const Observation observation = observer.observe(batch.inputs);
    const at::Tensor predictions = observation.outputs().detach();
    check_finite_outputs(predictions, first);
    estimate.data_fit.add(predictions, batch_targets);

    OutputRoot root;
    if (plan.keep_jacobian)
      root = identity_root(predictions);
    else if (folded)
      root = fold_columns(root_by_weight(likelihood, predictions, hyperparameters, root_options.derivatives),
                          folded->columns[first + count - 1].item<int64_t>(), generator);
    else
      root = output_root(likelihood, predictions, batch_targets, hyperparameters, root_options, generator);
    BatchGradients gradients(network, observation, root, plan.rows_by_autograd);
    for (Accumulator& accumulator : plan.accumulators) {
      std::visit([&](auto& a) { a.begin_batch(gradients); }, accumulator);
    }
    for (int64_t k = 0; k < gradients.columns(); ++k) {
      gradients.next_column(parts, [&](size_t part) { add_part[part](gradients); });
    }
    if (options.likelihood_gradient) {
      add_gradient(observation, network, output_gradient(likelihood, predictions, batch_targets, hyperparameters),
                   estimate.gradient);
      if (derivatives > 0) {
        const auto columns = output_gradient_derivatives(likelihood, predictions, batch_targets, hyperparameters);
        for (int64_t d = 0; d < derivatives; ++d)
          add_gradient(observation, network, columns[d], estimate.gradient_derivatives[d]);
      }
    }
    if (options.progress) options.progress((first + count - passed.first) * examples / passed.length);
  }

  estimate.curvature = finish(plan, examples);
  if (plan.keep_jacobian) {
    for (CurvatureBlock& block : estimate.curvature.blocks) {
      auto& dense = std::get<DenseBlock>(block);
      dense.jacobian = dense.rows;
      dense.row_factors.clear();  // of J's rows, not of Φ's
      if (examples * plan_input.columns >= dense.jacobian.size(1))
        dense.rows.reset();  // the matrix is the smaller form
    }
    estimate.curvature =
        rebuild_dense(estimate.curvature, estimate.data_fit, hyperparameters, {likelihood, options.kind});
  }
  return estimate;
}

}  // namespace ockham
