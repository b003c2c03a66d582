#include "app/fit_timing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "app/fit_minibatch.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/select/map_training.h"

namespace ockham::app {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Dataset first_examples(const Dataset& data, int64_t count) {
  const Batch batch = data.slice(0, count);
  return Dataset(batch.inputs, batch.targets);
}

}  // namespace

EpochCost measure_epoch_cost(const Candidate& candidate, const Dataset& data, const OnlineOptions& options) {
  const double examples = static_cast<double>(data.size());
  const bool minibatch = options.evidence_batch.largest > 0;
  const int64_t batch = options.map.batch_size > 0 ? std::min(options.map.batch_size, data.size()) : data.size();
  const Model model = candidate.make(0);
  const Dataset few = prepare_data(model, first_examples(data, batch));
  Optimiser optimiser(model.network.parameters(), options.optimiser);
  // The first calls of everything cost more than the later ones.
  const int64_t little = std::min<int64_t>(batch, 16);
  const Dataset warm_up = first_examples(few, little);
  try {
    double step = std::numeric_limits<double>::infinity();
    map_epoch(model, warm_up, options.map, optimiser, random_stream({0}));
    for (int repetition = 0; repetition < 2; ++repetition)
      step = std::min(step, seconds_of([&] { map_epoch(model, few, options.map, optimiser, random_stream({0})); }));
    const double training = step * std::ceil(examples / static_cast<double>(batch));

    LaplaceOptions laplace = options.laplace;
    laplace.curvature.verify = false;
    if (laplace.slq) laplace.curvature.structure = laplace.slq->preconditioner;
    laplace.slq.reset();
    fit_laplace(model, warm_up, laplace);
    const Dataset seen = minibatch ? first_examples(few, std::min(batch, options.evidence_batch.largest)) : few;
    const LaplaceFit small = fit_laplace(model, warm_up, laplace), fit = fit_laplace(model, seen, laplace);
    // A pass costs something for each example, and something at its end.
    const double more = static_cast<double>(seen.size() - little);
    const double each = more > 0 ? std::max(0.0, fit.seconds_curvature - small.seconds_curvature) / more
                                 : fit.seconds_curvature / static_cast<double>(seen.size());
    const double once = more > 0 ? std::max(0.0, small.seconds_curvature - each * static_cast<double>(little)) : 0;
    HyperOptions hyper = options.hyper;
    hyper.steps = std::min<int64_t>(hyper.steps, 3);
    HyperState state;
    const double hyper_seconds =
        seconds_of([&] { optimise_hyperparameters(fit, model.hyperparameters, hyper, state); });
    const double hyper_step = hyper.steps > 0 ? hyper_seconds / static_cast<double>(hyper.steps) : 0;
    const double of_pass =
        minibatch ? static_cast<double>(seen.size()) * batches_a_pass(options, data.size()) : examples;
    const double pass = each * of_pass + once + std::min(fit.seconds_decompose, small.seconds_decompose) +
                        hyper_step * static_cast<double>(options.hyper.steps);
    return {training, pass};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    return {};  // the training will say what is wrong
  }
}

}  // namespace ockham::app
