// select/train_candidates with a queue: ranks take trainings, and one process completes them to the same bits.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "ockham/network/architectures.h"
#include "ockham/select/elimination.h"
#include "ockham/select/train_candidates.h"
#include "tests/support/run_ranks.h"

namespace ockham {
namespace {

using testing::run_ranks;
using Key = std::pair<size_t, size_t>;

Dataset make_data() {
  auto generator = random_stream({5});
  const at::Tensor inputs = at::randn({30, 2}, generator, at::kFloat);
  return {inputs, inputs.prod(1, true) + 0.1 * at::randn({30, 1}, generator, at::kFloat)};
}

std::vector<Candidate> make_candidates() {
  std::vector<Candidate> candidates;
  for (const std::string spec : {"linear", "mlp:8,act=tanh", "mlp:6-6,act=tanh"}) {
    Candidate candidate;
    candidate.network = spec;
    candidate.make = [spec](uint64_t restart) {
      const Network network = make_architecture(spec, {2}, 1, at::kFloat, 10 + restart);
      const Prior prior = Prior::layerwise(network.layout());
      Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
      start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
      return Model{network, Gaussian{}, prior, start};
    };
    candidates.push_back(candidate);
  }
  return candidates;
}

CandidatesOptions make_options(bool eliminate) {
  CandidatesOptions options;
  options.restarts = 2;
  options.threads = TrainingThreads::one_each;
  options.online.epochs = 20;
  options.online.frequency = 2;
  options.online.hyper.steps = 2;
  options.online.optimiser.learning_rate = 0.02;
  options.online.map.batch_size = 10;
  if (eliminate) {
    EliminationOptions strict;
    strict.nats_per_example = 0;
    use_elimination(options, 30, strict);
  }
  return options;
}

/// The directory that all ranks see.
struct Shelf {
  std::mutex mutex;
  std::map<Key, OnlineState> states;

  CandidatesWatcher watcher() {
    CandidatesWatcher watcher;
    watcher.resume = [this](size_t candidate, size_t restart) -> std::shared_ptr<const OnlineState> {
      const std::lock_guard<std::mutex> lock(mutex);
      const auto found = states.find({candidate, restart});
      return found == states.end() ? nullptr : std::make_shared<OnlineState>(found->second);
    };
    watcher.hand_over = [this](const CandidateTraining& training) {
      const std::lock_guard<std::mutex> lock(mutex);
      states[{training.candidate, training.restart}] = training.result.state;
    };
    watcher.ended = watcher.hand_over;
    return watcher;
  }
};

void expect_equal(const std::vector<CandidateTraining>& one, const std::vector<CandidateTraining>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].result.best.log_evidence, other[i].result.best.log_evidence) << i;
    EXPECT_TRUE(one[i].result.best.mode.equal(other[i].result.best.mode)) << i;
    EXPECT_EQ(one[i].result.gradient_norm, other[i].result.gradient_norm) << i;
    EXPECT_EQ(one[i].eliminated_at, other[i].eliminated_at) << i;
  }
}

TEST(QueuedCandidates, RanksTrainWhatOneProcessTrains) {
  for (const bool eliminate : {false, true}) {
    const auto alone = train_candidates(make_candidates(), make_data(), make_options(eliminate));
    Shelf shelf;
    run_ranks(3, [&](Communicator& ranks) {
      CandidatesOptions options = make_options(eliminate);
      options.queue = &ranks;
      train_candidates(make_candidates(), make_data(), options, shelf.watcher());
    });
    EXPECT_EQ(shelf.states.size(), alone.size());
    expect_equal(train_candidates(make_candidates(), make_data(), make_options(eliminate), shelf.watcher()), alone);
  }
}

TEST(QueuedCandidates, ALostRanksTrainingIsTakenOver) {
  const auto alone = train_candidates(make_candidates(), make_data(), make_options(false));
  Shelf shelf;
  struct Lost {};
  run_ranks(2, [&](Communicator& ranks) {
    CandidatesOptions options = make_options(false);
    options.queue = &ranks;
    options.lost_after = 1.5;
    CandidatesWatcher watcher = shelf.watcher();
    watcher.after_epoch = [&](size_t candidate, size_t restart, const OnlineProgress& now) {
      if (ranks.rank() == 1 && now.epoch == 8) throw Lost();
      const std::lock_guard<std::mutex> lock(shelf.mutex);
      if (now.epoch == 6) shelf.states[{candidate, restart}] = now.state();
      return true;
    };
    try {
      train_candidates(make_candidates(), make_data(), options, watcher);
    } catch (const Lost&) {
    }
  });
  EXPECT_EQ(shelf.states.size(), alone.size());
  for (const auto& [key, state] : shelf.states) EXPECT_EQ(state.epoch, 20);
  expect_equal(train_candidates(make_candidates(), make_data(), make_options(false), shelf.watcher()), alone);
}

}  // namespace
}  // namespace ockham
