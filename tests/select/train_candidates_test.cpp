#include "ockham/select/train_candidates.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>

#include "ockham/base/platform.h"
#include "ockham/network/architectures.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

using Key = std::pair<size_t, size_t>;

Dataset make_data() {
  auto generator = random_stream({5});
  const at::Tensor inputs = at::randn({30, 2}, generator, at::kFloat);
  return {inputs, inputs.prod(1, true) + 0.1 * at::randn({30, 1}, generator, at::kFloat)};
}

Candidate candidate(const std::string& spec, double cost) {
  return {spec,
          [spec](uint64_t restart) {
            const Network network = make_architecture(spec, {2}, 1, at::kFloat, 10 + restart);
            const Prior prior = Prior::layerwise(network.layout());
            Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
            start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
            return Model{network, Gaussian{}, prior, start};
          },
          cost};
}

std::vector<Candidate> candidates() {
  return {candidate("linear", 1), candidate("mlp:8,act=tanh", 3), candidate("mlp:6-6,act=tanh", 2)};
}

CandidatesOptions make_options(size_t workers) {
  CandidatesOptions options;
  options.restarts = 2;
  options.workers = workers;
  options.online.epochs = 20;
  options.online.frequency = 5;
  options.online.hyper.steps = 2;
  options.online.optimiser.learning_rate = 0.02;
  options.online.map.batch_size = 10;
  return options;
}

void expect_equal(const std::vector<CandidateTraining>& one, const std::vector<CandidateTraining>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].candidate, other[i].candidate);
    EXPECT_EQ(one[i].restart, other[i].restart);
    EXPECT_EQ(one[i].result.best.log_evidence, other[i].result.best.log_evidence) << i;
    EXPECT_TRUE(one[i].result.best.mode.equal(other[i].result.best.mode)) << i;
  }
}

TEST(TrainCandidates, RunInTheOrderOfTheirCostAndTheResultsDoNotDependOnIt) {
  const auto train = [](TrainingOrder order, std::vector<size_t>& begun) {
    CandidatesOptions options = make_options(1);
    options.restarts = 1;
    options.order = order;
    CandidatesWatcher watcher;
    watcher.begin = [&](size_t candidate, size_t) {
      begun.push_back(candidate);
      return true;
    };
    return train_candidates(candidates(), make_data(), options, watcher);
  };
  std::vector<size_t> cheap, dear;
  const auto one = train(TrainingOrder::cheapest_first, cheap), other = train(TrainingOrder::dearest_first, dear);
  EXPECT_EQ(cheap, (std::vector<size_t>{0, 2, 1}));
  EXPECT_EQ(dear, (std::vector<size_t>{1, 2, 0}));
  expect_equal(one, other);
}

TEST(TrainCandidates, NumbersDoNotDependOnHowManyAreTrainedAtOnce) {
  const SingleThread alone_too;  // as the workers are; more threads may add up in another order
  const Dataset data = make_data();
  const auto alone = train_candidates(candidates(), data, make_options(1));
  ASSERT_EQ(alone.size(), 6u);
  EXPECT_NE(alone[2].result.best.log_evidence, alone[3].result.best.log_evidence);  // restarts differ
  expect_equal(alone, train_candidates(candidates(), data, make_options(3)));
}

TEST(TrainCandidates, WithOneThreadEachAlsoAloneInAProcessOfTwo) {
  const int before = at::get_num_threads();
  set_threads(2);
  const Dataset data = make_data();
  CandidatesOptions options = make_options(1);
  options.threads = TrainingThreads::one_each;
  const auto alone = train_candidates(candidates(), data, options);
  EXPECT_EQ(at::get_num_threads(), 2);
  options.workers = 2;
  expect_equal(alone, train_candidates(candidates(), data, options));
  set_threads(before);
}

TEST(TrainCandidates, AnyTrainingEqualsTheOneByItself) {
  const SingleThread alone_too;
  const Dataset data = make_data();
  const CandidatesOptions options = make_options(2);
  const auto all = train_candidates(candidates(), data, options);
  OnlineOptions online = options.online;
  online.candidate = 1;
  online.restart = 1;
  const OnlineResult one = train_online(candidates()[1].make(1), data, online);
  EXPECT_EQ(all[3].result.best.log_evidence, one.best.log_evidence);
}

