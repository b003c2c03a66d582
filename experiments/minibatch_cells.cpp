#include "experiments/minibatch_cells.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/kept_training.h"
#include "experiments/uci_data.h"
#include "experiments/uci_results.h"
#include "experiments/uci_training.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"

namespace ockham::paper {
namespace {

constexpr int64_t kFullEpochs = 4000, kQuickEpochs = 300, kFullSplits = 3;
constexpr double kLearningRate = 5e-3, kHyperStep = 1e-2;
constexpr uint64_t kPartitionStream = 0x6d696e6962617463;

const UciMethod& full_ggn() { return uci_methods().front(); }

PartitionSizes partition_sizes(const BatchSize& size, int64_t examples) {
  const int64_t largest = size.parts == 0 ? std::min<int64_t>(32, examples) : (examples + size.parts - 1) / size.parts;
  return {largest, static_cast<int64_t>(size.shared * static_cast<double>(largest))};
}

UciTraining training_for(const Settings& settings) {
  UciTraining training;
  training.seed = settings.seed;
  training.memory = settings.memory;
  training.epochs = settings.epochs > 0 ? settings.epochs : settings.quick ? kQuickEpochs : kFullEpochs;
  training.learning_rate = kLearningRate;
  return training;
}

OnlineOptions options_for(const UciTraining& training, int64_t split, const PartitionSizes& evidence_batch) {
  OnlineOptions options = online_options(training, full_ggn(), split);
  options.optimiser.schedule = LearningRateSchedule::cosine;
  options.hyper.step_size = kHyperStep;
  options.evidence_batch = evidence_batch;
  return options;
}

double mean_log(const at::Tensor& log_values) { return log_values.mean().item<double>(); }

/// The bound of one partition, from fits that are kept: as often as the optimiser asks.
class FixedWeights {
 public:
  FixedWeights(const Model& model, const Dataset& data, const PartitionSizes& sizes, const LaplaceOptions& options)
      : names_(model.prior.names()) {
    const Partition partition =
        make_partition(data.inputs(), sizes, random_stream({options.curvature.seed, kPartitionStream}));
    const auto fit = [&](const at::Tensor& examples) { return fit_laplace(model, batch_of(data, examples), options); };
    if (partition.first.numel() > 0) first_ = fit(partition.first);
    for (size_t b = 0; b < partition.batches.size(); ++b) {
      const at::Tensor companions = partition.companions_of(b);
      batches_.push_back({fit(at::cat({companions, partition.batches[b]})), {}});
      if (companions.numel() > 0) batches_.back().companions = fit(companions);
    }
  }

  Evidence bound(const Hyperparameters& at) const { return minibatch_bound(batches_, at, first_ ? &*first_ : nullptr); }
  size_t count() const { return batches_.size() + (first_ ? 1 : 0); }

  /// Adam with a falling step, until the gradient is small.
  Hyperparameters optimum(Hyperparameters start) const {
    for (const double step : {0.1, 0.03, 0.01, 0.003, 0.001}) {
      HyperOptions options;
      options.steps = 150;
      options.step_size = step;
      HyperState state;
      start = optimise_hyperparameters({[&](const Hyperparameters& now, int64_t) { return bound(now); }, names_}, start,
                                       options, state)
                  .best;
    }
    return start;
  }

