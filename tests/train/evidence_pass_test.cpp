// Online training by minibatch bounds: which passes count, what they say, and that it goes on bit for bit.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"
#include "ockham/network/architectures.h"
#include "ockham/train/online_checkpoint.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::relative_difference;

constexpr int64_t kExamples = 23;

Dataset make_data() {
  auto generator = random_stream({3});
  const at::Tensor inputs = at::randn({kExamples, 2}, generator, at::kDouble);
  return {inputs, at::sin(2 * inputs.sum(1, true)) + 0.1 * at::randn({kExamples, 1}, generator, at::kDouble)};
}

Model make_model() {
  const Network network = make_architecture("mlp:5-4,act=tanh", {2}, 1, at::kDouble, 7);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, Gaussian{}, prior, start};
}

OnlineOptions make_options(const PartitionSizes& evidence_batch) {
  OnlineOptions options;
  options.epochs = 24;
  options.frequency = 2;
  options.hyper.steps = 7;
  options.best_after = 20;
  options.evidence_batch = evidence_batch;
  options.optimiser.learning_rate = 0.02;
  options.map.batch_size = 8;
  options.laplace.curvature.structure = Structure::full;
  return options;
}

TEST(EvidencePass, OneBatchOfAllDataTrainsAsTheEvidenceDoes) {
  const OnlineResult batch = train_online(make_model(), make_data(), make_options({kExamples, 0}));
  const OnlineResult whole = train_online(make_model(), make_data(), make_options({}));
  const Hyperparameters &a = batch.state.hyperparameters, &b = whole.state.hyperparameters;
  EXPECT_LT(relative_difference(a.log_prior_precision, b.log_prior_precision), 1e-7);
  EXPECT_LT(relative_difference(a.log_noise, b.log_noise), 1e-7);
  EXPECT_LT(relative_difference(batch.state.theta, whole.state.theta), 1e-7);
  ASSERT_EQ(batch.state.passes.size(), whole.state.passes.size());
  for (size_t i = 0; i < whole.state.passes.size(); ++i)
    EXPECT_LT(relative_difference(at::tensor(batch.state.passes[i].evidences, at::kDouble),
                                  at::tensor(whole.state.passes[i].evidences, at::kDouble)),
              1e-6);
}

TEST(EvidencePass, OnlyStatesThatCountAreEvaluatedOverAPartition) {
  const OnlineResult result = train_online(make_model(), make_data(), make_options({6, 2}));
  ASSERT_EQ(result.failure, "");
  std::vector<int64_t> counted;
  for (const OnlinePass& pass : result.state.passes) {
    EXPECT_EQ(pass.evidences.size(), 7u);
    if (!pass.estimate) counted.push_back(pass.epoch);
    double mean = 0;
    for (const double value : pass.evidences) mean += value / 7;
    if (pass.estimate) {
      EXPECT_DOUBLE_EQ(pass.log_evidence, mean);
    }
  }
  EXPECT_EQ(counted, (std::vector<int64_t>{2, 4, 8, 16, 20, 22, 24}));
  EXPECT_GE(result.best.epoch, 20);
}

/// The best state's number is a bound of the evidence there, over batches of the same partition for all trainings.
TEST(EvidencePass, TheBestStateHasALowerBoundOfItsEvidence) {
  const Model model = make_model();
  const Dataset data = make_data();
  const OnlineOptions options = make_options({6, 2});
  const OnlineResult result = train_online(model, data, options);
  Model best = model;  // the network has the best state's weights
  best.hyperparameters = result.best.hyperparameters;
  const double exact = evidence(fit_laplace(best, data, options.laplace), best.hyperparameters).value;
  EXPECT_LT(result.best.log_evidence, exact);
  const auto partition = make_partition(data.inputs(), {6, 2}, random_stream({options.seed, 0x62617463682d6300}));
  const PartitionBound again = bound_over_partition(best, data, partition, options.laplace);
  EXPECT_EQ(again.batches, 6);
  EXPECT_LT(relative_difference(result.best.log_evidence, again.evidence.value), 1e-9);

  OnlineOptions other = options;
  other.candidate = 5;
  other.restart = 2;
  other.hyper.steps = 0;
  other.epochs = 1;
  const Model untrained = make_model();
  const OnlineResult first = train_online(untrained, data, other);
  Model there = untrained;
  EXPECT_LT(relative_difference(first.best.log_evidence,
                                bound_over_partition(there, data, partition, options.laplace).evidence.value),
            1e-9)
      << "the same partition for every candidate and restart";
}

