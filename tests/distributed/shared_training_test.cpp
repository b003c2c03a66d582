// train/train_online: several ranks train one network together as one process does.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <mutex>

#include "ockham/network/architectures.h"
#include "ockham/train/train_online.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/run_ranks.h"

namespace ockham {
namespace {

using testing::relative_difference;
using testing::run_ranks;

Dataset make_data(int64_t examples) {
  auto generator = random_stream({5});
  const at::Tensor inputs = at::randn({examples, 3}, generator, at::kDouble);
  return {inputs, inputs.prod(1, true) + 0.1 * at::randn({examples, 1}, generator, at::kDouble)};
}

Model make_model(const std::string& spec) {
  const Network network = make_architecture(spec, {3}, 1, at::kDouble, 10);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, Gaussian{}, prior, start};
}

OnlineOptions make_options(Structure structure, int64_t batch_size) {
  OnlineOptions options;
  options.epochs = 30;
  options.frequency = 5;
  options.hyper.steps = 5;
  options.optimiser.learning_rate = 0.02;
  options.map.batch_size = batch_size;
  options.laplace.curvature.structure = structure;
  return options;
}

void expect_result_of_one_process(const OnlineOptions& options) {
  const Dataset data = make_data(21);
  const OnlineResult alone = train_online(make_model("mlp:8,act=tanh"), data, options);
  std::mutex mutex;
  std::vector<OnlineResult> all;
  run_ranks(3, [&](Communicator& ranks) {
    OnlineOptions mine = options;
    mine.laplace.communicator = &ranks;
    const OnlineResult result = train_online(make_model("mlp:8,act=tanh"), data, mine);
    const std::lock_guard<std::mutex> lock(mutex);
    all.push_back(result);
  });
  for (const OnlineResult& one : all) {
    EXPECT_TRUE(one.finished);
    EXPECT_LT(relative_difference(one.best.log_evidence, alone.best.log_evidence), 1e-9);
    EXPECT_LT(relative_difference(one.best.mode, alone.best.mode), 1e-7);
    EXPECT_LT(relative_difference(one.state.losses.back(), alone.state.losses.back()), 1e-7);
    EXPECT_TRUE(one.state.theta.equal(all[0].state.theta));
    EXPECT_EQ(one.best.log_evidence, all[0].best.log_evidence);
    EXPECT_TRUE(one.best.hyperparameters.log_prior_precision.equal(all[0].best.hyperparameters.log_prior_precision));
  }
}

TEST(SharedTraining, GivesTheResultOfOneProcessAndTheSameBitsOnEveryRank) {
  // 21 examples in batches of 10: the last one has fewer examples than ranks.
  for (const Structure structure : {Structure::full, Structure::kronecker, Structure::diagonal})
    for (const int64_t batch_size : {0, 10}) expect_result_of_one_process(make_options(structure, batch_size));
}

TEST(SharedTraining, SoDoBoundsFromBatches) {
  OnlineOptions batches = make_options(Structure::full, 0);
  batches.evidence_batch = {10, 5};
  expect_result_of_one_process(batches);
}

TEST(SharedTraining, SoDoEstimatedDeterminants) {
  OnlineOptions estimated = make_options(Structure::full, 0);
  estimated.laplace.slq = SlqOptions{3, 6, Structure::kronecker, 1};
  expect_result_of_one_process(estimated);
}

TEST(SharedTraining, WhenOneRankAsksForTheEndAllEndInTheSameState) {
  std::mutex mutex;
  std::vector<OnlineResult> all;
  run_ranks(2, [&](Communicator& ranks) {
    OnlineOptions options = make_options(Structure::kronecker, 7);
    options.laplace.communicator = &ranks;
    const OnlineResult result = train_online(make_model("mlp:4"), make_data(20), options, [&](const auto& progress) {
      return ranks.rank() == 0 || progress.epoch < 11;
    });
    const std::lock_guard<std::mutex> lock(mutex);
    all.push_back(result);
  });
  for (const OnlineResult& one : all) {
    EXPECT_FALSE(one.finished);
    EXPECT_EQ(one.state.epoch, 11);
    EXPECT_TRUE(one.state.theta.equal(all[0].state.theta));
  }
}

TEST(SharedTraining, AfterALossTheOthersHaveTheLastWholeEpochAndGoOnFromIt) {
  const Dataset data = make_data(20);
  const OnlineOptions options = make_options(Structure::kronecker, 7);
  std::vector<OnlineResult> whole(2);
  run_ranks(2, [&](Communicator& ranks) {
    OnlineOptions mine = options;
    mine.laplace.communicator = &ranks;
    whole[static_cast<size_t>(ranks.rank())] = train_online(make_model("mlp:4"), data, mine);
  });
  struct Lost {};
  std::shared_ptr<const OnlineState> rescued;
  testing::expect_error(ErrorKind::peer_lost, {"gone"}, [&] {
    run_ranks(2, [&](Communicator& ranks) {
      OnlineOptions mine = options;
      mine.laplace.communicator = &ranks;
      mine.rescue = [&](const OnlineState& state) { rescued = std::make_shared<OnlineState>(state); };
      try {
        train_online(make_model("mlp:4"), data, mine, [&](const auto& progress) {
          if (ranks.rank() == 1 && progress.epoch == 12) throw Lost();
          return true;
        });
      } catch (const Lost&) {
      }
    });
  });
  ASSERT_TRUE(rescued);
  EXPECT_EQ(rescued->epoch, 12);
  OnlineOptions again = options;
  again.resume = rescued;
  const OnlineResult alone = train_online(make_model("mlp:4"), data, again);
  EXPECT_LT(relative_difference(alone.best.log_evidence, whole[0].best.log_evidence), 1e-6);
  run_ranks(2, [&](Communicator& ranks) {
    OnlineOptions mine = again;
    mine.laplace.communicator = &ranks;
    const OnlineResult result = train_online(make_model("mlp:4"), data, mine);
    EXPECT_EQ(result.best.log_evidence, whole[0].best.log_evidence);
    EXPECT_TRUE(result.state.theta.equal(whole[0].state.theta));
  });
}

}  // namespace
}  // namespace ockham
