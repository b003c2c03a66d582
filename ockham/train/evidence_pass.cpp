#include "ockham/train/evidence_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"

namespace ockham {
namespace {

constexpr uint64_t kStepStream = 0x62617463682d6b00, kCommonStream = 0x62617463682d6300;

/// What the fits of all batches may take, when steps come back to them. Not the free memory: a fit that is kept may
/// differ from one that is made again in the last digit, and results depend on sizes only.
constexpr int64_t kMostKeptBytes = int64_t{512} << 20;

/// Fits of the batches of one partition, made when they are asked for.
class BatchFits {
 public:
  BatchFits(const Model& model, const Dataset& data, const LaplaceOptions& options, Partition partition)
      : model_(model), data_(data), options_(options), partition_(std::move(partition)) {
    fits_.resize(partition_.batches.size());
    const auto bytes = [&](int64_t examples) {
      return examples == 0 ? 0 : batch_bytes(model, data.inputs(), examples, options);
    };
    const int64_t each = bytes(partition_.shared + partition_.batches[0].numel()) + bytes(partition_.shared);
    const int64_t budget = options.curvature.memory_budget;
    keeps_all_ = each <= (budget > 0 ? std::min(budget, kMostKeptBytes) : kMostKeptBytes) / (count() + 1);
    if (partition_.first.numel() > 0) first_.emplace(fit(partition_.first, model.hyperparameters));
  }

  int64_t count() const { return static_cast<int64_t>(fits_.size()); }
  const LaplaceFit* first() const { return first_ ? &*first_ : nullptr; }

  const BatchFit& batch(int64_t step, const Hyperparameters& now) {
    const auto number = static_cast<size_t>(step % count());
    std::optional<BatchFit>& place = fits_[keeps_all_ ? number : 0];
    if (keeps_all_ && place) return *place;
    place.reset();  // before the next one: there is room for one
    const at::Tensor companions = partition_.companions_of(number);
    place.emplace(BatchFit{fit(at::cat({companions, partition_.batches[number]}), now), {}});
    if (companions.numel() > 0) place->companions.emplace(fit(companions, now));
    return *place;
  }

 private:
  LaplaceFit fit(const at::Tensor& examples, const Hyperparameters& at) const {
    Model model = model_;
    model.hyperparameters = at;
    return fit_laplace(model, batch_of(data_, examples), options_);
  }

  const Model& model_;
  const Dataset& data_;
  const LaplaceOptions& options_;
  Partition partition_;
  std::optional<LaplaceFit> first_;
  std::vector<std::optional<BatchFit>> fits_;
  bool keeps_all_ = false;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

EvidencePass pass_over_data(const Model& model, const Dataset& data, const OnlineOptions& options, HyperState& state) {
  const LaplaceFit fit = fit_laplace(model, data, options.laplace);
  return {optimise_hyperparameters(fit, model.hyperparameters, options.hyper, state), false, fit.messages};
}

void check_batch_passes(const Model& model, const Dataset& data, const OnlineOptions& options) {
  batch_count(data.size(), options.evidence_batch);
  if (options.hyper.evidence.correction)
    throw Error(ErrorKind::usage, "The minibatch bound has no correction term; leave the correction out.");
  check_batches(model, data.inputs(), options.evidence_batch.within(data.size()), options.laplace);
}

EvidencePass pass_over_batches(const Model& model, const Dataset& data, const OnlineOptions& options, HyperState& state,
                               const BatchPass& pass) {
  EvidencePass result;
  {
    const auto order = random_stream({options.seed, options.candidate, options.restart, pass.epoch, kStepStream});
    BatchFits fits(model, data, options.laplace, make_partition(data.inputs(), options.evidence_batch, order));
    const auto estimate = [&](const Hyperparameters& now, int64_t step) {
      const BatchFit& fit = fits.batch(step, now);
      if (step == 0) result.messages = fit.batch.messages;
      return estimate_bound(fit, fits.count(), now, fits.first());
    };
    result.steps =
        optimise_hyperparameters({estimate, model.prior.names()}, model.hyperparameters, options.hyper, state);
  }
  HyperResult& steps = result.steps;
  steps.best = steps.hyperparameters.clone();
  result.estimate = !pass.over_partition;
  if (result.estimate) {
    if (!steps.evidences.empty()) steps.best_evidence = mean(steps.evidences);
    return result;
  }
  Model reached = model;
  reached.hyperparameters = steps.hyperparameters;
  const auto common =
      make_partition(data.inputs(), options.evidence_batch, random_stream({options.seed, kCommonStream}));
  steps.best_evidence = bound_over_partition(reached, data, common, options.laplace).evidence.value;
  return result;
}

}  // namespace ockham