TEST(TrainCandidates, InterruptedAnywhereItGoesOnToTheSameNumbers) {
  const Dataset data = make_data();
  const auto whole = train_candidates(candidates(), data, make_options(2));
  for (const int stop_after : {1, 17, 45, 100}) {
    std::map<Key, std::shared_ptr<const OnlineState>> states;
    int epochs = 0;
    CandidatesWatcher watcher;
    watcher.begin = [&](size_t, size_t) { return epochs < stop_after; };
    watcher.after_epoch = [&](size_t, size_t, const OnlineProgress&) { return ++epochs < stop_after; };
    watcher.ended = [&](const CandidateTraining& training) {
      if (training.result.state.theta.defined())
        states[{training.candidate, training.restart}] = std::make_shared<OnlineState>(training.result.state);
    };
    train_candidates(candidates(), data, make_options(2), watcher);
    CandidatesWatcher second;
    second.resume = [&](size_t candidate, size_t restart) {
      const auto found = states.find({candidate, restart});
      return found == states.end() ? nullptr : found->second;
    };
    expect_equal(whole, train_candidates(candidates(), data, make_options(2), second));
  }
}

TEST(TrainCandidates, RungsDoNotChangeNumbersAndEliminatedTrainingsEnd) {
  const Dataset data = make_data();
  const auto whole = train_candidates(candidates(), data, make_options(2));
  CandidatesOptions options = make_options(2);
  options.rungs = {5, 10};
  options.survivors = [](int64_t, const std::vector<CandidateTraining>& all) {
    return std::vector<bool>(all.size(), true);
  };
  expect_equal(whole, train_candidates(candidates(), data, options));

  std::vector<int64_t> seen;
  options.survivors = [&](int64_t rung, const std::vector<CandidateTraining>& all) {
    std::vector<bool> stays(all.size(), true);
    stays[0] = false;
    for (const CandidateTraining& training : all)
      if (training.eliminated_at == 0) seen.push_back(training.result.state.epoch - rung);
    return stays;
  };
  const auto some = train_candidates(candidates(), data, options);
  EXPECT_EQ(some[0].eliminated_at, 5);
  EXPECT_EQ(some[0].result.state.epoch, 5);
  EXPECT_EQ(some[5].eliminated_at, 0);
  EXPECT_EQ(some[5].result.best.log_evidence, whole[5].result.best.log_evidence);
  for (const int64_t difference : seen) EXPECT_EQ(difference, 0);  // all had reached the rung, none was beyond
}

TEST(TrainCandidates, DivergenceEndsACandidateNotTheOthers) {
  const Dataset data = make_data();
  CandidatesOptions options = make_options(1);
  options.online.optimiser.kind = OptimiserKind::sgd;
  options.online.optimiser.learning_rate = 1e-3;
  std::vector<Candidate> all = candidates();
  all[1].make = [make = all[1].make](uint64_t restart) {
    Model model = make(restart);
    model.network.set_flat_parameters(1e30 * model.network.flat_parameters());
    return model;
  };
  const auto trainings = train_candidates(all, data, options);
  EXPECT_NE(trainings[2].result.failure, "");
  EXPECT_EQ(trainings[0].result.failure, "");
  EXPECT_TRUE(trainings[5].result.best.mode.defined());
}

TEST(TrainCandidates, OtherErrorsAreThrown) {
  std::vector<Candidate> all = candidates();
  all[2].make = [](uint64_t) -> Model { throw Error(ErrorKind::data, "no such file"); };
  for (const size_t workers : {1, 2})
    testing::expect_error(ErrorKind::data, {"no such file"},
                          [&] { train_candidates(all, make_data(), make_options(workers)); });
  testing::expect_error(ErrorKind::usage, {"candidates"}, [&] { train_candidates({}, make_data(), make_options(1)); });
}

}  // namespace
}  // namespace ockham
