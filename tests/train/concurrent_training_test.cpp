// Several trainings at once, each in a thread of its own that runs single-threaded, as `ockham fit --workers` does.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "ockham/base/platform.h"
#include "ockham/network/architectures.h"
#include "ockham/train/train_online.h"

namespace ockham {
namespace {

struct Candidate {
  const char* network;
  Structure structure;
  CurvatureKind kind;
  int64_t batch_size;  // of the training
};

// Different networks side by side, so that a mix-up of what is recorded would show; 300 weights and more use the paths
// that are parallel where threads are allowed.
const std::vector<Candidate> candidates = {
    {"mlp:50", Structure::full, CurvatureKind::ggn, 0},
    {"mlp:20-20,act=tanh", Structure::full, CurvatureKind::ggn, 32},
    {"mlp:50", Structure::kronecker, CurvatureKind::ggn, 0},
    {"mlp:30-20,act=gelu", Structure::kronecker, CurvatureKind::ggn, 64},
    {"mlp:50", Structure::diagonal, CurvatureKind::empirical_fisher, 0},
    {"linear", Structure::diagonal, CurvatureKind::ggn, 50},
};

Dataset table() {
  const at::Generator generator = random_stream({11});
  const at::Tensor inputs = at::randn({150, 8}, generator, at::TensorOptions(at::kFloat));
  const at::Tensor noise = at::randn({150, 1}, generator, at::TensorOptions(at::kFloat));
  return Dataset(inputs, inputs.sin().sum(1, /*keepdim=*/true) + 0.1 * noise);
}

OnlineResult train(const Candidate& candidate, uint64_t seed, const OnlineWatcher& watcher = {}) {
  const SingleThread single;
  const Network network = make_architecture(candidate.network, {8}, 1, at::kFloat, seed);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(Gaussian{}, 1);
  hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  OnlineOptions options;
  options.epochs = 12;
  options.hyper.steps = 2;
  options.optimiser.learning_rate = 1e-2;
  options.map.batch_size = candidate.batch_size;
  options.laplace.curvature.structure = candidate.structure;
  options.laplace.curvature.kind = candidate.kind;
  options.seed = seed;
  return train_online({network, Gaussian{}, prior, hyperparameters}, table(), options, watcher);
}

void expect_same_bits(const OnlineResult& one, const OnlineResult& other, const std::string& name) {
  EXPECT_TRUE(one.failure.empty()) << name << ": " << one.failure;
  EXPECT_EQ(other.failure, one.failure) << name;
  EXPECT_TRUE(other.state.theta.equal(one.state.theta)) << name;
  EXPECT_EQ(other.state.losses, one.state.losses) << name;
  EXPECT_EQ(other.best.log_evidence, one.best.log_evidence) << name;
  EXPECT_EQ(other.best.epoch, one.best.epoch) << name;
  EXPECT_EQ(other.gradient_norm, one.gradient_norm) << name;
  EXPECT_TRUE(other.state.hyperparameters.log_prior_precision.equal(one.state.hyperparameters.log_prior_precision))
      << name;
  EXPECT_TRUE(other.state.hyperparameters.log_noise.equal(one.state.hyperparameters.log_noise)) << name;
  ASSERT_EQ(other.state.passes.size(), one.state.passes.size()) << name;
  for (size_t i = 0; i < one.state.passes.size(); ++i) {
    EXPECT_EQ(other.state.passes[i].evidences, one.state.passes[i].evidences) << name << ", pass " << i;
  }
}

std::string name_of(size_t index) { return std::string(candidates[index].network) + " " + std::to_string(index); }

TEST(ConcurrentTraining, TwoAtOnceGiveTheSameBitsAsOneAfterTheOther) {
  std::vector<OnlineResult> alone;
  for (size_t i = 0; i < candidates.size(); ++i) alone.push_back(train(candidates[i], i));
  for (size_t shift = 0; shift < 3; ++shift) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const size_t j = (i + shift) % candidates.size();
      OnlineResult first, second;
      std::atomic<int> ready{0};
      // Both begin at once: a training of milliseconds would else be over before the other starts.
      const auto run = [&](size_t index, OnlineResult& result) {
        ++ready;
        while (ready < 2) std::this_thread::yield();
        result = train(candidates[index], index);
      };
      std::thread one(run, i, std::ref(first)), other(run, j, std::ref(second));
      one.join();
      other.join();
      expect_same_bits(alone[i], first, name_of(i) + " beside " + name_of(j));
      expect_same_bits(alone[j], second, name_of(j) + " beside " + name_of(i));
    }
  }
}

TEST(ConcurrentTraining, ThreadsOfTheirOwnGiveTheBitsOfTheMainThread) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const OnlineResult here = train(candidates[i], i);
    OnlineResult there;
    std::thread([&] {
      at::NoGradGuard no_gradients;  // a thread may have been left in any mode: training asks for what it needs
      there = train(candidates[i], i);
    }).join();
    expect_same_bits(here, there, name_of(i));
  }
}

// A watcher that reports to a shared display, and ends one of the two.
TEST(ConcurrentTraining, WatchersAreCalledOnTheirOwnThreadAndEndOnlyTheirOwn) {
  OnlineResult first, second;
  std::thread one([&] {
    const auto mine = std::this_thread::get_id();
    first = train(candidates[2], 1, [mine](const OnlineProgress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), mine);
      return progress.epoch < 3;
    });
  });
  std::thread other([&] { second = train(candidates[2], 1); });
  one.join();
  other.join();
  EXPECT_EQ(first.state.epoch, 3);
  EXPECT_EQ(second.state.epoch, 12);
  EXPECT_EQ(first.state.losses[2], second.state.losses[2]);
}

}  // namespace
}  // namespace ockham