TEST(EvidencePass, GoesOnBitForBitFromACheckpoint) {
  for (const int64_t steps : {2, 7}) {  // fewer and more than there are batches
    OnlineOptions options = make_options({6, steps == 2 ? 0 : 2});
    options.hyper.steps = steps;
    const OnlineResult straight = train_online(make_model(), make_data(), options);
    for (const int64_t stop : {3, 8, 21}) {
      const OnlineState state = train_online(make_model(), make_data(), options, [&](const OnlineProgress& now) {
                                  return now.epoch < stop;
                                }).state;
      OnlineOptions rest = options;
      rest.resume = std::make_shared<OnlineState>(online_state(to_checkpoint(state)));
      const OnlineResult resumed = train_online(make_model(), make_data(), rest);
      EXPECT_TRUE(resumed.state.theta.equal(straight.state.theta)) << stop;
      EXPECT_EQ(resumed.best.log_evidence, straight.best.log_evidence) << stop;
      ASSERT_EQ(resumed.state.passes.size(), straight.state.passes.size());
      for (size_t i = 0; i < straight.state.passes.size(); ++i) {
        EXPECT_EQ(resumed.state.passes[i].evidences, straight.state.passes[i].evidences);
        EXPECT_EQ(resumed.state.passes[i].log_evidence, straight.state.passes[i].log_evidence);
        EXPECT_EQ(resumed.state.passes[i].estimate, straight.state.passes[i].estimate);
      }
    }
  }
}

// The fits of several batches live at the same time; passes by hand must not write into each other's.
TEST(EvidencePass, PassesByHandEqualTheGeneralWay) {
  OnlineOptions by_hand = make_options({6, 2}), general = make_options({6, 2});
  general.laplace.curvature.observe.without_recognisers = {"linear"};  // the hand-made pass has no such option
  const OnlineResult a = train_online(make_model(), make_data(), by_hand);
  const OnlineResult b = train_online(make_model(), make_data(), general);
  EXPECT_LT(
      relative_difference(a.state.hyperparameters.log_prior_precision, b.state.hyperparameters.log_prior_precision),
      1e-7);
  EXPECT_LT(relative_difference(a.best.log_evidence, b.best.log_evidence), 1e-7);
}

TEST(EvidencePass, RefusesBeforeTheFirstEpoch) {
  OnlineOptions options = make_options({6, 2});
  options.laplace.curvature.structure = Structure::kronecker;
  const auto watcher = [](const OnlineProgress&) -> bool {
    ADD_FAILURE() << "an epoch was trained";
    return false;
  };
  testing::expect_error(ErrorKind::usage, {"Kronecker"},
                        [&] { train_online(make_model(), make_data(), options, watcher); });
  testing::expect_error(ErrorKind::usage, {"share 6", "own"}, [&] {
    train_online(make_model(), make_data(), make_options({6, 6}), watcher);
  });
  options = make_options({6, 2});
  options.hyper.evidence.correction = true;
  testing::expect_error(ErrorKind::usage, {"correction"},
                        [&] { train_online(make_model(), make_data(), options, watcher); });
  options = make_options({6, 2});
  options.laplace.curvature.memory_budget = 2000;
  testing::expect_error(ErrorKind::usage, {"6 examples", "--evidence-batch"},
                        [&] { train_online(make_model(), make_data(), options, watcher); });
}

}  // namespace
}  // namespace ockham