 private:
  std::vector<BatchFit> batches_;
  std::optional<LaplaceFit> first_;
  std::vector<std::string> names_;
};

double slope(const Evidence& evidence) {
  return std::max(evidence.gradient.log_prior_precision.abs().max().item<double>(),
                  evidence.gradient.log_noise.abs().max().item<double>());
}

Json optimise_at_fixed_weights(const CellContext& context, const EncodedSplit& data, const UciTraining& training,
                               int64_t split) {
  Model model = make_uci_model(data, {training.seed, split, 0, at::kDouble});
  const OnlineOptions options = options_for(training, split, {});
  const OnlineResult trained = train_kept(part_of(context, 0, 0.7), model, data.training, options);
  if (!trained.best.mode.defined()) throw Error(ErrorKind::numerical, trained.failure);
  model.hyperparameters = trained.best.hyperparameters;
  const Prior::Statistics statistics = model.prior.statistics(trained.best.mode);

  Json numbers;
  const FixedWeights whole(model, data.training, {data.training.size(), 0}, options.laplace);
  const Hyperparameters best = whole.optimum(model.hyperparameters);
  const double evidence = whole.bound(best).value;
  const auto examples = static_cast<double>(data.training.size());
  numbers["evidence"] = log_density_in_target_units(data.encoding, evidence, data.training.size()) / examples;
  numbers["examples"] = examples;
  numbers["weights"] = static_cast<double>(model.network.layout().total());
  for (const BatchSize& size : batch_sizes()) {
    if (!context.go_on(0.75)) throw Interrupted();
    const FixedWeights batches(model, data.training, partition_sizes(size, data.training.size()), options.laplace);
    const Hyperparameters found = batches.optimum(best);
    const Evidence there = batches.bound(found);
    const at::Tensor factors = found.log_prior_precision - best.log_prior_precision;
    // γ_g = 2 ∂/∂log δ_g + δ_g ‖θ_g‖².
    const at::Tensor effective =
        2 * there.gradient.log_prior_precision + found.log_prior_precision.exp() * statistics.squared_norm;
    const auto put = [&](const char* key, double value) { numbers[fmt::format("{} {}", key, size.name)] = value; };
    put("batches", static_cast<double>(batches.count()));
    put("gap", evidence - batches.bound(best).value);
    put("noise", std::exp((found.log_noise - best.log_noise)[0].item<double>()));
    put("precision", std::exp(mean_log(factors)));
    put("farthest", std::exp(factors.abs().max().item<double>()));
    put("effective", effective.sum().item<double>());
    put("lost", evidence - whole.bound(found).value);
    put("slope", slope(there));
    Model with = model;
    with.hyperparameters = found;
    put("nll", score_uci(with, data, options.laplace).at("nll_bayes").get<double>());
  }
  return numbers;
}

Json train_with_batches(const CellContext& context, const EncodedSplit& data, const UciTraining& training,
                        const BatchSize& size, int64_t split) {
  Model model = make_uci_model(data, {training.seed, split, 0, at::kDouble});
  PartitionSizes batch;
  if (size.parts != 1) batch = partition_sizes(size, data.training.size());
  const OnlineOptions options = options_for(training, split, batch);
  const OnlineResult result = train_kept(context, model, data.training, options);
  if (!result.best.mode.defined()) throw Error(ErrorKind::numerical, result.failure);
  model.hyperparameters = result.best.hyperparameters;
  const double exact = evidence(fit_laplace(model, data.training, options.laplace), model.hyperparameters).value;
  const auto per_example = [&](double value) {
    return log_density_in_target_units(data.encoding, value, data.training.size()) /
           static_cast<double>(data.training.size());
  };
  return {{"evidence", per_example(exact)},
          {"bound", per_example(result.best.log_evidence)},
          {"noise", std::exp(model.hyperparameters.log_noise[0].item<double>()) * data.encoding.targets.front().sd},
          {"precision", std::exp(mean_log(model.hyperparameters.log_prior_precision))},
          {"nll", score_uci(model, data, options.laplace).at("nll_bayes")},
          {"seconds_curvature", result.state.seconds_curvature}};
}

}  // namespace

const std::vector<BatchSize>& batch_sizes() {
  static const std::vector<BatchSize> sizes = [] {
    std::vector<BatchSize> all = {
        {"whole", "N", 1}, {"half", "N/2", 2}, {"quarter", "N/4", 4}, {"eighth", "N/8", 8}, {"32", "32", 0}};
    for (size_t i = 1; i < 5; ++i)
      all.push_back({all[i].name + "-shared", all[i].title + ", half shared", all[i].parts, 0.5});
    all.push_back({"half-more-shared", "N/2, ¾ shared", 2, 0.75});
    all.push_back({"half-most-shared", "N/2, ⅞ shared", 2, 0.875});
    return all;
  }();
  return sizes;
}

const std::vector<std::string>& minibatch_sets() {
  static const std::vector<std::string> sets = {"energy", "boston"};
  return sets;
}

std::vector<Cell> minibatch_cells(const Settings& settings) {
  const int64_t splits = settings.splits > 0 ? settings.splits : settings.quick ? 1 : kFullSplits;
  const UciTraining training = training_for(settings);
  std::vector<Cell> cells;
  for (const UciTable& table : read_uci_tables(settings.data, minibatch_sets())) {
    for (int64_t split = 0; split < splits; ++split) {
      const auto encode = [table, split, seed = settings.seed] {
        return encode_split(table, regression_split(table, split, seed), Task::regression);
      };
      Json of_training = settings_of(training, table, full_ggn(), split);
      of_training["hyper_step"] = kHyperStep;
      const double cost = uci_cost(training, table, full_ggn(), 1);
      Json of_sizes = of_training;
      for (const BatchSize& size : batch_sizes()) of_sizes["sizes"].push_back(size.title);
      cells.push_back({uci_cell_name(table.name, "fixed", split), of_sizes, 2 * cost, [=](const CellContext& context) {
                         return optimise_at_fixed_weights(context, encode(), training, split);
                       }});
      for (const BatchSize& size : batch_sizes()) {
        Json with_size = of_training;
        with_size["evidence_batch"] = size.title;
        cells.push_back(
            {uci_cell_name(table.name, "online-" + size.name, split), with_size, cost,
             [=](const CellContext& context) { return train_with_batches(context, encode(), training, size, split); }});
      }
    }
  }
  return cells;
}

}  // namespace ockham::paper
